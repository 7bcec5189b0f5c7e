#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flows: their results, their files, and their failures."""

import copy
import csv
import math
import os
import re
import shutil
import signal
import struct

import harness

import check_schema

END = 0.1
VISCOSITY = 0.05
# The ABC flow, carried along, on a box of size 2 pi. All builds compile order 3.
FLOW = harness.SMALL | {
    "problem": "flow",
    "mesh.epsilon": "0.05",
    "solver.order": "3",
    "solver.all_reduce": "[host-mpi]",
    "solver.multigrid.orders": "[3,1]",
    "solver.multigrid.smoother": "jacobi",
    "solver.multigrid.polynomial": "chebyshev-4",
    "solver.multigrid.degree": "2",
    "solver.multigrid.precision": "double",
    "flow.initial": "abc",
    "flow.translation": "[1,0.5,0.25]",
    "flow.viscosity": str(VISCOSITY),
    "flow.dt": "0.02",
    "flow.end_time": str(END),
    "flow.series": "flow.csv",
    "flow.series_every": "1",
    "gather_scatter.strategies": "[device-pairwise]",
}
# Short steps at the beginning, which take the place of two.
SHORT = 19
PROGRESS = harness.MESSAGE + "order 3: time steps"


def arguments(**changes):
    """The command line of FLOW with changes: section__key=value."""
    return ["smoke.yaml",
            *harness.settings(FLOW | {key.replace("__", "."): value for key, value in changes.items()})]


def exact_enstrophy(time):
    """The mean enstrophy of the ABC flow of size 1 in a box of size 2 pi, where its curl is itself."""
    return 1.5 * math.exp(-2 * VISCOSITY * time)


def reference(factor=1.0, begin=0.0):
    """The text of a reference file with a multiple of the exact enstrophy."""
    times = [begin + 0.02 * i for i in range(10)]
    return "# time, energy, dissipation, enstrophy\n" + "".join(
        f"{t}, 0, 0, {factor * exact_enstrophy(t)!r}\n" for t in times)


def with_last_values(hdf5, count, value):
    """The bytes of an HDF5 file after changing the last value of every array of `count` doubles."""
    # A header of an array has the version and class of its layout (3, contiguous), its place and its size.
    header = re.compile(rb"\x03\x01(.{8})" + re.escape(struct.pack("<Q", 8 * count)), re.DOTALL)
    changed = bytearray(hdf5)
    places = [struct.unpack("<Q", found[1])[0] for found in header.finditer(hdf5)]
    assert places, f"no array of {count} doubles"
    for place in places:
        struct.pack_into("<d", changed, place + 8 * (count - 1), value)
    return bytes(changed)


class FlowTest(harness.CliTest):
    """Runs a small flow."""

    def flow(self, ranks, folder=None, options=(), **changes):
        """Runs FLOW with changes."""
        return self.run_program(ranks, *arguments(**changes), *options, folder=folder)

    def folder_with(self, **files):
        """A folder to run in, with these files: name=text, without .csv or .txt."""
        folder = self.new_folder()
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
        return folder

    def rows(self, run):
        """The rows of the series, as numbers by column; empty cells are left out."""
        with open(run.folder / "flow.csv", encoding="utf-8", newline="") as file:
            return [{name: float(cell) for name, cell in row.items() if cell} for row in csv.DictReader(file)]

    def check_passed(self, run):
        """Checks a run that passed. Returns its flow in the report, and the rows of its series."""
        self.assertEqual(run.code, 0, str(run))
        self.assert_readable(run)
        self.assert_no_traces(run)
        report, rows = self.report(run), self.rows(run)
        flow = report["flow"]
        self.assertIs(report["passed"], True, str(run))
        self.assertIs(flow["passed"], True, str(run))
        self.assertIsNone(report["solve"], str(run))
        self.assertEqual([order["tuning"]["components"] for order in report["orders"]], [3, 1], str(run))
        self.assertEqual(run.out.count("\n  PASS "), 2, str(run))
        self.assertEqual((flow["order"], flow["vector_strategy"], flow["scalar_strategy"], flow["all_reduce"]),
                         (3, "device-pairwise", "device-pairwise", "host-mpi"))
        # The report has the rows of the file.
        self.assertEqual(len(flow["series"]), len(rows))
        for kept, row in zip(flow["series"], rows):
            for name in ("step", "time", "energy", "enstrophy", "cfl", "pressure_iterations"):
                self.assertAlmostEqual(kept[name], row[name], delta=1e-5 * abs(row[name]) + 1e-5, msg=name)
        self.assertEqual(rows[-1]["step"], flow["steps"])
        self.assertEqual(flow["counted_steps"], flow["steps"] - flow["steps"] // 2)
        self.assertAlmostEqual(flow["point_steps_per_s"] * flow["step_s"] / flow["total_dofs"], 1, 9)
        return flow, rows

    def assert_refused(self, run, code, *parts):
        """The run ended before it measured anything, with one message that has these parts."""
        self.assertEqual(run.code, code, str(run))
        self.assertEqual(run.out, "", str(run))
        self.assertEqual(len(run.messages()), 1, str(run))
        for part in parts:
            self.assertIn(part, run.messages()[0], str(run))
        self.assert_no_traces(run)

    def assert_flow_failed(self, run, *parts):
        """The run failed because of its flow, with a verdict that has these parts. Returns the flow."""
        self.assertEqual(run.code, 1, str(run))
        self.assert_readable(run)
        self.assert_no_traces(run)
        self.assertNotIn("\n  PASS ", run.out, str(run))
        self.assertEqual(run.out.count("\n  FAIL "), 2, str(run))
        report = self.report(run)
        self.assertIs(report["passed"], False, str(run))
        self.assertIs(report["flow"]["passed"], False, str(run))
        for part in parts:
            self.assertIn(part, report["flow"]["verdict"], str(run))
        # Progress, and nothing else.
        self.assertTrue(run.messages()[-1].startswith(PROGRESS), str(run))
        return report["flow"]


class Checkpoints(FlowTest):
    """Flows that go on from a checkpoint."""

    SERIES = ("step", "time", "dt", "energy", "enstrophy", "energy_loss", "max_divergence", "pressure_iterations",
              "velocity_iterations")

    def setUp(self):
        super().setUp()
        run = self.flow(1, options=["--dry-run"], checkpoint__every="1")
        if "no parallel HDF5" in run.err:
            self.skipTest("this build has no HDF5")

    def assert_same_series(self, run, other, exactly):
        """The rows of two runs agree, times of the clock left out."""
        rows, others = self.rows(run), self.rows(other)
        self.assertEqual(len(rows), len(others), str(run))
        for row, its_other in zip(rows, others):
            for name in self.SERIES:
                if exactly:
                    self.assertEqual(row[name], its_other[name], name)
                else:
                    self.assertAlmostEqual(row[name], its_other[name], delta=1e-12, msg=name)

    def restarted(self, run, ranks, **changes):
        """A run from the checkpoint of another, in a folder with its files."""
        folder = self.new_folder()
        for name in ("flow.csv", "nekbone-k-checkpoint.h5"):
            shutil.copy(run.folder / name, folder / name)
        return self.flow(ranks, folder, ["--restart", "nekbone-k-checkpoint.h5"], **changes)

    def test_a_restart_has_the_same_bits(self):
        for step in (5, SHORT + 1):  # among the short ones, and after them
            # Two runs may select different process grids, whose sums differ; the restart keeps the first's.
            whole = self.flow(2, checkpoint__every="100", mesh__partition="bisection")
            self.check_passed(whole)
            first = self.flow(2, checkpoint__every=str(step), flow__end_time="0.06", mesh__partition="bisection")
            self.check_passed(first)
            self.assertEqual(self.report(first)["flow"]["checkpoints"]["written"], (SHORT + 1) // step)
            # With end_time 0.06 the flow ends at step SHORT + 1, and that is the last checkpoint.
            second = self.restarted(first, 2)
            self.assertEqual(second.code, 0, str(second))
            self.assert_same_series(second, whole, exactly=True)
            flow = self.report(second)["flow"]
            self.assertEqual(flow["restart"]["step"], SHORT + 1)
            self.assertEqual(flow["steps"], 2)
            self.assertEqual(self.report(second)["process_grid"]["selected"],
                             self.report(first)["process_grid"]["selected"])

    def test_a_deterministic_restart_has_the_same_bits_on_any_ranks(self):
        whole = self.flow(0, deterministic="true")
        first = self.flow(3, deterministic="true", checkpoint__every="7", flow__end_time="0.06")
        self.check_passed(first)
        for ranks in (1, 2):
            second = self.restarted(first, ranks, deterministic="true")
            self.assertEqual(second.code, 0, str(second))
            self.assertEqual(self.report(second)["flow"]["checksum"], self.report(whole)["flow"]["checksum"])

    def test_a_restart_goes_on_with_a_cfl_number(self):
        changes = {"flow__cfl": "0.2", "flow__dt": "0.05", "flow__steps": "6"}
        whole = self.flow(1, **changes)
        first = self.flow(1, checkpoint__every="1000", **(changes | {"flow__steps": "3"}))
        second = self.restarted(first, 1, **changes)
        for run in (whole, first, second):
            self.assertEqual(run.code, 0, str(run))
        self.assert_same_series(second, whole, exactly=True)

    def test_a_restart_with_another_step_ends_at_the_end_time(self):
        first = self.flow(1, checkpoint__every="1000")
        self.check_passed(first)
        for changes, steps in (({"flow__dt": "0.04"}, 5), ({"flow__dt": "0.015"}, 14), ({"flow__cfl": "0.05"}, None)):
            run = self.restarted(first, 1, flow__end_time="0.3", **changes)
            self.assertEqual(run.code, 0, str(run))
            self.assertAlmostEqual(self.rows(run)[-1]["time"], 0.3, delta=1e-9)
            if steps:
                self.assertEqual(self.report(run)["flow"]["steps"], steps, str(run))
                self.assertEqual(self.report(run)["flow"]["tuning"]["expected_steps"], steps, str(run))

    def test_the_short_steps_keep_their_length(self):
        first = self.flow(1, checkpoint__before_walltime="0.001")
        self.assertEqual(first.code, 5, str(first))
        self.assertLess(self.report(first)["flow"]["checkpoints"]["step"], SHORT)
        self.assert_refused(self.restarted(first, 1, flow__dt="0.01"), 2, "was written among the short steps at the "
                            "beginning, with flow.dt 0.02, and the input has 0.01")
        second = self.restarted(first, 1, flow__end_time="0.2")
        self.assertEqual(second.code, 0, str(second))
        self.assertAlmostEqual(self.rows(second)[-1]["time"], 0.2, delta=1e-9)

    def test_a_restart_has_the_reference_of_its_own_input(self):
        wrong = self.folder_with(a__txt=reference(2))
        first = self.flow(1, wrong, checkpoint__every="1000", verification__reference="a.txt",
                          verification__error_bound="1")
        self.check_passed(first)
        (wrong / "exact.txt").write_text(reference(), encoding="utf-8")
        for changes, kept in (({}, 0), ({"verification__reference": str(wrong / "exact.txt")}, 6)):
            run = self.restarted(first, 1, flow__end_time="0.14", **changes)
            self.assertEqual(run.code, 0, str(run))
            flow = self.report(run)["flow"]
            self.assertEqual(flow["reference_difference"] is not None, bool(kept), str(run))
            found = [row["reference_enstrophy"] for row in flow["series"] if row["reference_enstrophy"] is not None]
            self.assertEqual(len(found), kept, str(run))
            for row in flow["series"][:kept]:
                self.assertAlmostEqual(row["reference_enstrophy"], exact_enstrophy(row["time"]), delta=1e-6)

    def test_a_restart_of_another_fluid_has_no_exact_solution(self):
        first = self.flow(1, checkpoint__every="1000")
        self.assertIsNotNone(self.check_passed(first)[0]["relative_l2_error"])
        same = self.restarted(first, 1, flow__end_time="0.14")
        self.assertIsNotNone(self.report(same)["flow"]["relative_l2_error"], str(same))
        for changes in ({"flow__viscosity": "0.1"}, {"flow__forcing": "[1,0,0]"}):
            second = self.restarted(first, 1, flow__end_time="0.14", checkpoint__every="1000", **changes)
            # The third has the input of the first, but not its flow.
            for run in (second, self.restarted(second, 1, flow__end_time="0.18")):
                self.assertEqual(run.code, 0, str(run))
                self.assertIsNone(self.report(run)["flow"]["relative_l2_error"], str(run))

    def test_a_restart_needs_no_strategy_of_the_earlier_run(self):
        first = self.flow(2, checkpoint__every="1000")
        self.check_passed(first)
        file = first.folder / "nekbone-k-checkpoint.h5"
        # As if another build had written it.
        file.write_bytes(file.read_bytes().replace(b"device-pairwise", b"device-elsewise")
                         .replace(b"host-mpi", b"host-xyz"))
        second = self.restarted(first, 2, flow__end_time="0.14")
        self.assertEqual(second.code, 0, str(second))
        self.assertEqual(self.report(second)["flow"]["restart"]["step"], SHORT + 3)

    def test_a_flow_begins_with_the_velocity_of_a_file(self):
        first = self.flow(2, checkpoint__every="100", flow__translation="0")
        self.check_passed(first)
        last = self.rows(first)[-1]
        # Any number of ranks, and other orders; the velocity of a translation is added.
        cases = [(1, {}, 1e-12), (3, {}, 1e-12), (2, {"solver__order": "7", "solver__multigrid__orders": "[7,3,1]"}, 1e-3),
                 (2, {"solver__order": "2", "solver__multigrid__orders": "[2,1]"}, 0.05)]
        for ranks, changes, delta in cases:
            for moves in (0, 1):
                folder = self.new_folder()
                shutil.copy(first.folder / "nekbone-k-checkpoint.h5", folder / "begin.h5")
                run = self.flow(ranks, folder, flow__initial="begin.h5", flow__steps="1", flow__viscosity="0.01",
                                flow__translation=f"[{moves},0,0]", **changes)
                self.assertEqual(run.code, 0, str(run))
                row = self.rows(run)[0]
                self.assertEqual((row["step"], row["time"]), (0, 0))
                self.assertAlmostEqual(row["energy"] / (last["energy"] + moves / 2), 1, delta=max(delta, 1e-3 * moves))
                self.assertAlmostEqual(row["enstrophy"] / last["enstrophy"], 1, delta=10 * delta)
                self.assertAlmostEqual(row["mean_u"], moves, delta=1e-3)
                self.assertIsNone(self.report(run)["flow"]["relative_l2_error"])
                self.assertEqual(self.report(run)["input"]["flow"]["initial"], "begin.h5")

    def test_a_file_without_a_fitting_velocity_is_refused(self):
        first = self.flow(1, checkpoint__every="100", flow__steps="1")
        self.assertEqual(first.code, 0, str(first))
        cases = [({}, "missing.h5", ["flow.initial: 'missing.h5' does not exist", "give a checkpoint"]),
                 ({}, ".", ["flow.initial: '.' is a folder, not an HDF5 file"]),
                 ({}, "text.h5", ["flow.initial: 'text.h5' cannot be read as HDF5"]),
                 ({"mesh__elements": "[3,3,4]"}, "begin.h5",
                  ["flow.initial: 'begin.h5' has an array 'velocity/0' of shape (3, ",
                   "expected: (3, 4, 3, 3, n, n, n)"])]
        for changes, name, parts in cases:
            for ranks in (0, 3):
                folder = self.folder_with(text__h5="no HDF5\n")
                shutil.copy(first.folder / "nekbone-k-checkpoint.h5", folder / "begin.h5")
                run = self.flow(ranks, folder, flow__initial=name, **changes)
                self.assertEqual((run.code, run.out), (2, ""), str(run))
                self.assertEqual(len(run.messages()), 1, str(run))
                for part in parts:
                    self.assertIn(part, run.messages()[0], str(run))

    def test_a_velocity_that_is_not_finite_is_refused(self):
        first = self.flow(1, checkpoint__every="100", flow__steps="1")
        self.assertEqual(first.code, 0, str(first))
        good = (first.folder / "nekbone-k-checkpoint.h5").read_bytes()
        for ranks, value in ((0, math.nan), (3, math.inf)):
            folder = self.new_folder()
            # Only the last rank reads the last value.
            (folder / "bad.h5").write_bytes(with_last_values(good, 3 * 27 * 4**3, value))
            run = self.flow(ranks, folder, flow__initial="bad.h5")
            self.assertEqual(run.code, 2, str(run))
            self.assert_no_traces(run)
            self.assertNotIn("\n  PASS ", run.out, str(run))
            # The others are of progress: ranks read the values after tuning.
            errors = [message for message in run.messages() if "bad.h5" in message]
            self.assertEqual(len(errors), 1, str(run))
            self.assertEqual(errors[0], run.messages()[-1], str(run))
            self.assertIn("flow.initial: 'bad.h5' has a value that is not finite in component 3 of the array "
                          "'velocity/0'", errors[0], str(run))
            # The next run must not skip the strategies that were in use.
            self.assertFalse((folder / "nekbone-k-journal.jsonl").exists(), str(run))

            # A restart reads velocities, too.
            run = self.flow(ranks, folder, ["--restart", "bad.h5"], flow__steps="2")
            self.assertEqual(run.code, 2, str(run))
            errors = [message for message in run.messages() if "bad.h5" in message]
            self.assertEqual(len(errors), 1, str(run))
            self.assertRegex(errors[0], r"--restart: 'bad.h5' has invalid numbers 'velocity/\d'; give an earlier")
            self.assertFalse((folder / "nekbone-k-journal.jsonl").exists(), str(run))

    def test_a_signal_stops_the_run_with_a_checkpoint(self):
        for number in (signal.SIGUSR1, signal.SIGTERM):
            folder = self.new_folder()
            command = self.command(2, *arguments(checkpoint__every="100000", flow__steps="100000"))
            process = self.start(command, folder)
            series = folder / "flow.csv"
            self.assertTrue(harness.wait_until(lambda series=series: series.is_file() and series.read_text().count("\n") > 2,
                                               harness.TIMEOUT_S), "no rows")
            # Schedulers signal all ranks; one that hears it is enough.
            os.kill(harness.ranks_in(folder)[1], number)
            out, err = process.communicate(timeout=harness.TIMEOUT_S)
            run = harness.Run(command, folder, process.returncode, harness.decoded(out), harness.decoded(err))
            self.assertEqual(run.code, 5, str(run))
            flow = self.report(run)["flow"]
            self.assertEqual(flow["stopped"], f"stopped by {number.name}", str(run))
            self.assertIs(self.report(run)["complete"], False)
            self.assertEqual(run.out.count("\n  STOPPED "), 2, str(run))
            step = flow["checkpoints"]["step"]
            second = self.restarted(run, 2, flow__steps=str(step - SHORT + 2))
            self.check_passed_restart(second, step + 2)

    def test_the_wall_time_stops_the_run_with_a_checkpoint(self):
        run = self.flow(1, flow__steps="100000", checkpoint__before_walltime="4")
        self.assertEqual(run.code, 5, str(run))
        flow = self.report(run)["flow"]
        self.assertIn("stopped before 4", flow["stopped"])
        self.assertEqual(flow["checkpoints"]["written"], 1)
        step = flow["checkpoints"]["step"]
        second = self.restarted(run, 1, flow__steps=str(step - SHORT + 2))
        self.check_passed_restart(second, step + 2)

    def check_passed_restart(self, run, last_step):
        self.assertEqual(run.code, 0, str(run))
        self.assertEqual(self.rows(run)[-1]["step"], last_step)
        steps = [row["step"] for row in self.rows(run)]
        self.assertEqual(steps, sorted(set(steps)))

    def test_a_checkpoint_that_cannot_be_used(self):
        first = self.flow(2, checkpoint__every="1000")
        whole = (first.folder / "nekbone-k-checkpoint.h5").read_bytes()
        folder = self.new_folder()
        (folder / "whole.h5").write_bytes(whole)
        (folder / "half.h5").write_bytes(whole[:len(whole) // 2])
        (folder / "text.h5").write_text("u v w\n", encoding="utf-8")
        for name, changes, parts in (
                ("half.h5", {}, ["'half.h5' cannot be read as HDF5"]),
                ("text.h5", {}, ["'text.h5' cannot be read as HDF5"]),
                ("missing.h5", {}, ["'missing.h5' does not exist"]),
                (".", {}, ["'.' is a folder, not an HDF5 file"]),
                ("whole.h5", {"solver__order": "2", "solver__multigrid__orders": "[2,1]"},
                 ["was written with solver.order 3, and the input has 2"]),
                ("whole.h5", {"mesh__epsilon": "0.1"}, ["was written with mesh.epsilon 0.05, and the input has 0.1"]),
                ("whole.h5", {"flow__time_order": "2"}, ["was written with flow.time_order 3"]),
                ("whole.h5", {"flow__initial": "taylor-green-2d"},
                 ["was written with flow.initial abc, and the input has taylor-green-2d"]),
                ("whole.h5", {"flow__initial": "whole.h5"},
                 ["was written with flow.initial abc, and the input has 'whole.h5'"]),
                ("whole.h5", {"flow__translation": "[1,0,0]"},
                 ["was written with flow.translation [1, 0.5, 0.25], and the input has [1, 0, 0]"]),
                ("whole.h5", {"operator__geometry": "trilinear"},
                 ["was written with operator.geometry stored, and the input has trilinear"]),
                ("whole.h5", {"flow__end_time": "0.05"},
                 ["'whole.h5' is of time 0.1, after flow.end_time 0.05; give a later flow.end_time"]),
                ("whole.h5", {"flow__steps": "1"}, ["is of step 22, after the last step, 20, with flow.steps 1; give more"]),
                ("whole.h5", {"problem": "none"}, ["given with problem none; allowed: problem flow"])):
            for dry in ([], ["--dry-run"]):
                run = self.flow(2, folder, ["--restart", name, *dry], **changes)
                self.assert_refused(run, 2, "--restart: ", *parts)
        for changes, end in (({"flow__end_time": "0.14"}, "to time 0.14, in steps of 0.02"),
                             ({"flow__steps": "10"}, "for 7 steps more, in steps of 0.02")):
            run = self.flow(2, folder, ["--restart", "whole.h5", "--dry-run"], **changes)
            self.assertEqual(run.code, 0, str(run))
            self.assertIn("Would run the flow from step 22, time 0.1, of whole.h5, at order 3 " + end,
                          " ".join(run.out.split()), str(run))

    def test_a_new_run_says_that_it_replaces_a_checkpoint(self):
        first = self.flow(1, checkpoint__every="100")
        self.check_passed(first)
        file = "nekbone-k-checkpoint.h5"
        warning = f"checkpoint.file: '{file}' exists, and this run will replace it"
        self.assertNotIn("will replace it", first.out)
        for options in (["--dry-run"], []):
            second = self.flow(2, first.folder, options, checkpoint__every="100")
            self.assertEqual(second.code, 0, str(second))
            self.assertIn(warning, " ".join(second.out.split()), str(second))
        # One that goes on from it replaces it by what is meant to.
        self.assertNotIn("will replace it", self.restarted(first, 1, checkpoint__every="100", flow__end_time="0.14").out)

    def test_files_that_would_overwrite_a_checkpoint(self):
        first = self.flow(1, checkpoint__every="100")
        self.check_passed(first)
        file = "nekbone-k-checkpoint.h5"
        whole = (first.folder / file).read_bytes()
        initial = {"flow__initial": file}
        for changes, options, part in (
                ({"flow__series": file}, ["--restart", file], "flow.series: the series would be written to"),
                ({"report__json": file}, ["--restart", file], "report.json: the JSON report would be written to"),
                (initial | {"flow__series": file}, [], "flow.series: the series would be written to"),
                (initial | {"checkpoint__every": "1"}, [], "checkpoint.file: the checkpoint would be written to")):
            what = "the checkpoint of --restart" if options else "the initial velocity"
            self.assert_refused(self.flow(1, first.folder, options, **changes), 2, part, f"which is {what}; name")
            self.assertEqual((first.folder / file).read_bytes(), whole)
        # A new checkpoint replaces the one from which the flow continues.
        second = self.restarted(first, 1, flow__end_time="0.14", checkpoint__every="100")
        self.assertEqual(second.code, 0, str(second))

    def test_checkpoints_that_cannot_be_written(self):
        for changes, parts in (
                ({"checkpoint__every": "1", "checkpoint__file": "no/such.h5"}, ["checkpoint.file", "name another file"]),
                ({"checkpoint__every": "1", "checkpoint__file": "flow.csv"}, ["which is the series"])):
            self.assert_refused(self.flow(1, **changes), 2, *parts)

    def test_what_is_no_regular_file_stays(self):
        folder = self.new_folder()
        os.mkfifo(folder / "fifo")
        for options in ([], ["--dry-run"]):
            run = self.flow(1, folder, options, checkpoint__every="1", checkpoint__file="fifo")
            self.assert_refused(run, 2, "checkpoint.file", "no regular file; name another file")
            self.assertTrue((folder / "fifo").is_fifo())


class Results(FlowTest):
    """Flows that pass."""

    def test_any_number_of_ranks(self):
        runs = harness.side_by_side([lambda ranks=ranks: self.flow(ranks) for ranks in (3, 2, 1)])
        flows = [self.check_passed(run) for run in runs]
        for run in runs:
            self.assert_files(run, "report.json", "flow.csv")
        for flow, rows in flows:
            self.assertEqual((flow["start_steps"], flow["steps"]), (SHORT, SHORT + 3))
            self.assertEqual([row["step"] for row in rows], [0, SHORT + 1, SHORT + 2, SHORT + 3])
            # The short steps are two.
            for row, time in zip(rows, (0, 0.06, 0.08, END)):
                self.assertAlmostEqual(row["time"], time, delta=1e-10)
            for row in rows:
                exact = exact_enstrophy(row["time"])
                self.assertAlmostEqual(row["enstrophy"] / exact, 1, delta=0.02)
                self.assertAlmostEqual(row["dissipation"], 2 * VISCOSITY * row["enstrophy"], delta=1e-7)
                self.assertAlmostEqual(row["mean_u"], 1, delta=1e-3)
            for row in rows[1:]:
                self.assertAlmostEqual(row["energy_loss"] / row["dissipation"], 1, delta=0.05)
                self.assertAlmostEqual(row["dt"], 0.02, delta=1e-10)
            self.assertLess(flow["relative_l2_error"], 0.05)
            self.assertIsNone(flow["reference_difference"])
            self.assertIsNone(flow["checksum"])
            # Of the ranks, the energy depends only on the tolerances.
            for name in ("energy", "enstrophy"):
                self.assertAlmostEqual(rows[-1][name], flows[0][1][-1][name], delta=1e-7)

    def test_tuning_of_a_short_flow_is_capped(self):
        changes = {"gather_scatter__tuning__budget_seconds": "auto", "report__bandwidth": "true",
                   "gather_scatter__strategies": "[device-pairwise,host-pairwise]", "flow__steps": "2",
                   "flow__time_order": "1", "verification__error_bound": "1"}
        runs = [*(self.flow(ranks, **changes) for ranks in (3, 2, 1)), self.flow(0)]
        for run in runs:
            self.assertEqual(run.code, 0, str(run))
            self.assert_readable(run)
            report = self.report(run)
            tuning, flow = report["flow"]["tuning"], report["flow"]
            self.assertEqual(tuning["expected_steps"], flow["steps"], str(run))
            self.assertGreater(tuning["tune_s"], 0, str(run))
            if run is runs[-1]:  # its input gives a budget, and has no bandwidth
                self.assertEqual((tuning["cap_s"], tuning["expected_s"], tuning["budget_s"]), (None, None, 0.01))
                self.assertIn("no cap, because the input gives", run.out, str(run))
                continue
            self.assertIsNone(tuning["no_cap"], str(run))
            self.assertAlmostEqual(tuning["expected_s"] / (tuning["expected_steps"] * tuning["expected_step_s"]), 1, 9)
            self.assertAlmostEqual(tuning["cap_s"] / tuning["expected_s"], 0.1, 9)
            self.assertLess(tuning["budget_s"], 2, str(run))
            self.assertIn("% of", re.search(r"\n  tuning  .*\n", run.out)[0], str(run))
            self.assertEqual(report["input"]["gather_scatter"]["tuning"]["budget_seconds"], "auto")
            if report["machine"]["ranks"] == 1:
                continue  # nothing is exchanged
            # All strategies are still verified and timed.
            for order in report["orders"]:
                verified = [candidate for candidate in order["tuning"]["candidates"] if candidate["verified"]]
                self.assertEqual(len(verified), 2, str(run))
                for candidate in verified:
                    self.assertTrue(candidate["alone"] or candidate["with_work"], str(run))

    def test_vectors_are_not_overlapped(self):
        run = self.flow(2, gather_scatter__strategies="[device-pairwise+overlap]")
        self.assertEqual(run.code, 0, str(run))
        report = self.report(run)
        tried = [[candidate["strategy"] for candidate in order["tuning"]["candidates"]]
                 for order in report["orders"]]
        self.assertEqual(tried, [["device-pairwise"], ["device-pairwise+overlap"]], str(run))
        self.assertEqual([report["flow"][name] for name in ("vector_strategy", "scalar_strategy")],
                         ["device-pairwise", "device-pairwise+overlap"])

    def test_planes_of_the_vortex(self):
        number = {"x": 1, "y": 2, "z": 0.5}  # wave numbers
        planes = ("xy", "yz", "zx")
        runs = harness.side_by_side([
            lambda plane=plane: self.flow(
                2, flow__initial="taylor-green-2d", flow__plane=plane, flow__steps="1", solver__order="7",
                solver__multigrid__orders="[7,3,1]", verification__error_bound="1",
                mesh__extent=f"[{2 * math.pi},{math.pi},{4 * math.pi}]") for plane in planes])
        for plane, run in zip(planes, runs):
            self.assertEqual(run.code, 0, str(run))
            a, b = number[plane[0]], number[plane[1]]
            enstrophy = (b + a * a / b) ** 2 / 8
            self.assertAlmostEqual(self.rows(run)[0]["enstrophy"] / enstrophy, 1, delta=0.01, msg=plane)

    def test_deterministic_flows_have_the_same_bits(self):
        other_viscosity = {"flow__viscosity": str(VISCOSITY * (1 + 1e-15))}
        runs = harness.side_by_side([lambda ranks=ranks, changes=changes:
                                     self.flow(ranks, deterministic="true", **changes)
                                     for ranks, changes in ((3, {}), (2, {}), (0, {}), (0, other_viscosity))])
        *flows, (other_flow, _) = [self.check_passed(run) for run in runs]
        first, its_rows = flows[0]
        self.assertRegex(first["checksum"], "^[0-9a-f]{16}$")
        for flow, rows in flows:
            self.assertEqual(flow["checksum"], first["checksum"])
            for row, other in zip(rows, its_rows, strict=True):
                for name in ("step", "time", "dt", "pressure_iterations", "velocity_iterations"):
                    self.assertEqual(row[name], other[name], name)
                # The table's integrals are ordinary sums.
                for name in ("energy", "enstrophy"):
                    self.assertAlmostEqual(row[name], other[name], delta=1e-13)
        self.assertNotEqual(other_flow["checksum"], first["checksum"])

    def test_lengths_of_steps(self):
        cfl, coarse, number, first = harness.side_by_side([
            lambda: self.flow(0, flow__cfl="0.05", flow__dt="1", flow__series_every="2"),
            lambda: self.flow(0, flow__cfl="100", flow__dt="1", verification__error_bound="1"),
            lambda: self.flow(0, flow__steps="4", flow__dt="0.01", flow__series_every="3"),
            lambda: self.flow(0, flow__steps="5", flow__dt="0.01", flow__time_order="1")])

        # The step follows the CFL number, whose speed changes little.
        flow, rows = self.check_passed(cfl)
        self.assertEqual(rows[-1]["time"], END)
        steps = [row["step"] for row in rows]
        self.assertGreater(len(steps), 3, str(cfl))
        self.assertEqual(steps[:-1], [0, *range(SHORT + 2, int(steps[-1]), 2)], str(cfl))
        for row in rows[1:]:
            self.assertLess(row["cfl"], 0.0525, str(cfl))
            self.assertGreater(row["cfl"], 0.025, str(cfl))
        self.assertEqual(flow["start_steps"], SHORT)

        # The first steps end before the flow does, even if the CFL number allows longer ones.
        flow, rows = self.check_passed(coarse)
        self.assertEqual(rows[-1]["time"], END, str(coarse))
        self.assertEqual(flow["steps"], SHORT + 1, str(coarse))

        flow, rows = self.check_passed(number)
        self.assertEqual([row["step"] for row in rows], [0, SHORT + 3, SHORT + 4], str(number))
        self.assertAlmostEqual(rows[-1]["time"], 6 * 0.01, delta=1e-10)

        flow, rows = self.check_passed(first)
        self.assertEqual([row["step"] for row in rows], list(range(6)), str(first))
        self.assertEqual((flow["start_steps"], flow["steps"]), (0, 5), str(first))
        self.assertAlmostEqual(rows[-1]["time"], 0.05, delta=1e-10)

    def test_a_reference(self):
        name = {"verification__reference": "exact.txt"}
        near, far, apart = harness.side_by_side([
            lambda: self.flow(2, self.folder_with(exact__txt=reference()), **name),
            lambda: self.flow(2, self.folder_with(exact__txt=reference(1.1)), **name),
            lambda: self.flow(0, self.folder_with(exact__txt=reference(begin=3)), **name)])
        flow, rows = self.check_passed(near)
        self.assertIn("near the reference", flow["verdict"])
        self.assertLess(flow["reference_difference"], 0.05)
        for row in rows:
            self.assertAlmostEqual(row["reference_enstrophy"], exact_enstrophy(row["time"]), delta=1e-7)
        self.assertAlmostEqual(max(abs(row["enstrophy"] / row["reference_enstrophy"] - 1) for row in rows),
                               flow["reference_difference"], delta=1e-9)

        flow = self.assert_flow_failed(far, "the enstrophy differs by 0.", "from the reference at time",
                                       "verification.error_bound 0.05")
        self.assertAlmostEqual(flow["reference_difference"], 1 - 1 / 1.1, delta=0.02)
        # A comparison at no time must not pass for one.
        flow = self.assert_flow_failed(apart, "no row of the series is within the times of verification.reference")
        self.assertIsNone(flow["reference_difference"])

    def test_choices_of_both_fields_are_kept(self):
        folder = self.new_folder()
        changes = {"gather_scatter__strategies": "[device-pairwise,host-alltoall]",
                   "solver__all_reduce": "[host-mpi,host-shared]",
                   "gather_scatter__tuning__mode": "cached",
                   "gather_scatter__tuning__cache": str(folder / "choices.json")}

        def attempt():
            (folder / "choices.json").unlink(missing_ok=True)
            run = self.flow(2, **changes)
            return self.report(run), run

        first, _ = self.until_kept(attempt)
        run = self.flow(2, **changes)
        report = self.report(run)
        self.assertEqual(run.code, 0, str(run))
        self.assertEqual([order["replayed"] for order in first["orders"]], [False, False])
        if not all(order["replayed"] for order in report["orders"]):
            self.assertIn("measured anew", run.out, str(run))  # the machine was loaded meanwhile
            self.skipTest("choices of an earlier run were slower")
        self.assertEqual([order["tuning"]["selected"] for order in report["orders"]],
                         [order["tuning"]["selected"] for order in first["orders"]])

    def test_the_schema_knows_every_value(self):
        run = self.flow(0)
        flow = self.check_passed(run)[0]
        schema = check_schema.load(harness.options.source / "docs/report.schema.json")
        validator = check_schema.validator_of({**schema, **schema["$defs"]["flow"]})
        self.assertTrue(validator.is_valid(flow), str(run))
        flow["series"] = flow["series"][:1]
        flow["multigrid"] = None
        self.assertTrue(validator.is_valid(flow), str(run))

        def broken(change):
            mutant = copy.deepcopy(flow)
            change(mutant)
            return mutant

        for path in ((), ("parts_s",), ("series", 0)):
            def at(mutant, path=path):
                for key in path:
                    mutant = mutant[key]
                return mutant
            for key in at(flow):
                self.assertFalse(validator.is_valid(broken(lambda mutant: at(mutant).pop(key))), (path, key))
            if path != ("parts_s",):
                self.assertFalse(validator.is_valid(broken(lambda mutant: at(mutant).update(unknown=1))), path)
        for key, value in (("steps", -1), ("order", 0), ("passed", "yes"), ("step_s", -1), ("series", None)):
            self.assertFalse(validator.is_valid(broken(lambda mutant: mutant.update({key: value}))), key)


class Failures(FlowTest):
    """Flows that fail."""

    def test_too_large_a_step(self):
        runs = harness.side_by_side([
            lambda: self.flow(0, flow__dt="1", flow__end_time="100"),
            lambda: self.flow(2, flow__dt="1", flow__end_time="100")])
        for run in runs:
            flow = self.assert_flow_failed(run, " to time ", "CFL number of ", "largest speed of ",
                                           "try a smaller flow.dt or flow.cfl")
            self.assertRegex(flow["verdict"], "^step [0-9]+ to time ")
            self.assertLess(flow["steps"], 117, str(run))
            # The rows so far.
            rows = self.rows(run)
            self.assertGreaterEqual(len(rows), 1, str(run))
            self.assertLess(rows[-1]["time"], 100, str(run))
            self.assertIsNone(flow["relative_l2_error"])

    def test_an_error_above_the_bound(self):
        run, forced = harness.side_by_side([
            lambda: self.flow(0, verification__error_bound="1e-9"),
            lambda: self.flow(2, verification__error_bound="1e-9", flow__forcing="[0.01,0,0]")])
        flow = self.assert_flow_failed(run, "the error is ", "more than verification.error_bound 1e-09",
                                       "solver.order")
        self.assertGreater(flow["relative_l2_error"], 1e-9)
        # A forced flow has no exact solution.
        flow, rows = self.check_passed(forced)
        self.assertIsNone(flow["relative_l2_error"], str(forced))
        self.assertAlmostEqual(rows[-1]["mean_u"] - rows[0]["mean_u"], 0.01 * END, delta=1e-4)

    def test_a_run_that_is_killed_leaves_the_rows_so_far(self):
        folder = self.new_folder()
        process = self.start(self.command(2, *arguments(flow__end_time="1e4")), folder)
        series = folder / "flow.csv"

        def has_rows():
            return series.is_file() and series.read_text(encoding="utf-8").count("\n") >= 4

        self.assertTrue(harness.wait_until(has_rows, harness.TIMEOUT_S), "no rows")
        harness.end(process, folder)
        process.communicate()
        rows = self.rows(harness.Run([], folder, None, "", ""))
        self.assertGreaterEqual(len(rows), 3)
        self.assertEqual([row["step"] for row in rows[:3]], [0, SHORT + 1, SHORT + 2])
        self.assertGreater(rows[2]["energy"], 0)


class Refusals(FlowTest):
    """Flows that are refused before they begin."""

    def test_a_reference_that_cannot_be_used(self):
        name = {"verification__reference": "a.txt"}
        cases = [
            (None, ["--set verification.reference=a.txt: verification.reference: 'a.txt' cannot be read: "
                    "No such file", 'or ""']),
            ("1 2 3 4\n2 3 4 five\n", ["verification.reference: a.txt:2: needs four numbers"]),
            ("1 0 0 2\n1 0 0 2\n", ["a.txt:2: time 1 follows time 1; times must rise"]),
            ("1 0 0 2\n", ["a.txt: has 1 line of time, energy", "at least 4"]),
            ("", ["a.txt: has 0 lines"]),
        ]
        # Every case without a launcher, and one that only rank 0 notices and one that every rank does on three.
        tried = [(0, (), case) for case in cases] + [(0, ("--dry-run",), cases[1])]
        tried += [(3, (), case) for case in cases[:2]]

        def attempt(ranks, options, text):
            # The series of an earlier run must survive.
            files = {"flow__csv": "earlier\n"} | ({} if text is None else {"a__txt": text})
            return self.flow(ranks, self.folder_with(**files), options, **name)

        runs = harness.side_by_side([lambda ranks=ranks, options=options, text=case[0]: attempt(ranks, options, text)
                                     for ranks, options, case in tried])
        for (_, _, case), run in zip(tried, runs):
            self.assert_refused(run, 2, *case[1])
            self.assertEqual((run.folder / "flow.csv").read_text(encoding="utf-8"), "earlier\n", str(run))
            self.assertFalse((run.folder / "report.json").exists(), str(run))

    def test_a_series_that_cannot_be_written(self):
        for run in harness.side_by_side([
                lambda ranks=ranks, options=options: self.flow(ranks, None, options, flow__series="missing/flow.csv")
                for ranks, options in ((3, ()), (0, ()), (0, ("--dry-run",)))]):
            self.assert_refused(run, 2, "--set flow.series=missing/flow.csv: flow.series: "
                                        "'missing/flow.csv' cannot be written: No such file or directory")
            self.assert_files(run)

    def test_files_that_would_overwrite_each_other(self):
        """The input, the reference, the report, the journal and the cache stay as they are."""
        cached = {"gather_scatter__tuning__mode": "cached", "gather_scatter__tuning__cache": "choices.json"}
        cases = [
            ("smoke.yaml", {}, "the input"),
            ("./smoke.yaml", {}, "the input"),
            ("link.csv", {}, "the input"),
            ("a.txt", {"verification__reference": "a.txt"}, "the reference"),
            ("report.json", {}, "the JSON report"),
            ("journal.jsonl", {"gather_scatter__tuning__journal": "journal.jsonl"}, "the journal"),
            ("choices.json", cached, "the cache of choices"),
        ]

        def attempt(ranks, options, series, changes):
            folder = self.folder_with(a__txt=reference())
            os.symlink("smoke.yaml", folder / "link.csv")
            return self.flow(ranks, folder, options, flow__series=series, **changes)

        tried = [(0, (), case) for case in cases] + [(0, ("--dry-run",), cases[0]), (3, (), cases[0])]
        runs = harness.side_by_side([lambda ranks=ranks, options=options, case=case:
                                     attempt(ranks, options, *case[:2]) for ranks, options, case in tried])
        smoke = (harness.options.source / "inputs/smoke.yaml").read_text(encoding="utf-8")
        for (ranks, _, (series, _, what)), run in zip(tried, runs):
            with self.subTest(series, ranks=ranks):
                self.assert_refused(run, 2, f"flow.series: the series would be written to '{series}', "
                                            f"which is {what}; name another file")
                self.assertEqual((run.folder / "smoke.yaml").read_text(encoding="utf-8"), smoke)
                self.assertEqual((run.folder / "a.txt").read_text(encoding="utf-8"), reference())
                self.assert_files(run, "a.txt", "link.csv")

    def test_other_files_do_not_overwrite_the_reference(self):
        for key in ("report.json", "gather_scatter.tuning.journal"):
            run = self.flow(0, self.folder_with(a__txt=reference()),
                            **{"verification__reference": "a.txt", key.replace(".", "__"): "a.txt"})
            self.assert_refused(run, 2, f"{key}: ", "would be written to 'a.txt', which is the reference")
            self.assertEqual((run.folder / "a.txt").read_text(encoding="utf-8"), reference())

    def test_a_mesh_or_an_order_that_cannot_be_used(self):
        uncompiled = {"solver__order": "17", "solver__multigrid__orders": "[17,1]"}
        closed, *uncompiled_runs = harness.side_by_side([
            lambda: self.flow(3, mesh__periodic="[true,false,true]", mesh__deformation="none"),
            lambda: self.flow(0, **uncompiled),
            lambda: self.flow(0, None, ("--dry-run",), **uncompiled)])
        self.assert_refused(closed, 2, "given flow with mesh.periodic [true, false, true]",
                            "flow with periodic [true, true, true]")
        self.assert_files(closed)
        # No build compiles order 17 by default.
        for run in uncompiled_runs:
            if run.code == 0:
                self.skipTest("the build has order 17")
            self.assert_refused(run, 2, "smoke.yaml: this build has no kernels for a flow of order 17; take "
                                        "another solver.order, or configure with -DNEKBONE_K_ORDERS=17")
            self.assert_files(run)  # no journal, which would exclude strategies from later runs

    def test_memory(self):
        for options in ((), ("--dry-run",)):
            run = self.flow(0, None, options, mesh__elements="[24,24,24]", memory__limit_gib="0.3")
            self.assertEqual(run.code, 3, str(run))
            self.assert_no_traces(run)
            [message] = run.messages()
            self.assertRegex(message, "memory.limit_gib: the flow at order 3 needs about .* per (node|GPU)")
            self.assertRegex(message, r"raise memory\.limit_gib to [0-9.]+, or use mesh\.elements \[[0-9, ]+\] or "
                                      "fewer, .*or a lower solver.order or flow.projection")
            self.assert_files(run)
        suggested = message.partition("mesh.elements ")[2].partition("]")[0] + "]"
        run = self.flow(0, None, ("--dry-run",), mesh__elements=suggested, memory__limit_gib="0.3")
        self.assertEqual(run.code, 0, f"what was said to help does not{run}")

    def test_dry_run(self):
        folder = self.folder_with(a__txt=reference(), flow__csv="earlier\n")
        run = self.flow(2, folder, ("--dry-run",), verification__reference="a.txt")
        self.assertEqual(run.code, 0, str(run))
        self.assert_readable(run)
        words = " ".join(run.out.split())
        self.assertIn("flow from abc, viscosity 0.05", words, str(run))
        self.assertIn("for fields of three components, not overlapped, and of one", words, str(run))
        self.assertIn("Would run the flow from abc at order 3 to time 0.1, in steps of 0.02 ", words, str(run))
        self.assertNotIn("CG", run.out, str(run))
        self.assert_files(run, "a.txt", "flow.csv")
        self.assertEqual((folder / "flow.csv").read_text(encoding="utf-8"), "earlier\n", str(run))
        run = self.flow(0, None, ("--dry-run",), flow__cfl="0.4", flow__steps="7")
        self.assertIn("Would run the flow from abc at order 3 for 7 steps, by CFL number 0.4 in steps of at most 0.02",
                      " ".join(run.out.split()), str(run))
        self.assert_files(run)

    def test_dry_runs_of_the_examples(self):
        for example in ("beltrami", "tgv-re1600-small", "tgv-re5000"):
            folder = self.new_folder()
            shutil.copy(harness.options.source / f"inputs/{example}.yaml", folder)
            run = self.run_program(0, f"{example}.yaml", "--dry-run", folder=folder)
            if run.code == 2 and "has no kernels for a flow" in run.err:
                continue  # a build with few orders
            self.assertEqual(run.code, 0, str(run))
            self.assertIn("Would run the flow from ", run.out, str(run))
            self.assert_files(run, f"{example}.yaml")


if __name__ == "__main__":
    harness.main()
