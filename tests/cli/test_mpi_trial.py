#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The trial process, which tries MPI on kernel memory before a run: the faults that it catches, and its clean-up.

The tests set NEKBONE_K_MPI_TRIAL=always, so that builds for the host run a trial, too."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import harness
from harness import small

JOURNAL = "nekbone-k-journal.jsonl"
QUICK = {"orders": "[2]", "solver__order": "2", "verification__error_bound": "0.5"}
# Launchers' variables for the rank of a process on its node.
PLACES = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"]


def trial_processes(folder):
    """Process ids of the trial processes that run in a folder."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (b"--mpi-trial" in (process / "cmdline").read_bytes().split(b"\0")
                    and (process / "cwd").resolve() == folder.resolve()):
                found.append(int(process.name))
    return found


class MpiTrial(harness.CliTest):
    """Runs and doctor after a trial."""

    def setUp(self):
        super().setUp()
        self.cache = pathlib.Path(tempfile.mkdtemp(prefix="nk-cache-"))
        self.temporary = pathlib.Path(tempfile.mkdtemp(prefix="nk-tmp-"))
        for folder in (self.cache, self.temporary):
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        environment = unittest.mock.patch.dict(
            os.environ, NEKBONE_K_MPI_TRIAL="always", NEKBONE_K_CACHE=str(self.cache), TMPDIR=str(self.temporary))
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("NEKBONE_K_MPI_TRIAL_SECONDS", None)

    def run_small(self, fault="", folder=None, ranks=2):
        """Runs the small case with a fault."""
        return self.run_faulty(fault, ranks, "smoke.yaml", *small(**QUICK), folder=folder)

    def trial(self, run):
        """The report's part on the trial."""
        return self.report(run)["machine"]["mpi_transfers"]["trial"]

    def answers(self):
        """All cached answers of trials, for any MPI."""
        found = []
        for path in self.cache.rglob("mpi-trials.json"):
            found += json.loads(path.read_text(encoding="utf-8"))["answers"]
        return found

    def assert_nothing_left(self, folder):
        """The trial left no process, temporary file or core file."""
        self.assertEqual(trial_processes(folder), [])
        self.assertEqual([path.name for path in self.temporary.iterdir() if path.name.startswith(("nk-", "nekbone-k"))],
                         [])
        self.assertEqual(list(folder.glob("core*")), [])

    def assert_passed(self, run):
        """The run passed and shows no sign of a crash."""
        self.assertEqual(run.code, 0, str(run))
        self.assertIn("PASS", run.out)
        self.assert_readable(run)
        self.assert_no_traces(run)
        self.assert_files(run, "report.json")
        self.assert_nothing_left(run.folder)

    def test_a_right_mpi_is_found_right_once(self):
        first, second = self.run_small(), self.run_small()
        for run, kept in ((first, False), (second, True)):
            self.assert_passed(run)
            trial = self.trial(run)
            self.assertEqual(trial["outcome"], "right", str(run))
            self.assertIs(trial["of_an_earlier_run"], kept, str(run))
            self.assertTrue(all(entry["failure"] is None
                                for entry in self.report(run)["machine"]["mpi_transfers"]["tried"]), str(run))
            self.assertRegex(" ".join(run.out.split()), r"MPI transfers .*a trial process sent it to itself correctly")
        self.assertEqual(self.trial(first)["found"], self.trial(second)["found"])
        self.assertEqual(len(self.answers()), 1)
        shutil.rmtree(self.cache)
        again = self.run_small(ranks=1)
        self.assertIs(self.trial(again)["of_an_earlier_run"], False, str(again))

    def assert_saved(self, run, outcome, reason):
        """The run passed without strategies that give kernel memory to MPI, and says why."""
        report = self.report(run)
        transfers = report["machine"]["mpi_transfers"]
        # If kernels run on the host, staged messages use the same kind of memory.
        handed = ("device-",) if transfers["memory"] == "device" else ("device-", "host-")
        candidates = {c["strategy"]: c for c in report["orders"][0]["tuning"]["candidates"]}
        if transfers["memory"] == "host" and not candidates["peer-memory"]["available"]:
            self.skipTest("there is no way but MPI: " + candidates["peer-memory"]["failure"])
        self.assert_passed(run)
        self.assertEqual(transfers["trial"]["outcome"], outcome, str(run))
        self.assertEqual(transfers["tried"], [], str(run))
        self.assertRegex(transfers["not_tried"], reason)
        for name, c in candidates.items():
            if name.startswith(handed):
                self.assertFalse(c["available"], f"{c}{run}")
                self.assertRegex(c["failure"], reason)
            else:
                self.assertNotRegex(c["failure"] or "", reason)
        printed = " ".join(run.out.split())
        self.assertRegex(printed, rf"MPI transfers \w+ memory not tried, as .*{reason}")
        self.assertRegex(printed, rf"not here: device-pairwise,.*?: \w.*{reason}")

    def test_an_mpi_that_crashes_costs_no_run(self):
        folder = self.new_folder()
        reason = (r"MPI cannot send \w+ memory \(trial process on \S+: crashed by SIGSEGV, at a message of 64.00 KiB "
                  r"at offset 0 B\)")
        first, second = self.run_small("crash-64k", folder), self.run_small("crash-64k", folder)
        self.assert_saved(first, "crashed", reason)
        self.assert_saved(second, "crashed", reason)
        self.assertRegex(" ".join(first.out.split()), "found by a trial process before the run; it took ")
        self.assertRegex(" ".join(second.out.split()), "found 20.*to try again, run nekbone-k doctor")

    def test_an_mpi_that_hangs_costs_no_run(self):
        os.environ["NEKBONE_K_MPI_TRIAL_SECONDS"] = "6"
        self.assert_saved(self.run_small("hang-64k"), "hung",
                          r"trial process on \S+: did not end within 6 s, at a message of 64.00 KiB")

    def test_an_mpi_that_is_wrong_costs_no_run(self):
        self.assert_saved(self.run_small("shift-64k"), "wrong",
                          r"MPI corrupts messages from \w+ memory \(trial process on \S+: 64.00 KiB at offset 0 B: ")

    def test_an_mpi_that_is_not_gpu_aware_costs_no_run(self):
        """With the default settings of a user."""
        del os.environ["NEKBONE_K_MPI_TRIAL"]
        healthy = self.run_small()
        self.assert_passed(healthy)
        if self.report(healthy)["machine"]["mpi_transfers"]["memory"] != "device":
            self.skipTest("kernels run on the host, whose memory every MPI can read")
        self.assertEqual(self.trial(healthy)["outcome"], "right", str(healthy))
        folder = self.new_folder()
        for _ in range(2):
            self.assert_saved(self.run_small("crash-device", folder), "crashed",
                              "MPI cannot send device memory .* crashed by SIGSEGV")

    def test_where_no_singleton_can_be_started_the_run_goes_on(self):
        run = self.run_small("no-singleton")
        self.assert_passed(run)
        self.assertEqual(self.trial(run)["outcome"], "not_started", str(run))
        self.assertNotEqual(self.report(run)["machine"]["mpi_transfers"]["tried"], [], str(run))
        self.assertIn("the trial process could not start on", " ".join(run.out.split()))

    def test_without_a_word_of_the_launcher_one_process_tries(self):
        folder = self.new_folder()
        *launcher, program = self.command(2)
        unset = [word for name in PLACES for word in ("-u", name)]
        run = self.run_command([*launcher, "env", *unset, program, "smoke.yaml", *small(**QUICK)], folder)
        self.assert_passed(run)
        self.assertEqual(self.trial(run)["outcome"], "right", str(run))
        self.assertEqual(len(self.answers()), 1, str(run))

    def test_is_not_made_where_nothing_is_sent(self):
        commands = [["--help"], ["--version"], ["--list-strategies"], ["--list-keys"], ["--help", "orders"],
                    ["smoke.yaml", "--dry-run"], ["smoke.yaml", "--no"], [], ["doctor", "--help"],
                    ["doctor", "more"], ["smoke.yaml", "--report"]]
        for run in harness.side_by_side([lambda words=words: self.run_program(0, *words) for words in commands]):
            self.assertIn(run.code, (0, 2), str(run))
        self.assertEqual(self.answers(), [])

    def test_is_not_made_by_default_on_the_host_nor_where_it_is_forbidden(self):
        for value in (None, "never"):
            if value is None:
                del os.environ["NEKBONE_K_MPI_TRIAL"]
            else:
                os.environ["NEKBONE_K_MPI_TRIAL"] = value
            run = self.run_small(ranks=1)
            self.assert_passed(run)
            on_host = self.report(run)["machine"]["mpi_transfers"]["memory"] == "host"
            if value == "never" or on_host:
                trial = self.trial(run)
                self.assertEqual((trial["outcome"], trial["found"], trial["file"]), ("not_tried", None, None), str(run))
                self.assertRegex(trial["what"], "never" if value else "host", str(run))
                self.assertNotIn("trial process", run.out, str(run))

    def test_settings_that_cannot_be_used_are_refused(self):
        for name, value in (("NEKBONE_K_MPI_TRIAL", "yes"), ("NEKBONE_K_MPI_TRIAL_SECONDS", "0")):
            with unittest.mock.patch.dict(os.environ, {name: value}):
                words = [["smoke.yaml"], ["smoke.yaml", "--dry-run"], ["doctor"]]
                for run in harness.side_by_side([lambda w=w: self.run_program(2, *w) for w in words]):
                    self.assertEqual(run.code, 2, str(run))
                    [message] = run.messages()
                    self.assertIn(f"{name} is '{value}'; it must be", message)
                    self.assertEqual(run.out, "")
        self.assertEqual(self.answers(), [])

    def test_a_cache_that_cannot_be_used_costs_a_trial(self):
        folder = self.new_folder()
        (self.cache / "file").write_text("")
        with unittest.mock.patch.dict(os.environ, NEKBONE_K_CACHE=str(self.cache / "file" / "folder")):
            run = self.run_program(1, "smoke.yaml", *small(**QUICK), folder=folder)
        self.assert_passed(run)
        self.assertEqual((self.trial(run)["outcome"], self.trial(run)["file"]), ("right", None), str(run))
        (self.cache / "mpi-trials.json").write_text("{ not json")
        run = self.run_program(1, "smoke.yaml", *small(**QUICK), folder=folder)
        self.assert_passed(run)
        self.assertEqual(self.trial(run)["outcome"], "right", str(run))
        self.assertEqual(len(self.answers()), 1)

    def test_doctor_tries_anew_and_survives(self):
        folder = self.new_folder()
        self.assertEqual(self.trial(self.run_small("crash-64k", folder))["outcome"], "crashed")
        (folder / "report.json").unlink()
        [before] = self.answers()
        time.sleep(1.1)  # so that the time in the answer differs
        run = self.run_faulty("crash-64k", 2, "doctor", folder=folder)
        self.assertEqual(run.code, 1, str(run))
        self.assert_readable(run)
        self.assert_no_traces(run)
        self.assert_files(run)
        self.assert_nothing_left(folder)
        self.assertRegex(run.out, r"(?m)^  not tried: +MPI cannot send")
        self.assertRegex(run.out, r"(?m)^  device-pairwise +not here: MPI cannot send")
        self.assertRegex(run.out.split("-- What is likely wrong ")[1], r"\n  1\. MPI cannot send \w+ memory \(trial")
        [after] = self.answers()
        self.assertNotEqual(before["found"], after["found"])
        run = self.run_program(2, "doctor", folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"(?m)^  before +a trial process sent it to itself correctly", str(run))

    def test_a_signal_ends_the_run_and_the_trial(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            folder = self.new_folder()
            process = self.start(self.faulty_command("hang-64k", 0, "smoke.yaml"), folder)
            self.assertTrue(harness.wait_until(lambda: trial_processes(folder), 30), "no trial process")
            time.sleep(0.3)  # until MPI has started there
            process.send_signal(number)
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                self.fail("still runs")
            self.assertEqual(process.returncode, -number)
            self.assert_nothing_left(folder)
            self.assert_files(harness.Run([], folder, None, "", ""))
        self.assertEqual(self.answers(), [])

    def test_a_run_that_is_killed_takes_the_trial_with_it(self):
        folder = self.new_folder()
        process = self.start(self.faulty_command("hang-64k", 0, "smoke.yaml"), folder)
        self.assertTrue(harness.wait_until(lambda: trial_processes(folder), 30), "no trial process")
        process.kill()
        process.communicate()
        self.assertTrue(harness.wait_until(lambda: not trial_processes(folder), 10), "the trial process lives on")


if __name__ == "__main__":
    harness.main()
