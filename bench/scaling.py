#!/usr/bin/env python3
"""Weak and strong scaling of CG over the ranks, one rank a GPU (or a core), with the selected strategy.

    bench/scaling.py [--ranks 1 2 4] [--order 7] [--weak 28] [--strong 56] [--out FILE.json] PROGRAM

Weak: --weak^3 elements a rank; strong: --strong^3 elements in all; the problem of inputs/nekbone.yaml. Each
case runs --runs times, cases interleaved; the median run is printed (the slower of two). Efficiency is by
figure of merit, against that many times one rank's.
"""
import argparse

import cg_rows

# Boxes of elements a rank: the factors of a number of ranks, first direction first.
GRIDS = {1: (1, 1, 1), 2: (1, 1, 2), 4: (1, 2, 2), 8: (2, 2, 2)}

# hipBone on H200s: the better of its figures through the host and by GPU-aware MPI, in GFLOP/s by ranks, at
# an order and as many elements a rank each way.
HIPBONE_WEAK = {(7, 28): [(1, 2306), (4, 7700), (8, 8300)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2], choices=GRIDS)
    parser.add_argument("--order", type=int, default=7)
    parser.add_argument("--weak", type=int, default=28)
    parser.add_argument("--strong", type=int, default=56)
    parser.add_argument("--launcher", default="mpirun -np {ranks}")
    parser.add_argument("--strategy", default="all")
    parser.add_argument("--budget", type=float, default=1, help="seconds of tuning a run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out")
    options = parser.parse_args()
    options.set = [("gather_scatter.tuning.budget_seconds", options.budget)]
    launcher = options.launcher

    cases = {}
    for ranks in options.ranks:
        cases["weak", ranks] = [options.weak * factor for factor in GRIDS[ranks]]
    for ranks in options.ranks:
        cases["strong", ranks] = [options.strong] * 3
    solves = {case: [] for case in cases}
    machine = None
    for _ in range(options.runs):
        for (kind, ranks), elements in cases.items():
            options.launcher = launcher.format(ranks=ranks)
            report = cg_rows.run(options, options.order, elements)
            solves[kind, ranks].append(report["solve"])
            machine = report["machine"] if machine is None or ranks == max(options.ranks) else machine

    print(f"{'':7} {'ranks':>5} {'elements':>14} {'ms/iter':>8} {'GF':>7} {'efficiency':>10}  strategy")
    rows = []
    for (kind, ranks), elements in cases.items():
        runs = solves[kind, ranks]
        if not all(solve["passed"] for solve in runs):
            print(f"{kind} on {ranks} ranks did not pass")
        solve = cg_rows.median_run(runs)
        rows.append({"kind": kind, "ranks": ranks, "order": options.order, "elements": elements, "runs": runs,
                     "flops_per_s": solve["flops_per_s"]})
        first = next(row for row in rows if row["kind"] == kind)
        share = solve["flops_per_s"] / first["flops_per_s"] * first["ranks"] / ranks
        print(f"{kind:7} {ranks:5} {' x '.join(map(str, elements)):>14}"
              f" {solve['solve_s'] / solve['iterations'] * 1e3:8.4f} {solve['flops_per_s'] / 1e9:7.0f}"
              f" {100 * share:8.0f} %  {', '.join(sorted({s['strategy'] for s in runs}))}")
    if options.out:
        cg_rows.save(options.out, machine, rows)


if __name__ == "__main__":
    main()
