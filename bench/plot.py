#!/usr/bin/env python3
"""Draws what the scripts beside it measured, as pictures for docs/performance.md.

    bench/plot.py fom  OUT.svg bench/results/cg-rows-MACHINE.json
    bench/plot.py size OUT.svg bench/results/cg-sizes-MACHINE.json
    bench/plot.py scaling OUT.svg bench/results/scaling-MACHINE.json
    bench/plot.py exchange OUT.svg bench/results/exchange-by-size-MACHINE-npP.json

fom: the figure of merit against order, beside hipBone's and the roofline; size: time an iteration against
size, a line an order; scaling (bench/scaling.py): the figure of merit against ranks, beside its ideal;
exchange (bench/exchange_by_size.py): time and rate of an exchange against the size of the message, by strategy
(dashed: the paths of messages alone). Needs matplotlib.
"""
import argparse
import json
import pathlib
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
        if peers:
            axes.plot(*zip(*peers), "s--", color=colour, alpha=0.6,
                      label=f"hipBone, {name} mesh")
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
        points = [(row["ranks"], median(row, lambda s: s["flops_per_s"]) / GFLOP)
                  for row in rows if row["kind"] == kind]
        first = next(row for row in rows if row["kind"] == kind)
        size = " x ".join(map(str, first["elements"]))
        axes.plot(*zip(*points), "o-", color=colour,
                  label=f"{kind}, order {first['order']}, {size} elements{' a rank' if kind == 'weak' else ''}")
        axes.plot([ranks for ranks, _ in points], [points[0][1] * ranks for ranks, _ in points], ":",
                  color=colour, alpha=0.6)
    peers = scaling.HIPBONE_WEAK.get((first["order"], rows[0]["elements"][0]), [])
    if peers:
        axes.plot(*zip(*[peer for peer in peers if peer[0] <= rows[-1]["ranks"]]), "s--", color="tab:blue",
                  alpha=0.6, label="hipBone, weak")
    axes.set(xlabel="ranks, one a GPU", ylabel="GFLOP/s by Nekbone's count", ylim=(0, None),
             xticks=sorted({row["ranks"] for row in rows}))


def plot_exchange(figure, results):
    time_axes, rate_axes = figure.subplots(1, 2)
    lines = [(name, kind, sorted(row.items())) for (kind, name), row in exchange_by_size.by_name(results).items()
             if kind == "exchange" or "messages" in name or name in ("nccl", "peer-memory")]
    for number, (name, kind, row) in enumerate(lines):
        style = {"linestyle": "--" if kind == "path" else ("-", "-.")[number % 2], "linewidth": 1.2,
                 "color": plt.get_cmap("tab20")(number % 20), "label": name if kind == "exchange" else f"path {name}"}
        sizes = [size for size, _ in row]
        time_axes.loglog(sizes, [seconds * 1e6 for _, seconds in row], **style)
        rate_axes.loglog(sizes, [size / seconds / 1e9 for size, seconds in row], **style)
    time_axes.set(xlabel="bytes of a message", ylabel="µs an exchange")
    rate_axes.set(xlabel="bytes of a message", ylabel="GB/s each way of a rank")
    rate_axes.legend(fontsize=6, ncols=2)
    context = results["context"]
    device = context["cpu_model"] if context["devices"].startswith("host") else context["devices"].split(";")[0]
    figure.suptitle(f"Exchange between pairs, {context['ranks']} ranks, {device}, commit {context['commit']}",
                    fontsize="medium")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["fom", "size", "scaling", "exchange"])
    parser.add_argument("out")
    parser.add_argument("results")
    options = parser.parse_args()
    results = json.loads(pathlib.Path(options.results).read_text())
    if options.what == "exchange":
        figure = plt.figure(figsize=(11, 5))
        plot_exchange(figure, results)
    else:
        figure, axes = plt.subplots(figsize=(8, 4.5))
        {"fom": plot_fom, "size": plot_size, "scaling": plot_scaling}[options.what](axes, results["rows"])
        prefix = {"fom": "cg-rows-", "size": "cg-sizes-", "scaling": "scaling-"}[options.what]
        machine = pathlib.Path(options.results).stem.removeprefix(prefix).replace("-", " ")
        axes.set_title(f"CG on {machine}, commit {results['machine']['commit']}", fontsize="medium")
        axes.legend(fontsize="small")
    for axes in figure.axes:
        axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    figure.savefig(options.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
