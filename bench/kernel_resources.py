#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the element kernel takes of a GPU's multiprocessor, by order, as the compiler says; needs no GPU.

    bench/kernel_resources.py [--build build/cuda] [--out FILE.json] ORDER...

Compiles the kernel of each order as the build compiles its own, with nvcc for one architecture, and prints registers a
thread, bytes spilled to memory, threads and scratch of a team, and how many teams and warps a multiprocessor then
holds. Those are counted by what a multiprocessor of compute capability 9.0 has: 65,536 registers, given to a warp
by 256, 64 warps, 32 teams, and 227 KiB of scratch, of which each team takes another KiB. A team's scratch is what
the kernel asks for and what Kokkos adds for its reductions, a double a thread and two.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import kernel_variants

REGISTERS, REGISTER_UNIT, WARPS, TEAMS, SCRATCH, SCRATCH_OF_SYSTEM = 65536, 256, 64, 32, 227 * 1024, 1024
GEOMETRIES, RESULTS = ["stored", "trilinear", "affine"], ["stored", "added"]

# A kernel whose name says what a team takes is the way to have the compiler print it.
SOURCE = """#include "operators/axhelm/axhelm_kernel.hpp"
namespace nekbone_k {{
template <int threads, int scratch>
__global__ void team_takes() {{}}
using StoredKernel = AxhelmKernel<{order}>;
template __global__ void team_takes<StoredKernel::threads_of_team(), int(StoredKernel::scratch_of_team())>();
template void axhelm_compiled<{order}, Geometry::stored>(const AxhelmArguments&, const ExecutionSpace&);
template void axhelm_compiled<{order}, Geometry::trilinear>(const AxhelmArguments&, const ExecutionSpace&);
template void axhelm_compiled<{order}, Geometry::affine>(const AxhelmArguments&, const ExecutionSpace&);
}}
"""


def compiler_says(build, order):
    """What ptxas prints of all kernels of an order, with names as people write them."""
    words, source, directory = kernel_variants.compile_arguments(build, order)
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder, "kernel.cu")
        own.write_text(SOURCE.format(order=order))
        at = words.index("-o")
        words[at + 1] = str(own.with_suffix(".o"))
        words = [str(own) if word == source else word for word in words] + ["-Xptxas=-v"]
        done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return subprocess.run(["c++filt"], input=done.stdout + done.stderr, capture_output=True, text=True,
                          check=True).stdout


def kernels(text):
    """A row a kernel."""
    team = re.search(r"team_takes<(\d+), (\d+)>", text)
    threads, scratch = int(team[1]), int(team[2])
    scratch += 8 * (threads + 2)
    rows = {}
    entry = (r"Compiling entry function '[^']*AxhelmKernel<(\d+), \(nekbone_k::Geometry\)(\d), "
             r"\(nekbone_k::SurfaceResults\)(\d).*?(\d+) bytes spill stores, (\d+) bytes spill loads"
             r".*?Used (\d+) registers")
    for found in re.finditer(entry, text, re.DOTALL):
        order, geometry, results, stores, loads, registers = map(int, found.groups())
        warps = -(-threads // 32)
        of_warp = -(-32 * registers // REGISTER_UNIT) * REGISTER_UNIT
        teams = min(REGISTERS // of_warp // warps, WARPS // warps, TEAMS, SCRATCH // (scratch + SCRATCH_OF_SYSTEM))
        rows[geometry, results] = {
            "order": order, "geometry": GEOMETRIES[geometry], "surface_results": RESULTS[results],
            "registers": registers, "spilled_bytes": stores + loads, "threads_of_team": threads,
            "scratch_of_team_bytes": scratch, "teams": teams, "warps": teams * warps,
            "occupancy": teams * warps / WARPS}
    return [rows[key] for key in sorted(rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orders", type=int, nargs="+", metavar="ORDER")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/cuda"))
    parser.add_argument("--out")
    options = parser.parse_args()
    rows = [row for order in options.orders for row in kernels(compiler_says(options.build, order))]
    print(f"{'order':>5} {'geometry':>9} {'results':>7} {'registers':>9} {'spilled':>7} {'threads':>7} {'scratch':>7}"
          f" {'teams':>5} {'warps':>5} {'of all':>6}")
    for row in rows:
        print(f"{row['order']:5} {row['geometry']:>9} {row['surface_results']:>7} {row['registers']:9}"
              f" {row['spilled_bytes']:7} {row['threads_of_team']:7} {row['scratch_of_team_bytes']:7}"
              f" {row['teams']:5} {row['warps']:5} {100 * row['occupancy']:4.0f} %")
    if options.out:
        cache = (options.build / "CMakeCache.txt").read_text()
        nvcc = subprocess.run([re.search(r"CMAKE_CUDA_COMPILER:\w+=(.*)", cache)[1], "--version"],
                              capture_output=True, text=True, check=True).stdout
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                                check=True).stdout.strip()
        pathlib.Path(options.out).write_text(json.dumps(
            {"commit": commit, "compiler": re.search(r"release .*", nvcc)[0], "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
