#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time per iteration of every method of CG, on small meshes, where latency decides.

    bench/cg_methods.py [--launcher "mpirun -np 1"] [--runs N] [--out FILE.json] PROGRAM [ORDER:ELEMENTS]...

Each row is the problem of inputs/nekbone.yaml (Dirichlet box, lambda 0.1) on ELEMENTS^3 elements per rank. The
program times the methods in interleaved rounds itself; the table has the medians of the median run in µs, and the
time per iteration of its CG with the selected method. Without rows: order 7 on 6^3, 10^3 and 14^3 elements, and orders
1, 3 and 11 on meshes of about as many DOFs. FILE gets the solve of every run and the machine's part of the report.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

from cg_rows import median_run, save, settings_of

ROWS = [(7, 6), (7, 10), (7, 14), (1, 42), (1, 70), (1, 98), (3, 14), (3, 23), (3, 33), (11, 4), (11, 6), (11, 9)]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(options, order, elements):
    """The report of one run."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        command = [*shlex.split(options.launcher), options.program, str(ROOT / "inputs/nekbone.yaml"),
                   "--report", str(report)]
        for key, value in [("mesh.elements", [elements * options.ranks, elements, elements]),
                           ("mesh.extent", [options.ranks, 1, 1]), ("solver.order", order), ("orders", [order]),
                           ("solver.iterations", options.iterations), *options.set]:
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        if not report.exists():
            sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
        result = json.loads(report.read_text())
    if not all(o["compiled"] for o in result["orders"]):
        sys.exit(f"{options.program} has no kernel of order {order}; NEKBONE_K_ORDERS must have it")
    if not result["passed"]:
        print(f"order {order}, {elements}^3 FAILED: {result['solve'] and result['solve']['verdict']}\n{done.stderr}")
    return result


def text_of(candidate):
    if candidate["timing"]:
        return f"{1e6 * candidate['timing']['cost']['median_s']:.1f}"
    return "-" if candidate["available"] else "n/a"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("rows", nargs="*", metavar="ORDER:ELEMENTS")
    parser.add_argument("--launcher", default="mpirun -np 1")
    parser.add_argument("--ranks", type=int, default=1, help="ranks that the launcher starts")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        type=lambda text: tuple(text.split("=", 1)))
    parser.add_argument("--out")
    options = parser.parse_args()
    rows = [tuple(map(int, row.split(":"))) for row in options.rows] or ROWS
    solves = {row: [] for row in rows}
    machine = None
    for _ in range(options.runs):
        for row in rows:
            report = run(options, *row)
            machine = report["machine"]
            if report["solve"]:
                solves[row].append(report["solve"])
    results = []
    names = None
    for order, elements in rows:
        runs = solves[order, elements]
        if not runs:
            continue
        chosen = median_run(runs)
        candidates = chosen["methods"]["candidates"]
        if names is None:
            names = [f"{c['variant'][:8]}, {c['launch']}" for c in candidates]
            print("order  elements  " + "  ".join(f"{name:>15}" for name in names) + "  CG of the run")
        times = {f"{c['variant'][:8]}, {c['launch']}": text_of(c) for c in candidates}
        seconds = 1e6 * chosen["solve_s"] / max(1, chosen["iterations"])
        print(f"{order:5}  {elements:6}^3  " + "  ".join(f"{times.get(name, ''):>15}" for name in names) +
              f"  {seconds:.1f} µs, {chosen['variant']}, {chosen['launch']}, {chosen['strategy']}", flush=True)
        results.append({"order": order, "elements": elements, "runs": runs})
    if options.out:
        save(options.out, machine, results, settings=settings_of(options))


if __name__ == "__main__":
    main()
