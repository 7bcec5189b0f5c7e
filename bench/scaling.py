#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Weak and strong scaling of CG over the ranks, one rank a GPU (or a core), with the selected strategy.

    bench/scaling.py [--ranks 1 2 4] [--order 7] [--weak 28] [--strong 56] [--out FILE.json] PROGRAM

Weak: --weak^3 elements a rank; strong: --strong^3 elements in all; the problem of inputs/nekbone.yaml. Each
case runs --runs times, cases interleaved; the median run is printed (the slower of two). Efficiency is by
figure of merit, against that many times one rank's. Beside it stands what hipBone reached on H200s, the better
of messages staged through the host and GPU-aware MPI, where there is a figure of as many elements a rank.
"""
import argparse
import math

import cg_rows

# Boxes of elements a rank: the factors of a number of ranks, first direction first.
GRIDS = {1: (1, 1, 1), 2: (1, 1, 2), 4: (1, 2, 2), 8: (2, 2, 2)}

# hipBone on H200s, measured beforehand, in GFLOP/s: (order, elements a rank each way) -> ranks -> through the
# host, by GPU-aware MPI; on one GPU it sends nothing.
HIPBONE = {
    (1, 63): {1: (820,), 4: (1330, 1930), 8: (1950, 2000)},
    (3, 30): {1: (840,), 8: (2000, 2200)},
    (7, 28): {1: (2306,), 4: (7700, 7400), 8: (6700, 8300)},
    (7, 56): {1: (2670,), 4: (10500, 9100)},
    (11, 18): {1: (2500,), 4: (6800, 8800), 8: (8800, 8100)},
}


def hipbone(order, elements, ranks):
    """The better of hipBone's figures for so many elements on so many ranks, or None."""
    for (of_order, side), figures in HIPBONE.items():
        if order == of_order and math.prod(elements) == ranks * side**3 and ranks in figures:
            return max(figures[ranks])
    return None


def print_table(rows):
    print(f"{'':7} {'ranks':>5} {'elements':>14} {'ms/iter':>8} {'GF':>7} {'efficiency':>10}"
          f" {'hipBone':>8} {'ratio':>6}  strategy")
    for row in rows:
        kind, ranks, elements = row["kind"], row["ranks"], row["elements"]
        if not all(solve["passed"] for solve in row["runs"]):
            print(f"{kind} on {ranks} ranks did not pass")
        solve = cg_rows.median_run(row["runs"])
        first = next(other for other in rows if other["kind"] == kind)
        share = row["flops_per_s"] / first["flops_per_s"] * first["ranks"] / ranks
        gflops = row["flops_per_s"] / 1e9
        peer = hipbone(row["order"], elements, ranks)
        print(f"{kind:7} {ranks:5} {' x '.join(map(str, elements)):>14}"
              f" {solve['solve_s'] / solve['iterations'] * 1e3:8.4f} {gflops:7.0f} {100 * share:8.0f} %"
              f" {peer or '':>8} {f'{gflops / peer:.2f}' if peer else '':>6}"
              f"  {', '.join(sorted({s['strategy'] for s in row['runs']}))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2], choices=GRIDS)
    parser.add_argument("--order", type=int, default=7)
    parser.add_argument("--weak", type=int, default=28)
    parser.add_argument("--strong", type=int, default=56, help="0: weak scaling alone")
    parser.add_argument("--launcher", default="mpirun -np {ranks}")
    parser.add_argument("--strategy", default="all")
    parser.add_argument("--budget", type=float, default=1, help="seconds of tuning a run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out")
    options = parser.parse_args()
    options.set = [("gather_scatter.tuning.budget_seconds", options.budget)]
    launcher = options.launcher
    settings = cg_rows.settings_of(options)

    cases = {}
    for ranks in options.ranks:
        cases["weak", ranks] = [options.weak * factor for factor in GRIDS[ranks]]
    for ranks in options.ranks if options.strong else []:
        cases["strong", ranks] = [options.strong] * 3
    solves = {case: [] for case in cases}
    machine = None
    for _ in range(options.runs):
        for (kind, ranks), elements in cases.items():
            options.launcher = launcher.format(ranks=ranks)
            report = cg_rows.run(options, options.order, elements)
            solves[kind, ranks].append(report["solve"])
            machine = report["machine"] if machine is None or ranks == max(options.ranks) else machine

    rows = [{"kind": kind, "ranks": ranks, "order": options.order, "elements": elements,
             "runs": solves[kind, ranks], "flops_per_s": cg_rows.median_run(solves[kind, ranks])["flops_per_s"]}
            for (kind, ranks), elements in cases.items()]
    print_table(rows)
    if options.out:
        cg_rows.save(options.out, machine, rows, settings=settings)


if __name__ == "__main__":
    main()
