#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what the scripts beside it measured, as pictures for docs/performance.md and docs/measurements/.

    bench/plot.py fom  OUT.svg bench/results/cg-rows-MACHINE.json
    bench/plot.py size OUT.svg bench/results/cg-sizes-MACHINE.json
    bench/plot.py scaling OUT.svg bench/results/scaling-MACHINE.json
    bench/plot.py exchange OUT.svg bench/results/exchange-by-size-MACHINE-npP.json
    bench/plot.py peers OUT.svg bench/results/nekbone-MACHINE.json

fom: the figure of merit against order, beside hipBone's and the roofline; size: time an iteration against
size, a line an order; scaling (bench/scaling.py): the figure of merit against ranks, beside its ideal;
exchange (bench/exchange_by_size.py): time and rate of an exchange against the size of the message, by strategy
(points: the paths of messages alone); peers (bench/against_peers.py): CG beside Nekbone, by order and ranks.
Needs matplotlib.
"""
import argparse
import json
import pathlib
import re
import statistics

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import cg_rows
import exchange_by_size
import scaling

# Without the date and random ids, the same data gives the same file.
plt.rcParams["svg.hashsalt"] = "nekbone-k"
GFLOP = 1e9

# An exchange's colour says what carries its messages, its line how they are made and sent.
CARRIERS = {"device": "tab:blue", "host": "tab:orange", "nccl": "tab:green", "nvshmem": "tab:purple",
            "peer-memory": "tab:red", "peer-copy": "black"}
EXCHANGE_STYLES = {"pipelined": "--", "datatypes": "--", "put": "-.", "crystal": ":"}
MESSAGE_PATHS = ["host-messages", "device-messages", "nccl", "nvshmem", "peer-memory", "peer-copy"]


def median(row, value):
    return statistics.median(value(solve) for solve in row["runs"])


def dofs(row):
    return row["runs"][0]["total_dofs"]


def plot_fom(axes, rows):
    hipbone = {(order, elements): value for order, elements, value in cg_rows.HIPBONE}
    # Of each order the smallest and the largest mesh: where latency counts and where bandwidth does.
    by_order = {}
    for row in rows:
        by_order.setdefault(row["order"], []).append(row)
    orders = sorted(by_order)
    for pick, name, colour in ((min, "smallest", "tab:orange"), (max, "largest", "tab:blue")):
        chosen = [pick(by_order[order], key=dofs) for order in orders]
        axes.plot(orders, [median(row, lambda s: s["flops_per_s"]) / GFLOP for row in chosen],
                  "o-", color=colour, label=f"nekbone-k, {name} mesh")
        peers = [(row["order"], hipbone[row["order"], row["elements"]]) for row in chosen
                 if (row["order"], row["elements"]) in hipbone]
        if len(peers) > 1:
            axes.plot(*zip(*peers), "s--", color=colour, alpha=0.6,
                      label=f"hipBone on H200s, {name} mesh")
        if pick is max and all(solve["bandwidth_share"] for row in chosen for solve in row["runs"]):
            axes.plot(orders, [median(row, lambda s: s["flops_per_s"] / s["bandwidth_share"]) / GFLOP
                               for row in chosen],
                      ":", color="black", label="roofline: least bytes at the copy's bandwidth")
    axes.set(xlabel="polynomial order", ylabel="GFLOP/s by Nekbone's count", xticks=orders, ylim=(0, None))


def plot_size(axes, rows):
    for order in sorted({row["order"] for row in rows}):
        points = sorted((dofs(row) / 1e6, median(row, lambda s: s["solve_s"] / s["iterations"]) * 1e6)
                        for row in rows if row["order"] == order)
        axes.loglog(*zip(*points), "o-", label=f"order {order}")
    axes.set(xlabel="million DOFs", ylabel="µs an iteration")


def plot_scaling(axes, rows):
    colours = {"weak": "tab:blue", "strong": "tab:orange"}
    for kind, colour in colours.items():
        if kind not in {row["kind"] for row in rows}:
            continue
        points = [(row["ranks"], median(row, lambda s: s["flops_per_s"]) / GFLOP)
                  for row in rows if row["kind"] == kind]
        first = next(row for row in rows if row["kind"] == kind)
        size = " x ".join(map(str, first["elements"]))
        axes.plot(*zip(*points), "o-", color=colour,
                  label=f"{kind}, order {first['order']}, {size} elements{' a rank' if kind == 'weak' else ''}")
        axes.plot([ranks for ranks, _ in points], [points[0][1] * ranks for ranks, _ in points], ":",
                  color=colour, alpha=0.6)
        peers = [(row["ranks"], scaling.hipbone(row["order"], row["elements"], row["ranks"]))
                 for row in rows if row["kind"] == kind]
        peers = [(ranks, value) for ranks, value in peers if value]
        if len(peers) > 1:
            axes.plot(*zip(*peers), "s--", color=colour, alpha=0.6, label=f"hipBone on H200s, {kind}")
    axes.set(xlabel="ranks, one a GPU", ylabel="GFLOP/s by Nekbone's count", ylim=(0, None),
             xticks=sorted({row["ranks"] for row in rows}))


def plot_peers(axes, rows):
    rows = [row for row in rows if row["comparison"] == "CG, Nekbone"]
    for ranks, colour in zip(sorted({row["ranks"] for row in rows}), ("tab:blue", "tab:orange")):
        chosen = [row for row in rows if row["ranks"] == ranks]
        orders = [int(re.match(r"order (\d+)", row["case"])[1]) for row in chosen]
        label = f"{ranks} rank{'s' if ranks > 1 else ''}"
        for who, key, style in (("nekbone-k", "ours", "o-"), ("Nekbone", "theirs", "s--")):
            axes.plot(orders, [statistics.median(row[key]) for row in chosen], style, color=colour,
                      label=f"{who}, {label}")
    axes.set(xlabel="polynomial order", ylabel="GFLOP/s by Nekbone's count", xticks=orders, ylim=(0, None))


def carrier(name):
    """What carries the messages of a strategy or a path: its colour."""
    return name if name in CARRIERS else name.split("-")[0]


def alike(names):
    """The label of strategies drawn alike: "host-pairwise, -persistent"."""
    first, *others = names
    return ", ".join([first, *("-" + name.split("-", 1)[1] for name in others)])


def exchange_groups(results):
    """(colour, style) -> the lines drawn so, each (name, {bytes: seconds})."""
    groups = {}
    for (kind, name), times in exchange_by_size.by_name(results).items():
        if kind == "path" and name not in MESSAGE_PATHS:
            continue
        style = "o" if kind == "path" else EXCHANGE_STYLES.get(name.split("-")[-1], "-")
        groups.setdefault((CARRIERS[carrier(name)], style), []).append((name, times))
    return groups


def plot_exchange(figure, results):
    time_axes, rate_axes = figure.subplots(1, 2)
    handles = []
    for (colour, style), lines in exchange_groups(results).items():
        path = style == "o"
        # A path alone is points, so that the strategy that uses it shows beneath.
        look = ({"linestyle": "", "marker": "o", "markersize": 3, "alpha": 0.6} if path
                else {"linestyle": style, "linewidth": 1.3})
        for _, times in lines:
            sizes = sorted(times)
            time_axes.plot(sizes, [times[size] * 1e6 for size in sizes], color=colour, **look)
            [line] = rate_axes.plot(sizes, [size / times[size] / 1e9 for size in sizes], color=colour, **look)
        names = [name for name, _ in lines]
        line.set_label(f"path alone: {names[0]}" if path else alike(names))
        handles.append((path, colour, line))
    for axes in (time_axes, rate_axes):
        axes.set_xscale("log", base=2)
        axes.set_xticks([8**n for n in range(1, 9)], ["8 B", "64", "512", "4 KiB", "32", "256", "2 MiB", "16"])
        axes.set_xlabel("size of a message")
    time_axes.set(yscale="log", ylabel="µs an exchange")
    rate_axes.set(ylim=(0, None), ylabel="GB/s each way of a rank")
    order = list(CARRIERS.values())
    handles.sort(key=lambda handle: (handle[0], order.index(handle[1])))
    figure.legend(handles=[line for *_, line in handles], loc="outside lower center", ncols=3, fontsize="small",
                  frameon=False)
    context = results["context"]
    figure.suptitle(f"One exchange between {context['ranks']} ranks, {exchange_by_size.machine_name(context)},"
                    f" commit {context['commit']}", fontsize="medium")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["fom", "size", "scaling", "exchange", "peers"])
    parser.add_argument("out")
    parser.add_argument("results")
    options = parser.parse_args()
    results = json.loads(pathlib.Path(options.results).read_text())
    if options.what == "exchange":
        figure = plt.figure(figsize=(11, 5.5), layout="constrained")
        plot_exchange(figure, results)
    else:
        figure, axes = plt.subplots(figsize=(8, 4.5))
        plots = {"fom": plot_fom, "size": plot_size, "scaling": plot_scaling, "peers": plot_peers}
        plots[options.what](axes, results["rows"])
        machine = re.sub("^(cg-rows|cg-sizes|scaling|nekbone|peers)-", "", pathlib.Path(options.results).stem)
        machine = machine.replace("-", " ")
        axes.set_title(f"CG on {machine}, commit {results['machine']['commit']}", fontsize="medium")
        axes.legend(fontsize="small")
        figure.set_layout_engine("tight")
    for axes in figure.axes:
        axes.grid(alpha=0.3, which="major" if options.what == "exchange" else "both")
    figure.savefig(options.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
