#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CG against Nekbone, Ax against libCEED and gs_op against gslib on a CPU: the same work, in turn, in one run.

    bench/against_peers.py [--nekbone COMMAND] [--libceed COMMAND] [--gslib COMMAND] [--drop-in COMMAND]
                           [--nekbone-own COMMAND --nekbone-drop-in COMMAND] [--ranks P...]
                           [--orders N...] [--rounds N] [--out FILE.json] BIN_DIRECTORY

Builds of the peers are yours to make; bench/README.md says how those of the result file were made. COMMAND
is run with arguments of the case and prints what it measured:

    nekbone COMMAND ORDER RANKS     first word: GFLOP/s of 100 CG iterations by Nekbone's count, all ranks together
    libceed COMMAND BACKEND         first word: MDOF/s of one apply of BP5 (order 7, 16^3 elements, stored factors),
                                    one rank, counting the 111^3 DOFs inside the boundary, as ours
    gslib COMMAND RANKS             a line "ORDER ELEMENTS MS" for gs_op (add, double) on each periodic box that
                                    bench_gs has; gslib chooses its exchange itself, and so does our tuner
    drop-in COMMAND RANKS           the same lines from the same program, linked with libnekbone_k_gslib instead of
                                    gslib, such as bench/gs_like_gslib.c; it is compared with --gslib COMMAND
    nekbone-own, nekbone-drop-in COMMAND ORDER RANKS
                                    as nekbone: Nekbone with its own gather-scatter, and with libnekbone_k_gslib

BP5 has no mass term, so ours has none there (lambda 0). CG solves the problem of inputs/nekbone.yaml, lambda 0.1.

Each round runs every case of every program once; the ratio of a round says how many times as fast ours is, and the
median over the rounds is printed with the smallest and the largest. Peers may be left out. More ranks than cores
want MPI to yield, for peers as for ours: OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1.
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


def output(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def first_number(command):
    text = output(command)
    found = re.match(r"\s*([0-9.eE+-]+)", text)
    if not found:
        sys.exit(f"{shlex.join(command)}\n{text}")
    return float(found[1])


def our_cg(options, order, side, ranks):
    """GFLOP/s, and the machine's part of the report."""
    options.launcher = f"mpirun -np {ranks}"
    report = cg_rows.run(options, order, [ranks * side, side, side])
    if not report["solve"]["passed"]:
        sys.exit(f"order {order}, {ranks} ranks: {report['solve']['verdict']}")
    return report["solve"]["flops_per_s"] / 1e9, report["machine"]


def benchmarks(options, ranks, program, arguments):
    """What one of our benchmark programs measured."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        output(["mpirun", "-np", str(ranks), str(options.bin / program), *arguments, f"--benchmark_out={out}"])
        return json.loads(out.read_text())["benchmarks"]


def our_ax(options):
    """MDOF/s of the whole operator: elements, gather-scatter, assembled vector to assembled vector."""
    return benchmarks(options, 1, "bench_axhelm",
                      ["--points", str(16**3 * 8**3), "--seconds", "3", "--lambda", "0",
                       "--benchmark_filter=^operator/order:7/points:2097152"])[0]["MDOF/s"]


def our_gs_op(options, ranks):
    """Milliseconds of gs_op, by (order, elements)."""
    found = {}
    for b in benchmarks(options, ranks, "bench_gs", ["--seconds", "1", "--benchmark_filter=^gs_op_tuned"]):
        order, elements = re.match(r"gs_op_tuned/order:(\d+)/elements:(\d+)", b["name"]).groups()
        found[int(order), int(elements)] = b["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1}[b["time_unit"]]
    return found


def their_gs_op(command):
    found = {}
    for line in output(command).splitlines():
        if re.match(r"\d", line):  # gslib also prints what it tried, in indented lines
            order, elements, milliseconds = line.split()
            found[int(order), int(elements)] = float(milliseconds)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=pathlib.Path, metavar="BIN_DIRECTORY")
    parser.add_argument("--nekbone", type=shlex.split)
    parser.add_argument("--libceed", type=shlex.split)
    parser.add_argument("--gslib", type=shlex.split)
    parser.add_argument("--drop-in", type=shlex.split)
    parser.add_argument("--nekbone-own", type=shlex.split)
    parser.add_argument("--nekbone-drop-in", type=shlex.split)
    parser.add_argument("--orders", type=int, nargs="+", choices=[order for order, _ in NEKBONE],
                        default=[order for order, _ in NEKBONE], help="those of CG and Nekbone")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out")
    options = parser.parse_args()
    if options.drop_in and not options.gslib:
        parser.error("--drop-in needs --gslib, which it is compared with")
    if bool(options.nekbone_own) != bool(options.nekbone_drop_in):
        parser.error("--nekbone-own and --nekbone-drop-in need each other")
    options.program = str(options.bin / "nekbone-k")
    options.strategy, options.set = "device-pairwise", []
    settings = cg_rows.settings_of(options)

    sides = [(order, side) for order, side in NEKBONE if order in options.orders]
    cases = {}  # name: (our rates, their rates)
    machine = None
    for _ in range(options.rounds):
        for order, side in sides if options.nekbone else []:
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
        for ranks in options.ranks if options.gslib else []:
            theirs = their_gs_op([*options.gslib, str(ranks)])
            measured = {"gs_op, gslib": our_gs_op(options, ranks)}
            if options.drop_in:
                measured["gs, gslib"] = their_gs_op([*options.drop_in, str(ranks)])
            for comparison, ours in measured.items():
                for order, elements in ours:
                    times = cases.setdefault((comparison, "ms", f"order {order}, {elements} elements", ranks),
                                             ([], []))
                    times[0].append(ours[order, elements])
                    times[1].append(theirs[order, elements])
        for order, side in sides if options.nekbone_own else []:
            for ranks in options.ranks:
                rates = cases.setdefault(("Nekbone, own gs", "GFLOP/s", f"order {order}, {side}^3 elements a rank",
                                          ranks), ([], []))
                rates[0].append(first_number([*options.nekbone_drop_in, str(order), str(ranks)]))
                rates[1].append(first_number([*options.nekbone_own, str(order), str(ranks)]))

    print(f"{'comparison':15} {'case':34} {'ranks':>5} {'unit':>8} {'ours':>7} {'theirs':>7} {'ratio':>6}"
          "  smallest..largest")
    rows = []
    for (comparison, unit, case, ranks), (ours, theirs) in cases.items():
        ratios = [one / other if unit != "ms" else other / one for one, other in zip(ours, theirs)]
        print(f"{comparison:15} {case:34} {ranks:5} {unit:>8} {statistics.median(ours):7.2f}"
              f" {statistics.median(theirs):7.2f} {statistics.median(ratios):6.2f}"
              f"  {min(ratios):.2f}..{max(ratios):.2f}")
        rows.append({"comparison": comparison, "case": case, "ranks": ranks, "unit": unit, "ours": ours,
                     "theirs": theirs})
    if options.out:
        if machine is None:
            _, machine = our_cg(options, 3, 4, max(options.ranks))
        cg_rows.save(options.out, machine, rows, settings=settings)


if __name__ == "__main__":
    main()
