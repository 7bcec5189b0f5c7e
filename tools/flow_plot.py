#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the series of flows over time, beside a reference, and prints their largest differences from it.

    tools/flow_plot.py SERIES.csv [MORE.csv ...] [--reference FILE] [--steps] [--out FOLDER | FILE.png | FILE.svg]

SERIES.csv is a file that flow.series named, or the JSON report of a flow, which may have fewer rows. FILE is one that
verification.reference reads. --steps also draws iterations, CFL number and time per step. docs/tools.md explains both
figures. Needs matplotlib.
"""
import argparse
import pathlib

import flow_series
from common import COLOURS, Table, InputError, labels_of, new_figure, run, save

PANELS = [("energy", "energy ⟨u·u⟩/2  [U²]"), ("enstrophy", "enstrophy ⟨ω·ω⟩/2  [U²/L²]"),
          ("dissipation", "dissipation  [U³/L]")]
TIME = "time  [L/U]"
LOSS, RATE = "-dE/dt", "2 nu enstrophy"
STYLES = {LOSS: "-", RATE: (0, (1, 1))}


def signed(number):
    return f"{number:+.2e}"


def difference_table(label, comparisons, reference):
    rows = []
    for comparison in comparisons:
        largest = comparison.largest()
        if largest is None:
            rows.append([comparison.quantity, "-", "-", "-", "-", "-"])
            continue
        time, relative, value, other = largest
        rows.append([comparison.quantity, signed(relative), f"{time:.4g}", f"{value:.6e}", f"{other:.6e}",
                     signed(comparison.relative()[-1][1])])
    points = comparisons[0].points
    return Table(f"{label}: differences from {pathlib.Path(reference.path).name}, times {points[0][0]:g} to "
                 f"{points[-1][0]:g}, {len(points)} rows",
                 ["relative", ">largest", ">at time", ">series", ">reference", ">at the end"], rows)


def peak_table(label, series):
    rows = []
    for quantity in ("energy", "enstrophy", "dissipation"):
        value, time = max(zip(series[quantity], series["time"]))
        rows.append(["2 nu enstrophy" if quantity == "dissipation" else quantity, f"{value:.6e}", f"{time:.4g}"])
    middle = [((begin + end) / 2, loss) for begin, end, loss in series.energy_losses()]
    time, loss = max(middle, key=lambda point: point[1])
    rows.insert(2, [LOSS, f"{loss:.6e}", f"{time:.4g}"])
    return Table(f"{label}: {len(series['time'])} rows", ["", ">largest", ">at time"], rows)


def draw_differences(axes, column, colour, comparisons):
    for comparison in comparisons:
        if comparison.of == column and comparison.points:
            axes.plot(*zip(*[(time, 100 * relative) for time, relative, *_ in comparison.relative()]), color=colour,
                      linestyle=STYLES.get(comparison.quantity, "-"), linewidth=1.2)


def draw_flow(figure, labels, all_series, reference, all_comparisons):
    rows = 2 if reference else 1
    grid = figure.subplots(rows, 3, sharex=True, squeeze=False,
                           gridspec_kw={"height_ratios": [2, 1][:rows]})
    end = max(series["time"][-1] for series in all_series)
    begin = min(series["time"][0] for series in all_series)
    for (column, title), axes in zip(PANELS, grid[0]):
        if reference:
            # The reference is under the series, and thick, so that it shows where they agree.
            shown = [point for point in zip(reference.times, reference.columns[column]) if begin <= point[0] <= end]
            axes.plot([point[0] for point in shown], [point[1] for point in shown], color="black", alpha=0.3,
                      linewidth=4, label="reference")
        for series, label, colour in zip(all_series, labels, COLOURS):
            if column == "dissipation":
                axes.plot(*zip(*[((b + e) / 2, loss) for b, e, loss in series.energy_losses()]), color=colour,
                          linestyle=STYLES[LOSS], linewidth=1.4)
                axes.plot(series["time"], series["dissipation"], color=colour, linestyle=STYLES[RATE], linewidth=1.8)
            else:
                axes.plot(series["time"], series[column], color=colour, linewidth=1.4, label=label)
        axes.set_ylabel(title)
        # The energy loses little, and with a forcing it may grow.
        if column != "energy" and axes.dataLim.y0 >= 0:
            axes.set_ylim(0, None)
    for quantity, name in ((LOSS, "−dE/dt by differences"), (RATE, "2ν × enstrophy")):
        grid[0][2].plot([], [], color="0.2", linestyle=STYLES[quantity], label=name)
    for axes in grid[0][1:]:
        axes.legend(fontsize="small", loc="best")
    if reference:
        for (column, _), axes in zip(PANELS, grid[1]):
            axes.axhline(0, color="black", alpha=0.3, linewidth=2)
            for colour, comparisons in zip(COLOURS, all_comparisons):
                draw_differences(axes, column, colour, comparisons)
            axes.set_ylabel(f"{column}, difference  [%]")
    for axes in grid[-1]:
        axes.set_xlabel(TIME)
        axes.set_xlim(begin, end)
    viscosities = sorted({f"{series.viscosity:.4g}" for series in all_series if series.viscosity})
    title = f"Flow, viscosity ν = {', '.join(viscosities)}" if viscosities else "Flow"
    figure.suptitle(title + (f"; reference {pathlib.Path(reference.path).name}" if reference else ""),
                    fontsize="medium")


def draw_column(axes, series, column, style, colour, factor=1.0):
    """A column over time, without row 0, which is the beginning."""
    rows = [row for row, step in enumerate(series["step"]) if step > 0]
    axes.plot([series["time"][row] for row in rows], [factor * series[column][row] for row in rows], style,
              color=colour, linewidth=1.2)


def draw_steps(figure, labels, all_series):
    iterations, cfl, times = figure.subplots(1, 3)
    for series, label, colour in zip(all_series, labels, COLOURS):
        draw_column(iterations, series, "pressure_iterations", "-", colour)
        draw_column(iterations, series, "velocity_iterations", ":", colour)
        draw_column(cfl, series, "cfl", "-", colour)
        draw_column(times, series, "step_s", "-", colour, 1e3)
        times.plot([], [], color=colour, label=label)
    for style, name in (("-", "pressure"), (":", "velocity")):
        iterations.plot([], [], style, color="0.2", label=name)
    iterations.set_ylabel("iterations of the step at a row")
    cfl.set_ylabel("CFL number of that step")
    times.set_ylabel("mean time per step since the row before  [ms]")
    iterations.yaxis.get_major_locator().set_params(integer=True)
    for axes in (iterations, cfl, times):
        axes.set(xlabel=TIME)
        axes.set_ylim(0, None)
    for axes in (iterations, times):
        axes.legend(fontsize="small")


def figure_path(out, first):
    """The file of the first figure: in a folder, it has the name of the first series."""
    out = pathlib.Path(out)
    return out if out.suffix.lower() in (".png", ".svg") else out / f"{pathlib.Path(first).stem}.png"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="docs/tools.md explains the figures.")
    parser.add_argument("series", nargs="+", metavar="SERIES.csv", help="a file that flow.series named, or a report")
    parser.add_argument("--reference", metavar="FILE", help="a file that verification.reference reads")
    parser.add_argument("--steps", action="store_true", help="also draw iterations, CFL number and time per step")
    parser.add_argument("--out", default=".", metavar="FOLDER|FILE", help="where figures go; default: this folder")
    options = parser.parse_args()
    if len(options.series) > len(COLOURS):
        raise InputError(f"{len(options.series)} series are given; a figure shows at most {len(COLOURS)}")
    all_series = [flow_series.read_series(path) for path in options.series]
    reference = flow_series.Reference(options.reference) if options.reference else None
    labels = labels_of(options.series)
    comparisons = [flow_series.compare(series, reference) for series in all_series] if reference else []
    for series, label, found in zip(all_series, labels, comparisons or [None] * len(labels)):
        table = difference_table(label, found, reference) if found else peak_table(label, series)
        print(table.text() + "\n")

    path = figure_path(options.out, options.series[0])
    figure = new_figure(13, 6.5 if reference else 4.2)
    draw_flow(figure, labels, all_series, reference, comparisons)
    print(save(figure, path))
    if options.steps:
        figure = new_figure(13, 4.2)
        draw_steps(figure, labels, all_series)
        print(save(figure, path.with_name(f"{path.stem}-steps{path.suffix}")))


if __name__ == "__main__":
    run(main)
