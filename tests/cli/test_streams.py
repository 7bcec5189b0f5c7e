#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The environment of a run: unwritable stderr, closed descriptors, readers that go away, ASCII terminals, a full
disk, very long names, and variables that Kokkos refuses."""

import json
import os
import pty
import resource

import harness
from harness import small

LONGEST = 255  # bytes of a file name
PRINTED = 15_000  # bytes: more than a run prints, less than its JSON report
UTF8 = "3 × 3 × 3 elements"  # in the report's line on the mesh
ASCII = "3 x 3 x 3 elements"
LOCALES = ("LC_ALL", "LC_CTYPE", "LANG")
TRACES = [*harness.TRACES, "Backtrace", "Traceback"]


def redirected(ranks, redirection, *arguments):
    """The command that runs the program with streams redirected by a shell on every rank. With a launcher, $RANK is
    the rank."""
    *launcher, program = harness.CliTest.command(ranks)
    script = f"RANK=${{OMPI_COMM_WORLD_RANK:-${{PMI_RANK:-0}}}}; {redirection} exec \"$@\""
    return [*launcher, "bash", "-c", script, "bash", program, *map(str, arguments)]


def environment(**variables):
    """The environment with these variables set; None: unset."""
    return {name: value for name, value in (os.environ | variables).items() if value is not None}


class UnwritableStderr(harness.CliTest):
    """A message that cannot be written does not end, hang or change a run."""

    def test_the_run_goes_on(self):
        runs = harness.side_by_side([
            lambda ranks=ranks, how=how: self.run_command(redirected(ranks, how, "smoke.yaml", *small()),
                                                          self.new_folder())
            for ranks, how in [(0, "exec 2>/dev/full;"), (0, "exec 2>&-;"), (2, "exec 2>/dev/full;"),
                               (2, "[ $RANK != 0 ] || exec 2>/dev/full;"),
                               (2, "[ $RANK = 0 ] || exec 2>&-;"),
                               # Read the first lines, then stop.
                               (0, "exec 2> >(head -2 >/dev/null);"),
                               (2, "exec 2> >(head -2 >/dev/null);")]])
        for run in runs:
            self.assertEqual(run.code, 0, str(run))
            self.assertIn("\n  PASS ", run.out, str(run))
            self.assert_no_traces(run)
            self.assertIs(self.report(run)["complete"], True, str(run))

    def test_errors_keep_their_exit_codes(self):
        for ranks in (0, 2):
            for arguments, code in [(["missing.yaml"], 2), (["smoke.yaml", "--set", "memory.limit_gib=0.001"], 3)]:
                with self.subTest(ranks=ranks, arguments=arguments):
                    run = self.run_command(redirected(ranks, "exec 2>/dev/full;", *arguments), self.new_folder())
                    self.assertEqual(run.code, code, str(run))
                    self.assert_no_traces(run)


class Stdout(harness.CliTest):
    """If stdout is closed or its reader goes away, the exit code is 4, but the report is written."""

    def said(self, run, reason):
        self.assertEqual(run.code, 4, str(run))
        self.assert_no_traces(run)
        self.assertEqual([line for line in run.messages() if "stdout" in line],
                         [f"nekbone-k: cannot write all of the output to stdout: {reason}"], str(run))

    def test_closed(self):
        # If stdin is closed, too, one of the first files that MPI opens would become stdout.
        runs = harness.side_by_side([
            lambda ranks=ranks, how=how: self.run_command(redirected(ranks, how, "smoke.yaml", *small()),
                                                          self.new_folder())
            for ranks, how in [(0, "exec >&-;"), (0, "exec <&- >&-;"), (2, "exec <&- >&-;")]])
        for run in runs:
            self.said(run, "it is closed")
            self.assertIs(self.report(run)["passed"], True, str(run))
            self.assert_files(run, "report.json")

    def test_all_closed(self):
        run = self.run_command(redirected(0, "exec <&- >&- 2>&-;", "smoke.yaml", *small()), self.new_folder())
        self.assertEqual(run.code, 4, str(run))
        self.assert_files(run, "report.json")

    def test_closed_where_nothing_is_printed(self):
        run = self.run_command(redirected(2, "[ $RANK = 0 ] || exec <&- >&-;", "smoke.yaml", *small()),
                               self.new_folder())
        self.assertEqual(run.code, 0, str(run))
        self.assertIn("\n  PASS ", run.out, str(run))

    def test_a_reader_that_goes_away(self):
        for ranks in (0, 2):
            with self.subTest(ranks=ranks):
                run = self.run_command(redirected(ranks, "exec > >(head -1);", "smoke.yaml", *small()),
                                       self.new_folder())
                self.said(run, "Broken pipe")
                self.assertIs(self.report(run)["passed"], True, str(run))

    def test_closed_for_what_is_printed_at_once(self):
        for arguments in (["--help"], ["--version"], ["--list-strategies"], ["doctor", "--help"]):
            with self.subTest(arguments):
                run = self.run_command(redirected(0, "exec >&-;", *arguments), self.new_folder())
                self.said(run, "it is closed")


class AsciiOnly(harness.CliTest):
    """Prints only ASCII if the locale is not UTF-8 or the terminal is dumb."""

    def dry_run(self, **variables):
        run = self.run_command(self.command(0, "smoke.yaml", "--dry-run", *small()), self.new_folder(),
                               env=environment(**dict.fromkeys(LOCALES) | {"TERM": "xterm"} | variables))
        self.assertEqual(run.code, 0, str(run))
        return run

    def test_locales(self):
        for variables in ({"LC_ALL": "C"}, {"LC_ALL": "POSIX", "LANG": "C.UTF-8"}, {"LC_CTYPE": "C"}, {"LANG": "C"},
                          {"LC_ALL": "", "LANG": "de_DE.ISO-8859-1"}, {"LC_ALL": "C.UTF-8", "TERM": "dumb"}):
            with self.subTest(variables):
                run = self.dry_run(**variables)
                self.assertTrue(run.out.isascii() and run.err.isascii(), str(run))
                self.assertIn(ASCII, run.out, str(run))
        for variables in ({}, {"LC_ALL": "C.UTF-8"}, {"LANG": "en_GB.utf8"}, {"LC_CTYPE": "C.UTF-8", "LANG": "C"},
                          {"LC_ALL": "", "LANG": "C.UTF-8"}):
            with self.subTest(variables):
                run = self.dry_run(**variables)
                self.assertIn(UTF8, run.out, str(run))

    def test_all_that_is_printed(self):
        cases = [
            (0, 0, ["smoke.yaml", *small(report__json="größe.json", mesh__partition="[1,1,1]")]),
            (2, 0, ["smoke.yaml", *small(mesh__partition="[1,1,2]")]),
            (0, 0, ["smoke.yaml", *small(problem="none", orders="[1,2]", mesh__partition="[1,1,1]")]), (2, 0, ["doctor"]),
            (0, 0, ["--help"]), (0, 0, ["--list-strategies"]), (0, 2, ["größe-µ.yaml"]), (0, 2, ["smoke.yaml", "--µ"]),
            (2, 2, ["smoke.yaml", "--set", "solver.ördnung=µ"]), (0, 2, ["smoke.yaml", "--report", "ö/µ.json"])]
        runs = harness.side_by_side([
            lambda case=case: self.run_command(self.command(case[0], *case[2]), self.new_folder(),
                                               env=environment(LC_ALL="C")) for case in cases])
        for run, (_, code, _) in zip(runs, cases):
            self.assertEqual(run.code, code, str(run))
            self.assertTrue(run.out.isascii() and run.err.isascii(), str(run))
            self.assert_readable(run)
            for name in ("report.json", "größe.json"):
                if (run.folder / name).exists():  # JSON is always UTF-8
                    self.assertIn(" × ", self.report(run, name)["process_grid"]["selected"], str(run))

    def test_the_bar(self):
        for terminal, is_drawn in (("xterm", True), ("dumb", False), ("", False)):
            with self.subTest(terminal):
                ours, theirs = pty.openpty()
                try:
                    run = self.run_command(self.command(0, "smoke.yaml", "--dry-run", *small()), self.new_folder(),
                                           stderr=theirs, env=environment(TERM=terminal))
                    os.write(theirs, b"end")  # so that read() does not block
                    drawn = os.read(ours, 1 << 16)
                finally:
                    os.close(ours)
                    os.close(theirs)
                self.assertEqual(run.code, 0, str(run))
                self.assertEqual(b"\r\033[K" in drawn, is_drawn, f"{drawn}{run}")


class FullDisk(harness.CliTest):
    """A disk that fills up during the run. A limit on the size of files simulates it. It is set after the start,
    because MPI needs files to start."""

    def run_limited(self, folder, limit, **changes):
        """Runs the program and sets the limit once it has printed its first lines."""
        command = self.command(0, "smoke.yaml", *small(gather_scatter__tuning__budget_seconds="0.5", **changes))
        printed = folder.parent / f"{folder.name}.out"
        self.addCleanup(printed.unlink)
        with printed.open("wb") as out, self.start(command, folder, stdout=out) as process:
            self.assertTrue(harness.wait_until(lambda: printed.stat().st_size > 0, harness.TIMEOUT_S), command)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            _, err = process.communicate(timeout=harness.TIMEOUT_S)
        return harness.Run(command, folder, process.returncode, harness.decoded(printed.read_bytes()),
                           harness.decoded(err))

    def test_no_word_of_a_report_beside_an_old_one(self):
        for old in (None, "an old report"):
            with self.subTest(old=old):
                folder = self.new_folder()
                if old:
                    (folder / "report.json").write_text(old)
                run = self.run_limited(folder, PRINTED)
                self.assertEqual(run.code, 4, str(run))
                self.assert_no_traces(run)
                complaints = [m for m in run.messages() if "cannot write the report 'report.json'" in m]
                self.assertEqual(len(complaints), 1, str(run))
                self.assertIn("-- Result", run.out, str(run))
                self.assertNotIn("all samples in", run.out, str(run))
                self.assertNotRegex(run.out.split("-- Result")[1], "PASS", str(run))
                self.assertRegex(run.out, r"\n  FAIL .*report\.json cannot be written", str(run))
                self.assert_files(run, *(["report.json"] if old else []))
                if old:
                    self.assertEqual((folder / "report.json").read_text(), old, str(run))
                    self.assertIn("the older file is unchanged", complaints[0], str(run))

    def test_stdout(self):
        run = self.run_limited(self.new_folder(), 100, report__json="/dev/null")
        self.assertEqual(run.code, 4, str(run))
        self.assertIn("stdout: File too large", run.messages()[-1], str(run))


class LongNames(harness.CliTest):
    """Files of a run with names of maximum length, and longer ones."""

    def test_longest(self):
        report, cache, journal = (letter * (LONGEST - 5) + ".json" for letter in "rcj")
        folder = self.new_folder()
        (folder / cache).write_text("no cache")
        arguments = small(report__json=report, gather_scatter__tuning__mode="cached",
                          gather_scatter__tuning__cache=cache, gather_scatter__tuning__journal=journal)

        def attempt():
            run = self.run_program(2, "smoke.yaml", *arguments, folder=folder)
            self.assertEqual(run.code, 0, str(run))
            found = self.report(run, report)
            self.assertIs(found["passed"], True, str(run))
            self.assertNotIn("is not kept", run.out, str(run))
            return found, run
        attempt()
        _, run = self.until_kept(attempt)
        self.assertTrue(json.loads((folder / cache).read_text())["decisions"], str(run))
        unreadable = [path for path in folder.iterdir() if path.name.endswith(".unreadable")]
        self.assertEqual([path.read_text() for path in unreadable], ["no cache"], str(run))
        self.assertEqual([path for path in folder.iterdir() if path.name.endswith(".tmp")], [], str(run))

    def test_longer(self):
        for name in ("r" * (LONGEST + 1), "ü" * 128, "/".join(["d" * 200] * 25)):
            with self.subTest(name):
                run = self.run_program(2, "smoke.yaml", "--report", name)
                self.assertEqual(run.code, 2, str(run))
                self.assertEqual(len(run.messages()), 1, str(run))
                self.assertIn("File name too long", run.err, str(run))
                self.assert_files(run)

        def attempt():
            run = self.run_program(0, "smoke.yaml", *small(gather_scatter__tuning__mode="cached",
                                                           gather_scatter__tuning__cache="c" * (LONGEST + 1)))
            self.assertEqual(run.code, 0, str(run))
            return self.report(run), run
        _, run = self.until_kept(attempt)
        self.assertRegex(" ".join(run.out.split()), "is not kept: .*File name too long", str(run))


class Environment(harness.CliTest):
    """Variables that Kokkos refuses cause one message and no abort."""

    def refused(self, ranks, codes, value):
        name, _, text = value.partition("=")
        run = self.run_command(self.command(ranks, "smoke.yaml", *small()), self.new_folder(),
                               env=environment(**{name: text}))
        self.assertIn(run.code, codes, str(run))
        self.assert_no_traces(run, TRACES)
        self.assertEqual(len(run.messages()), 1, str(run))
        self.assertRegex(run.messages()[0], f"{name}.*{text}", str(run))
        self.assertEqual(run.out, "", str(run))
        self.assert_files(run)

    def test_what_kokkos_aborts_at(self):
        for value in ("KOKKOS_NUM_THREADS=abc", "KOKKOS_NUM_THREADS=", "KOKKOS_NUM_THREADS=0", "KOKKOS_NUM_THREADS=-3",
                      "KOKKOS_DEVICE_ID=abc", "KOKKOS_DEVICE_ID=-1", "KOKKOS_MAP_DEVICE_ID_BY=chance",
                      "KOKKOS_DISABLE_WARNINGS=perhaps", "KOKKOS_TUNE_INTERNALS=2",
                      "KOKKOS_PRINT_CONFIGURATION=perhaps"):
            with self.subTest(value):
                self.refused(0, [2, 4] if "THREADS" in value else [4], value)

    def test_numbers_of_threads(self):
        if "OpenMP" not in self.run_program(0, "smoke.yaml", "--dry-run").out:
            self.skipTest("Kokkos has no OpenMP")
        for value in ("OMP_NUM_THREADS=abc", "OMP_NUM_THREADS=0", "OMP_NUM_THREADS=-1", "OMP_NUM_THREADS=100000",
                      "KOKKOS_NUM_THREADS=3000", "KOKKOS_NUM_THREADS=4abc"):
            with self.subTest(value):
                self.refused(0, [2], value)

    def test_several_ranks_speak_once(self):
        for value, codes in (("KOKKOS_NUM_THREADS=abc", [2, 4]), ("KOKKOS_DISABLE_WARNINGS=perhaps", [4])):
            with self.subTest(value):
                self.refused(3, codes, value)

    def test_options_of_kokkos(self):
        for option in ("--kokkos-num-threads=abc", "--kokkos-device-id=99"):
            run = self.run_program(0, "smoke.yaml", option)
            self.assertEqual(run.code, 2, str(run))
            self.assertEqual(len(run.messages()), 1, str(run))


if __name__ == "__main__":
    harness.main()
