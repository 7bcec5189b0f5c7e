#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The time of one exchange between pairs of ranks against the size of the message, by every strategy.

    bench/exchange_by_size.py [--launcher "mpirun -np 2"] [--seconds 1] PROGRAM FOLDER

Runs PROGRAM, a bench_exchange_by_size, writes FOLDER/exchange-by-size-MACHINE-npP.json and prints a table of
some sizes: pack, messages and unpack of a strategy, then the paths alone that the messages go, all in µs.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import tempfile

SHOWN = [8, 4096, 32768, 262144, 2097152, 16777216]


def parts_of(row):
    """(kind, name, bytes) of a benchmark."""
    kind, name, size = re.fullmatch(r"(exchange|path)/([^/]+)/bytes:(\d+).*", row["name"]).groups()
    return kind, name, int(size)


def by_name(results):
    """(kind, name) -> {bytes: seconds}, of what was measured, in the order of the program."""
    times = {}
    for row in results["benchmarks"]:
        kind, name, size = parts_of(row)
        if not row.get("error_occurred"):
            times.setdefault((kind, name), {})[size] = row["real_time"] * 1e-6
    return times


def device_name(device):
    """The kind of a rank's device, without its number and its place on the bus."""
    return re.sub(r"^.*?, | at .*$", "", device.strip())


def machine_name(context):
    """Of a result: the processor, or the accelerator of the first rank."""
    device = device_name(context["devices"].split(";")[0])
    if device != "host":
        return device
    return f"{context['cpu_model']}, {context['cpu_cores']} cores".replace("(R)", "").replace("(TM)", "")


def file_name(context):
    words = re.sub(r"[^a-z0-9]+", "-", machine_name(context).lower()).strip("-")
    return f"exchange-by-size-{words}-np{context['ranks']}.json"


def tidied(results):
    """Without what is not to be published, or says nothing here."""
    results["context"].pop("host_name", None)
    for row in results["benchmarks"]:
        row["name"] = row["run_name"] = row["name"].removesuffix("/iterations:1/manual_time")
    return results


def print_table(times):
    sizes = [size for size in SHOWN if any(size in row for row in times.values())]
    print(f"{'µs':28}" + "".join(f"{size:>10}" for size in sizes))
    for (kind, name), row in times.items():
        label = name if kind == "exchange" else f"path {name}"
        print(f"{label:28}" + "".join(f"{row[size] * 1e6:10.2f}" if size in row else f"{'-':>10}" for size in sizes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--launcher", default="mpirun -np 2")
    parser.add_argument("--seconds", type=float, default=1, help="of timing, a size and a path")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(temporary) / "results.json"
        subprocess.run([*shlex.split(options.launcher), options.program, f"--seconds={options.seconds}",
                        f"--benchmark_out={out}"], check=True)
        results = tidied(json.loads(out.read_text()))
    path = options.folder / file_name(results["context"])
    path.write_text(json.dumps(results, indent=1) + "\n")
    print_table(by_name(results))
    print(path)


if __name__ == "__main__":
    main()
