#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flows as users run them: results, time series, reference, and what ends them."""

import csv
import math
import unittest

import harness
from harness import side_by_side

VISCOSITY = 0.05
# A Beltrami flow that is carried along, with one V-cycle and one strategy, because others test those.
FLOW = {
    "problem": "flow",
    "mesh.elements": "[3,2,2]",
    "mesh.extent": "6.283185307179586",
    "mesh.deformation": "none",
    "operator.geometry": "affine",
    "solver.order": "7",
    "solver.multigrid": "{orders: [7,3,1], smoother: jacobi, polynomial: chebyshev-4-opt, degree: 2,"
                        " precision: single, coarse_dofs: 200}",
    "solver.tolerance": "0",
    "gather_scatter.strategies": "[host-pairwise]",
    "gather_scatter.audit": "false",
    "gather_scatter.tuning.budget_seconds": "0.01",
    "gather_scatter.tuning.minimum_rounds": "1",
    "solver.all_reduce": "[host-mpi]",
    "flow.initial": "abc",
    "flow.translation": "[1,0.5,0.25]",
    "flow.viscosity": str(VISCOSITY),
    "flow.dt": "0.02",
    "flow.end_time": "0.2",
    "flow.series": "series.csv",
    "flow.series_every": "2",
    "verification.error_bound": "2e-3",
    "report.json": "report.json",
}


def flow(**changes):
    """Command-line options for FLOW with changes: section__key=value."""
    return harness.settings(FLOW | {key.replace("__", "."): value for key, value in changes.items()})


class FlowTest(harness.CliTest):
    def passing(self, ranks, **changes):
        """Runs the flow with changes. Returns its record, its rows and the run."""
        run = self.run_program(ranks, "smoke.yaml", *flow(**changes))
        self.assertEqual(run.code, 0, str(run))
        self.assert_no_traces(run)
        self.assert_readable(run)
        record = self.report(run)["flow"]
        self.assertTrue(record["passed"], str(run))
        with open(run.folder / "series.csv", newline="") as file:
            return record, list(csv.DictReader(file)), run


class Results(FlowTest):
    def test_the_same_flow_on_any_ranks(self):
        runs = side_by_side([lambda ranks=ranks: self.passing(ranks) for ranks in (1, 2, 3)])
        for record, rows, run in runs:
            self.assertLess(record["relative_l2_error"], 2e-3)
            self.assertEqual(record["vector_strategy"], "host-pairwise")
            self.assertEqual(record["steps"], record["start_steps"] + 8, str(run))
            self.assertEqual(float(rows[0]["time"]), 0)
            self.assertAlmostEqual(float(rows[-1]["time"]), 0.2, places=12)
            self.assertEqual([row["step"] for row in rows], [str(row["step"]) for row in record["series"]])
            for row, first in zip(rows, runs[0][1], strict=True):
                self.assertAlmostEqual(float(row["energy"]), float(first["energy"]), delta=1e-8)
                self.assertAlmostEqual(float(row["enstrophy"]), float(first["enstrophy"]), delta=1e-6)
            # The mean velocity is that of the translation. The energy of the flow itself decays.
            self.assertAlmostEqual(float(rows[-1]["mean_u"]), 1, delta=1e-8)
            carried = (1 + 0.5**2 + 0.25**2) / 2
            expected = carried + 1.5 * math.exp(-2 * VISCOSITY * 0.2)
            self.assertAlmostEqual(float(rows[-1]["energy"]), expected, delta=1e-4)

    def test_deterministic_flow_has_the_same_bits_on_any_ranks(self):
        columns = ("energy", "enstrophy", "max_divergence", "pressure_iterations", "velocity_iterations")
        (one, rows, _), *others = side_by_side([
            lambda ranks=ranks: self.passing(ranks, deterministic="true", flow__end_time="0.06")
            for ranks in (1, 2, 3)])
        for other, its_rows, run in others:
            # Sums for the table itself may differ by rounding; errors are of the velocity's bits.
            for row, its_row in zip(rows, its_rows, strict=True):
                for column in columns:
                    self.assertAlmostEqual(float(row[column]), float(its_row[column]), delta=1e-12,
                                           msg=str(run))
            self.assertEqual(one["relative_max_error"], other["relative_max_error"], str(run))

    def test_steps_follow_a_cfl_number(self):
        record, rows, run = self.passing(1, flow__cfl="0.2", flow__dt="0.05")
        later = [float(row["cfl"]) for row in rows if int(row["step"]) > record["start_steps"]]
        self.assertGreater(len(later), 2, str(run))
        self.assertLess(max(later), 0.22, str(run))
        self.assertGreater(max(later), 0.15, str(run))
        self.assertAlmostEqual(float(rows[-1]["time"]), 0.2, places=12)

    def test_a_number_of_steps(self):
        record, rows, run = self.passing(1, flow__steps="3", flow__end_time="1000")
        self.assertEqual(record["steps"], record["start_steps"] + 3, str(run))
        self.assertAlmostEqual(float(rows[-1]["time"]), 5 * 0.02, places=12)

    def test_a_deformed_mesh_and_no_dealiasing(self):
        for dealiasing in ("true", "false"):
            record, _, run = self.passing(2, mesh__deformation="sine", mesh__epsilon="0.1", mesh__elements="3",
                                          operator__geometry="stored", flow__dealiasing=dealiasing,
                                          flow__end_time="0.1")
            self.assertLess(record["relative_l2_error"], 2e-3, str(run))

    def test_forcing_accelerates_the_mean(self):
        _, rows, run = self.passing(1, flow__forcing="[0.5,0,-1]", flow__end_time="0.1")
        self.assertAlmostEqual(float(rows[-1]["mean_u"]), 1 + 0.5 * 0.1, delta=1e-7, msg=str(run))
        self.assertAlmostEqual(float(rows[-1]["mean_w"]), 0.25 - 0.1, delta=1e-7, msg=str(run))


class Reference(FlowTest):
    def with_reference(self, factor, **changes):
        folder = self.new_folder()
        lines = ["# time energy dissipation enstrophy"]
        for step in range(31):
            time = step * 0.01
            lines.append(f"{time} 0, 0 {factor * 1.5 * math.exp(-2 * VISCOSITY * time)}")
        (folder / "reference.dat").write_text("\n".join(lines) + "\n")
        return self.run_program(1, "smoke.yaml", *flow(verification__reference="reference.dat", **changes),
                                folder=folder)

    def test_a_flow_near_its_reference_passes(self):
        run = self.with_reference(1)
        self.assertEqual(run.code, 0, str(run))
        record = self.report(run)["flow"]
        self.assertLess(record["reference_difference"], 2e-3, str(run))
        self.assertIsNotNone(record["series"][-1]["reference_enstrophy"], str(run))

    def test_a_flow_far_from_its_reference_fails(self):
        run = self.with_reference(1.01)
        self.assertEqual(run.code, 1, str(run))
        self.assertAlmostEqual(self.report(run)["flow"]["reference_difference"], 0.01, delta=2e-3)
        self.assertRegex(run.out, r"enstrophy differs by", str(run))

    def test_a_file_that_is_no_reference(self):
        folder = self.new_folder()
        (folder / "reference.dat").write_text("0 1 2 3\n0.1 1 2 3\n0.05 1 2 3\n")
        for name, text in (("reference.dat", "reference.dat:3: needs four numbers"),
                           ("missing.dat", "verification.reference.*'missing.dat' cannot be read")):
            run = self.run_program(2, "smoke.yaml", *flow(verification__reference=name), folder=folder)
            self.assertEqual(run.code, 2, str(run))
            self.assertEqual(len(run.messages()), 1, str(run))
            self.assertRegex(run.messages()[0], text, str(run))


class Ends(FlowTest):
    def test_a_step_that_is_too_long_ends_the_run(self):
        for ranks in (1, 3):
            run = self.run_program(ranks, "smoke.yaml", *flow(
                flow__dt="0.5", flow__end_time="50", flow__viscosity="1e-3"))
            self.assertEqual(run.code, 1, str(run))
            self.assert_no_traces(run)
            record = self.report(run)["flow"]
            self.assertFalse(record["passed"])
            self.assertRegex(record["verdict"], r"step \d+ to time .*(CFL number|not finite).*smaller flow.dt")
            # The rows before it are kept.
            self.assertGreater(len((run.folder / "series.csv").read_text().splitlines()), 1, str(run))

    def test_what_a_run_refuses(self):
        for changes, text in (
                ({"mesh__periodic": "[true,true,false]"}, "flow with periodic"),
                ({"mesh__extent": "[1,1,2]"}, "abc with equal extents"),
                ({"flow__series": "missing/series.csv"}, "flow.series.*cannot be written"),
                ({"flow__series": "report.json"}, "flow.series.*is the JSON report"),
                ({"solver__order": "17", "solver__multigrid": "{orders: auto}"},
                 "no kernels for a flow of order 17.*NEKBONE_K_ORDERS"),
                ({"flow__time_order": "4"}, "flow.time_order.*1 to 3")):
            with self.subTest(**changes):
                run = self.run_program(2, "smoke.yaml", *flow(**changes))
                self.assertEqual(run.code, 2, str(run))
                self.assertEqual(len(run.messages()), 1, str(run))
                self.assertRegex(run.messages()[0].replace("\n", " "), text, str(run))

    def test_a_dry_run(self):
        run = self.run_program(2, "smoke.yaml", *flow(), "--dry-run")
        self.assertEqual(run.code, 0, str(run))
        self.assertFalse((run.folder / "series.csv").exists())


if __name__ == "__main__":
    harness.main()
