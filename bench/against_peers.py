#!/usr/bin/env python3
"""CG against Nekbone and Ax against libCEED on a CPU: the same work, in turn, in one run.

    bench/against_peers.py --nekbone COMMAND --libceed COMMAND [--rounds N] [--out FILE.json] BIN_DIRECTORY

Builds of the peers are yours to make; bench/README.md says how those of the result file were made. COMMAND
is run with arguments of the case and prints a rate as its first word:

    nekbone COMMAND ORDER RANKS     GFLOP/s of 100 CG iterations by Nekbone's count, all ranks together
    libceed COMMAND BACKEND         MDOF/s of one apply of BP5 (order 7, 16^3 elements, stored factors), one rank,
                                    counting the 111^3 DOFs inside the boundary, as ours

BP5 has no mass term, so ours has none there (lambda 0). CG solves the problem of inputs/nekbone.yaml, lambda 0.1.

Each round runs every case of every program once; the ratio of a round is ours by theirs, and the median over
the rounds is printed with the smallest and the largest. Either peer may be left out.
"""
import argparse
import json
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

import cg_rows

# Order, and elements a rank in each direction.
NEKBONE = [(3, 16), (7, 16), (9, 13), (11, 11)]
BACKENDS = ["xsmm/blocked", "xsmm/serial", "avx/blocked", "opt/blocked"]


def first_number(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.match(r"\s*([0-9.eE+-]+)", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return float(found[1])


def our_cg(options, order, side, ranks):
    """GFLOP/s, and the machine's part of the report."""
    options.launcher = f"mpirun -np {ranks}"
    report = cg_rows.run(options, order, [ranks * side, side, side])
    if not report["solve"]["passed"]:
        sys.exit(f"order {order}, {ranks} ranks: {report['solve']['verdict']}")
    return report["solve"]["flops_per_s"] / 1e9, report["machine"]


def our_ax(options):
    """MDOF/s of the whole operator: elements, gather-scatter, assembled vector to assembled vector."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "ax.json")
        command = ["mpirun", "-np", "1", str(options.bin / "bench_axhelm"), "--points", str(16**3 * 8**3),
                   "--seconds", "3", "--lambda", "0", "--benchmark_filter=^operator/order:7/points:2097152",
                   f"--benchmark_out={out}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
        return json.loads(out.read_text())["benchmarks"][0]["MDOF/s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=pathlib.Path, metavar="BIN_DIRECTORY")
    parser.add_argument("--nekbone", type=shlex.split)
    parser.add_argument("--libceed", type=shlex.split)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out")
    options = parser.parse_args()
    options.program = str(options.bin / "nekbone-k")
    options.strategy, options.set = "device-pairwise", []

    cases = {}  # name: (our rates, their rates)
    machine = None
    for _ in range(options.rounds):
        for order, side in NEKBONE if options.nekbone else []:
            for ranks in options.ranks:
                ours, machine = our_cg(options, order, side, ranks)
                theirs = first_number([*options.nekbone, str(order), str(ranks)])
                rates = cases.setdefault(("CG, Nekbone", "GFLOP/s", f"order {order}, {side}^3 elements a rank",
                                          ranks), ([], []))
                rates[0].append(ours)
                rates[1].append(theirs)
        for backend in BACKENDS if options.libceed else []:
            rates = cases.setdefault(("Ax, libCEED", "MDOF/s", backend, 1), ([], []))
            rates[0].append(our_ax(options))
            rates[1].append(first_number([*options.libceed, f"/cpu/self/{backend}"]))

    print(f"{'comparison':12} {'case':34} {'ranks':>5} {'unit':>8} {'ours':>7} {'theirs':>7} {'ratio':>6}"
          "  smallest..largest")
    rows = []
    for (comparison, unit, case, ranks), (ours, theirs) in cases.items():
        ratios = [one / other for one, other in zip(ours, theirs)]
        print(f"{comparison:12} {case:34} {ranks:5} {unit:>8} {statistics.median(ours):7.2f}"
              f" {statistics.median(theirs):7.2f} {statistics.median(ratios):6.2f}"
              f"  {min(ratios):.2f}..{max(ratios):.2f}")
        rows.append({"comparison": comparison, "case": case, "ranks": ranks, "unit": unit, "ours": ours,
                     "theirs": theirs})
    if options.out:
        cg_rows.save(options.out, machine, rows)


if __name__ == "__main__":
    main()
