#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The scripts beside it, run with made-up programs whose answers are known; nothing is measured.

    bench/test_scripts.py

A folder gets an mpirun that starts one process, a nekbone-k that writes a report, a bench_axhelm and a bench_gs
that write a result, and peers that print what bench/against_peers.py says they do.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import kernel_resources

BENCH = pathlib.Path(__file__).resolve().parent

MPIRUN = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift 2; done
exec "$@"
"""

# Pinned, quick takes 0.9 s an iteration, slow 2 s, the others 1 s, as the one that is chosen; wrong is not right.
NEKBONE_K = """#!/usr/bin/env python3
import json, pathlib, sys
names = ["pairwise", "quick", "slow", "breaks", "wrong"]
settings = dict(word.split("=", 1) for word in sys.argv if "=" in word)
name = settings.get("gather_scatter.strategies", "all").strip("['] ")
pinned = name != "all"
iterations = int(settings.get("solver.iterations", 100))
second = {"quick": 0.9, "slow": 2}.get(name, 1)
with open(pathlib.Path(__file__).parent / "launches", "a", encoding="utf-8") as log:
    log.write(json.dumps(settings) + "\\n")
if name == "breaks":
    sys.exit("it broke")
chosen = name if pinned else "pairwise"
solve = {"strategy": chosen, "all_reduce": "host-shared", "passed": True, "verdict": "", "history": [1.0],
         "iterations": iterations, "solve_s": second * iterations, "flops_per_s": 6e9 / second,
         "variant": "classic", "launch": "host", "methods": {"candidates": [
             {"variant": "classic", "launch": "host", "available": True, "timing": {"cost": {"median_s": 5e-5}}},
             {"variant": "pipelined", "launch": "plain", "available": True, "timing": None},
             {"variant": "pipelined", "launch": "graph", "available": False, "timing": None}]}}
if settings.get("solver.preconditioner") == "multigrid":
    solve["multigrid"] = {
        "candidates": [{"selected": False}, {"selected": True, "smoother": "jacobi", "polynomial": "chebyshev-4",
                                             "degree": 2, "precision": "single", "orders": [7, 3, 1]}],
        "levels": [{"strategy": "put", "direct": False}, {"strategy": None, "direct": True}],
        "setup_s": 0.5, "cycle_s": 0.75, "operator_s": 0.25, "jacobi": None,
        "one_strategy_for_all": {"strategy": "put", "cycle_s": 1.0, "selected_cycle_s": 0.8}}
report = {"machine": {"commit": "none", "hosts": ["secret"]}, "solve": solve, "passed": True,
          "flow": {"parts_s": {"pressure": 0.01}, "multigrid": {"candidates": []}},
          "process_grid": {"selected": "1 x 1 x 2", "candidates": [{"partition": "1 x 1 x 2", "blocks": [1, 1, 2]}]},
          "orders": [{"compiled": settings.get("solver.order") != "8", "tuning": {
              "candidates": [{"strategy": s, "verified": s != "wrong"} for s in names]}}]}
pathlib.Path(sys.argv[sys.argv.index("--report") + 1]).write_text(json.dumps(report))
# A step takes 0.5 s, and 0.02 s in the later half.
if steps := int(settings.get("flow.steps", 0)):
    rows = [f"{i},{0.5 if 2 * i <= steps else 0.02},2,1" for i in range(1, steps + 1)]
    pathlib.Path(settings["flow.series"]).write_text(
        "\\n".join(["step,step_s,pressure_iterations,velocity_iterations", "0,0,0,0", *rows]))
    if settings["checkpoint.every"] != "0":
        pathlib.Path(settings["checkpoint.file"]).touch()
"""

# A step takes 0.1 s, and 3 iterations of the pressure.
NEKO = """#!/usr/bin/env python3
import json, pathlib, sys
case = json.loads(pathlib.Path(sys.argv[1]).read_text())["case"]
assert pathlib.Path(case["mesh_file"]).exists()
begin = 8 if pathlib.Path(case.get("restart_file", "missing")).exists() else 0
for step in range(1, round((case["end_time"] - begin) / case["timestep"] + 0.5) + 1):
    for solve, iterations in ("Pressure", 3), ("X-Velocity", 1), ("Y-Velocity", 2), ("Z-Velocity", 1):
        print(f" ----{solve}----")
        print(f" | {solve}\\n | Iterations:   Start residual:     Final residual:\\n |  {iterations}   1.0E-03    1.0E-09")
    print(f" Total time for step {step} (s): 1.0E-01 Total elapsed time (s): 1.0")
if case["output_checkpoints"]:
    pathlib.Path("fluid00001.chkp").touch()
"""

# 300 MDOF/s; gs_op takes 2 ms and 500 us.
BENCHMARK = """#!/usr/bin/env python3
import json, pathlib, sys
out = next(word for word in sys.argv if word.startswith("--benchmark_out=")).split("=", 1)[1]
rows = {"bench_axhelm": [{"name": "operator/order:7/points:2097152", "MDOF/s": 300.0}],
        "bench_gs": [{"name": "gs_op_tuned/order:1/elements:64", "real_time": 2.0, "time_unit": "ms"},
                     {"name": "gs_op_tuned/order:7/elements:16", "real_time": 500.0, "time_unit": "us"}]}
pathlib.Path(out).write_text(json.dumps({"benchmarks": rows[pathlib.Path(sys.argv[0]).name]}))
"""

PEERS = {
    "nekbone": 'echo "2.0 GFLOP/s at order $1 on $2 ranks"',
    "libceed": 'case $1 in /cpu/self/*) echo "  1.5e2 MDOF/s" ;; *) exit 1 ;; esac',
    "gslib": 'echo "   pairwise times (avg, min, max): 1e-05"; echo "1 64 3.0"; echo "7 16 1.0"',
    "drop-in": 'echo "1 64 1.5"; echo "7 16 1.0"',
    "faster": 'echo "3.0 GFLOP/s at order $1 on $2 ranks"',
    "genmeshbox": "touch box.nmsh",
    "talks": 'echo "no number"',
    "fails": "echo broken >&2; exit 3",
}


class ScriptTest(unittest.TestCase):
    longMessage = True

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nekbone-k-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        programs = {"mpirun": MPIRUN, "nekbone-k": NEKBONE_K, "neko": NEKO, "bench_axhelm": BENCHMARK,
                    "bench_gs": BENCHMARK}
        for name, text in (programs | {name: f"#!/bin/sh\n{text}\n" for name, text in PEERS.items()}).items():
            program = self.folder / name
            program.write_text(text)
            program.chmod(0o755)

    def run_script(self, script, *arguments, code=0):
        """What a script prints; of one that fails, what it complains of."""
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run([sys.executable, str(BENCH / script), *map(str, arguments)], capture_output=True,
                              text=True, check=False, cwd=self.folder, env=dict(os.environ, PATH=path))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code else done.stdout

    def result(self):
        return json.loads((self.folder / "out.json").read_text())

    def launches(self):
        return [json.loads(line) for line in (self.folder / "launches").read_text().splitlines()]

    def peers(self, *arguments, **keywords):
        return self.run_script("against_peers.py", "--rounds", 3, "--ranks", 1, 2, "--out", "out.json", *arguments,
                               self.folder, **keywords)


class KernelResources(unittest.TestCase):
    # As ptxas says it, in part, names as c++filt writes them.
    SAID = """
ptxas info    : Compiling entry function 'void nekbone_k::team_takes<64, 14000>()' for 'sm_90'
ptxas info    : Function properties for void nekbone_k::team_takes<64, 14000>()
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
ptxas info    : Compiling entry function 'void launch<nekbone_k::AxhelmKernel<7, (nekbone_k::Geometry)0, \
(nekbone_k::SurfaceResults)1, nekbone_k::AxhelmShape<Kokkos::Cuda, 8> > >' for 'sm_90'
ptxas info    : Function properties for void launch<>
    40 bytes stack frame, 24 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 40 bytes cumulative stack size
"""

    def test_what_a_multiprocessor_holds(self):
        [row] = kernel_resources.kernels(self.SAID)
        self.assertEqual((row["order"], row["geometry"], row["surface_results"]), (7, "stored", "added"))
        self.assertEqual((row["registers"], row["spilled_bytes"], row["threads_of_team"]), (128, 40, 64))
        # 14,000 B, and of Kokkos a double for each of 64 threads and two more; scratch would do for 14 teams.
        self.assertEqual(row["scratch_of_team_bytes"], 14528)
        # Two warps of 32 threads with 128 registers each: 8 times 8,192 are 65,536.
        self.assertEqual((row["teams"], row["warps"], row["occupancy"]), (8, 16, 0.25))

    def test_long_scratch_is_the_limit(self):
        [row] = kernel_resources.kernels(self.SAID.replace("14000", "100000"))
        self.assertEqual(row["teams"], 2)


class AgainstPeers(ScriptTest):
    def test_nekbone(self):
        printed = self.peers("--nekbone", self.folder / "nekbone")
        self.assertEqual(len(re.findall(r"CG, Nekbone .* GFLOP/s +6\.00 +2\.00 +3\.00  3\.00\.\.3\.00", printed)), 8,
                         printed)
        self.assertEqual(self.result()["machine"], {"commit": "none"})
        settings = self.result()["settings"]
        self.assertEqual((settings["rounds"], settings["ranks"], settings["strategy"]),
                         (3, [1, 2], "device-pairwise"))
        self.assertNotIn(str(self.folder), json.dumps(settings))

    def test_libceed_by_mdofs_without_a_mass_term(self):
        printed = self.peers("--libceed", self.folder / "libceed")
        self.assertEqual(len(re.findall(r"Ax, libCEED .* MDOF/s +300\.00 +150\.00 +2\.00 ", printed)), 4, printed)

    def test_gslib_by_time(self):
        printed = self.peers("--gslib", self.folder / "gslib")
        for ranks in (1, 2):
            self.assertRegex(printed, rf"order 1, 64 elements +{ranks} +ms +2\.00 +3\.00 +1\.50 ")
            self.assertRegex(printed, rf"order 7, 16 elements +{ranks} +ms +0\.50 +1\.00 +2\.00 ")
        self.assertEqual([row["theirs"] for row in self.result()["rows"]], 2 * [3 * [3.0], 3 * [1.0]])

    def test_one_program_with_either_library(self):
        printed = self.peers("--gslib", self.folder / "gslib", "--drop-in", self.folder / "drop-in")
        for ranks in (1, 2):
            self.assertRegex(printed, rf"(?m)^gs_op, gslib +order 1, 64 elements +{ranks} +ms +2\.00 +3\.00 +1\.50 ")
            self.assertRegex(printed, rf"(?m)^gs, gslib +order 1, 64 elements +{ranks} +ms +1\.50 +3\.00 +2\.00 ")
            self.assertRegex(printed, rf"(?m)^gs, gslib +order 7, 16 elements +{ranks} +ms +1\.00 +1\.00 +1\.00 ")
        printed = self.peers("--orders", 7, "--nekbone-own", self.folder / "nekbone",
                             "--nekbone-drop-in", self.folder / "faster")
        self.assertEqual(len(re.findall(r"(?m)^Nekbone, own gs +order 7, .* GFLOP/s +3\.00 +2\.00 +1\.50 ", printed)),
                         2, printed)
        self.assertNotIn("order 9", printed)

    def test_an_order_that_is_not_compared_is_refused(self):
        self.assertIn("invalid choice: 8", self.peers("--orders", 8, "--nekbone", self.folder / "nekbone", code=2))

    def test_comparisons_need_both_programs(self):
        self.assertIn("--gslib", self.peers("--drop-in", self.folder / "drop-in", code=2))
        self.assertIn("need each other", self.peers("--nekbone-own", self.folder / "nekbone", code=2))

    def test_a_peer_that_fails_or_prints_no_number_is_shown(self):
        self.assertIn("broken", self.peers("--nekbone", self.folder / "fails", code=1))
        self.assertIn("no number", self.peers("--nekbone", self.folder / "talks", code=1))


class Pinned(ScriptTest):
    def pinned(self, *arguments, **keywords):
        return self.run_script("pinned.py", "--elements", 4, 4, 8, "--order", 3, "--iterations", 10, "--out",
                               "out.json", *arguments, self.folder / "nekbone-k", **keywords)

    def test_a_faster_one_is_named_and_slow_and_broken_ones_are_left_out(self):
        printed = self.pinned()
        self.assertRegex(printed, r"^4 of 4 right strategies pinned; mesh.partition \[1, 1, 2\], "
                                  r"solver.all_reduce host-shared\n")
        self.assertRegex(printed, r"\nround 1, breaks: [^\n]*nekbone-k [^\n]*\nit broke\n")
        self.assertIn("\nchosen: pairwise 5; 1000.0000 ms an iteration\n", printed)
        self.assertRegex(printed, r"\nquick +900\.0000 +0\.900  0\.900\.\.0\.900 +5  faster\n"
                                  r"pairwise +1000\.0000 +1\.000  1\.000\.\.1\.000 +5  as fast, chosen\n"
                                  r"slow +2000\.0000 +2\.000  2\.000\.\.2\.000 +2  slower\n")
        self.assertEqual(printed.splitlines()[-1], "chosen / best pinned = 0.900 (noise 0.000)")
        result = self.result()
        self.assertEqual([(row["strategies"], row["rounds"]) for row in result["rows"]],
                         [("all", [0, 1, 2, 3, 4]), ("pairwise", [0, 1, 2, 3, 4]), ("quick", [0, 1, 2, 3, 4]),
                          ("slow", [0, 1]), ("breaks", [])])
        self.assertEqual(result["machine"], {"commit": "none"})

    def test_launches_differ_in_the_exchange_alone(self):
        self.pinned("--pin", "pairwise", "--pin", "quick", "--rounds", 2, "--set", "operator.lambda=2")
        first, *others = self.launches()
        self.assertNotIn("mesh.partition", first)
        self.assertEqual(len(others), 6)
        for launch in others:
            self.assertEqual(launch["mesh.partition"], "[1, 1, 2]")
            self.assertEqual(launch["solver.all_reduce"], "host-shared")
        differ = ("gather_scatter.strategies", "gather_scatter.tuning.budget_seconds")
        same = {json.dumps({key: value for key, value in launch.items() if key not in differ}) for launch in others}
        self.assertEqual(len(same), 1, same)
        self.assertEqual({launch["operator.lambda"] for launch in self.launches()}, {"2"})

    def test_a_single_round_knows_no_noise(self):
        printed = self.pinned("--rounds", 1, "--pin", "pairwise")
        self.assertEqual(printed.splitlines()[-1], "chosen / best pinned = 1.000 (noise unknown)")

    def test_none_right(self):
        self.assertIn("right: pairwise", self.pinned("--pin", "wrong", code=1))


class Scaling(ScriptTest):
    def test_hipbone_stands_beside_cases_that_it_has(self):
        printed = self.run_script("scaling.py", "--ranks", 1, 4, "--runs", 1, self.folder / "nekbone-k")
        self.assertRegex(printed, r"(?m)^weak +1 +28 x 28 x 28 .* 100 % +2306 ")
        self.assertRegex(printed, r"(?m)^weak +4 +28 x 56 x 56 .* 25 % +7700 ")
        self.assertRegex(printed, r"(?m)^strong +1 +56 x 56 x 56 .* % +2670 ")
        self.assertRegex(printed, r"(?m)^strong +4 +56 x 56 x 56 .* %  +pairwise$")

    def test_weak_scaling_alone(self):
        printed = self.run_script("scaling.py", "--ranks", 1, 8, "--order", 1, "--weak", 63, "--strong", 0,
                                  "--runs", 1, self.folder / "nekbone-k")
        self.assertRegex(printed, r"(?m)^weak +8 +126 x 126 x 126 .* % +2000 ")
        self.assertNotIn("strong", printed)

    def test_the_kernel_of_another_order_is_not_timed(self):
        complaint = self.run_script("scaling.py", "--ranks", 1, "--order", 8, "--runs", 1, self.folder / "nekbone-k",
                                    code=1)
        self.assertIn("no kernel of order 8", complaint)
        self.assertIn("NEKBONE_K_ORDERS", complaint)


class CgMethods(ScriptTest):
    def test_has_a_column_for_each_method(self):
        printed = self.run_script("cg_methods.py", "--runs", 2, "--launcher", "mpirun -np 2", "--ranks", 2, "--out",
                                  "out.json", self.folder / "nekbone-k", "7:6")
        self.assertRegex(printed, r"classic, host +pipeline, plain +pipeline, graph ")
        self.assertRegex(printed, r"(?m)^ +7 +6\^3 +50\.0 +- +n/a +1000000\.0 µs, classic, host, pairwise$")
        given = [json.loads(line) for line in (self.folder / "launches").read_text().splitlines()]
        self.assertEqual(len(given), 2)
        self.assertEqual(given[0]["mesh.elements"], "[12, 6, 6]")  # as many per rank
        self.assertEqual(given[0]["mesh.extent"], "[2, 1, 1]")
        self.assertEqual(given[0]["solver.iterations"], "1000")
        [row] = self.result()["rows"]
        self.assertEqual([row["order"], row["elements"], len(row["runs"])], [7, 6, 2])
        self.assertNotIn("secret", (self.folder / "out.json").read_text())

    def test_the_kernel_of_another_order_is_not_timed(self):
        self.assertIn("no kernel of order 8",
                      self.run_script("cg_methods.py", "--runs", 1, self.folder / "nekbone-k", "8:6", code=1))


class MultigridRows(ScriptTest):
    def test_compares_each_row_with_jacobi(self):
        printed = self.run_script("multigrid_rows.py", "--jacobi", "--out", "out.json", "--set",
                                  "solver.multigrid.degree=2", self.folder / "nekbone-k", "kershaw:7:12",
                                  "periodic:3:8")
        # 300 iterations of 1 s with multigrid, 20000 with Jacobi.
        self.assertRegex(printed, r"(?m)^kershaw:7:12 +300 +1000\.000 +300000\.00 +1200\.0 +3\.0 +500\.0 +1\.25 "
                                  r"+20000 it +66\.67 True +jacobi chebyshev-4 2 single 7-3-1; put$")
        launches = self.launches()
        self.assertEqual([launch["solver.preconditioner"] for launch in launches],
                         ["multigrid", "jacobi"] * 2)
        self.assertEqual(launches[0]["mesh.deformation"], "kershaw")
        self.assertEqual(launches[0]["mesh.elements"], "[12, 12, 12]")
        self.assertEqual(launches[0]["orders"], "[7]")
        self.assertEqual(launches[0]["solver.multigrid.degree"], "2")
        self.assertEqual(launches[2]["mesh.periodic"], "true")
        self.assertEqual(launches[2]["solver.order"], "3")
        rows = self.result()["rows"]
        self.assertEqual([row["row"] for row in rows], ["kershaw:7:12", "periodic:3:8"])
        self.assertNotIn("history", rows[0]["jacobi"])
        self.assertNotIn("secret", (self.folder / "out.json").read_text())


class AgainstNeko(ScriptTest):
    def against_neko(self, *arguments, **keywords):
        return self.run_script("against_neko.py", "--rounds", 2, "--ranks", 1, "--genmeshbox",
                               self.folder / "genmeshbox", *arguments, "--out", "out.json",
                               self.folder / "nekbone-k", self.folder / "runs", **keywords)

    def test_later_halves_are_compared(self):
        printed = self.against_neko("--neko", self.folder / "neko", "--cases", "early", "late-projection")
        self.assertRegex(printed, r"(?m)^early +1 +0\.1000 +0\.0200 +5\.00 +5\.00\.\.5\.00 +3\.0 +2\.0 +2\.0 +1\.0$")
        self.assertRegex(printed, r"(?m)^late-projection +1 +0\.1000 +0\.0200 +5\.00 ")
        launches = self.launches()
        self.assertEqual([launch["flow.steps"] for launch in launches], ["800", "60", "880", "60", "880"])
        self.assertEqual([launch["flow.projection"] for launch in launches], ["20", "0", "20", "0", "20"])
        rows = self.result()["rows"]
        self.assertEqual([(row["case"], row["ranks"], len(row["neko"])) for row in rows],
                         [("early", 1, 2), ("late-projection", 1, 2)])
        self.assertNotIn("secret", (self.folder / "out.json").read_text())

    def test_a_program_that_fails_is_named(self):
        self.assertIn("exit code 3", self.against_neko("--neko", self.folder / "fails", "--cases", "early", code=1))

    def test_output_without_steps_is_refused(self):
        self.assertIn("0, 0 and 0 values of 60 steps",
                      self.against_neko("--neko", self.folder / "talks", "--cases", "early", code=1))


class CompactResults(ScriptTest):
    COST = {"median_s": 0.00123456789, "low_s": 0.001, "high_s": 0.002}

    def compact(self, results, *options):
        (self.folder / "out.json").write_text(json.dumps(results))
        self.run_script("compact_results.py", *options, "out.json")
        return self.result()

    def report(self):
        timing = {"cost": self.COST, "samples_s": [0.001, 0.002]}
        return {"input": {"gather_scatter": {"strategies": ["all"], "audit": True}},
                "orders": [{"tuning": {"selected": "nccl", "work_alone_s": [3.0, 1.0, 2.0],
                                       "candidates": [{"strategy": "nccl", "alone": timing}]}}],
                "solve": {"history": [1.0], "total_dofs": 89915392, "peak_memory_bytes": 12554272768.0,
                          "audit": {"regret": 0.5, "strategies": [{"strategy": "nccl", "timing": timing}]}}}

    def test_medians_and_intervals_stay_and_samples_go(self):
        report = self.compact(self.report())
        self.assertIs(report["compacted"], True)
        kept = {"cost": self.COST | {"median_s": 0.0012346}}
        tuning, solve = report["orders"][0]["tuning"], report["solve"]
        self.assertEqual(tuning, {"selected": "nccl", "work_alone_median_s": 2,
                                  "candidates": [{"strategy": "nccl", "alone": kept}]})
        self.assertEqual(solve["audit"]["strategies"], [{"strategy": "nccl", "timing": kept}])
        self.assertNotIn("history", solve)
        self.assertEqual((solve["total_dofs"], solve["peak_memory_bytes"]), (89915392, 12554272768))

    def test_twice_is_as_once(self):
        once = self.compact(self.report())
        text = (self.folder / "out.json").read_text()
        self.assertEqual(self.compact(once), once)
        self.assertEqual((self.folder / "out.json").read_text(), text)

    def test_a_superseded_report_has_no_candidates(self):
        report = self.compact(self.report(), "--superseded")
        self.assertEqual(report["orders"][0]["tuning"], {"selected": "nccl", "work_alone_median_s": 2})
        self.assertEqual(report["solve"]["audit"], {"regret": 0.5})
        self.assertEqual(report["input"]["gather_scatter"], {"strategies": ["all"], "audit": True})

    def test_benchmarks_are_picked_by_name_and_have_a_line_each(self):
        rows = [{"name": f"exchange/{name}/bytes:8", "run_name": name, "cpu_time": 1.5, "real_time": 5.5,
                 "why": 600 * "x"} for name in ("nccl", "peer-memory", "host-pairwise")]
        result = self.compact({"context": {"commit": "none"}, "benchmarks": rows}, "--rows", "nccl|peer")
        self.assertEqual([set(row) for row in result["benchmarks"]], 2 * [{"name", "real_time", "why"}])
        lines = (self.folder / "out.json").read_text().splitlines()
        self.assertEqual(len([line for line in lines if "exchange/" in line]), 2)


class FirstRun(ScriptTest):
    def report(self, **changes):
        candidates = [{"strategy": "device-pairwise", "available": False, "failure": "MPI cannot send it"},
                      {"strategy": "host-pairwise", "available": True, "failure": None}]
        trial = {"outcome": "crashed", "what": "by SIGSEGV", "of_an_earlier_run": False, "trial_s": 0.5}
        report = {"passed": True, "warnings": ["it is loaded"], "solve": {"strategy": "host-pairwise"},
                  "machine": {"mpi_transfers": {"trial": trial, "tried": [], "claims_device_memory": None}},
                  "orders": [{"tuning": {"candidates": candidates}}] * 2} | changes
        (self.folder / "report.json").write_text(json.dumps(report))
        return "report.json"

    def test_says_what_is_not_here_and_why(self):
        lines = self.run_script("first_run.py", 1, 0, self.report()).splitlines()
        self.assertEqual(lines[0], "run 1: PASS, exit code 0, CG by host-pairwise")
        self.assertIn("  trial process   crashed: by SIGSEGV, 0.50 s", lines)
        self.assertIn("  not here        device-pairwise: MPI cannot send it", lines)
        self.assertIn("  warning         it is loaded", lines)

    def test_fails_with_the_run(self):
        for code, report in ((139, self.report()), (0, self.report(passed=False)), (0, "missing.json")):
            path = self.folder / "report.json"
            if report == "report.json":
                path.write_text(json.dumps(json.loads(path.read_text()) | {"passed": code != 0}))
            self.run_script("first_run.py", 2, code, report, code=1)


if __name__ == "__main__":
    unittest.main()
