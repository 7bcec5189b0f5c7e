#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs that pass: their results, output and files."""

import json
import math
import os
import pathlib
import pty
import re
import statistics
import threading
import unittest.mock

import harness
from harness import small

EXCHANGES = [f"{memory}-{pattern}" for memory in ("device", "host") for pattern in (
    "pairwise", "persistent", "pipelined", "neighbour", "alltoall", "put", "node-aware", "crystal")
] + ["device-datatypes", "nccl", "nvshmem", "peer-memory"]
SUMS = ["host-mpi", "host-shared", "nccl", "peer-memory"]
STRATEGIES = EXCHANGES + [f"{name}+overlap" for name in EXCHANGES if not name.endswith("crystal")]
ALL = {"gather_scatter__strategies": "all"}
# For runs that test something else: choosing among all takes seconds on seven ranks.
FEW_EXCHANGES = {
    "gather_scatter__strategies": "[device-pairwise, host-alltoall, host-neighbour+overlap]"}
FEW = FEW_EXCHANGES | {"solver__variant": "classic", "solver__launch": "host"}
# An order that builds do not compile by default.
RUN_TIME_ORDER = 17


def dofs(mesh, order):
    """Number of unique unmasked DOFs. Directions that are not periodic lose both end planes."""
    return math.prod(elements * order - (0 if periodic else 1)
                     for elements, periodic in zip(mesh["elements"], mesh["periodic"]))


class RunTest(harness.CliTest):
    """Runs that must pass. Checks the properties of every report."""

    def passing(self, ranks, **changes):
        """Runs the small case, by default with few exchanges, with changes. Returns its report and the run."""
        run = self.run_program(ranks, "smoke.yaml", *small(**(FEW_EXCHANGES | changes)))
        return self.check_passed(run, ranks), run

    def keeping(self, ranks, **cached):
        """The report and run of passing(), repeated until the run caches all its choices."""
        def attempt():
            pathlib.Path(cached["gather_scatter__tuning__cache"]).unlink(missing_ok=True)
            return self.passing(ranks, **cached)
        report, run = self.until_kept(attempt)
        self.assertRegex(run.out, r"(?m)^  choices +[0-9]+ choices?: kept in", str(run))
        return report, run

    def reports(self, *cases):
        """The reports of passing runs. Each run is given by its ranks and changes."""
        return harness.side_by_side([lambda ranks=ranks, changes=changes:
                                     self.passing(ranks, **changes)[0] for ranks, changes in cases])

    def check_passed(self, run, ranks, name="report.json"):
        """Checks a run that passed. Returns its report."""
        self.assertEqual(run.code, 0, str(run))
        self.assert_readable(run)
        self.assert_no_traces(run)
        report = self.report(run, name)
        solves = report["input"]["problem"] != "none"
        self.assertEqual(len(re.findall(r"^  PASS ", run.out, re.MULTILINE)), 1 + solves, str(run))
        self.assertNotIn("FAIL", run.out, str(run))
        self.assertNotIn("WRONG", run.out, str(run))
        self.assertIs(report["passed"], True, str(run))
        self.assertEqual(report["machine"]["ranks"], ranks, str(run))
        for key in ("hosts", "devices", "binding"):
            self.assertEqual(len(report["machine"][key]), ranks, f"machine.{key}{run}")
        tuned = [order["order"] for order in report["orders"]]
        solver_order = {report["input"]["solver"]["order"]} if solves else set()
        self.assertEqual(sorted(tuned), sorted({*report["input"]["orders"], *solver_order}))
        if solves:
            self.assertEqual(tuned[-1], report["input"]["solver"]["order"])
        self.check_process_grid(report)
        for order in report["orders"]:
            self.check_mesh(report, order)
            self.check_tuning(report, order)
        if solves:
            self.check_solve(report)
            self.check_energy(run, report["solve"])
        return report

    def check_energy(self, run, solve):
        """There is a line on the energy where something counts it; otherwise the reason is in the report."""
        energy = solve["energy"]
        counted = energy["cpu_packages"] + energy["gpus"] > 0
        self.assertEqual(energy["j_per_iteration"] is not None, counted, str(run))
        self.assertTrue(counted or energy["missing"], str(run))
        if "\n  traffic " in run.out:  # not with --brief
            self.assertEqual("\n  energy " in run.out, counted, str(run))

    def check_process_grid(self, report):
        """The selected partition fits, and the halo exchange agrees with the model."""
        grid, mesh, ranks = report["process_grid"], report["input"]["mesh"], report["machine"]["ranks"]
        candidates = grid["candidates"]
        self.assertEqual([c["modelled_rank"] for c in candidates],
                         list(range(1, len(candidates) + 1)))
        [selected] = [c for c in candidates if c["selected"]]
        self.assertEqual(selected["partition"], grid["selected"])
        self.assertTrue(selected["balanced"])
        for c in candidates:
            if c["blocks"]:
                self.assertEqual(math.prod(c["blocks"]), ranks, c)
                self.assertTrue(all(blocks <= elements for blocks, elements
                                    in zip(c["blocks"], mesh["elements"])), c)
                self.assertEqual(c["slabs"], sorted(c["blocks"])[1] == 1 < ranks, c)
            if c["timing"]:
                self.assertEqual(len(c["timing"]["samples_s"]), grid["rounds"])
        if ranks == 1 or mesh["partition"] != "auto":
            self.assertEqual(len(candidates), 1)
        self.assertEqual(grid["strategy"] is not None, any(c["timing"] for c in candidates))
        for order in report["orders"]:
            if order["order"] == grid["order"]:
                per_rank = order["per_rank"]
                self.assertEqual(per_rank["elements"]["max"], selected["most_elements"])
                self.assertEqual(per_rank["neighbours"]["max"], selected["messages"])
                # The model assumes ordinary sums. Deterministic sums send each contribution.
                if report["input"]["deterministic"]:
                    self.assertGreaterEqual(per_rank["sent_bytes"]["max"], selected["sent_bytes"])
                else:
                    self.assertEqual(per_rank["sent_bytes"]["max"], selected["sent_bytes"])

    def check_mesh(self, report, order):
        """The counts of one order agree with the mesh."""
        mesh, ranks = report["input"]["mesh"], report["machine"]["ranks"]
        elements, n = math.prod(mesh["elements"]), order["order"]
        per_rank = order["per_rank"]
        self.assertEqual(order["total_dofs"], dofs(mesh, n))
        self.assertEqual(order["total_local_points"], elements * (n + 1) ** 3)
        for name, spread in per_rank.items():
            self.assertTrue(spread["min"] <= spread["avg"] <= spread["max"], f"{name}: {spread}")
        averages = {name: spread["avg"] for name, spread in per_rank.items()}
        self.assertAlmostEqual(averages["elements"] * ranks, elements, 6)
        self.assertGreaterEqual(per_rank["elements"]["min"], 1)
        self.assertAlmostEqual(averages["boundary_elements"] + averages["interior_elements"],
                               averages["elements"], 6)
        self.assertAlmostEqual(averages["owned_dofs"] * ranks, dofs(mesh, n), 6)
        self.assertLessEqual(per_rank["neighbours"]["max"], ranks - 1)
        if ranks == 1:
            for name in ("neighbours", "shared_dofs", "message_bytes", "boundary_elements"):
                self.assertEqual(per_rank[name]["max"], 0, name)
        self.assertAlmostEqual(sum(order["messages"].values()), averages["neighbours"] * ranks, 6)

    def check_tuning(self, report, order):
        """The tuner selected one verified strategy, and all samples are present."""
        tuning, shares = order["tuning"], order["per_rank"]["shared_dofs"]["max"] > 0
        candidates = tuning["candidates"]
        self.assertEqual([c["strategy"] for c in candidates],
                         [tuning["selected"]] if order["replayed"] else
                         report["input"]["gather_scatter"]["strategies"])
        self.assertTrue(all(c["verified"] == c["available"] for c in candidates), candidates)
        for c in candidates:
            if not c["available"]:
                self.assertRegex(c["strategy"], "nccl|nvshmem|put|datatypes|node-aware")
                self.assertRegex(c["failure"], "NCCL|NVSHMEM|MPI_Win_create|device memory|on one node|"
                                               "alone on its node")
        candidates = [c for c in candidates if c["available"]]
        self.assertEqual([c["strategy"] for c in candidates if c["selected"]],
                         [tuning["selected"]])
        # The tuner times the exchange together with the all-reduce that CG overlaps with it.
        sums = report["input"]["problem"] != "none" and not report["input"]["deterministic"]
        beside = f", u·Au by {report['all_reduce']['selected']}" if sums else ""
        if tuning["work_name"].startswith("Ax"):
            self.assertEqual(tuning["work_name"],
                             f"Ax, boundary elements before and interior ones meanwhile{beside}")
        least = report["input"]["gather_scatter"]["tuning"]["minimum_rounds"]
        for c in candidates:
            name = c["strategy"]
            self.assertEqual(c["overlapped"], name.endswith("+overlap"), name)
            self.assertEqual(c["alone"] is not None, shares and not c["overlapped"], name)
            if c["overlapped"]:
                self.assertEqual(c["with_work"] is not None, shares, name)
            for stage, rounds, work in (
                    ("alone", tuning["rounds_alone"], None),
                    ("with_work", tuning["rounds_with_work"], tuning["work_alone_s"])):
                if c[stage] is None:
                    continue
                samples, cost = c[stage]["samples_s"], c[stage]["cost"]
                if c[stage]["stopped"]:
                    self.assertTrue(5 <= len(samples) <= rounds, name)
                else:
                    self.assertEqual(len(samples), rounds, name)
                self.assertGreaterEqual(rounds, least, name)
                self.assertTrue(cost["low_s"] <= cost["median_s"] <= cost["high_s"],
                                f"{name}: {cost}")
                costs = [s - w for s, w in zip(samples, work)] if work else samples
                self.assertTrue(math.isclose(cost["median_s"], statistics.median(costs),
                                             rel_tol=1e-9, abs_tol=1e-15),
                                f"{name}: {cost} of {costs}")

    def check_solve(self, report):
        """The solve's numbers agree with others in the report."""
        solve, given = report["solve"], report["input"]
        n, elements = solve["order"], math.prod(given["mesh"]["elements"])
        self.assertEqual(n, given["solver"]["order"])
        self.assertEqual(solve["elements"], elements)
        self.assertEqual(solve["total_dofs"], dofs(given["mesh"], n))
        self.assertEqual(solve["total_local_points"], elements * (n + 1) ** 3)
        [tuned] = [order for order in report["orders"] if order["order"] == n]
        self.assertEqual(solve["strategy"], tuned["tuning"]["selected"])

        iterations_per_s = solve["iterations"] / solve["solve_s"]
        traffic = solve["bytes_per_dof"] * solve["total_dofs"] * iterations_per_s
        for name, value, expected in [
            ("flops_per_s", solve["flops_per_s"],
             elements * (n + 1) ** 3 * (12 * (n + 1) + 34) * iterations_per_s),
            ("dofs_per_s", solve["dofs_per_s"], solve["total_dofs"] * iterations_per_s),
            ("bandwidth_bytes_per_s", solve["bandwidth_bytes_per_s"], traffic),
            ("relative_residual", solve["relative_residual"],
             solve["residual"] / solve["rhs_norm"]),
            ("relative_true_residual", solve["relative_true_residual"],
             solve["true_residual"] / solve["rhs_norm"]),
        ]:
            self.assertTrue(math.isclose(value, expected, rel_tol=1e-9),
                            f"{name} is {value}, not {expected}")
        for share, measured in (("bandwidth_share", "copy_bandwidth_bytes_per_s"),
                                ("triad_share", "triad_bandwidth_bytes_per_s")):
            bandwidth = report["machine"][measured]
            self.assertEqual(bandwidth is not None, given["report"]["bandwidth"], measured)
            if bandwidth is None:
                self.assertIsNone(solve[share], share)
            else:
                self.assertTrue(math.isclose(solve[share], traffic / bandwidth, rel_tol=1e-9), share)
        # The minimum per point: six factors, p and Ap.
        self.assertGreater(solve["bytes_per_dof"], 64)

        history = solve["history"]
        self.assertEqual(len(history), solve["iterations"] + 1)
        self.assertEqual([history[0], history[-1]], [solve["rhs_norm"], solve["residual"]])
        self.assertFalse(solve["broke_down"])
        if given["solver"]["tolerance"] > 0:
            self.assertTrue(solve["converged"])
            self.assertLessEqual(solve["relative_residual"], given["solver"]["tolerance"])
            self.assertLess(solve["iterations"], given["solver"]["iterations"])
        else:
            self.assertEqual(solve["iterations"], given["solver"]["iterations"])
        if given["problem"] == "nekbone":
            self.assertIsNone(solve["error"])
        else:
            self.assertLessEqual(solve["error"], given["verification"]["error_bound"])

    def assert_same_solution(self, reports):
        """Runs with different ranks or kernels agree up to rounding."""
        first, *others = [report["solve"] for report in reports]
        for solve in others:
            self.assertLessEqual(abs(solve["iterations"] - first["iterations"]), 1)
            for norm in ("error", "error_l2"):
                if first[norm] is not None:
                    self.assertAlmostEqual(solve[norm], first[norm], delta=1e-8)
            for iteration, pair in enumerate(zip(solve["history"][:20], first["history"][:20])):
                self.assertTrue(math.isclose(*pair, rel_tol=1e-11),
                                f"residuals {pair} after {iteration} iterations")


class Ranks(RunTest):
    """The result does not depend on the number of ranks."""

    def test_same_solution(self):
        bandwidth = {"report__bandwidth": "true"}  # of one rank and of several
        self.assert_same_solution(self.reports(*((ranks, ALL | (bandwidth if ranks < 3 else {}))
                                                 for ranks in (1, 2, 3, 4, 7))))

    def test_same_solution_on_any_process_grid(self):
        # A mesh that is not a cube, more ranks than elements in a direction, prime numbers of ranks.
        for changes, grids in [
                ({"mesh__elements": "[4,3,2]"},
                 [(1, "auto"), (2, "[1,1,2]"), (3, "[1,3,1]"), (4, "slabs"), (4, "[2,1,2]"),
                  (7, "bisection"), (7, "auto")]),
                ({"mesh__elements": "[2,7,3]", "mesh__periodic": "[true,false,true]",
                  "problem": "nekbone"},
                 [(1, "bisection"), (2, "[2,1,1]"), (3, "slabs"), (4, "[2,2,1]"), (4, "auto"),
                  (7, "[1,7,1]"), (7, "bisection")])]:
            reports = self.reports(*((ranks, {"mesh__partition": grid} | FEW | changes)
                                     for ranks, grid in grids))
            self.assert_same_solution(reports)
            for (ranks, grid), report in zip(grids, reports):
                found = report["process_grid"]
                if grid != "auto":
                    self.assertEqual(found["selected"] == "bisection", grid == "bisection", found)
                elif ranks == 7:  # no grid fits: 7 exceeds the elements in each direction
                    self.assertEqual(found["selected"], "bisection")
                if grid.startswith("["):
                    self.assertEqual(found["candidates"][0]["blocks"], json.loads(grid))

    def test_process_grid_is_measured(self):
        # 27 elements on three ranks: slabs in three directions, with equal predictions. The only other
        # partition is bisection.
        report, run = self.passing(3)
        grid = report["process_grid"]
        self.assertEqual(grid["strategy"], "device-pairwise")
        self.assertEqual(sorted(c["partition"] for c in grid["candidates"]),
                         ["1 × 1 × 3", "1 × 3 × 1", "3 × 1 × 1"])
        self.assertTrue(all(c["timing"] for c in grid["candidates"]))
        self.assertRegex(run.out, r"(?m)^-- Process grid -+$")
        self.assertRegex(run.out, rf"(?m)^  {re.escape(grid['selected'])}, slabs +[123] .* SELECTED$")
        self.assertLess(run.out.index("-- Process grid"), run.out.index("-- Order"))
        # Seven ranks fit no grid, so the input can only ask for bisection.
        report, run = self.passing(7, mesh__partition="bisection", **FEW)
        self.assertRegex(run.out, r"(?m)^  bisection, as mesh.partition says: per rank")
        self.assertNotIn("elements divided by", run.out)
        _, run = self.passing(1)
        self.assertRegex(run.out, r"(?m)^  One rank has all elements\.$")
        dry = self.run_program(3, "smoke.yaml", *small(), "--dry-run")
        self.assertRegex(dry.out, r"Would measure 3 of 3 divisions")
        self.assertEqual(len(re.findall(r"per rank at most 9 elements", dry.out)), 3, str(dry))

    def test_halo_by_hand(self):
        # Two elements of order 2 on two ranks touch on both sides. The lattice has 4 x 2 x 2 points, and
        # planes 0 and 2, of 2 x 2 points each, are shared.
        report, _ = self.passing(2, mesh__elements="[2,1,1]", mesh__deformation="none",
                                 solver__order="9", verification__error_bound="0.5")
        [order] = [order for order in report["orders"] if order["order"] == 2]
        self.assertEqual([order["total_dofs"], order["total_local_points"]], [16, 54])
        for name, count in [("elements", 1), ("boundary_elements", 1), ("interior_elements", 0),
                            ("neighbours", 1), ("shared_dofs", 8), ("message_bytes", 64)]:
            with self.subTest(name):
                self.assertEqual(order["per_rank"][name],
                                 {"min": count, "avg": count, "max": count})

    def test_messages_by_hand(self):
        # Four elements of order 2 around an edge, one per rank, with Dirichlet boundaries. There are
        # 3 x 3 x 1 free points. Two face neighbours share two, and all four ranks share the middle one.
        report, _ = self.passing(4, mesh__elements="[2,2,1]", mesh__periodic="false",
                                 problem="nekbone")
        [order] = [order for order in report["orders"] if order["order"] == 2]
        for name, least, average, most in [("neighbours", 3, 3, 3), ("shared_dofs", 3, 3, 3),
                                           ("message_bytes", 8, 40 / 3, 16),
                                           ("sent_bytes", 40, 40, 40)]:
            with self.subTest(name):
                self.assertEqual(order["per_rank"][name],
                                 {"min": least, "avg": average, "max": most})
        # The shared points in local order, named by the ranks that have them, are 01 0123 02 on rank 0,
        # 01 0123 13 on 1, 0123 02 23 on 2 and 0123 13 23 on 3. Only ranks 2 and 3 have another point
        # between the two that they send to each other.
        self.assertEqual(order["messages"], {"contiguous": 10, "strided": 2, "indexed": 0})

    def test_one_element_a_rank(self):
        for elements, ranks in [("[7,1,1]", 7), ("[1,2,2]", 4)]:
            with self.subTest(elements):
                # The other problems need more than one element per direction. nekbone has no exact solution.
                changes = {"mesh__elements": elements, "problem": "nekbone",
                           "mesh__periodic": "[true,true,false]"}
                reports = self.reports((1, changes), (ranks, changes | (FEW if ranks == 7 else {})))
                self.assert_same_solution(reports)
                for order in reports[1]["orders"]:
                    self.assertEqual(order["per_rank"]["elements"]["max"], 1)

    def test_two_periodic_elements(self):
        changes = {"mesh__elements": "[2,2,2]", "solver__order": "7"}
        reports = self.reports((1, changes), (3, changes))
        self.assert_same_solution(reports)
        self.assertEqual(reports[0]["solve"]["total_dofs"], 14 ** 3)


class Problems(RunTest):
    """Every problem, preconditioner and set of vector kernels."""

    def test_manufactured(self):
        report, _ = self.passing(
            3, problem="manufactured", mesh__periodic="false", mesh__deformation="kershaw",
            mesh__epsilon="0.6", mesh__elements="[4,3,3]", verification__error_bound="0.1")
        self.assertEqual(report["solve"]["total_dofs"], 19 * 14 * 14)

    def test_manufactured_partly_periodic(self):
        report, _ = self.passing(2, problem="manufactured", mesh__periodic="[true,false,true]")
        self.assertEqual(report["solve"]["total_dofs"], 15 * 14 * 15)

    def test_nekbone_is_the_same_on_any_ranks(self):
        changes = {"problem": "nekbone", "mesh__periodic": "false", "operator__lambda": "0.1",
                   "solver__tolerance": "0", "solver__iterations": "25",
                   "solver__preconditioner": "none"}
        reports = self.reports((1, changes), (4, changes))
        self.assert_same_solution(reports)
        self.assertEqual(reports[0]["solve"]["iterations"], 25)

    def test_singular(self):
        changes = {"operator__lambda": "0"}
        self.assert_same_solution(self.reports((1, changes), (3, changes)))

    def test_kernels_and_preconditioners(self):
        pairs = [(preconditioner, kernels) for preconditioner in ("jacobi", "none")
                 for kernels in ("fused", "kokkos-kernels")]
        reports = self.reports(*((2, {"solver__preconditioner": preconditioner,
                                      "solver__vector_ops": kernels})
                                 for preconditioner, kernels in pairs))
        self.assert_same_solution(reports[:2])
        self.assert_same_solution(reports[2:])
        # Without a preconditioner, CG takes other iterations to the same solution.
        jacobi, none = reports[0]["solve"], reports[2]["solve"]
        self.assertNotEqual(jacobi["history"], none["history"])
        self.assertAlmostEqual(jacobi["error"], none["error"], delta=1e-6)

    def test_multigrid(self):
        changes = {"solver__preconditioner": "multigrid", "operator__lambda": "0"}
        reports = self.reports((1, changes), (2, changes), (4, changes))
        for ranks, report in zip((1, 2, 4), reports):
            solve = report["solve"]
            self.assertLess(solve["iterations"], 25)
            multigrid = solve["multigrid"]
            [selected] = [c for c in multigrid["candidates"] if c["selected"]]
            self.assertTrue(selected["verified"])
            self.assertEqual(selected["orders"][0], solve["order"])
            levels = multigrid["levels"]
            self.assertEqual(levels[0]["total_dofs"], solve["total_dofs"])
            self.assertEqual([level["direct"] for level in levels], [False] * (len(levels) - 1) + [True])
            for level in levels[:-1]:
                self.assertEqual(level["strategy"] is None, ranks == 1)
            self.assertGreater(multigrid["jacobi"]["iterations"], 0)
            self.assertAlmostEqual(solve["error"], reports[0]["solve"]["error"], delta=1e-6)

    def test_pinned_multigrid_is_the_same_on_any_ranks(self):
        changes = {"solver__preconditioner": "multigrid", "solver__multigrid__orders": "[5,2]",
                   "solver__multigrid__smoother": "schwarz", "solver__multigrid__degree": "2",
                   "solver__multigrid__polynomial": "chebyshev-1", "solver__order": "5",
                   "solver__multigrid__precision": "double", "solver__multigrid__coarse_dofs": "50"}
        reports = self.reports((1, changes), (3, changes))
        for report in reports:
            multigrid = report["solve"]["multigrid"]
            [only] = multigrid["candidates"]
            self.assertEqual([only["orders"], only["smoother"], only["polynomial"], only["degree"], only["precision"]],
                             [[5, 2], "schwarz", "chebyshev-1", 2, "double"])
            self.assertLessEqual(multigrid["levels"][-1]["total_dofs"], 50)
        self.assert_same_solution(reports)

    def test_deterministic_multigrid_has_the_same_bits_on_any_ranks(self):
        fixed = {"deterministic": "true", "gather_scatter__audit": "false",
                 "solver__preconditioner": "multigrid", "solver__tolerance": "1e-8"}
        reports = self.reports((1, fixed), (2, fixed), (7, fixed))
        for report in reports:
            self.assertEqual(report["solve"]["checksum"], reports[0]["solve"]["checksum"])
            self.assertEqual(report["solve"]["history"], reports[0]["solve"]["history"])

    def test_counted_traffic(self):
        """Doubles that vector operations move per entry and iteration, beyond those of the simplest case."""
        def bytes_per_dof(**changes):
            # 32 elements fill all lanes, so the entries of one rank are the DOFs.
            # Pinned, because methods of CG differ in the vectors that they keep.
            report, _ = self.passing(1, mesh__elements="[4,4,2]", solver__tolerance="1e-8",
                                     solver__variant="classic", solver__launch="host",
                                     verification__error_bound="0.5", **changes)
            return report["solve"]["bytes_per_dof"]

        none, jacobi = {"solver__preconditioner": "none"}, {"solver__preconditioner": "jacobi"}
        kernels, singular = {"solver__vector_ops": "kokkos-kernels"}, {"operator__lambda": "0"}
        plainest = bytes_per_dof(**none)
        for doubles, changes in [
                (2, jacobi),  # z = M r is formed twice: M is read for the residual and for p
                (2, none | kernels),  # r and p are read once more each
                (7, jacobi | kernels),  # also stores z: r, M and z, then r and z, then z for r
                (0, none | singular),  # only b is projected
                (2, jacobi | singular)]:
            with self.subTest(changes):
                self.assertAlmostEqual((bytes_per_dof(**changes) - plainest) / 8, doubles,
                                       delta=0.1)

    def test_run_time_order(self):
        report, run = self.passing(2, orders=f"[{RUN_TIME_ORDER}]", mesh__elements="[2,1,1]",
                                   mesh__deformation="none", solver__order="9",
                                   verification__error_bound="0.5")
        compiled = {order["order"]: order["compiled"] for order in report["orders"]}
        self.assertIs(compiled[RUN_TIME_ORDER], False,
                      "was NEKBONE_K_ORDERS set to compile this order? then take another")
        # Split the text at the headings of orders.
        parts = re.split(r"^-- (?=Order|CG)", run.out, flags=re.MULTILINE)
        for order, is_compiled in compiled.items():
            [part] = [part for part in parts if part.startswith(f"Order {order} ")]
            self.assertEqual("slower kernel" in part, not is_compiled, str(run))
        [warning] = [w for w in report["warnings"] if "NEKBONE_K_ORDERS" in w]
        self.assertTrue(warning.startswith(f"order {RUN_TIME_ORDER} used the kernel with a run-time order"), warning)


class Strategies(RunTest):
    """Single strategies and all of them."""

    @unittest.mock.patch.dict(os.environ, NEKBONE_K_RANKS_PER_NODE="2")
    def test_all_give_the_same_bits(self):
        # The bits are equal only on the same process grid, and with the same method of CG.
        pinned = {"orders": "[5]", "mesh__partition": "bisection", "solver__launch": "host"}
        [whole] = self.reports((3, pinned | ALL))
        [order] = whole["orders"]
        strategies = [c["strategy"] for c in order["tuning"]["candidates"] if c["available"]]
        # Strategies for GPUs are missing and, with some MPIs, the put strategies.
        self.assertGreaterEqual(len(strategies), len(STRATEGIES) - 8)
        reports = self.reports(*((3, {"gather_scatter__strategies": f"[{strategy}]",
                                      "solver__all_reduce": "host-mpi"} | pinned)
                                 for strategy in strategies))
        for strategy, report in zip(strategies, reports):
            with self.subTest(strategy):
                self.assertEqual(report["solve"]["strategy"], strategy)
                self.assertEqual(report["solve"]["history"], reports[0]["solve"]["history"],
                                 f"rounds otherwise than {strategies[0]}")

    def test_deterministic_on_any_ranks(self):
        fixed = {"deterministic": "true", "gather_scatter__audit": "false"}
        reports = self.reports((1, fixed), (2, fixed), (3, fixed | ALL), (7, fixed),
                               (4, {**fixed, "gather_scatter__strategies": "host-alltoall+overlap",
                                    "solver__all_reduce": "host-mpi"}))
        first = reports[0]["solve"]
        self.assertRegex(first["checksum"], "^[0-9a-f]{16}$")
        for report in reports:
            solve = report["solve"]
            self.assertEqual(solve["checksum"], first["checksum"])
            self.assertEqual(solve["history"], first["history"])
            cost = solve["determinism"]
            self.assertTrue(math.isclose(cost["ratio"],
                                         cost["deterministic_s"] / cost["ordinary_s"]), cost)
        [ordinary] = self.reports((1, {}))
        self.assertIsNone(ordinary["solve"]["checksum"])
        self.assertIsNone(ordinary["solve"]["determinism"])

    def test_memory_is_measured_within_its_limit(self):
        """The run measures with smaller vectors, and not at all if they would fit into caches."""
        for limit, measured in (("0.3", True), ("0.15", False)):
            run = self.run_program(1, "smoke.yaml", *small(
                memory__limit_gib=limit, solver__order="2", verification__error_bound="0.5",
                report__bandwidth="true"))
            self.assertEqual(run.code, 0, str(run))
            report = self.report(run)
            self.assertIs(report["complete"], True)
            for key in ("copy_bandwidth_bytes_per_s", "triad_bandwidth_bytes_per_s"):
                self.assertEqual(report["machine"][key] is not None, measured, f"{key}{run}")

    def test_exchanges_alone(self):
        report, run = self.passing(3, problem="none", orders="[1, 4]",
                                   gather_scatter__tuning__early_stop="false",
                                   gather_scatter__tuning__budget_seconds="0",
                                   gather_scatter__tuning__minimum_rounds="20", **ALL)
        self.assertIsNone(report["solve"])
        self.assertIsNone(report["all_reduce"])
        for order in report["orders"]:
            tuning = order["tuning"]
            self.assertEqual(tuning["repeats"], 1)
            for c in tuning["candidates"]:
                timing = c["with_work" if c["overlapped"] else "alone"]
                if not c["available"]:
                    continue
                samples = timing["samples_s"]
                if c["overlapped"]:
                    samples = [s - w for s, w in zip(samples, tuning["work_alone_s"])]
                self.assertEqual(len(samples), 20, c["strategy"])
                for key, expected in [("mean_s", statistics.mean(samples)),
                                      ("deviation_s", statistics.stdev(samples))]:
                    self.assertTrue(math.isclose(timing["cost"][key], expected, rel_tol=1e-6,
                                                 abs_tol=1e-13), f"{c['strategy']} {key}")
        means = run.out[run.out.index("mean ± standard deviation"):]
        for c in report["orders"][0]["tuning"]["candidates"]:
            if c["available"]:
                self.assertRegex(means, rf"(?m)^  {re.escape(c['strategy'])} +\S+ ± \S+ +\S+ ± ")
        dry = self.run_program(3, "smoke.yaml", *small(problem="none"), "--dry-run")
        self.assertEqual(dry.code, 0, str(dry))
        self.assertNotIn("Would solve", dry.out)

    @harness.alone
    def test_exchanges_of_other_fields(self):
        """Messages have the requested number of floats, and a run does not take a choice for other fields."""
        kind = {"gather_scatter__components": "3", "gather_scatter__precision": "single"}
        # The two elements of test_halo_by_hand share eight DOFs.
        report, run = self.passing(2, problem="none", mesh__elements="[2,1,1]", **kind)
        [order] = report["orders"]
        for given in (report["input"]["gather_scatter"], order["tuning"]):
            self.assertEqual([given["components"], given["precision"]], [3, "single"])
        self.assertEqual(order["per_rank"]["message_bytes"], {"min": 96, "avg": 96, "max": 96})
        self.assertRegex(run.out, r"(?m)^  problem +none, exchanges of 3 floats per DOF are measured")
        self.assertRegex(run.out, r"(?m)^  one message \(3 floats per DOF\) +96 B +96 B +96 B$")

        cached = {"gather_scatter__tuning__mode": "cached", "mesh__partition": "[1,1,3]",
                  "gather_scatter__tuning__cache": str(self.new_folder() / "cache.json")}
        self.keeping(3, problem="none", **cached)
        report, run = self.until_kept(lambda: self.passing(3, problem="none", **cached, **kind))
        [order] = report["orders"]
        self.assertFalse(order["replayed"])
        self.assertIn("components was 1, now 3; precision was double, now single",
                      order["cache_note"], str(run))
        for changes in ({}, kind):  # found, but rejected if a busy machine makes it slower
            report, run = self.passing(3, problem="none", **cached, **changes)
            [order] = report["orders"]
            self.assertRegex(order["cache_note"], "the choice of|now costs", str(run))

    def test_sums_over_ranks(self):
        [whole] = self.reports((3, {}))
        tuning = whole["all_reduce"]
        self.assertEqual([c["all_reduce"] for c in tuning["candidates"]], SUMS)
        self.assertEqual([c["all_reduce"] for c in tuning["candidates"] if c["selected"]],
                         [whole["solve"]["all_reduce"]])
        sums = [c["all_reduce"] for c in tuning["candidates"] if c["available"]]
        self.assertEqual(sums[:2], ["host-mpi", "host-shared"])
        reports = self.reports(*((3, {"solver__all_reduce": name}) for name in sums))
        self.assert_same_solution(reports)
        self.assertEqual([report["solve"]["all_reduce"] for report in reports], sums)

    def test_audit_compares_with_what_was_not_chosen(self):
        report, run = self.passing(2, **ALL)
        audit, tuned = report["solve"]["audit"], report["orders"][-1]["tuning"]
        names = [audited["strategy"] for audited in audit["strategies"]]
        self.assertEqual(names[0], report["solve"]["strategy"])
        self.assertEqual(len(set(names)), len(names))
        right = [c["strategy"] for c in tuned["candidates"] if c["verified"]]
        self.assertEqual(audit["others"], len(right) - 1)
        self.assertLessEqual(set(names), set(right))
        self.assertIn(audit["best"], names)
        self.assertGreaterEqual(audit["regret"], 0)
        self.assertRegex(run.out, r"(?m)^  regret  ")
        sums = [audited["strategy"] for audited in report["solve"]["sum_audit"]["strategies"]]
        self.assertEqual(sums[0], report["solve"]["all_reduce"])
        self.assertEqual(set(sums), {c["all_reduce"] for c in report["all_reduce"]["candidates"]
                                     if c["verified"]})
        self.assertRegex(run.out, r"(?m)^    all-reduce  ")
        report, _ = self.passing(2, gather_scatter__audit_others="1000",
                                 gather_scatter__tuning__budget_seconds="0", **ALL)
        audit = report["solve"]["audit"]
        self.assertEqual(len(audit["strategies"]) - 1, audit["others"])
        for changes in ({"gather_scatter__audit": "false"},
                        {"gather_scatter__strategies": "host-pairwise",
                         "solver__all_reduce": "host-mpi"}):
            report, run = self.passing(2, **changes)
            self.assertIsNone(report["solve"]["audit"])
            self.assertIsNone(report["solve"]["sum_audit"])
            self.assertNotRegex(run.out, r"(?m)^(  regret|    all-reduce)  ")

    @harness.alone
    def test_choices_of_earlier_runs_are_taken(self):
        cached = ALL | {"gather_scatter__tuning__mode": "cached",
                        "gather_scatter__tuning__cache": str(self.new_folder() / "cache.json")}
        first, _ = self.keeping(2, **cached)
        for choice in [*first["orders"], first["all_reduce"]]:
            self.assertFalse(choice["replayed"])
            self.assertRegex(choice["cache_note"],
                             "measured anew, as (there is no .*|.* has no choice of .*|of .* differs: .*)")
        kept = {order["order"]: order["tuning"]["selected"] for order in first["orders"]}
        for _ in range(3):  # repeat, because a busy machine may make all choices look slower
            again, run = self.passing(2, **cached)
            taken = [order for order in again["orders"] if order["replayed"]]
            if taken:
                break
            # A choice that is measured again replaces the cached one, if the run caches it.
            kept |= {order["order"]: order["tuning"]["selected"] for order in again["orders"]
                     if "not kept" not in order["cache_note"]}
        self.assertFalse(first["process_grid"]["replayed"])
        self.assertTrue(again["process_grid"]["replayed"])
        self.assertEqual(again["process_grid"]["selected"], first["process_grid"]["selected"])
        self.assertIn("the choice of", again["process_grid"]["why"])
        self.assertTrue(taken, [order["cache_note"] for order in again["orders"]])
        for order in again["orders"]:
            if order["replayed"]:
                self.assertEqual(order["tuning"]["selected"], kept[order["order"]])
                self.assertEqual(len(order["tuning"]["candidates"]), 1)
                self.assertIn("the choice of", order["cache_note"])
        sums = again["all_reduce"]
        self.assertRegex(sums["cache_note"], "the choice of|now costs")
        if sums["replayed"]:
            self.assertEqual([c["all_reduce"] for c in sums["candidates"]], [sums["selected"]])
        other, _ = self.passing(3, **cached)
        for choice in [*other["orders"], other["all_reduce"]]:
            self.assertFalse(choice["replayed"])
            self.assertIn("ranks was 2, now 3", choice["cache_note"])
        # A choice is valid only for its process grid.
        blocks = [1, 2, 1] if first["process_grid"]["selected"] != "1 × 2 × 1" else [2, 1, 1]
        other, _ = self.passing(2, mesh__partition=str(blocks), **cached)
        for order in other["orders"]:
            self.assertFalse(order["replayed"])
            self.assertIn("partition was", order["cache_note"])

    @harness.alone
    def test_a_v_cycle_of_an_earlier_run_is_taken(self):
        cached = {"gather_scatter__tuning__mode": "cached", "solver__preconditioner": "multigrid",
                  "gather_scatter__audit": "false",
                  "gather_scatter__tuning__cache": str(self.new_folder() / "cache.json")}
        first, run = self.keeping(2, **cached)
        multigrid = first["solve"]["multigrid"]
        self.assertFalse(multigrid["replayed"])
        self.assertRegex(multigrid["cache_note"], "measured anew, as .*; kept in", str(run))
        self.assertEqual([bool(level["cache_note"]) for level in multigrid["levels"]],
                         [level["exchange_s"] is not None for level in multigrid["levels"]])
        for _ in range(3):  # as above
            again, run = self.passing(2, **cached)
            multigrid = again["solve"]["multigrid"]
            if multigrid["replayed"]:
                break
        self.assertTrue(multigrid["replayed"], str(run))
        self.assertIn("the choice of", multigrid["cache_note"])
        self.assertRegex(" ".join(run.out.split()), r"Selected: (jacobi|schwarz), .* cache: the choice of .*, chosen 20")
        [only] = multigrid["candidates"]
        self.assertTrue(only["selected"] and only["verified"])
        other, _ = self.passing(2, operator__lambda="2", **cached)
        self.assertFalse(other["solve"]["multigrid"]["replayed"])
        self.assertIn("lambda was 1, now 2", other["solve"]["multigrid"]["cache_note"])

    @harness.alone
    def test_choices_that_hold_no_more_are_not_taken(self):
        path = str(self.new_folder() / "cache.json")
        cached = {"gather_scatter__tuning__mode": "cached", "gather_scatter__tuning__cache": path}
        self.keeping(2, **cached)

        def note_where(**changed):
            with open(path, encoding="utf-8") as file:
                cache = json.load(file)
            for decision in cache["decisions"]:
                if decision["choice_of"] == "all-reduces":
                    decision.update(changed)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(cache, file)
            report, _ = self.until_kept(lambda: self.passing(2, **cached))
            self.assertFalse(report["all_reduce"]["replayed"])
            return report["all_reduce"]["cache_note"]

        self.assertRegex(note_where(cost_s=1e-12), r"host-.* now costs .*, and 0.001\d* ns when it was chosen; kept")
        self.assertIn("names magic, which is no strategy; kept", note_where(strategy="magic"))

    @harness.alone
    def test_a_cache_that_is_none_ends_no_run(self):
        path = str(self.new_folder() / "cache.json")

        def attempt():
            with open(path, "w", encoding="utf-8") as file:
                file.write("nonsense")
            return self.passing(2, gather_scatter__tuning__mode="cached", gather_scatter__tuning__cache=path)
        report, _ = self.until_kept(attempt)
        # The run looks up the process grid first.
        self.assertIn("cannot be used", report["process_grid"]["why"])
        with open(path + ".unreadable", encoding="utf-8") as file:
            self.assertEqual(file.read(), "nonsense")

    def test_what_mpi_does_with_the_memory_of_kernels(self):
        """The report compares the transfers with MPI's claims. One rank has no transfers."""
        for ranks, nodes, tried in [(1, 1, 0), (2, 1, 9), (3, 2, 18)]:
            pretended = {"NEKBONE_K_RANKS_PER_NODE": "2"} if nodes > 1 else {}
            with self.subTest(ranks=ranks), unittest.mock.patch.dict(os.environ, pretended):
                report, run = self.passing(ranks)
                found = report["machine"]["mpi_transfers"]
                self.assertEqual([t["failure"] for t in found["tried"]], [None] * tried)
                self.assertEqual(any(t["between_nodes"] for t in found["tried"]), nodes > 1)
                words = f"memory, {tried} of {tried} right; " if tried else "not tried, as there is only one rank"
                self.assertRegex(run.out, rf"(?m)^  MPI transfers {found['memory']} .*{words}")
                claim = {None: "no query in this MPI", True: "GPU-aware", False: "not\\s+GPU-aware"}
                self.assertRegex(run.out, rf"; [^;]*{claim[found['claims_device_memory']]}")

    @harness.alone
    def test_a_loaded_machine_is_warned_of(self):
        """Other processes take at least a third of all cores. The run caches no choice."""
        cache = self.new_folder() / "cache.json"
        with harness.loaded_machine():
            report, run = self.passing(
                2, gather_scatter__tuning__mode="cached", gather_scatter__tuning__cache=str(cache),
                gather_scatter__tuning__grid_budget_seconds="1",
                gather_scatter__tuning__budget_seconds="1", **FEW)
        self.assertRegex(run.out, r"(?m)^  WARNING +other processes or another virtual machine used")
        self.assertIn("other processes", " ".join(report["warnings"]))
        for note in (report["process_grid"]["why"], report["all_reduce"]["cache_note"],
                     *(order["cache_note"] for order in report["orders"])):
            self.assertRegex(note, "measured anew, as .*; not kept: the machine was loaded while it was measured$")
        self.assertRegex(run.out, r"(?m)^  choices +4 choices: not kept: the machine was loaded")
        self.assertFalse(cache.exists(), str(run))

    def test_pretended_nodes_are_warned_of(self):
        with unittest.mock.patch.dict(os.environ, NEKBONE_K_RANKS_PER_NODE="2"):
            report, _ = self.passing(3)
        self.assertTrue(any("NEKBONE_K_RANKS_PER_NODE is 2" in warning
                            for warning in report["machine"]["warnings"]), report["machine"])


@harness.alone
class RanksApart(RunTest):
    """Ranks that see different machines take no choice of other runs and cache none."""

    def setUp(self):
        super().setUp()
        self.cache = self.new_folder() / "cache.json"
        self.cached = {"gather_scatter__tuning__mode": "cached",
                       "gather_scatter__tuning__cache": str(self.cache)}

    def measured_apart(self):
        """Runs three ranks, the last of which sees another machine. The run passes and says so."""
        arguments = ["smoke.yaml", *small(**self.cached)]
        # The number of threads differs only in builds for a CPU; the pretended nodes differ on GPUs, too.
        unlike = ["env", "OMP_NUM_THREADS=2", "NEKBONE_K_RANKS_PER_NODE=2"]
        run = self.run_command([*self.command(2, *arguments), ":", "-n", "1", *unlike,
                                *self.command(0, *arguments)], self.new_folder())
        report = self.check_passed(run, 3)
        grid, others = report["process_grid"], [*report["orders"], report["all_reduce"]]
        self.assertFalse(any(choice["replayed"] for choice in (grid, *others)), str(run))
        for note in (grid["why"], *(choice["cache_note"] for choice in others)):
            self.assertRegex(note, "measured anew, as ranks 0 and 2 see different machines or run "
                                   "different programs$", str(run))

    def test_keep_no_choice(self):
        self.measured_apart()
        self.assertEqual(os.listdir(self.cache.parent), ["smoke.yaml"])
        report, _ = self.keeping(3, **self.cached)
        self.assertIn("there is no", report["process_grid"]["why"])
        self.assertTrue(self.cache.is_file())

    def test_take_no_choice_of_others_and_leave_it_as_it_is(self):
        first, _ = self.keeping(3, **self.cached)
        kept = self.cache.read_bytes()
        self.measured_apart()
        self.assertEqual(self.cache.read_bytes(), kept)
        again, _ = self.passing(3, **self.cached)
        self.assertTrue(again["process_grid"]["replayed"])
        self.assertEqual(again["process_grid"]["selected"], first["process_grid"]["selected"])
        for order in again["orders"]:  # found, but rejected if a busy machine makes it slower
            self.assertRegex(order["cache_note"], "the choice of|now costs")


class CommandLine(RunTest):
    """The options of the program."""

    def assert_listed(self, run):
        """The text is printed once, on stdout."""
        self.assertEqual(run.code, 0, str(run))
        self.assert_readable(run)
        self.assertEqual(run.err, "", str(run))
        self.assert_files(run)

    def test_help(self):
        run = self.run_program(2, "--help")
        self.assert_listed(run)
        for text in ("--set", "--brief", "--full", "--dry-run", "--report", "--list-strategies", "--version", "--help"):
            self.assertIn(text, run.out, str(run))
        for code in ("0", "1", "2", "3", "4", "130"):
            lines = re.findall(rf"^ +{code}\b", run.out, flags=re.MULTILINE)
            self.assertEqual(len(lines), 1, f"lines on exit code {code}{run}")

    def test_version(self):
        run = self.run_program(2, "--version")
        self.assert_listed(run)
        self.assertRegex(run.out, r"\Anekbone-k \d+\.\d+\.\d+ \(.+\)\n\Z", str(run))

    def test_list_strategies(self):
        run = self.run_program(2, "--list-strategies")
        self.assert_listed(run)
        names = re.findall(r"^  (\S+) ", run.out, flags=re.MULTILINE)
        self.assertEqual(sorted(names), sorted(STRATEGIES + SUMS), str(run))
        # The input cannot select only strategies that this build lacks.
        lacking = [line.split(", ") for line in re.findall(r"^Not in this build: (.*)$", run.out, re.MULTILINE)]
        for key, missing, others in zip(("gather_scatter__strategies", "solver__all_reduce"), lacking,
                                        (STRATEGIES, SUMS)):
            self.assertLess(set(missing), set(others), str(run))
            for names, code in ((missing, 2), ([*missing, others[0]], 0)):
                pinned = self.run_program(2, "smoke.yaml", "--dry-run", *small(**{key: f"[{','.join(names)}]"}))
                self.assertEqual(pinned.code, code, str(pinned))

    def test_dry_run(self):
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                run = self.run_program(ranks, "smoke.yaml", "--dry-run", "--report", "other.json")
                self.assertEqual(run.code, 0, str(run))
                self.assert_files(run)
                # smoke.yaml has 96 elements and three orders.
                for order, count in [(1, 96), (3, 2592), (5, 12000)]:
                    self.assertRegex(run.out, rf"tune order {order}: {count} DOFs", str(run))
                self.assertRegex(run.out, r"solve taylor-green at order 5", str(run))
                self.assertNotIn("PASS", run.out, str(run))
                self.assertEqual(run.messages(), [], str(run))
                self.assert_readable(run)

    def test_dry_run_names_what_a_run_would_skip(self):
        run = self.run_program(2, "smoke.yaml", "--dry-run", *small())
        self.assertRegex(" ".join(run.out.split()), "Would skip strategies .*device-node-aware, host-node-aware, .*: "
                                                    "all ranks are on one node", str(run))
        self.assertEqual(run.code, 0, str(run))

        run = self.run_program(2, "smoke.yaml", "--dry-run",
                               *small(gather_scatter__strategies="host-node-aware"))
        self.assertEqual(run.code, 1, str(run))
        self.assertRegex(run.out, r"(?m)^  FAIL +no strategy would be available: all ranks are on one node", str(run))

    def test_dry_run_names_all_reduces_that_a_run_would_skip(self):
        run = self.run_program(2, "smoke.yaml", "--dry-run", *small(solver__all_reduce="[host-mpi, nccl]"))
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(" ".join(run.out.split()), "Would skip all-reduces nccl: this program was built without", str(run))

    def test_dry_run_knows_the_journal_and_the_cache(self):
        folder = self.new_folder()
        (folder / "nekbone-k-journal.jsonl").write_text("nonsense\n")
        run = self.run_program(2, "smoke.yaml", "--dry-run", *small(
            gather_scatter__tuning__mode="cached", gather_scatter__tuning__cache="none/cache.json"), folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.err, "line 1 cannot be read", str(run))
        self.assertRegex(" ".join(run.out.split()), "WARNING .*none/cache.json cannot be written: No such file", str(run))

    def test_dry_run_warns_of_a_cache_that_a_run_could_not_use(self):
        folder = self.new_folder()
        (folder / "folder").mkdir()
        texts = {"nonsense.json": "nonsense", "old.json": '{"decision_cache": 1, "decisions": []}',
                 "good.json": '{"decision_cache": 2, "decisions": []}'}
        for name, text in texts.items():
            (folder / name).write_text(text)
        warnings = {
            "folder": r"folder cannot be written: Is a directory; a run would keep no choice",
            "nonsense.json": r"nonsense\.json cannot be used: it is not a cache of choices; a run would measure anew "
                             r"and rename it to nonsense\.json\.unreadable",
            "old.json": r"old\.json cannot be used: it is of another version; .* would measure anew and keep no choice",
            "good.json": None,
            "new.json": None}
        for cache, warning in warnings.items():
            with self.subTest(cache):
                run = self.run_program(2, "smoke.yaml", "--dry-run", *small(
                    gather_scatter__tuning__mode="cached", gather_scatter__tuning__cache=cache), folder=folder)
                self.assertEqual(run.code, 0, str(run))
                if warning:
                    self.assertRegex(" ".join(run.out.split()), f"WARNING .*: {warning}", str(run))
                else:
                    self.assertNotIn(cache, run.out, str(run))
                self.assert_files(run, "folder", *texts)
        for name, text in texts.items():
            self.assertEqual((folder / name).read_text(), text)

    def test_one_rank_that_compares_nothing_says_so(self):
        for more in ([], ["--dry-run"]):
            run = self.run_program(0, "smoke.yaml", *small(problem="none"), *more)
            self.assertEqual(run.code, 0, str(run))
            self.assertRegex(" ".join(run.out.split()), "WARNING one rank exchanges nothing with others", str(run))

    def test_dry_run_counts(self):
        run = self.run_program(3, "smoke.yaml", "--dry-run", *small(
            mesh__elements="[3,2,2]", solver__order=RUN_TIME_ORDER,
            gather_scatter__strategies="host-pairwise"))
        self.assertEqual(run.code, 0, str(run))
        self.assert_readable(run)
        self.assertRegex(run.out, r"order 2: 96 DOFs, 4 elements per rank\n  1 strategy; ", str(run))
        slow = re.findall(r"order (\d+) is not compiled: a slower kernel", run.out)
        self.assertEqual(slow, [str(RUN_TIME_ORDER)], str(run))

        run = self.run_program(2, "smoke.yaml", "--dry-run", *small())
        self.assertRegex(run.out, r"DOFs, 9 to 18 elements per rank\n"
                         f"  {len(STRATEGIES)} strategies at most; "
                         f"{len(STRATEGIES) - len(EXCHANGES)} of them "
                         r"overlapped with Ax; [0-9.]+ MiB per node\n",
                         str(run))

    def test_dry_run_counts_all_components(self):
        def bytes_a_node(**changes):
            run = self.run_program(2, "smoke.yaml", "--dry-run", *small(
                problem="none", mesh__elements="[16,16,16]", orders="[7]", **changes))
            self.assertEqual(run.code, 0, str(run))
            number, unit = re.search(r"; ([0-9.]+) ([MG])iB per node\n", run.out).groups()
            return float(number) * {"M": 1, "G": 1024}[unit]
        sizes = [bytes_a_node(**changes) for changes in (
            {"gather_scatter__precision": "single"}, {}, {"gather_scatter__components": "3"},
            {"gather_scatter__components": "64"})]
        self.assertEqual(sizes, sorted(set(sizes)))

    def test_report_option_wins_and_is_again_an_input(self):
        folder = self.new_folder()
        (folder / "sub").mkdir()
        (folder / "sub/other.json").write_text("of another run")
        run = self.run_program(2, "smoke.yaml", *small(mesh__partition="[1,2,1]", solver__launch="host"),
                               "--report", "sub/other.json", folder=folder)
        first = self.check_passed(run, 2, "sub/other.json")
        self.assert_files(run, "sub")
        self.assertEqual([path.name for path in (folder / "sub").iterdir()], ["other.json"])
        self.assertEqual(first["input"]["report"]["json"], "sub/other.json")
        self.assertIn("sub/other.json", run.out, str(run))

        # As docs/output.md says, `input` of a report is an input for the same run.
        (folder / "again.yaml").write_text(json.dumps(first["input"]))
        run = self.run_program(2, "again.yaml", folder=folder)
        second = self.check_passed(run, 2, "sub/other.json")
        self.assertEqual(second["input"], first["input"])
        self.assertEqual(second["solve"]["history"], first["solve"]["history"])


class Length(RunTest):
    """The options for the length of the terminal report. The JSON report is always complete."""

    def shown(self, option):
        """The report and the run on two ranks, with or without an option."""
        run = self.run_program(2, "smoke.yaml", *small(), *filter(None, [option]))
        self.assertEqual(run.code, 0, str(run))
        self.assert_readable(run)
        report = self.report(run)
        for order in report["orders"]:
            self.check_tuning(report, order)
            self.assertEqual(len(order["tuning"]["candidates"]), len(STRATEGIES))
        return report, run

    def test_brief_is_the_result_alone(self):
        report, run = self.shown("--brief")
        self.assertTrue(run.out.startswith("-- Result -"), str(run))
        self.assertEqual(len(re.findall("^-- ", run.out, re.MULTILINE)), 1, str(run))
        self.assertEqual(len(re.findall("^  PASS ", run.out, re.MULTILINE)), 1, str(run))
        for order in report["orders"]:
            self.assertRegex(run.out, rf"(?m)^ +{order['order']}  {re.escape(order['tuning']['selected'])} ")
        self.assertRegex(run.out, rf"(?m)^  all-reduce +{report['all_reduce']['selected']}, ")
        gflops = report["solve"]["flops_per_s"] / 1e9
        [printed] = re.findall(r"^  FOM +(\S+) GFLOP/s", run.out, re.MULTILINE)
        self.assertAlmostEqual(float(printed) / gflops, 1, 2, str(run))
        self.assertIn("report.json", run.out, str(run))
        for part in ("order 2: tuning", "order 5: CG"):  # on stderr, like in every run
            self.assertTrue(any(part in line for line in run.messages()), f"no {part}{run}")

    def test_result_is_that_of_every_run(self):
        """Every report ends with the lines that --brief prints."""
        _, brief = self.shown("--brief")
        _, usual = self.shown(None)
        labels = [re.findall(r"^  (\S+)  ", text, re.MULTILINE)
                  for text in (brief.out, usual.out[usual.out.index("-- Result"):])]
        self.assertEqual(*[[label for label in found if label != "WARNING" and "-" not in label] for found in labels],
                         f"{brief}{usual}")

    def rows(self, run, order):
        """The rows of an order's strategy table, and the number of hidden rows by stage."""
        [part] = [part for part in re.split(r"^-- ", run.out, flags=re.MULTILINE)
                  if part.startswith(f"Order {order} ")]
        stages = re.split(r"^  \[.s\] ", part, flags=re.MULTILINE)[1:]
        self.assertEqual(len(stages), 2, str(run))
        return [(re.findall(r"^  ([a-z-]+(?:\+overlap)?)\s+Host, ", stage, re.MULTILINE),
                 sum(map(int, re.findall(r"^  (\d+) slower candidates? not shown: --full", stage, re.MULTILINE))))
                for stage in stages]

    def test_full_hides_nothing(self):
        for option in (None, "--full"):
            report, run = self.shown(option)
            for order in report["orders"]:
                candidates = order["tuning"]["candidates"]
                for (rows, hidden), stage in zip(self.rows(run, order["order"]), ("alone", "with_work")):
                    timed = {c["strategy"]: c[stage] for c in candidates if c[stage]}
                    self.assertEqual(len(rows) + hidden, len(timed), str(run))
                    if option:
                        self.assertEqual(hidden, 0, str(run))
                        continue
                    self.assertGreater(hidden, 0, str(run))
                    fast = sorted(timed, key=lambda name: timed[name]["cost"]["median_s"])[:5]
                    ties = [name for name, timing in timed.items() if timing["tie"]]
                    selected = {order["tuning"]["selected"]} & set(timed)
                    self.assertEqual(set(rows), {*fast, *ties, *selected}, str(run))


class Progress(RunTest):
    """Progress goes to stderr, in a form that suits the terminal."""

    def test_lines(self):
        _, run = self.passing(2)
        self.assertNotRegex(run.err, "[\r\033]", str(run))
        self.assertNotIn(harness.MESSAGE, run.out, str(run))
        for part in ("order 2: tuning", "order 5: CG"):
            self.assertTrue(any(part in line for line in run.messages()), f"no {part}{run}")

    def test_bar_on_a_terminal(self):
        # Without a launcher, because launchers give ranks a pipe for stderr.
        reader, terminal = pty.openpty()
        shown = []

        def read():
            try:
                while part := os.read(reader, 4096):
                    shown.append(part)
            except OSError:  # Linux: the other end of the terminal is closed
                pass

        command = self.command(0, "smoke.yaml", *small(solver__iterations="100"))
        thread = threading.Thread(target=read)
        thread.start()
        try:
            run = self.run_command(command, self.new_folder(), stderr=terminal)
        finally:
            os.close(terminal)
            thread.join(harness.TIMEOUT_S)
            os.close(reader)
        run.err = b"".join(shown).decode()
        self.check_passed(run, 1)
        self.assertRegex(run.err, r"\r\033\[K\[[#.]{30}\] \S", repr(run.err))
        self.assertIn("[" + 3 * "#", run.err, "the bar never grew: " + repr(run.err))
        self.assertNotIn(harness.MESSAGE, run.err, repr(run.err))
        self.assertTrue(run.err.endswith("\r\033[K"), "the bar was left: " + repr(run.err[-80:]))


if __name__ == "__main__":
    harness.main()
