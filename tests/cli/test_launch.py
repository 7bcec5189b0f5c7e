#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Starting the program: with another MPI's launcher, beside another run, and under system limits."""

import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import unittest
import unittest.mock

import harness
from harness import small

# A solve that runs until it is ended.
ENDLESS = {"solver__tolerance": "0", "solver__iterations": "2000000000",
           "gather_scatter__strategies": "[device-pairwise]"}


def words(text):
    """Text without line breaks, which depend on the length of names."""
    return " ".join(text.split())


class OtherLauncher(harness.CliTest):
    """Processes started by another MPI's launcher are separate jobs and warn about it."""

    WARNING = "the launcher started 2 processes, but each is a job of its own with one rank"

    def test_is_warned_of(self):
        for variables in ({"PMI_SIZE": "2", "PMI_RANK": "1"}, {"SLURM_STEP_NUM_TASKS": "2"}, {"PMIX_RANK": "1"}):
            with self.subTest(variables), unittest.mock.patch.dict(os.environ, variables):
                run = self.run_program(0, "smoke.yaml", *small())
                self.assertEqual(run.code, 0, str(run))
                self.assert_readable(run)
                header, result = words(run.out.split("-- ")[1]), words(run.out.split("-- Result")[1])
                self.assertIn(self.WARNING, header, str(run))
                self.assertIn(self.WARNING, result, str(run))
                self.assertIn("use the launcher of the MPI", header, str(run))
                self.assertTrue(any(self.WARNING in warning for warning in self.report(run)["warnings"]), str(run))
                dry = self.run_program(0, "smoke.yaml", "--dry-run", *small())
                self.assertEqual(dry.code, 0, str(dry))
                self.assertIn(self.WARNING, words(dry.out), str(dry))

    def test_is_none_where_one_agrees_with_mpi(self):
        """The variables belong to a batch system's step, but another launcher started the ranks."""
        for ranks, variables in ((2, {"SLURM_STEP_NUM_TASKS": "4"}),
                                 (0, {"SLURM_STEP_NUM_TASKS": "4", "PMI_SIZE": "1"}), (0, {"SLURM_NTASKS": "4"})):
            with self.subTest(variables), unittest.mock.patch.dict(os.environ, variables):
                run = self.run_program(ranks, "smoke.yaml", "--dry-run", *small())
                self.assertEqual(run.code, 0, str(run))
                self.assertNotIn("the launcher started", words(run.out), str(run))


class SameReport(harness.CliTest):
    """A run refuses a report that another run writes."""

    @contextlib.contextmanager
    def other_run(self, folder):
        """A run on one rank that stays in CG until the context ends."""
        errors = folder.parent / f"{folder.name}.err"
        self.addCleanup(errors.unlink)
        with errors.open("wb") as file:
            process = self.start(self.command(0, "smoke.yaml", *small(**ENDLESS)), folder,
                                 stdout=subprocess.DEVNULL, stderr=file)
        self.assertTrue(harness.wait_until(lambda: ": CG" in errors.read_text() or process.poll() is not None,
                                           harness.TIMEOUT_S), "never came to CG")
        self.assertIsNone(process.poll(), errors.read_text())
        yield process
        process.send_signal(signal.SIGKILL)
        process.wait(harness.TIMEOUT_S)

    def assert_refused(self, run):
        """One message says what to do, before the run does anything."""
        self.assertEqual(run.code, 2, str(run))
        self.assertEqual(run.out, "", str(run))
        self.assert_no_traces(run)
        [message] = run.messages()
        for words_of_it in ("another run is writing the report 'report.json'", "--report"):
            self.assertIn(words_of_it, message, str(run))
        return message

    def test_while_the_other_runs(self):
        folder = self.new_folder()
        (folder / "report.json").write_text("of an earlier run")
        (folder / "link.json").symlink_to("report.json")
        with self.other_run(folder):
            self.assertNotIn("launcher", self.assert_refused(
                self.run_program(2, "smoke.yaml", *small(), folder=folder)))
            self.assert_refused(self.run_program(0, "smoke.yaml", "--dry-run", *small(), folder=folder))
            with unittest.mock.patch.dict(os.environ, PMI_SIZE="2"):
                message = self.assert_refused(self.run_program(0, "smoke.yaml", *small(), folder=folder))
                self.assertIn(OtherLauncher.WARNING, message)
            run = self.run_program(0, "smoke.yaml", *small(report__json="link.json"), folder=folder)
            self.assertEqual(run.code, 2, f"the same file by another name{run}")
            for name in ("other.json", "/dev/null"):
                run = self.run_program(0, "smoke.yaml", *small(report__json=name), folder=folder)
                self.assertEqual(run.code, 0, str(run))
            self.assertEqual((folder / "report.json").read_text(), "of an earlier run")
        # However the other run ended, its lock is gone.
        run = self.run_program(0, "smoke.yaml", *small(), folder=folder)
        self.assertEqual(run.code, 0, str(run))
        (folder / "nekbone-k-journal.jsonl").unlink(missing_ok=True)
        self.assert_files(run, "link.json", "other.json", "report.json")


class AddressSpace(harness.CliTest):
    """The memory check respects limits of a process (ulimit -v), which batch systems set."""

    LIMIT = 2 ** 30
    LARGE = {"mesh__elements": "[32,32,32]", "solver__order": "7", "orders": "[1]"}

    def limited(self, *arguments):
        """Runs the program on one rank in a limited address space."""
        return self.run_command(self.command(0, *arguments), self.new_folder(), preexec_fn=lambda:
                                resource.setrlimit(resource.RLIMIT_AS, (self.LIMIT, self.LIMIT)))

    def setUp(self):
        super().setUp()
        if self.limited("smoke.yaml", "--dry-run", *small()).code != 0:
            self.skipTest("this build (sanitizers?) does not start in 1 GiB of address space")

    def test_a_small_case_runs(self):
        run = self.limited("smoke.yaml", *small())
        self.assertEqual(run.code, 0, str(run))
        self.assertIs(self.report(run)["passed"], True, str(run))

    def test_what_does_not_fit_is_refused_before(self):
        """A run and a dry run refuse alike, and the case that they suggest fits."""
        for more in ([], ["--dry-run"]):
            run = self.limited("smoke.yaml", *more, *small(**self.LARGE))
            self.assertEqual(run.code, 3, str(run))
            self.assert_no_traces(run)
            self.assert_files(run)
            [message] = run.messages()
            self.assertRegex(message, r"needs about \S+ .iB more per rank, but its limit \(ulimit -v\) leaves", str(run))
            self.assertIn("raise the limit (ulimit -v unlimited", message, str(run))
            advice = re.search(r"mesh\.elements (\[[0-9, ]+\])", message)
            self.assertTrue(advice, f"nothing that would fit{run}")
        run = self.limited("smoke.yaml", *small(**self.LARGE | {
            "mesh__elements": advice[1], "solver__iterations": "2", "solver__tolerance": "0",
            "verification__error_bound": "1e9"}))
        self.assertEqual(run.code, 0, f"what was said to fit does not{run}")

    def test_a_limit_that_leaves_plenty_changes_nothing(self):
        run = self.run_command(self.command(0, "smoke.yaml", "--dry-run", *small(**self.LARGE)), self.new_folder(),
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 ** 40, 2 ** 40)))
        self.assertEqual(run.code, 0, str(run))
        self.assertIn("left by ulimit -v", words(run.out), str(run))


class CpuQuota(harness.CliTest):
    """A control group's CPU quota, which the affinity mask does not show."""

    @contextlib.contextmanager
    def group_of_one_cpu(self):
        """The file by which a process joins a control group with a quota of one CPU."""
        v1, v2 = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
        group = (v1 if v1.is_dir() else v2) / f"nekbone-k-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no control group can be made: {error}")
        self.addCleanup(lambda: harness.wait_until(lambda: self.is_gone(group), 10))
        try:
            if v1.is_dir():
                (group / "cpu.cfs_period_us").write_text("100000")
                (group / "cpu.cfs_quota_us").write_text("100000")
            else:
                (group / "cpu.max").write_text("100000 100000")
        except OSError as error:
            self.skipTest(f"no quota can be set: {error}")
        yield group / "cgroup.procs"

    @staticmethod
    def is_gone(group):
        """Removes a control group. Returns whether that worked: it needs all processes to have ended."""
        with contextlib.suppress(OSError):
            group.rmdir()
        return not group.exists()

    def test_is_warned_of(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one core")
        warning = r"2 ranks on \S+ share a quota of 1 CPU's worth of time \(control group\), but run 2 threads"
        with self.group_of_one_cpu() as members:
            def join():
                members.write_text(str(os.getpid()))
            run = self.run_command(self.command(2, "smoke.yaml", *small()), self.new_folder(), preexec_fn=join)
            doctor = self.run_command(self.command(2, "doctor"), self.new_folder(), preexec_fn=join)
        self.assertEqual(run.code, 0, str(run))
        self.assert_readable(run)
        self.assertRegex(words(run.out), warning, str(run))
        self.assertRegex(run.out, r"(?m)^  CPU quota +ranks 0-1: 1 CPU's worth of time")
        report = self.report(run)
        self.assertEqual(report["machine"]["cpu_quota"], [1, 1])
        self.assertRegex(" ".join(report["machine"]["warnings"]), warning)
        self.assertEqual(doctor.code, 0, str(doctor))
        self.assertRegex(words(doctor.out.split("-- What is likely wrong")[1]), warning, str(doctor))

    def test_is_none_elsewhere(self):
        self.assertEqual(len(self.report(self.run_program(2, "smoke.yaml", *small()))["machine"]["cpu_quota"]), 2)


if __name__ == "__main__":
    harness.main()
