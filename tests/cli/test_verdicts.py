#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run does not pass without its checks, and a dry run refuses the same cases as a run."""

import itertools
import pathlib
import shutil
import subprocess
import unittest

import harness
from harness import small


class NothingRan(harness.CliTest):
    """Verdicts on steps that did not run."""

    def test_the_only_strategy_is_not_available(self):
        """Node-aware strategies are unavailable on a single node."""
        only = {"gather_scatter__strategies": "[host-node-aware]"}
        for changes in ({"problem": "none"}, {}):
            with self.subTest(**changes):
                run = self.run_program(2, "smoke.yaml", *small(**only, **changes))
                self.assertEqual(run.code, 1, str(run))
                self.assert_no_traces(run)
                self.assert_readable(run)
                self.assertRegex(run.out, r"\n  FAIL .*no strategy is available at orders? ", str(run))
                self.assertNotIn("\n  PASS ", run.out, str(run))
                report = self.report(run)
                self.assertIs(report["passed"], False, str(run))
                self.assertIs(report["complete"], True, str(run))
                self.assertIsNone(report["solve"], str(run))
                self.assertIsNone(report["orders"][0]["tuning"]["selected"], str(run))

    def test_one_rank_has_nothing_to_verify(self):
        """The run passes by its on-rank gather–scatter. The report calls no strategy verified."""
        run = self.run_program(0, "smoke.yaml", *small(problem="none"))
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"\d+ strategies available, with nothing to verify", str(run))
        self.assertNotRegex(run.out, r"strategies verified", str(run))
        for order in self.report(run)["orders"]:
            self.assertIsNone(order["on_rank_failure"], str(run))

    def test_nothing_to_solve(self):
        """With lambda 0, the only DOF of a periodic element is the constant, which is removed from the right-hand
        side. The run fails whatever the error bound."""
        run = self.run_program(0, "smoke.yaml", *small(
            mesh__elements="1", mesh__deformation="none", solver__order="1", orders="[1]", operator__lambda="0",
            verification__error_bound="10"))
        self.assert_failed(run, "right-hand side is 0 at every DOF.*raise solver.order")


class RefusedBeforehand(harness.CliTest):
    """A run and a dry run refuse the same cases before they measure."""

    def refused(self, code, fragments, ranks, wrapper=(), **changes):
        for arguments in ([], ["--dry-run"]):
            command = [*wrapper, *self.command(ranks, "smoke.yaml", *small(**changes), *arguments)]
            run = self.run_command(command, self.new_folder())
            self.assertEqual(run.code, code, str(run))
            self.assert_no_traces(run)
            self.assertNotRegex(run.err, "measuring|tuning|trying", str(run))
            self.assertEqual(run.out, "", str(run))
            for fragment in fragments:
                self.assertIn(fragment, run.messages()[-1], str(run))
            self.assert_files(run)

    def test_a_mesh_without_a_dof(self):
        """Also if only a later order has no DOF."""
        changes = {"mesh__elements": "[2,1,1]", "mesh__periodic": "false", "mesh__deformation": "none",
                   "problem": "manufactured"}
        for ranks, orders in itertools.product((0, 2), ("[1]", "[3,1]")):
            with self.subTest(ranks=ranks, orders=orders):
                self.refused(2, ["order 1 has no DOF", "higher order", "mesh.periodic"], ranks, orders=orders,
                             **changes)
        self.refused(2, ["order 1 has no DOF"], 0, orders="[1]", solver__order="1",
                     solver__preconditioner="multigrid", **changes)

    def test_more_points_than_a_rank_can_number(self):
        """The case fits into memory, because a made-up /proc/meminfo claims enough."""
        folder = self.new_folder()
        meminfo = folder / "meminfo"
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        meminfo.write_text("\n".join(
            f"{line.split(':')[0]}: 4000000000000 kB" if line.startswith(("MemTotal", "MemAvailable", "CommitLimit"))
            else line for line in lines) + "\n")
        wrapper = ["unshare", "-m", "sh", "-c", f"mount --bind {meminfo} /proc/meminfo && exec \"$@\"", "sh"]
        if shutil.which("unshare") is None or subprocess.run(
                [*wrapper, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("needs a mount namespace of its own")
        for ranks, elements, order in [(0, "[1024,1024,512]", 1), (2, "[1024,1024,1024]", 1), (0, "[8000,8000,8000]", 3)]:
            with self.subTest(elements, ranks=ranks):
                self.refused(2, [f"order {order} puts", "more than the 2^31", "use at least"], ranks, wrapper,
                             mesh__elements=elements, mesh__deformation="none", mesh__partition="bisection",
                             solver__order=str(order), orders=f"[{order}]")


if __name__ == "__main__":
    harness.main()
