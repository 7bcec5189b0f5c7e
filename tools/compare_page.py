# SPDX-License-Identifier: BSD-3-Clause
"""The page of compare.py --html: its tables and figures in one file. Needs matplotlib."""
import base64
import html
import io

from common import COLOURS, new_figure, require_matplotlib
from reports import ALONE, size_text

require_matplotlib()
import plot
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

MARKERS = "osD^vP"
MOST_PANELS = 8

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 1280px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin: 2em 0 .5em } h3 { font-size: 1em; margin: 1.5em 0 .4em }
table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .2em .6em; border-bottom: 1px solid #ddd; white-space: nowrap }
th { border-bottom: 2px solid #888 } .right { text-align: right } tbody tr:hover { background: #f3f6fa }
.long { white-space: normal; overflow-wrap: anywhere; min-width: 14em }
p { margin: .4em 0; max-width: 60em; color: #444; font-size: .93em }
figure { margin: 1em 0 } figure img { max-width: 100%; height: auto } summary { cursor: pointer; margin-top: 2em }
"""


def image(figure, caption):
    """A figure as an element of the page."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    data = base64.b64encode(file.getvalue()).decode()
    caption = html.escape(caption)
    return (f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption><p>{caption}</p></figcaption></figure>\n")


def colour_of(reports):
    return dict(zip((report.letter for report in reports), COLOURS))


def bars(axes, rows, colours, title):
    """Horizontal bars with their numbers; rows of (letter, label, number)."""
    for place, (letter, _, value) in enumerate(rows):
        axes.barh(place, value, color=colours[letter], height=0.65)
        axes.text(value, place, f" {value:.4g}", va="center", fontsize="small")
    axes.set_yticks(range(len(rows)), [label for _, label, _ in rows])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.margins(x=0.15)
    axes.set_xlim(0, None)
    axes.set_xlabel(title)


def figure_of_merit(reports):
    """Bars of the figures of merit, and shares of the roofline; None if nothing was solved."""
    panels = []
    for section, key, factor, title in (("solve", "flops_per_s", 1e-9, "CG: GFLOP/s by Nekbone's count"),
                                        ("solve", "bandwidth_share", 100, "CG: share of the roofline  [%]"),
                                        ("flow", "point_steps_per_s", 1e-6, "flow: M points × steps/s")):
        rows = [(report.letter, f"{report.letter}, order {report.get(section, 'order')}",
                 factor * report.get(section, key)) for report in reports if report.get(section, key)]
        if rows:
            panels.append((rows, title))
    if not panels:
        return None
    figure = new_figure(5.5 * len(panels), 1.1 + 0.35 * max(len(rows) for rows, _ in panels))
    for axes, (rows, title) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        bars(axes, rows, colour_of(reports), title)
    return figure


def timed_alone(report, key):
    exchange = report.exchanges.get(key)
    candidates = exchange.candidates if exchange else {}
    return {name: candidate.timings[ALONE] for name, candidate in candidates.items() if ALONE in candidate.timings}


def panels_above_legend(width, height, rows, columns, handles, legend_columns=3, **keywords):
    """A figure and its grid of panels, with a legend below all of them."""
    legend_height = 0.1 + 0.22 * -(-len(handles) // legend_columns)
    figure = new_figure(width, height + legend_height)
    above, below = figure.subfigures(2, 1, height_ratios=[height, legend_height])
    below.legend(handles=handles, loc="center", ncol=legend_columns, fontsize="small")
    return figure, above.subplots(rows, columns, squeeze=False, **keywords)


def label_of(report):
    return f"{report.letter}: {report.hardware_name}, {report.software['MPI']}, commit {report.software['commit']}"


def draw_intervals(axes, timings, places, offset, colour, marker):
    medians = [1e6 * timing.median for timing in timings.values()]
    ends = [[1e6 * (timing.median - timing.low) for timing in timings.values()],
            [1e6 * (timing.high - timing.median) for timing in timings.values()]]
    axes.errorbar(medians, [places[name] + offset for name in timings], xerr=ends, fmt=marker, color=colour,
                  markersize=4, elinewidth=1.2)


def figure_of_strategies(reports, keys):
    """A panel for each order: every strategy's exchange alone with its interval, by report."""
    keys = {key: name for key, name in keys.items() if any(timed_alone(report, key) for report in reports)}
    if not keys or len(keys) > MOST_PANELS:
        return None
    looks = {report.letter: (colour, marker) for report, colour, marker in zip(reports, COLOURS, MARKERS)}
    reports = [report for report in reports if any(timed_alone(report, key) for key in keys)]
    names = dict.fromkeys(name for key in keys for report in reports for name in timed_alone(report, key))
    places = {name: place for place, name in enumerate(names)}
    handles = [Line2D([], [], color=looks[report.letter][0], marker=looks[report.letter][1], linestyle="",
                      label=label_of(report)) for report in reports]
    columns, rows = min(len(keys), 2), (len(keys) + 1) // 2
    figure, grid = panels_above_legend(13, rows * (1.2 + 0.24 * len(names)), rows, columns, handles, 2, sharey=True)
    for axes, (key, title) in zip(grid.flat, keys.items()):
        for place, report in enumerate(reports):
            offset = 0.6 * ((place + 0.5) / len(reports) - 0.5)
            draw_intervals(axes, timed_alone(report, key), places, offset, *looks[report.letter])
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:g}")
        axes.xaxis.set_minor_formatter("")
        axes.set_yticks(range(len(places)), list(places))
        axes.set(title=title, xlabel="exchange alone  [µs]")
        axes.tick_params(labelleft=True)
    grid[0][0].invert_yaxis()
    for axes in grid.flat[len(keys):]:
        axes.remove()
    return figure


def looks_of(strategies):
    """How strategies are drawn: strategy -> (colour, line style), as in bench/plot.py, but in COLOURS."""
    colours = dict(zip(plot.CARRIERS, [*COLOURS[:1], COLOURS[4], COLOURS[2], COLOURS[3], COLOURS[1], "black"]))
    return {name: (colours.get(plot.carrier(name), COLOURS[5]), plot.EXCHANGE_STYLES.get(name.split("-")[-1], "-"))
            for name in strategies}


def handles_of(looks):
    """A line of the legend for each look, with the names of all strategies that are drawn so."""
    names = {}
    for name, look in looks.items():
        names.setdefault(look, []).append(name)
    return [Line2D([], [], color=colour, linestyle=style, label=plot.alike(alike))
            for (colour, style), alike in names.items()]


def figure_by_size(reports, keys):
    """Time of every strategy against the bytes that a rank sends, a panel for each report."""
    lines = {}
    for report in reports:
        for key in keys:
            for name, timing in timed_alone(report, key).items():
                size = report.exchanges[key].sent_bytes
                lines.setdefault(report.letter, {}).setdefault(name, []).append((size, 1e6 * timing.median))
    lines = {letter: by_name for letter, by_name in lines.items()
             if any(len({size for size, _ in points}) > 1 for points in by_name.values())}
    if not lines:
        return None
    titles = {report.letter: label_of(report).replace(", ", ",\n", 1) for report in reports}
    looks = looks_of(dict.fromkeys(name for by_name in lines.values() for name in by_name))
    columns = min(len(lines), 2 if len(lines) == 4 else 3)
    rows = -(-len(lines) // columns)
    figure, grid = panels_above_legend(max(5 * columns, 9), 4.2 * rows, rows, columns, handles_of(looks), sharex=True,
                                       sharey=True)
    for axes, (letter, by_name) in zip(grid.flat, lines.items()):
        for name, points in by_name.items():
            colour, style = looks[name]
            axes.plot(*zip(*sorted(points)), color=colour, linestyle=style, linewidth=1.3,
                      marker="." if len(points) < 9 else "")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter(lambda size, _: size_text(size))
        axes.yaxis.set_major_formatter(lambda number, _: f"{number:g}")
        axes.tick_params(axis="x", rotation=30, labelbottom=True)
        axes.tick_params(axis="y", labelleft=True)
        axes.set(xlabel="sent by a rank, one exchange", ylabel="exchange alone  [µs]")
        axes.set_title(titles[letter], fontsize="medium")
    for axes in grid.flat[len(lines):]:
        axes.remove()
    return figure


def page(reports, tables, details, keys):
    """The page as a text."""
    figures = [(figure_of_merit(reports), "Figures of merit, and the share of the roofline: the least traffic of CG at "
                                          "the copy bandwidth of the run."),
               (figure_of_strategies(reports, keys), "One exchange alone by every strategy: medians with 95 % "
                                                     "intervals."),
               (figure_by_size(reports, keys), "One exchange alone against the bytes that a rank sends in it.")]
    drawn = "".join(image(figure, caption) for figure, caption in figures if figure)
    title = f"nekbone-k: comparison of {len(reports)} report{'s' if len(reports) > 1 else ''}"
    every = "".join(table.html(3) for table in details)
    summary = "More: all rows of longer tables, and the times of every strategy"
    details_element = f"<details><summary>{summary}</summary>\n{every}</details>\n" if every else ""
    figures_element = f"<h2>Figures</h2>\n{drawn}" if drawn else ""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
            f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style></head>\n<body>\n'
            f"<h1>{title}</h1>\n{''.join(table.html() for table in tables)}"
            f"{figures_element}{details_element}</body></html>\n")
