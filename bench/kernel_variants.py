#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Variants of the element kernel, timed beside each other in one process.

    bench/kernel_variants.py [--order N]... NAME=CHECKOUT [NAME=CHECKOUT]... [-- OPTION...]

Compiles the kernel of each CHECKOUT (a git worktree, or a copy of src/) as the build in --build compiles
its own, which takes seconds, and runs that build's bench_kernel_variants: the kernels take turns, so that
what disturbs one disturbs all, and what each computes is compared with the build's own. Variants may change
the kernel and what only it includes, but not the types that it is handed. OPTIONs are those of the program
("--points 2000000 --seconds 5 --benchmark_out=FILE --benchmark_out_format=json").
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

# Where checkouts have the kernel: today, and up to version 0.1.
KERNELS = ("operators/axhelm/axhelm_kernel.hpp", "operators/axhelm_kernel.hpp")
SOURCE = """#include "{kernel}"
extern "C" const int nekbone_k_axhelm_order = {order};
extern "C" void nekbone_k_axhelm(const nekbone_k::AxhelmArguments& arguments,
                                 const nekbone_k::ExecutionSpace& stream) {{
  nekbone_k::axhelm_compiled<{order}, nekbone_k::Geometry::stored>(arguments, stream);
}}
"""


def compile_arguments(build, order):
    """The words of the command that compiles the build's own kernel, and its source."""
    commands = json.loads((build / "compile_commands.json").read_text())
    for command in commands:
        if command["file"].endswith(f"axhelm_order_{order}.cpp"):
            return shlex.split(command["command"]), command["file"], command["directory"]
    sys.exit(f"{build} does not compile order {order}: see NEKBONE_K_ORDERS")


def make_library(build, own_source, order, checkout, library):
    words, source, directory = compile_arguments(build, order)
    headers = checkout / "src" if (checkout / "src").is_dir() else checkout
    kernel = next((path for path in KERNELS if (headers / path).is_file()), None)
    if kernel is None:
        sys.exit(f"{checkout} has no src/{KERNELS[0]}")
    variant = library.with_suffix(pathlib.Path(source).suffix)
    variant.write_text(SOURCE.format(kernel=kernel, order=order))
    at = words.index("-o")
    del words[at:at + 2]
    words = [word if word != f"-I{own_source}" else f"-I{headers.resolve()}" for word in words if word not in ("-c", source)]
    pic = ["-Xcompiler", "-fPIC"] if "nvcc" in words[0] else ["-fPIC"]
    # Symbolic: each library runs its own kernel, whatever the program has under the same name.
    words += pic + ["-shared", "-Xlinker", "-Bsymbolic", "-o", str(library), str(variant)]
    subprocess.run(words, cwd=directory, check=True)


def main():
    options = sys.argv[1:]
    of_program = []
    if "--" in options:
        of_program = options[options.index("--") + 1:]
        options = options[:options.index("--")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("variants", nargs="+", metavar="NAME=CHECKOUT")
    parser.add_argument("--order", type=int, action="append", help="as many as wanted; default 7")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/openmp")
    parser.add_argument("--launcher", default="", help="of the program, as \"mpirun -np 2\"")
    arguments = parser.parse_args(options)
    with tempfile.TemporaryDirectory() as folder:
        libraries = []
        for variant in arguments.variants:
            name, separator, checkout = variant.partition("=")
            if not separator or not name:
                parser.error(f"{variant} is not NAME=CHECKOUT")
            for order in arguments.order or [7]:
                library = pathlib.Path(folder) / f"{name}-order-{order}.so"
                make_library(arguments.build, root / "src", order, pathlib.Path(checkout), library)
                libraries.append(library)
        program = shlex.split(arguments.launcher) + [str(arguments.build / "bin/bench_kernel_variants")]
        for library in libraries:
            program += ["--variant", str(library)]
        sys.stdout.flush()
        subprocess.run(program + of_program, check=True, env=dict(os.environ, OMP_PROC_BIND=os.environ.get("OMP_PROC_BIND", "false")))


if __name__ == "__main__":
    main()
