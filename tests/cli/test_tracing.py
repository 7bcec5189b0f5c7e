#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Regions that tools of Kokkos see: their names, and how they are nested."""

import os
import pathlib
import unittest

import harness
import test_flow

# One strategy, and CG by one method, so that all iterations are those of the solution.
PINNED = {
    "gather_scatter__strategies": "[device-pairwise]",
    "gather_scatter__audit": "false",
    "solver__variant": "classic",
    "solver__launch": "host",
}
STEPS_OF_AN_EXCHANGE = ["exchange pack", "exchange post", "exchange wait", "exchange unpack"]


class Region:
    """A region of a log: its name, and the regions within."""

    def __init__(self, name):
        self.name, self.parts = name, []

    def names(self):
        """The names of the regions directly within."""
        return [part.name for part in self.parts]

    def parts_named(self, name):
        """The regions directly within that have this name."""
        return [part for part in self.parts if part.name == name]


def parsed(log):
    """The outermost region of a log of region_log.cpp, which has no name.

    Raises ValueError unless all regions ended, in the reverse order, before Kokkos did.
    """
    *lines, last = log.splitlines() or [""]
    if last != "end":
        raise ValueError("Kokkos has not ended")
    running = [Region("")]
    for line in lines:
        if line.startswith("+ "):
            region = Region(line[2:])
            running[-1].parts.append(region)
            running.append(region)
        elif line == "-" and len(running) > 1:
            running.pop()
        else:
            raise ValueError(f"'{line}' where no region runs")
    if len(running) > 1:
        raise ValueError(f"{running[-1].name} has not ended")
    return running[0]


class Logs(unittest.TestCase):
    """Logs that are right, and wrong ones."""

    def test_a_log_is_read(self):
        whole = parsed("+ CG\n+ Ax\n-\n+ Ax\n-\n-\nend\n")
        self.assertEqual(whole.names(), ["CG"])
        self.assertEqual(whole.parts[0].names(), ["Ax", "Ax"])

    def test_unequal_numbers_of_begins_and_ends_are_found(self):
        for log in ("", "+ CG\n-\n", "+ CG\n+ Ax\n-\nend\n", "+ CG\n-\n-\nend\n", "-\n+ CG\nend\n"):
            with self.assertRaises(ValueError, msg=log):
                parsed(log)


class Tracing(harness.CliTest):
    """Runs with a tool."""

    def traced(self, ranks, arguments):
        """The report of a run that passes, and the regions of each rank."""
        library = pathlib.Path(harness.options.nekbone_k).parent / "libnk_region_log.so"
        self.assertTrue(library.is_file(), f"{library} is not built")
        run = self.run_command(self.command(ranks, *arguments), self.new_folder(),
                               env=dict(os.environ, KOKKOS_TOOLS_LIBS=str(library)))
        self.assertEqual(run.code, 0, str(run))
        self.assert_no_traces(run)
        regions = [parsed(log.read_text()) for log in run.folder.glob("regions-*.txt")]
        self.assertEqual(len(regions), ranks, str(run))
        return self.report(run), regions

    def solve_of(self, regions, report):
        """The iterations of the one solution."""
        [solve] = regions.parts_named("solve")
        self.assertEqual(solve.names(), ["CG"])
        iterations = solve.parts[0].parts_named("CG iteration")
        self.assertEqual(len(iterations), report["solve"]["iterations"])
        self.assertGreater(len(iterations), 3)
        return iterations

    def test_every_iteration_has_one_ax_with_one_exchange(self):
        for ranks in (1, 3):
            report, all_regions = self.traced(ranks, ["smoke.yaml", *harness.small(**PINNED)])
            for regions in all_regions:
                for iteration in self.solve_of(regions, report):
                    self.assertEqual(iteration.names(), ["Ax"])
                    [ax] = iteration.parts
                    self.assertEqual(ax.names(), ["exchange"] if ranks > 1 else [])
                    for exchange in ax.parts:
                        self.assertEqual(exchange.names(), STEPS_OF_AN_EXCHANGE)

    def test_an_overlapped_exchange_is_in_steps_within_ax(self):
        report, all_regions = self.traced(3, ["smoke.yaml", *harness.small(**PINNED | {
            "gather_scatter__strategies": "[device-pairwise+overlap]",
            "solver__variant": "single-reduction", "solver__launch": "plain"})])
        for regions in all_regions:
            for iteration in self.solve_of(regions, report):
                self.assertEqual(iteration.names(), ["Ax"])
                self.assertEqual(iteration.parts[0].names(), STEPS_OF_AN_EXCHANGE)

    def test_what_is_tuned_is_named(self):
        strategies = ["device-pairwise", "host-alltoall", "device-pairwise+overlap"]
        report, all_regions = self.traced(3, ["smoke.yaml", *harness.small(
            gather_scatter__strategies=f"[{','.join(strategies)}]", solver__all_reduce="[host-mpi, host-shared]")])
        for regions in all_regions:
            self.assertLessEqual({"tune grid", "tune all-reduce", "tune CG", "audit"}, set(regions.names()))
            tuned = regions.parts_named("tune exchange")
            self.assertEqual(len(tuned), len(report["orders"]))
            for of_order in tuned:
                self.assertLessEqual(set(strategies), set(of_order.names()))
            [sums] = regions.parts_named("tune all-reduce")
            self.assertEqual(set(sums.names()), {"host-mpi", "host-shared"})
            for audit in regions.parts_named("audit"):
                self.assertIn(report["solve"]["strategy" if audit.names()[0] in strategies else "all_reduce"],
                              audit.names())

    def test_a_v_cycle_visits_its_levels_twice(self):
        for ranks in (1, 3):
            report, all_regions = self.traced(ranks, ["smoke.yaml", *harness.small(**PINNED | {
                "solver__preconditioner": "multigrid", "operator__lambda": "0"})])
            levels = report["solve"]["multigrid"]["levels"]
            down = [f"level {at}" for at, level in enumerate(levels) if not level["on_every_rank"]]
            self.assertGreaterEqual(len(down), 2)
            for regions in all_regions:
                self.assertEqual(len(regions.parts_named("tune V-cycle")), 1)
                for iteration in self.solve_of(regions, report):
                    self.assertEqual(iteration.names(), ["V-cycle", "Ax"])
                    cycle = iteration.parts[0]
                    self.assertEqual(cycle.names(), down + 3 * ["coarse solve"] + down[::-1])
                    for part in cycle.parts:
                        if part.name != "coarse solve":
                            self.assertIn("Ax", part.names())

    def test_a_flow_step_has_its_parts(self):
        for ranks in (1, 3):
            report, all_regions = self.traced(ranks, test_flow.arguments())
            flow = report["flow"]
            for regions in all_regions:
                steps = regions.parts_named("flow step")
                self.assertEqual(len(steps), flow["steps"])
                for step in steps:
                    self.assertEqual(step.names(), ["advection", "pressure source", "pressure", "velocity"])
                rows = [row for row in flow["series"] if row["step"] > 0]
                self.assertGreater(len(rows), 2)
                for row in rows:
                    step = steps[row["step"] - 1]
                    for part in ("pressure", "velocity"):
                        [solve] = step.parts_named(part)
                        [cg] = solve.parts_named("CG")
                        self.assertEqual(len(cg.parts_named("CG iteration")), row[f"{part}_iterations"])


if __name__ == "__main__":
    harness.main()
