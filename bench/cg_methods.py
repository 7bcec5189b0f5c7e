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

import cg_rows

ROWS = [(7, 6), (7, 10), (7, 14), (1, 42), (1, 70), (1, 98), (3, 14), (3, 23), (3, 33), (11, 4), (11, 6), (11, 9)]


def run(options, order, elements):
    """The report of one run, on as many elements per rank."""
    result = cg_rows.report_of(options, order, [("mesh.elements", [elements * options.ranks, elements, elements]),
                                                ("mesh.extent", [options.ranks, 1, 1]),
                                                ("solver.iterations", options.iterations)])
    if not result["passed"]:
        print(f"order {order}, {elements}^3 FAILED: {result['solve'] and result['solve']['verdict']}")
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
        chosen = cg_rows.median_run(runs)
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
        cg_rows.save(options.out, machine, results, settings=cg_rows.settings_of(options))


if __name__ == "__main__":
    main()
