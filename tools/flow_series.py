# SPDX-License-Identifier: BSD-3-Clause
"""The series of a flow, a reference, and their differences (docs/flow.md)."""
import bisect
import csv
import dataclasses
import json
import math

from common import InputError, read_text

# Columns that the figures need, and what they are called.
NUMBERS = ["step", "time", "energy", "enstrophy", "dissipation", "cfl", "pressure_iterations", "velocity_iterations",
           "step_s"]
ALWAYS_FINITE = ["step", "time", "energy", "enstrophy", "dissipation"]


@dataclasses.dataclass
class Series:
    """Columns of numbers by the names of flow.series; NaN: not known."""
    path: str
    columns: dict

    def __getitem__(self, name):
        return self.columns[name]

    @property
    def viscosity(self):
        """From the row of most enstrophy, for the series does not have it; None without enstrophy."""
        most, dissipation = max(zip(self["enstrophy"], self["dissipation"]))
        return dissipation / (2 * most) if most > 0 else None

    def energy_losses(self):
        """(begin, end, -dE/dt) between rows, by differences."""
        points = list(zip(self["time"], self["energy"]))
        return [(t, later, (energy - energy_later) / (later - t))
                for (t, energy), (later, energy_later) in zip(points, points[1:])]


def rows_of_report(path, text):
    try:
        report = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is neither a series nor a report: {error}") from error
    flow = report.get("flow")
    rows = flow.get("series") if isinstance(flow, dict) else None
    if not rows:
        raise InputError(f"{path} has no flow: give a file that flow.series names, or the report of a flow")
    return [(f"{path}, row {number}", row) for number, row in enumerate(rows, 1)]


def rows_of_csv(path, text):
    lines = text.splitlines()
    table = list(csv.reader(lines))
    header = table[0] if table else []
    missing = [name for name in NUMBERS if name not in header]
    if missing:
        raise InputError(f"{path} is not a series of a flow: its first line has no column {missing[0]}")
    rows = []
    for number, cells in enumerate(table[1:], 2):
        # A run that is killed may leave half a line.
        if number == len(table) and (len(cells) < len(header) or not text.endswith("\n")):
            break
        if len(cells) != len(header):
            raise InputError(f"{path}:{number}: has {len(cells)} numbers; needs {len(header)}")
        rows.append((f"{path}:{number}", dict(zip(header, cells))))
    return rows


def number_of(place, name, value):
    try:
        result = float(value) if value is not None else math.nan
    except ValueError as error:
        raise InputError(f"{place}: {name} is '{value}'; it must be a number") from error
    if name in ALWAYS_FINITE and not math.isfinite(result):
        raise InputError(f"{place}: {name} is {result}; it must be finite")
    return result


def read_series(path):
    """A file that flow.series named, or the report of a flow, which may have fewer rows."""
    text = read_text(path)
    rows = rows_of_report(path, text) if text.lstrip().startswith("{") else rows_of_csv(path, text)
    if len(rows) < 2:
        raise InputError(f"{path} has {len(rows)} rows; needs at least 2")
    columns = {name: [number_of(place, name, row.get(name)) for place, row in rows] for name in NUMBERS}
    for (place, _), before, time in zip(rows[1:], columns["time"], columns["time"][1:]):
        if time <= before:
            raise InputError(f"{place}: time {time:g} follows time {before:g}; times must rise")
    return Series(str(path), columns)


class Reference:
    """Energy, dissipation and enstrophy over time, from elsewhere, as verification.reference reads them."""

    COLUMNS = ["time", "energy", "dissipation", "enstrophy"]

    def __init__(self, path):
        self.path = str(path)
        self.columns = {name: [] for name in self.COLUMNS}
        for number, line in enumerate(read_text(path).splitlines(), 1):
            words = line.split("#")[0].replace(",", " ").split()
            if words:
                self._add(f"{path}:{number}", words)
        self.times = self.columns["time"]
        if len(self.times) < 4:
            raise InputError(f"{path}: has {len(self.times)} lines of time, energy, dissipation and enstrophy; "
                             "needs at least 4")

    def _add(self, place, words):
        try:
            row = dict(zip(self.COLUMNS, map(float, words[:4])))
        except ValueError:
            row = {}
        if len(row) < 4 or not all(map(math.isfinite, row.values())):
            raise InputError(f"{place}: needs four numbers: time, energy, dissipation and enstrophy")
        if row["enstrophy"] <= 0:
            raise InputError(f"{place}: the enstrophy, the fourth number, is {row['enstrophy']:g}; it must be "
                             "positive")
        times = self.columns["time"]
        if times and row["time"] <= times[-1]:
            raise InputError(f"{place}: time {row['time']:g} follows time {times[-1]:g}; times must rise")
        for name, value in row.items():
            self.columns[name].append(value)

    def at(self, name, time):
        """A column at a time by cubic interpolation, as the run does; None outside the times given."""
        times, values = self.times, self.columns[name]
        slack = 1e-9 * (times[-1] - times[0])
        if not times[0] - slack <= time <= times[-1] + slack:
            return None
        first = min(max(bisect.bisect_right(times, time) - 2, 0), len(times) - 4)
        four = range(first, first + 4)
        return sum(values[i] * math.prod((time - times[j]) / (times[i] - times[j]) for j in four if j != i)
                   for i in four)

    def mean(self, name, begin, end):
        """A column's mean over a time, by Simpson's rule; None outside the times given."""
        three = [self.at(name, time) for time in (begin, (begin + end) / 2, end)]
        return None if None in three else (three[0] + 4 * three[1] + three[2]) / 6


@dataclasses.dataclass
class Comparison:
    """One quantity beside the reference: (time, value, value of the reference) where both are known."""
    quantity: str
    of: str  # the column of the reference
    points: list

    def relative(self):
        """(time, relative difference, value, value of the reference); not where the reference is zero."""
        return [(time, value / other - 1, value, other) for time, value, other in self.points if other != 0]

    def largest(self):
        return max(self.relative(), key=lambda point: abs(point[1]), default=None)


def compare(series, reference):
    """The comparisons of a series with a reference. Raises an InputError if they have no time in common."""
    def at_rows(quantity, column, of):
        known = [(time, value, reference.at(of, time)) for time, value in zip(series["time"], series[column])]
        return Comparison(quantity, of, [point for point in known if point[2] is not None])
    # A difference of energies is a mean over time, so it is compared with the reference's mean.
    losses = [((begin + end) / 2, loss, reference.mean("dissipation", begin, end))
              for begin, end, loss in series.energy_losses()]
    result = [at_rows("energy", "energy", "energy"),
              at_rows("enstrophy", "enstrophy", "enstrophy"),
              Comparison("-dE/dt", "dissipation", [point for point in losses if point[2] is not None]),
              at_rows("2 nu enstrophy", "dissipation", "dissipation")]
    if not result[0].points:
        times = series["time"]
        raise InputError(f"{series.path} and {reference.path} have no time in common: {times[0]:g} to {times[-1]:g} "
                         f"and {reference.times[0]:g} to {reference.times[-1]:g}")
    return result
