#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs that go wrong: too little memory, no convergence, NaN, a full disk, and signals."""

import itertools
import os
import re
import signal
import time

import harness
from harness import small

UNITS = {"MiB": 1024 ** 2, "GiB": 1024 ** 3, "TiB": 1024 ** 4}
END_S = 10  # time limit for all ranks to end after a signal

# A solve that runs until it is ended: about 10^6 points and 2 · 10^9 iterations.
LONG = {"mesh__elements": "[12,12,12]", "solver__order": "7", "solver__tolerance": "0",
        "solver__iterations": "2000000000", "orders": "[1]",
        "gather_scatter__strategies": "[device-pairwise]"}


class TooLittleMemory(harness.CliTest):
    """The program detects it before it allocates, and says which case would fit. 0 ranks: without a launcher, which
    may take seconds to end a failed job."""

    def refused(self, ranks, *arguments, **changes):
        """Runs the program with a case that does not fit. Returns the run, which has one message."""
        run = self.run_program(ranks, "smoke.yaml", *small(**changes), *arguments)
        self.assertEqual(run.code, 3, str(run))
        self.assert_no_traces(run)
        self.assert_files(run)
        self.assertEqual(len(run.messages()), 1, f"messages{run}")
        if "--dry-run" not in arguments:
            self.assertEqual(run.out, "", f"it began before it looked{run}")
        return run

    def estimate(self, run):
        """The needed bytes that the message states."""
        number = r"([0-9.e+]+) ([MGT]iB)"
        needs = re.search(rf"needs about {number} per node", run.err)
        has = re.search(rf"only {number} are available", run.err)
        self.assertTrue(needs and has, f"no estimate or nothing available{run}")
        needed, available = (float(text[1]) * UNITS[text[2]] for text in (needs, has))
        self.assertGreater(needed, available, str(run))
        return needed

    def test_a_limit(self):
        for ranks, limit in itertools.product((0, 3), ("0.01", "0.05")):
            with self.subTest(ranks=ranks, limit=limit):
                changes = {"solver__order": "7", "mesh__elements": "[6,6,6]"}
                run = self.refused(ranks, memory__limit_gib=limit, **changes)
                self.assertIn("are available (memory.limit_gib)", run.err, str(run))
                self.assertIn(f"nekbone-k: --set memory.limit_gib={limit}: memory.limit_gib: ", run.err, str(run))
                self.estimate(run)
                advice = re.search(r"raise memory\.limit_gib to ([0-9.]+)$", run.messages()[0])
                self.assertTrue(advice, f"nothing that would fit{run}")
                again = self.run_program(ranks, "smoke.yaml", "--dry-run",
                                         *small(memory__limit_gib=advice[1], **changes))
                self.assertEqual(again.code, 0, f"what was said to fit does not{run}{again}")

    def test_a_limit_above_what_the_machine_has(self):
        run = self.refused(0, mesh__elements="[8000,8000,8000]", memory__limit_gib="1e8",
                           solver__order="1", orders="[1]")
        self.assertNotIn("(memory.limit_gib)", run.err, str(run))
        self.assertIn("nekbone-k: smoke.yaml: ", run.err, str(run))

    def test_one_rank_cannot_be_fewer(self):
        run = self.refused(0, mesh__elements="1", solver__order="31", memory__limit_gib="0.1")
        self.assertNotIn("fewer ranks", run.err, str(run))
        self.assertIn("lower orders", run.err, str(run))

    def test_what_would_fit_fits(self):
        changes = {"memory__limit_gib": "0.5", "solver__order": "7"}
        for ranks in (0, 3):
            with self.subTest(ranks=ranks):
                run = self.refused(ranks, mesh__elements="[40,40,40]", **changes)
                self.estimate(run)
                advice = re.search(r"mesh\.elements (\[[0-9, ]+\])", run.err)
                self.assertTrue(advice, f"nothing that would fit{run}")
                again = self.run_program(ranks, "smoke.yaml", "--dry-run",
                                         *small(mesh__elements=advice[1], **changes))
                self.assertEqual(again.code, 0, f"what was said to fit does not{run}{again}")

    def test_dry_run_says_so_too(self):
        run = self.refused(2, "--dry-run", memory__limit_gib="0.01")
        self.assertRegex(run.out, r"Would solve taylor-green at order 5", str(run))
        self.assert_readable(run)

    def test_more_elements_than_an_int_counts(self):
        # Six factors of 8 B at 4^3 points. The number of elements per rank overflows 32 bits.
        for elements, total in [("[65536,65536,1]", 2 ** 32), ("[65536,32768,1]", 2 ** 31),
                                ("[8000,8000,8000]", 8000 ** 3)]:
            with self.subTest(elements):
                run = self.refused(0, mesh__elements=elements, solver__order="3", orders="[1]")
                factors = total * 4 ** 3 * 6 * 8
                needed = self.estimate(run)
                self.assertTrue(factors < needed < 10 * factors,
                                f"needs {needed} B of which {factors} for factors alone{run}")
                self.assertNotRegex(run.err, r"-[0-9]+ nodes", str(run))


class Failures(harness.CliTest):
    """Exit code 1, but the report is written."""

    def failed(self, reason, ranks=0, **changes):
        """The report of a run that fails for this reason; 0 ranks: without a launcher."""
        run = self.run_program(ranks, "smoke.yaml", *small(**changes))
        return self.assert_failed(run, reason)

    def test_no_convergence(self):
        report = self.failed("not converged.*raise solver.iterations or solver.tolerance$",
                             ranks=2, solver__tolerance="1e-14", solver__iterations="3")
        self.assertEqual(report["solve"]["iterations"], 3)
        self.assertEqual(len(report["solve"]["history"]), 4)
        self.assertIs(report["solve"]["converged"], False)
        self.assertGreater(report["solve"]["relative_residual"], 1e-14)

    def test_no_convergence_without_preconditioner(self):
        self.failed("not converged.*solver.preconditioner jacobi$", solver__iterations="3",
                    solver__preconditioner="none")

    def test_tolerance_below_rounding(self):
        report = self.failed("double precision.*solver.tolerance", solver__tolerance="1e-18",
                             solver__iterations="1000")
        self.assertIs(report["solve"]["converged"], True)
        self.assertLessEqual(report["solve"]["relative_residual"], 1e-18)
        self.assertGreater(report["solve"]["relative_true_residual"], 1e-17)

    def test_error_above_its_bound(self):
        report = self.failed(": raise solver.order or mesh.elements, or verification.error_bound$",
                             verification__error_bound="1e-9")
        self.assertIs(report["solve"]["converged"], True)
        self.assertGreater(report["solve"]["error"], 1e-9)

    def test_error_of_the_iteration(self):
        for key, advice, changes in [
                ("iterations", ": raise solver.iterations, solver.order or mesh.elements", {
                    "solver__tolerance": "0", "solver__iterations": "5"}),
                ("tolerance", ": lower solver.tolerance, or raise solver.order", {
                    "solver__tolerance": "0.1"})]:
            with self.subTest(key):
                self.failed(advice, verification__error_bound="1e-9", **changes)

    def test_infinite_right_hand_side(self):
        # Any finite error meets this bound, so only the NaN can fail the run.
        for tolerance in ("0", "1e-6"):
            with self.subTest(tolerance=tolerance):
                report = self.failed("NaN|finite", operator__lambda="1.0e+308",
                                     solver__tolerance=tolerance, verification__error_bound="1e9")
                self.assertIs(report["solve"]["broke_down"], True)
                self.assertIs(report["solve"]["converged"], False)
                self.assertIsNone(report["solve"]["rhs_norm"])


class OutputNotWritten(harness.CliTest):
    """Stdout, or a report that was writable when the run began, cannot be written."""

    def not_written(self, run):
        """One message after the result; every rank ends by itself."""
        self.assertEqual(run.code, 4, str(run))
        self.assert_no_traces(run)
        self.assertEqual(len(re.findall("cannot write the report", run.err)), 1, str(run))
        self.assert_readable(run)
        self.assertIn("-- CG at order 5", run.out, f"the run itself went well{run}")
        self.assertIn("-- Result", run.out, str(run))

    def test_full_disk(self):
        run = self.run_program(2, "smoke.yaml", *small(report__json="/dev/full"))
        self.not_written(run)
        self.assertIn("/dev/full", run.err, str(run))
        self.assert_files(run)

    def test_folder_is_gone(self):
        folder = self.new_folder()
        (folder / "sub").mkdir()
        # Tune for longer than it takes to detect that the run has begun.
        command = self.command(0, "smoke.yaml", *small(
            report__json="sub/report.json", gather_scatter__tuning__budget_seconds="0.5"))
        with self.start(command, folder) as process:
            header = process.stdout.readline()
            (folder / "sub").rmdir()
            out, err = process.communicate(timeout=harness.TIMEOUT_S)
        run = harness.Run(command, folder, process.returncode, harness.decoded(header + out),
                          harness.decoded(err))
        self.not_written(run)
        self.assertIn("sub/report.json", run.err, str(run))
        self.assert_files(run)

    def test_a_journal_that_cannot_be_written_ends_no_run(self):
        """One message before the first test says that later runs will not know about failures of this run."""
        run = self.run_program(2, "smoke.yaml", *small(gather_scatter__tuning__journal="no/folder/j"))
        self.assertEqual(run.code, 0, str(run))
        self.assertEqual(run.err.count("no/folder/j cannot be written: No such file or directory, so the next run"), 1,
                         str(run))
        self.assert_files(run, "report.json")
        self.assertIn("no/folder/j cannot be written", " ".join(self.report(run)["warnings"]), str(run))
        self.assertRegex(run.out.split("-- Result")[1], r"WARNING\s+the journal no/folder/j\s+cannot be", str(run))

    def test_stdout(self):
        for arguments, names in [(["--help"], []), (["--list-strategies"], []),
                                 (["smoke.yaml", "--dry-run"], []),
                                 (["smoke.yaml", *small()], ["report.json"])]:
            with self.subTest(arguments[-1]), open("/dev/full", "wb") as full:
                run = self.run_command(self.command(0, *arguments), self.new_folder(), stdout=full)
                self.assertEqual(run.code, 4, str(run))
                self.assert_no_traces(run)
                self.assertIn("stdout", run.messages()[-1], str(run))
                self.assert_files(run, *names)


class Signals(harness.CliTest):
    """Signals of users and schedulers end every rank quickly at any time, and no files remain."""

    def interrupted(self, target, number, stage, **changes):
        """Sends a signal to a run in a given stage of its progress: to one of three ranks, to their launcher,
        or to a process without a launcher."""
        folder = self.new_folder()
        command = self.command(0 if target == "process" else 3, "smoke.yaml", *small(**LONG | changes))
        errors = folder.parent / f"{folder.name}.err"  # a file, because a pipe may fill up
        self.addCleanup(errors.unlink)
        out = folder.parent / f"{folder.name}.out"
        self.addCleanup(out.unlink)
        with errors.open("wb") as err_file, out.open("wb") as out_file:
            process = self.start(command, folder, stdout=out_file, stderr=err_file)
        begun = harness.wait_until(lambda: stage in errors.read_text()
                                   or process.poll() is not None, harness.TIMEOUT_S)
        ranks = harness.ranks_in(folder)
        state = (f" ({number.name} to a {target})\n$ {command}\n"
                 f"{out.read_text()}{errors.read_text()}")
        self.assertTrue(begun and process.poll() is None, f"never came to '{stage}'{state}")
        self.assertEqual(len(ranks), 1 if target == "process" else 3, f"ranks that run{state}")

        os.kill(ranks[1] if target == "rank" else process.pid, number)
        gone = harness.wait_until(lambda: process.poll() is not None
                                  and not harness.ranks_in(folder), END_S)
        run = harness.Run(command, folder, process.poll(), out.read_text(), errors.read_text())
        self.assertTrue(gone, f"{number.name} to a {target}: after {END_S} s still run ranks "
                              f"{harness.ranks_in(folder)}{run}")
        self.assertNotEqual(run.code, 0, str(run))
        self.assert_no_traces(run)
        # The launcher may end ranks by another signal, and drop the last output of some.
        name = number.name if target == "process" else "SIG"
        self.assertIn(f"nekbone-k: interrupted by {name}", run.err, str(run))
        self.assertNotRegex(run.out, "PASS|FAIL", str(run))
        self.assert_files(run)  # no journal either, because the strategy just tried is not the reason

    def test_all(self):
        tuning = {"gather_scatter__tuning__budget_seconds": "600"}
        harness.side_by_side([
            lambda: self.interrupted("launcher", signal.SIGINT, ": CG"),
            lambda: self.interrupted("launcher", signal.SIGTERM, ": tuning", **tuning),
            lambda: self.interrupted("rank", signal.SIGINT, ": tuning", **tuning),
            lambda: self.interrupted("rank", signal.SIGHUP, ": tuning", **tuning),
            lambda: self.interrupted("rank", signal.SIGXCPU, ": tuning", **tuning),
            lambda: self.interrupted("rank", signal.SIGUSR1, ": CG"),
            lambda: self.interrupted("rank", signal.SIGQUIT, ": tuning", **tuning),
            lambda: self.interrupted("rank", signal.SIGALRM, ": CG"),
            lambda: self.interrupted("rank", signal.SIGTERM, ": CG")])

    def test_message_names_the_signal(self):
        harness.side_by_side([
            lambda number=number: self.interrupted("process", number, ": CG")
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM,
                           signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2)])

    def test_as_soon_as_possible(self):
        """The signal arrives during the first trials of strategies, one every few milliseconds."""
        trying = {"gather_scatter__tuning__budget_seconds": "600", "gather_scatter__strategies": "[all]",
                  "mesh__elements": "[3,3,3]"}
        harness.side_by_side([
            lambda: self.interrupted("launcher", signal.SIGTERM, ": tuning", **trying),
            lambda: self.interrupted("rank", signal.SIGTERM, ": tuning", **trying)])


class Suspended(harness.CliTest):
    """A scheduler may suspend a job for longer than its time limits."""

    def test_what_is_stopped_and_goes_on_passes(self):
        folder = self.new_folder()
        patience, stop_s = 1, 3
        command = self.command(2, "smoke.yaml", *small(
            solver__tolerance="0", solver__iterations="10000", solver__all_reduce="host-shared",
            gather_scatter__strategies="[host-pairwise, peer-memory]",
            gather_scatter__tuning__budget_seconds="2",
            gather_scatter__tuning__patience_seconds=patience))
        errors = folder / "err"
        with errors.open("wb") as err_file:
            process = self.start(command, folder, stderr=err_file)
        for stage in (": tuning", ": CG"):
            begun = harness.wait_until(lambda: stage in errors.read_text()
                                       or process.poll() is not None, harness.TIMEOUT_S)
            ranks = harness.ranks_in(folder)
            self.assertTrue(begun and len(ranks) == 2, f"never came to '{stage}': {errors.read_text()}")
            for rank in ranks:  # the second waits for the first when both are stopped
                os.kill(rank, signal.SIGSTOP)
                time.sleep(0.1)
            time.sleep(stop_s)
            for rank in ranks:
                os.kill(rank, signal.SIGCONT)
        out, _ = process.communicate(timeout=harness.TIMEOUT_S)
        run = harness.Run(command, folder, process.returncode, harness.decoded(out), errors.read_text())
        errors.unlink()
        self.assertEqual(run.code, 0, str(run))
        for order in self.report(run)["orders"]:
            for candidate in order["tuning"]["candidates"]:
                self.assertTrue(candidate["verified"] or not candidate["available"], f"{candidate}{run}")
        self.assert_files(run, "report.json")


if __name__ == "__main__":
    harness.main()
