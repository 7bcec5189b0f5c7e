#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An MPI with one broken call: faults that a run survives, and strategies that the next run skips."""

import json
import os
import re
import shlex
import signal
import subprocess
import unittest.mock

import harness
from harness import small

JOURNAL = "nekbone-k-journal.jsonl"
BROKEN = ["device-neighbour", "host-neighbour", "device-neighbour+overlap", "host-neighbour+overlap"]


BEGUN = "was begun and did not end"


def journaled(folder):
    """The lines of a folder's journal: name, and how it ended a run. BEGUN if the journal has only its begin."""
    with open(folder / JOURNAL, encoding="utf-8") as file:
        lines = [(line["strategy"], line["how"]) for line in map(json.loads, file)]
    told = {strategy for strategy, how in lines if how != BEGUN}
    return [(strategy, how) for strategy, how in lines if how != BEGUN or strategy not in told]


class Faults(harness.CliTest):
    """Runs with a broken MPI_Ineighbor_alltoallv and without a trial process."""

    def setUp(self):
        super().setUp()
        never = unittest.mock.patch.dict(os.environ, NEKBONE_K_MPI_TRIAL="never")
        never.start()
        self.addCleanup(never.stop)

    def run_small(self, fault, folder, ranks=2, before=(), **changes):
        """Runs the small case with a fault; empty: without. `before`: see run_faulty()."""
        changes = {"orders": "[2]", "solver__order": "2", "verification__error_bound": "0.5"} | changes
        return self.run_faulty(fault, ranks, "smoke.yaml", *small(**changes), folder=folder, before=before)

    def candidates(self, run):
        """The report's entry of each strategy, by name."""
        [order] = self.report(run)["orders"]
        return {c["strategy"]: c for c in order["tuning"]["candidates"]}

    def assert_broken_alone(self, run, reason):
        """CG used a working strategy and passed, and the tuner excluded only the broken strategies."""
        self.assertEqual(run.code, 1, str(run))
        report = self.report(run)
        self.assertIs(report["solve"]["passed"], True, str(run))
        self.assertNotIn(report["solve"]["strategy"], BROKEN)
        for name, c in self.candidates(run).items():
            self.assertEqual(not c["verified"] and c["available"], name in BROKEN, f"{c}{run}")
            if name in BROKEN:
                self.assertRegex(c["failure"], reason)
        self.assert_files(run, "report.json")

    def test_a_message_that_never_comes_excludes_its_strategy(self):
        run = self.run_small("never", self.new_folder(),
                              gather_scatter__tuning__patience_seconds="0.5")
        self.assert_broken_alone(run, "did not come within 0.5 s")

    def test_wrong_data_excludes_their_strategy(self):
        self.assert_broken_alone(self.run_small("wrong", self.new_folder(), ranks=3), "WRONG")

    def check_next_runs(self, folder, fault, how):
        """Later runs skip the strategies in the journal until it is deleted."""
        self.assertEqual(set(journaled(folder)), {("device-neighbour", how)})
        for _ in range(2):  # host-neighbour is still broken, and the next run tries it
            run = self.run_small(fault, folder, gather_scatter__tuning__patience_seconds="0.5")
            if run.code == 0:
                break
        self.assertEqual(run.code, 0, str(run))
        for name, c in self.candidates(run).items():
            if name in BROKEN:
                self.assertFalse(c["available"], f"{c}{run}")
                self.assertIn(how, c["failure"])
                self.assertIn(f"delete {JOURNAL}", c["failure"])
        self.assertIn("PASS", run.out)
        self.assertRegex(run.out, rf"WARNING +device-neighbour {how} in")
        self.assertIn(f"delete {JOURNAL}", "".join(self.report(run)["warnings"]), str(run))
        os.remove(folder / JOURNAL)
        run = self.run_small("", folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertTrue(all(self.candidates(run)[name]["verified"] for name in BROKEN), str(run))
        self.assertNotIn(JOURNAL, "".join(self.report(run)["warnings"]), str(run))
        self.assert_files(run, "report.json")

    def test_a_call_that_does_not_return_costs_one_run(self):
        folder = self.new_folder()
        run = self.run_small("hang", folder, gather_scatter__tuning__patience_seconds="0.5")
        self.assertEqual(run.code, 4, str(run))
        self.assertEqual(run.err.count("strategy device-neighbour did not return within 2 s"), 1,
                         str(run))
        self.check_next_runs(folder, "hang", "did not return")

    def test_what_is_killed_costs_one_run(self):
        """SIGKILL cannot be handled, but the journal has the strategy that was begun."""
        folder = self.new_folder()
        run = self.run_small("kill", folder)
        self.assertNotEqual(run.code, 0, str(run))
        self.check_next_runs(folder, "kill", BEGUN)

    def test_what_is_killed_in_a_container_costs_one_run(self):
        """The ranks have the same process ids in each run."""
        self.require_containers()
        folder = self.new_folder()
        changes = {"gather_scatter__strategies": "[device-neighbour, host-pairwise]",
                   "before": harness.CONTAINER}
        run = self.run_small("kill", folder, **changes)
        self.assertNotEqual(run.code, 0, str(run))
        self.assertEqual(journaled(folder), [("device-neighbour", BEGUN)])
        run = self.run_small("kill", folder, **changes)
        self.assertEqual(run.code, 0, str(run))
        self.assertIn(BEGUN, self.candidates(run)["device-neighbour"]["failure"])

    def check_another_job(self, before):
        """While a job tries a strategy, other jobs try it, too. Once the job was killed, they skip it."""
        folder = self.new_folder()
        changes = {"orders": "[2]", "solver__order": "2", "verification__error_bound": "0.5",
                   "gather_scatter__strategies": "[device-neighbour, host-pairwise]"}
        # The report needs another name, because a run refuses a report that another run writes.
        command = self.faulty_command("hang", 2, "smoke.yaml", *small(**changes, report__json="other.json"),
                                      before=before)
        other = self.start(command, folder)
        begun = harness.wait_until(lambda: (folder / JOURNAL).exists()
                                   and journaled(folder)[-1:] == [("device-neighbour", BEGUN)], harness.TIMEOUT_S)
        self.assertTrue(begun, f"it began nothing: {command}")
        run = self.run_small("", folder, **changes)
        self.assertEqual(run.code, 0, str(run))
        self.assertTrue(self.candidates(run)["device-neighbour"]["verified"], str(run))
        for rank in harness.ranks_in(folder):
            os.kill(rank, signal.SIGKILL)
        other.communicate(timeout=harness.TIMEOUT_S)
        run = self.run_small("", folder, **changes)
        self.assertEqual(run.code, 0, str(run))
        self.assertIn(BEGUN, self.candidates(run)["device-neighbour"]["failure"], str(run))

    def test_what_another_job_is_trying_excludes_nothing(self):
        self.check_another_job(())

    def test_what_a_job_in_a_container_is_trying_excludes_nothing(self):
        self.require_containers()
        self.check_another_job(harness.CONTAINER)

    def test_a_crash_costs_one_run(self):
        folder = self.new_folder()
        run = self.run_small("crash", folder)
        self.assertNotEqual(run.code, 0, str(run))
        self.check_next_runs(folder, "crash", "crashed")

    def check_late(self, fault, how, code=None, said="", **changes):
        """A strategy that fails after its verification costs one run; the journal then excludes it."""
        folder = self.new_folder()
        run = self.run_small(fault, folder, gather_scatter__strategies="[device-neighbour]",
                             gather_scatter__tuning__patience_seconds="0.5", **changes)
        self.assertNotEqual(run.code, 0, str(run))
        if code is not None:
            self.assertEqual(run.code, code, str(run))
        self.assertIn(said, run.err)
        lines = journaled(folder)
        self.assertIn(("device-neighbour", how), lines)
        run = self.run_small("", folder)
        self.assertEqual(run.code, 0, str(run))
        for name, c in self.candidates(run).items():
            self.assertEqual(how in (c["failure"] or ""), "device-neighbour" in name, f"{c}{run}")
        return lines, self.report(run)

    def test_what_goes_wrong_while_it_is_timed_costs_one_run(self):
        self.check_late("hang@18", "did not return", 4,
                        "strategy device-neighbour did not return within 2 s")
        self.check_late("crash@18", "crashed")
        self.check_late("exit@18", "ended the program")

    def test_what_fails_while_it_is_timed_is_survived(self):
        """The tuner excludes a strategy that throws or times out, and times the others again."""
        for fault, reason in (("refuse@18", r"threw on rank \d: MPI_Ineighbor_alltoallv"),
                              ("never@18", "did not come within 0.5 s")):
            folder = self.new_folder()
            run = self.run_small(fault, folder, gather_scatter__strategies="[device-neighbour, host-pairwise]",
                                 gather_scatter__tuning__patience_seconds="0.5")
            self.assertEqual(run.code, 1, str(run))
            report = self.report(run)
            self.assertIs(report["solve"]["passed"], True, str(run))
            self.assertEqual(report["solve"]["strategy"], "host-pairwise", str(run))
            failure = self.candidates(run)["device-neighbour"]["failure"]
            self.assertRegex(failure, reason + ".*; found while it was timed")
            self.assertFalse((folder / JOURNAL).exists())
            self.assert_files(run, "report.json")

    def test_what_fails_as_the_process_grid_is_measured_is_survived(self):
        """The run then measures the process grid with the next strategy."""
        for fault, reason in (("refuse@16", r"threw on rank \d: MPI_Ineighbor_alltoallv"),
                              ("never@16", "did not come within 0.5 s")):
            folder = self.new_folder()
            run = self.run_small(fault, folder, mesh__elements="[4,4,4]",
                                 gather_scatter__strategies="[device-neighbour, host-pairwise]",
                                 gather_scatter__tuning__patience_seconds="0.5")
            report = self.report(run)
            self.assertIs(report["solve"]["passed"], True, str(run))
            self.assertEqual(report["process_grid"]["strategy"], "host-pairwise", str(run))
            self.assertRegex(self.candidates(run)["device-neighbour"]["failure"], reason)
            self.assertFalse((folder / JOURNAL).exists())

    # Only one strategy, with settings that make every run call MPI the same number of times.
    ALONE = {"gather_scatter__strategies": "[device-neighbour]",
             "gather_scatter__tuning__budget_seconds": "0",
             "gather_scatter__tuning__grid_budget_seconds": "0",
             "gather_scatter__tuning__patience_seconds": "0.5",
             "solver__all_reduce": "host-mpi", "solver__iterations": "30", "solver__tolerance": "0",
             "solver__variant": "classic", "solver__launch": "host"}

    def calls_of(self, **changes):
        run = self.run_small("count", self.new_folder(), **changes)
        self.assertEqual(run.code, 0, str(run))
        [calls] = set(re.findall(r"MPI_Ineighbor_alltoallv: (\d+) calls", run.err))
        return int(calls)

    def test_wrong_data_in_the_solve_fail_the_run(self):
        """A fault in the first exchange is found before CG, a later one by b - Ax or the error."""
        all_calls = self.calls_of(**self.ALONE)
        tuning = self.calls_of(**self.ALONE | {"problem": "none"})
        run = self.run_small(f"wrong@{tuning}", self.new_folder(), **self.ALONE)
        self.assertEqual(run.code, 1, str(run))
        [left_out] = self.report(run)["solve"]["left_out"]
        self.assertEqual(left_out["strategy"], "device-neighbour")
        self.assertIn("WRONG add of double: ", left_out["failure"])
        self.assertRegex(run.out, r"(?m)^  excluded +device-neighbour, which was selected: WRONG add")
        printed = " ".join(run.out.split())
        self.assertIn("CG did not start; run nekbone-k doctor; device-neighbour was right in tuning and WRONG in CG", printed)
        self.assert_files(run, "report.json")
        folder = self.new_folder()
        run = self.run_small(f"refuse@{tuning}", folder, **self.ALONE)
        self.assertEqual(run.code, 4, str(run))
        self.assertIn("device-neighbour, selected for the exchange of CG, failed: threw on rank", run.err)
        self.assertEqual(set(journaled(folder)), {("device-neighbour", "threw")}, str(run))
        run = self.run_small(f"wrong@{all_calls - 5}", self.new_folder(), **self.ALONE)
        self.assertEqual(run.code, 1, str(run))
        self.assertIs(self.report(run)["solve"]["passed"], False, str(run))

    def test_what_goes_wrong_as_the_solve_is_set_up_costs_one_run(self):
        """It fails in an assembly after the exchange was verified with CG's operands."""
        tuning = self.calls_of(**self.ALONE | {"problem": "none"})
        for fault, how, code in (("hang", "did not return", 4), ("crash", "crashed", None)):
            for preconditioner in ("none", "jacobi"):
                folder = self.new_folder()
                run = self.run_small(f"{fault}@{tuning + 1}", folder, **self.ALONE |
                                     {"solver__preconditioner": preconditioner})
                self.assertNotEqual(run.code, 0, str(run))
                if code is not None:
                    self.assertEqual(run.code, code, str(run))
                self.assertEqual(set(journaled(folder)),
                                 {("device-neighbour", how), ("sum host-mpi", how)}, str(run))

    def test_what_goes_wrong_in_the_solve_costs_one_run(self):
        """The all-reduce might be the cause, so later runs skip it, too."""
        changes = {key: value for key, value in self.ALONE.items() if not key.endswith(("strategies", "patience_seconds"))}
        changes |= {"solver__all_reduce": "host-shared", "solver__iterations": "100000"}
        late = self.calls_of(**self.ALONE | {"problem": "none"}) + 1000  # in CG, whose set-up makes some calls
        for fault, how, code, said in (
                ("hang", "did not return", 4,
                 "strategy device-neighbour with the sum host-shared did not return within 2 s"),
                ("crash", "crashed", None, ""),
                ("refuse", "threw", 4, "MPI_Ineighbor_alltoallv")):
            lines, report = self.check_late(f"{fault}@{late}", how, code, said, **changes)
            self.assertIn(("sum host-shared", how), lines)
            sums = {c["all_reduce"]: c for c in report["all_reduce"]["candidates"]}
            self.assertIn(how, sums["host-shared"]["failure"])

    def test_what_goes_wrong_after_the_solve_is_journaled(self):
        """The last exchange fails: in b - Ax or, with deterministic sums, in the comparison with ordinary sums."""
        changes = self.ALONE | {"solver__all_reduce": "host-shared"}
        for deterministic, stage, faults in (
                ("false", "verifying the solution",
                 (("hang", "did not return"), ("crash", "crashed"))),
                ("true", "comparing with ordinary sums",
                 (("hang", "did not return"), ("refuse", "threw")))):
            changes["deterministic"] = deterministic
            calls = self.calls_of(**changes)
            for fault, how in faults:
                folder = self.new_folder()
                run = self.run_small(f"{fault}@{calls - 1}", folder, **changes)
                self.assertNotEqual(run.code, 0, str(run))
                self.assertIn(stage, run.err, str(run))
                self.assertEqual(set(journaled(folder)),
                                 {("device-neighbour", how), ("sum host-shared", how)}, str(run))

    def test_a_sum_that_crashes_costs_one_run(self):
        folder = self.new_folder()
        run = self.run_small("crash-shared", folder)
        self.assertNotEqual(run.code, 0, str(run))
        self.assertEqual({strategy for strategy, _ in journaled(folder)}, {"sum host-shared"})
        run = self.run_small("crash-shared", folder)
        self.assertEqual(run.code, 0, str(run))
        sums = {c["all_reduce"]: c for c in self.report(run)["all_reduce"]["candidates"]}
        self.assertFalse(sums["host-shared"]["available"], str(run))
        self.assertIn("crashed", sums["host-shared"]["failure"])
        self.assertTrue(sums["host-mpi"]["selected"], str(run))

    def test_what_kills_doctor_costs_no_run(self):
        folder = self.new_folder()
        for name in ("device-neighbour", "host-neighbour"):
            run = self.run_faulty("kill", 2, "doctor", folder=folder)
            self.assertNotEqual(run.code, 0, str(run))
            self.assertEqual(journaled(folder)[-1], (name, BEGUN))
        run = self.run_faulty("kill", 2, "doctor", folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"(?m)^  host-neighbour +not here: host-neighbour was begun and")
        self.assertEqual(len(journaled(folder)), 2)
        run = self.run_small("kill", folder)
        self.assertEqual(run.code, 0, str(run))
        for name, c in self.candidates(run).items():
            self.assertEqual("did not end" in (c["failure"] or ""), name in BROKEN, f"{c}{run}")

    def test_doctor_writes_the_journal_that_a_run_reads(self):
        folder = self.new_folder()
        run = self.run_faulty("kill", 2, "doctor", "--journal", "mine.jsonl", folder=folder)
        self.assertNotEqual(run.code, 0, str(run))
        self.assertFalse((folder / JOURNAL).exists())
        run = self.run_small("", folder, gather_scatter__tuning__journal="mine.jsonl")
        self.assertEqual(run.code, 0, str(run))
        self.assertIn(BEGUN, self.candidates(run)["device-neighbour"]["failure"])

    def test_what_does_not_come_back_to_doctor_costs_no_run(self):
        folder = self.new_folder()
        for name in ("device-neighbour", "host-neighbour"):
            run = self.run_faulty("hang", 2, "doctor", "--patience", "0.5", folder=folder)
            self.assertEqual(run.code, 4, str(run))
            self.assertIn(f"strategy {name} did not return within 2 s", run.err)
            self.assertEqual(journaled(folder)[-1], (name, "did not return"))
        run = self.run_faulty("hang", 2, "doctor", "--patience", "0.5", folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"(?m)^  device-neighbour +not here: device-neighbour did not")
        run = self.run_small("hang", folder)
        self.assertEqual(run.code, 0, str(run))

    def test_a_sum_that_kills_doctor_costs_no_run(self):
        folder = self.new_folder()
        run = self.run_faulty("kill-shared", 2, "doctor", folder=folder)
        self.assertNotEqual(run.code, 0, str(run))
        run = self.run_faulty("kill-shared", 2, "doctor", folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"(?m)^  host-shared +not here: sum host-shared was begun and did")
        run = self.run_small("kill-shared", folder)
        self.assertEqual(run.code, 0, str(run))

    def test_doctor_finds_a_strategy_that_is_wrong(self):
        folder = self.new_folder()
        run = self.run_faulty("wrong", 3, "doctor", folder=folder)
        self.assertEqual(run.code, 1, str(run))
        self.assertRegex(run.out, r"(?m)^  device-neighbour +WRONG: ")
        self.assertIn("device-neighbour exchanges wrong data", run.out)
        self.assertFalse((folder / JOURNAL).exists())
        self.assertEqual(self.run_faulty("", 3, "doctor", folder=folder).code, 0)

    def test_transfers_that_the_probe_finds_wrong_stand_in_the_report(self):
        """On a GPU, the run skips strategies with direct messages. On the host, it verifies each strategy anyway."""
        for fault, failure in (("refuse-256k", "MPI_Isend"), ("shift-256k", "byte")):
            run = self.run_small(fault, self.new_folder())
            self.assertEqual(run.code, 0, str(run))
            found = self.report(run)["machine"]["mpi_transfers"]
            for t in found["tried"]:
                if t["message_bytes"] == 256 << 10:
                    self.assertIn(failure, t["failure"] or "", str(run))
                else:
                    self.assertIsNone(t["failure"], str(run))
            self.assertRegex(run.out, r"(?m)^  MPI transfers .*\b\d of \d WRONG")
            for name, c in self.candidates(run).items():
                if found["memory"] == "device" and name.startswith("device-"):
                    self.assertIn("MPI corrupts messages from device memory", c["failure"])

    def test_memory_of_a_rank_in_another_container_is_not_here(self):
        """Containers have equal process ids and descriptors, and a rank cannot open those of another container."""
        self.require_containers()
        *launcher, program = self.command(2)
        version = subprocess.run([*shlex.split(harness.options.mpiexec), "--version"], capture_output=True, check=False)
        if b"Open MPI" not in version.stdout:
            self.skipTest("it is not known how to keep this MPI from sharing memory by itself")
        folder = self.new_folder()
        arguments = small(orders="[2]", solver__order="2", verification__error_bound="0.5",
                          gather_scatter__strategies="[host-pairwise, peer-memory]")
        run = self.run_command([*launcher, *harness.CONTAINER, program, "smoke.yaml", *arguments], folder,
                               env=dict(os.environ, OMPI_MCA_btl="self,tcp"))
        self.assertEqual(run.code, 0, str(run))
        candidates = self.candidates(run)
        self.assertTrue(candidates["host-pairwise"]["verified"], str(run))
        self.assertFalse(candidates["peer-memory"]["available"], str(run))
        if self.report(run)["machine"]["mpi_transfers"]["memory"] != "device":
            self.assertRegex(candidates["peer-memory"]["failure"], "rank .'s memory cannot be opened: .*PID namespaces")
        sums = {c["all_reduce"]: c for c in self.report(run)["all_reduce"]["candidates"]}
        self.assertIn("PID namespaces", sums["host-shared"]["failure"])

    def test_an_mpi_that_is_not_gpu_aware_costs_one_run_without_a_trial(self):
        """MPI crashes on device memory. Later runs try no strategy with direct messages."""
        healthy = self.run_small("", self.new_folder())
        self.assertEqual(healthy.code, 0, str(healthy))
        if self.report(healthy)["machine"]["mpi_transfers"]["memory"] != "device":
            self.skipTest("kernels run on the host, whose memory every MPI can read")
        for first in ("smoke.yaml", "doctor"):
            folder = self.new_folder()
            if first == "doctor":
                run = self.run_faulty("crash-device", 2, "doctor", folder=folder)
            else:
                run = self.run_small("crash-device", folder)
            self.assertNotEqual(run.code, 0, str(run))
            self.assertEqual({name for name, _ in journaled(folder)}, {"path by device messages"})
            run = self.run_small("crash-device", folder)
            self.assertEqual(run.code, 0, str(run))
            self.assertIn("PASS", run.out)
            for name, c in self.candidates(run).items():
                if name.startswith("device-"):
                    self.assertFalse(c["available"], f"{c}{run}")
                    self.assertIn("device messages", c["failure"])

    def test_a_path_that_crashes_costs_one_run_whoever_uses_it(self):
        """MPI_Isend of 64 Ki items ends the process. Only the measurement of a path sends messages of this size."""
        folder = self.new_folder()
        run = self.run_small("crash-64k", folder)
        self.assertNotEqual(run.code, 0, str(run))
        self.assertEqual({strategy for strategy, _ in journaled(folder)}, {"path by host messages"})
        for _ in range(2):  # on a GPU, direct messages are a separate path, which the next run tries
            run = self.run_small("crash-64k", folder)
            if run.code == 0:
                break
        self.assertEqual(run.code, 0, str(run))
        for name, c in self.candidates(run).items():
            crashed = not c["available"] and "messages crashed" in c["failure"]
            self.assertEqual(crashed, name.startswith(("device-", "host-")), f"{c}{run}")
        self.assertNotIn("host messages, within a node", run.out)
        os.remove(folder / JOURNAL)
        run = self.run_small("", folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertIn("host messages, within a node", run.out)

    def test_a_path_that_fails_leaves_its_strategies_without_a_model(self):
        run = self.run_small("refuse-64k", self.new_folder())
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"not known: threw on rank \d: MPI_Isend")
        for name, c in self.candidates(run).items():
            for stage in (c["alone"], c["with_work"]):
                if stage and name.startswith(("device-", "host-")):
                    self.assertIsNone(stage["predicted_s"], str(run))
        self.assert_files(run, "report.json")


if __name__ == "__main__":
    harness.main()
