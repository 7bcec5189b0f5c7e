#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CG at the orders and sizes of a table, one run of the program each; prints the figures of merit.

    bench/cg_rows.py [--launcher "mpirun -np 1"] [--out FILE.json] PROGRAM [ORDER:ELEMENTS]...

Each row is the problem of inputs/nekbone.yaml (Dirichlet box, lambda 0.1, 100 iterations) on
ELEMENTS^3 elements, by the first strategy of the table; without rows, those of a comparison with hipBone
on one NVIDIA H200. Each row runs --runs times, rows interleaved; the median run is printed (the slower of two). FILE gets the
solve of every run and the machine's part of the report.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

# Order, elements a direction, and hipBone's GFLOP/s on one H200, measured beforehand.
HIPBONE = [(1, 126, 1993), (3, 42, 1544), (5, 26, 1598), (7, 18, 1605), (9, 14, 1776), (11, 12, 1833),
           (14, 9, 1787), (7, 28, 2306), (1, 160, 2150), (3, 100, 2270), (5, 78, 2279), (7, 56, 2670),
           (9, 43, 2878), (11, 36, 2921), (14, 28, 3111)]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(options, order, elements):
    """The report of one run, on three numbers of elements."""
    return report_of(options, order, [("mesh.elements", elements), ("gather_scatter.strategies", [options.strategy]),
                                      ("gather_scatter.tuning.budget_seconds", 0.01)])


def report_of(options, order, settings):
    """The report of one run of inputs/nekbone.yaml at an order, with more settings."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        command = [*shlex.split(options.launcher), options.program, str(ROOT / "inputs/nekbone.yaml"),
                   "--report", str(report)]
        for key, value in [("solver.order", order), ("orders", [order]), *settings, *options.set]:
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not report.exists():
            sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
        result = json.loads(report.read_text())
    if not result["passed"]:
        print(done.stderr, end="")
    if not all(o["compiled"] for o in result["orders"]):
        sys.exit(f"{options.program} has no kernel of order {order}, and another would be timed; NEKBONE_K_ORDERS, "
                 "which CMake was given, has to have it")
    return result


def median_run(solves):
    """Of an even number of runs the slower one in the middle."""
    return sorted(solves, key=lambda s: s["flops_per_s"])[(len(solves) - 1) // 2]


def settings_of(options):
    """What a result depends on: the arguments of a script, but for where programs and files are."""
    places = ("program", "bin", "out", "nekbone", "libceed", "gslib")
    return {"input": "inputs/nekbone.yaml"} | {key: value for key, value in vars(options).items()
                                               if key not in places}


def save(path, machine, rows, **more):
    """A result file: rows of runs, the machine's part of a report, and what else there is to say."""
    for row in rows:
        for solve in row.get("runs", []):
            solve.pop("history", None)
    machine = {key: value for key, value in (machine or {}).items() if key != "hosts"}  # not to be published
    pathlib.Path(path).write_text(json.dumps({"machine": machine, **more, "rows": rows}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("rows", nargs="*", metavar="ORDER:ELEMENTS")
    parser.add_argument("--launcher", default="mpirun -np 1")
    parser.add_argument("--strategy", default="device-pairwise")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        type=lambda text: tuple(text.split("=", 1)))
    parser.add_argument("--out")
    options = parser.parse_args()
    reference = {(order, elements): value for order, elements, value in HIPBONE}
    rows = [tuple(map(int, row.split(":"))) for row in options.rows] or list(reference)

    runs = {row: [] for row in rows}
    machine = None
    for _ in range(options.runs):
        for row in rows:
            report = run(options, row[0], [row[1]] * 3)
            machine = report["machine"]
            runs[row].append(report["solve"])
    print(f"{'order':>5} {'elements':>9} {'MDOF':>7} {'ms/iter':>8} {'GF':>7} {'hipBone':>8} {'ratio':>6}"
          f" {'GB/s':>6} {'of copy':>8} {'of triad':>8} passed")
    for (order, elements), solves in runs.items():
        solve = median_run(solves)
        flops = solve["flops_per_s"] / 1e9
        peer = reference.get((order, elements))
        print(f"{order:5} {elements:7}^3 {solve['total_dofs'] / 1e6:7.2f}"
              f" {solve['solve_s'] / solve['iterations'] * 1e3:8.4f} {flops:7.0f} {peer or '':>8}"
              f" {f'{flops / peer:.2f}' if peer else '':>6} {solve['bandwidth_bytes_per_s'] / 1e9:6.0f}"
              f" {100 * (solve['bandwidth_share'] or 0):6.0f} %"
              f" {100 * (solve['triad_share'] or 0):6.0f} % {all(s['passed'] for s in solves)}")
    if options.out:
        save(options.out, machine, [{"order": order, "elements": elements, "runs": solves}
                                    for (order, elements), solves in runs.items()],
             settings=settings_of(options))


if __name__ == "__main__":
    main()
