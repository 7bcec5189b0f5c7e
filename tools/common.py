# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of this folder share: their errors, tables as text and HTML, and matplotlib."""
import dataclasses
import html
import io
import os
import pathlib
import sys
import textwrap

# Where the modules of bench are; bench/plot.py and bench/exchange_by_size.py know the strategies' looks and names.
BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"

# Okabe and Ito's colours, which colour-blind people can tell apart. Black is the reference's.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]

LONG_CELL = 30  # characters; longer cells of a page have several lines


class InputError(Exception):
    """A file or an argument cannot be used; the message says which one, and why."""


def run(main):
    """Calls main(). An InputError becomes one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # characters that the terminal does not have
    try:
        main()
        sys.stdout.flush()
    except InputError as error:
        print(f"{pathlib.Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # a reader that ended, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def read_text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} cannot be read: it is not a text file") from error


def written(path, write):
    """Calls write(path), and raises an InputError if that fails."""
    try:
        write(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    return path


def labels_of(paths):
    """A short name for each file: its stem, or its path where stems are alike."""
    stems = [pathlib.Path(path).stem for path in paths]
    return [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths)]


def require_matplotlib():
    """Returns it. Raises an InputError if this Python lacks it."""
    try:
        import matplotlib
    except ImportError as error:
        raise InputError("figures need matplotlib, which this Python lacks (Debian, Ubuntu: python3-matplotlib)"
                         ) from error
    return matplotlib


def new_figure(width, height):
    """A matplotlib figure of that many inches, whose files have neither a date nor random ids."""
    require_matplotlib().rcParams.update(
        {"svg.hashsalt": "nekbone-k", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
         "grid.alpha": 0.3, "legend.frameon": False})
    from matplotlib.figure import Figure
    figure = Figure(figsize=(width, height), constrained_layout=True)
    figure.get_layout_engine().set(w_pad=0.1)
    return figure


def save(figure, path):
    """Saves a figure as a PNG or SVG file, by the end of its name."""
    ending = pathlib.Path(path).suffix.lower()
    if ending not in (".png", ".svg"):
        raise InputError(f"{path}: figures are .png or .svg files")
    metadata = {"Date": None} if ending == ".svg" else {"Software": None}
    return written(path, lambda name: figure.savefig(name, dpi=150, metadata=metadata))


@dataclasses.dataclass
class Table:
    """A table of texts. Columns whose names begin with > are aligned to the right."""
    title: str
    columns: list
    rows: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)

    def _heads(self):
        return [column.lstrip(">") for column in self.columns]

    def _is_right(self, column):
        return self.columns[column].startswith(">")

    def text(self):
        lines = [self._heads(), *self.rows] if self.rows else []
        widths = [max(map(len, cells)) for cells in zip(*lines)]
        result = [self.title]
        for line in lines:
            cells = [cell.rjust(width) if self._is_right(c) else cell.ljust(width)
                     for c, (cell, width) in enumerate(zip(line, widths))]
            result.append("  " + "  ".join(cells).rstrip())
        for note in self.notes:
            result += textwrap.wrap(note, 100, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(result)

    def html(self, level=2):
        def cell(tag, column, text):
            name = "right" if self._is_right(column) else "long" if len(text) > LONG_CELL else ""
            return f"<{tag}{f' class={name}' if name else ''}>{html.escape(text)}</{tag}>"

        def row(tag, cells):
            return "<tr>" + "".join(cell(tag, c, text) for c, text in enumerate(cells)) + "</tr>\n"
        body = "".join(row("td", cells) for cells in self.rows)
        table = f"<table>\n<thead>{row('th', self._heads())}</thead>\n<tbody>\n{body}</tbody>\n</table>\n"
        notes = "".join(f"<p>{html.escape(note)}</p>\n" for note in self.notes)
        return f"<h{level}>{html.escape(self.title)}</h{level}>\n{table if self.rows else ''}{notes}"
