#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command nekbone-k doctor: its sections, its exit code and its findings."""

import os
import unittest
import unittest.mock

import harness

SECTIONS = ["-- nekbone-k doctor ", "-- Messages by MPI", "-- Paths of the machine", "-- Exchange strategies",
            "-- All-reduces available here", "-- What is likely wrong "]
LABELS = ["build", "Kokkos", "MPI", "ranks", "hosts", "devices", "cores", "shared", "threads",
          "NUMA nodes", "network", "claims", "tried"]


class Doctor(harness.CliTest):
    """Doctor with an MPI that works."""

    def healthy(self, ranks):
        """Runs doctor without faults and checks its output. One rank exchanges nothing, so it does not pass."""
        run = self.run_program(ranks, "doctor")
        self.assertEqual(run.code, 0 if ranks > 1 else 1, str(run))
        self.assert_readable(run)
        self.assert_no_traces(run)
        self.assertEqual(run.messages(), [], str(run))
        self.assert_files(run)
        lines = run.out.splitlines()
        headings = [line for line in lines if line.startswith("-- ")]
        self.assertEqual(len(headings), len(SECTIONS), str(run))
        for heading, section in zip(headings, SECTIONS):
            self.assertTrue(heading.startswith(section), f"{section} is not {heading}{run}")
        for label in LABELS:
            found = [line for line in lines if line.startswith(f"  {label:<13} ")]
            self.assertEqual(len(found), 1, f"lines '{label}'{run}")
        for line in ("device-pairwise", "host-mpi"):
            self.assertRegex(run.out, rf"(?m)^  {line} +yes$", str(run))
        self.assertGreater(len(run.out.split(SECTIONS[-1])[1].splitlines()), 1, str(run))
        return run

    def test_ranks(self):
        for ranks in (2, 3):
            run = self.healthy(ranks)
            self.assertIn(f"  ranks         {ranks} on 1 node\n", run.out, str(run))
            self.assertRegex(run.out, r"\n  found +all \d+ transfers right\n", str(run))
            self.assertRegex(run.out, r"\n    4.000 MiB  at 0 B: \S+ .s ok ", str(run))
            self.assertNotIn("WRONG", run.out, str(run))
            self.assertNotIn("only one rank", run.out, str(run))

    def test_one_rank(self):
        for ranks in (0, 1):
            run = self.healthy(ranks)
            self.assertIn("nothing, as there is only one rank", run.out, str(run))
            self.assertIn("fix: start more: mpirun -np 2 nekbone-k doctor", run.out, str(run))

    def test_foreign_launcher(self):
        with unittest.mock.patch.dict(os.environ, PMI_SIZE="4"):
            run = self.healthy(0)
        self.assertIn("the launcher started 4 processes", run.out, str(run))

    def test_pretended_nodes(self):
        with unittest.mock.patch.dict(os.environ, NEKBONE_K_RANKS_PER_NODE="2"):
            run = self.healthy(3)
        self.assertIn("\n  within a node\n", run.out, str(run))
        self.assertIn("\n  between nodes\n", run.out, str(run))
        self.assertRegex(run.out, r"\n  \d\. NEKBONE_K_RANKS_PER_NODE is 2", str(run))

    @harness.alone
    def test_a_loaded_machine_is_found(self):
        with harness.loaded_machine():
            run = self.healthy(2)
        self.assertRegex(run.out.split(SECTIONS[-1])[1],
                         r"\d\. other\s+processes\s+or\s+another\s+virtual\s+machine\s+used", str(run))

    @unittest.skipIf(os.cpu_count() > 8, "takes more ranks than the machine has cores")
    def test_more_threads_than_cores(self):
        ranks = os.cpu_count() + 1
        run = self.healthy(ranks)
        self.assertRegex(run.out.split(SECTIONS[-1])[1],
                         rf"\d\. \S+ runs {ranks} threads on {ranks - 1}\s+cores", str(run))


class WrongMpi(harness.CliTest):
    """Doctor with an MPI that tests/cli/faulty_mpi.cpp breaks."""

    def run_with(self, how):
        """Runs doctor on two ranks without an MPI trial, with an MPI that fails at 64 KiB."""
        with unittest.mock.patch.dict(os.environ, NEKBONE_K_MPI_TRIAL="never"):
            run = self.run_faulty(how, 2, "doctor")
        self.assert_readable(run)
        self.assertRegex(run.out, r"\n    4.000 KiB  at 0 B: \S+ .s ok ", str(run))
        return run

    def test_right_without_a_fault(self):
        run = self.run_with("")
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"\n  found +all \d+ transfers right\n", str(run))

    def test_wrong_bytes(self):
        run = self.run_with("shift-64k")
        self.assertEqual(run.code, 1, str(run))
        self.assert_no_traces(run)
        self.assertEqual(run.messages(), [], str(run))
        self.assertRegex(run.out, r"\n    64.00 KiB  at 0 B: WRONG +at 8 B: WRONG", str(run))
        self.assertRegex(run.out, r"\n    1.000 MiB  at 0 B: \S+ .s ok ", str(run))
        self.assertRegex(run.out, r"64.00 KiB at 0 B: rank 0:\s", str(run))
        findings = run.out.split(SECTIONS[-1])[1]
        self.assertRegex(findings, r"\n  1\. MPI does not ", str(run))
        self.assertIn("64.00 KiB", findings, str(run))

    def test_refusal(self):
        run = self.run_with("refuse-64k")
        self.assertNotEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"\n    64.00 KiB  at 0 B: WRONG\n", str(run))
        self.assertNotIn("1.000 MiB", run.out, str(run))
        self.assertRegex(run.out, r"rank 0:\s+MPI_Isend\s+failed: ", str(run))
        self.assertRegex(run.out, r"\n  1\. MPI does not ", str(run))

    def test_crash_leaves_what_was_tried_last(self):
        run = self.run_with("crash-64k")
        self.assertNotEqual(run.code, 0, str(run))
        self.assertEqual(run.out.splitlines()[-1].rstrip(), "    64.00 KiB  at 0 B:", str(run))


class CommandLine(harness.CliTest):
    """The command line of doctor."""

    def assert_refused(self, run, *fragments):
        """One message, exit code 2, and no output."""
        self.assertEqual(run.code, 2, str(run))
        self.assertEqual(run.out, "", str(run))
        [message] = run.messages()
        for fragment in fragments:
            self.assertIn(fragment, message, str(run))

    def test_takes_nothing_more(self):
        extras = [["extra"], ["--dry-run"], ["smoke.yaml"], ["--set", "solver.order=3"],
                  ["--patience"], ["--patience", "-1"], ["--patience", "1s"], ["--patience", "1", "more"],
                  ["--journal"], ["--journal", ""]]
        runs = harness.side_by_side([lambda extra=extra: self.run_program(2, "doctor", *extra)
                                     for extra in extras])
        for run, extra in zip(runs, extras):
            self.assert_refused(run, "doctor: takes nothing but --patience SECONDS", f"'{' '.join(extra)}'")

    def test_help(self):
        run = self.run_program(2, "doctor", "--help")
        self.assertEqual(run.code, 0, str(run))
        self.assertEqual(run.out, self.run_program(0, "--help", "doctor").out)
        self.assertTrue(run.out.startswith("Usage: mpirun -np P nekbone-k doctor [--patience SECONDS] [--journal FILE]\n"), str(run))
        self.assertIn("nekbone-k doctor", self.run_program(0, "--help").out)

    def test_bad_environment(self):
        with unittest.mock.patch.dict(os.environ, NEKBONE_K_RANKS_PER_NODE="some"):
            run = self.run_program(2, "doctor")
        self.assert_refused(run, "NEKBONE_K_RANKS_PER_NODE", "'some'")

    def test_input_of_that_name(self):
        folder = self.new_folder()
        (folder / "smoke.yaml").rename(folder / "doctor")
        run = self.run_program(2, "./doctor", "--dry-run", folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertIn("  input         ./doctor\n", run.out, str(run))
        # Without a folder in its name, it is the command, even after options of a run, which doctor rejects.
        self.assert_refused(self.run_program(2, "--dry-run", "doctor", folder=folder),
                            "doctor: takes nothing but", "'--dry-run'", "./doctor")

    def test_no_room_for_the_output(self):
        with open("/dev/full", "wb") as full:
            run = self.run_command(self.command(0, "doctor"), self.new_folder(), stdout=full)
        self.assertEqual(run.code, 4, str(run))
        [message] = run.messages()
        self.assertIn("cannot write all of the output", message, str(run))


if __name__ == "__main__":
    harness.main()
