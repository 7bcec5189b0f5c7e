#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that objects of a CUDA build register each kernel that they launch. nvcc may leave one out
without a word, and its launch then fails with "invalid resource handle": a kernel of a lambda whose
host and device versions use different captures, or of a virtual member that only the table of
virtual members uses.
  ci/check-kernels.py BUILD_DIRECTORY"""

import pathlib
import re
import subprocess
import sys

KERNEL = rb"_Z[A-Za-z0-9_]*cuda_parallel_launch_(?:local|constant|global)_memory[A-Za-z0-9_]*"


def launched(path):
    """The number of kernels that host code of an object refers to."""
    listing = subprocess.run(["nm", path], check=True, capture_output=True).stdout
    names = set(re.findall(rb" [tTwWuV] (" + KERNEL + rb")$", listing, re.MULTILINE))
    return sum(b"__device_stub" not in name for name in names)


def registered(path):
    """The number of kernel names among its constants, by which it registers them."""
    listing = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    data, names = path.read_bytes(), set()
    for match in re.finditer(r"\] \.rodata\S*\s+\S+\s+[0-9a-f]+\s+([0-9a-f]+)\s+([0-9a-f]+)", listing):
        begin, size = (int(number, 16) for number in match.groups())
        names.update(re.findall(KERNEL, data[begin:begin + size]))
    return len(names)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    objects = [path for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.o")) if launched(path) > 0]
    if not objects:
        sys.exit(f"ci/check-kernels.py: no object with kernels in {sys.argv[1]}")
    failures = 0
    for path in objects:
        if launched(path) != registered(path):
            print(f"{path}: launches {launched(path)} kernels, registers {registered(path)}")
            failures += 1
    print(f"{len(objects)} objects with kernels, {failures} that do not register all")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
