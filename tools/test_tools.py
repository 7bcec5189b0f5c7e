#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs beside it, run on made-up series and reports whose differences are known.

    tools/test_tools.py

Tests of figures are skipped if this Python has no matplotlib.
"""
import base64
import contextlib
import html.parser
import importlib.util
import io
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

import common
import compare
import flow_plot
import flow_series
import reports

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
needs_matplotlib = unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")


class ToolTest(unittest.TestCase):
    longMessage = True

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nekbone-k-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def call(self, program, *arguments):
        """Exit code, stdout and stderr of a program that is called here."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
                unittest.mock.patch("sys.argv", [program.__file__, *map(str, arguments)]):
            try:
                common.run(program.main)
            except SystemExit as stop:
                code = stop.code
        return code, out.getvalue(), err.getvalue()

    def printed(self, program, *arguments):
        code, out, err = self.call(program, *arguments)
        self.assertEqual((code, err), (0, ""), out)
        return out

    def assert_refused(self, reason, program, *arguments):
        code, _, err = self.call(program, *arguments)
        self.assertEqual(code, 2, err)
        self.assertIn(reason, err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err.startswith(pathlib.Path(program.__file__).name + ": "), err)


# ---- Flow -----------------------------------------------------------------------------------------------------------

HEADER = ("step,time,dt,energy,enstrophy,reference_enstrophy,energy_loss,dissipation,max_divergence,cfl,mean_u,mean_v,"
          "mean_w,pressure_iterations,velocity_iterations,step_s")
VISCOSITY = 0.1


def enstrophy_at(time):
    return 1 + time**3


def energy_at(time):
    return 2 - time**2 / 10


def loss_at(time):
    return time / 5


def series_text(rows):
    """A series with rows of (time, energy, enstrophy)."""
    lines = [HEADER]
    for step, (time, energy, enstrophy) in enumerate(rows):
        lines.append(f"{step},{time:.10g},0.5,{energy:.15e},{enstrophy:.15e},,0,{2 * VISCOSITY * enstrophy:.15e},0,"
                     f"0.{step},0,0,0,{step + 3},{step},{step}e-3")
    return "\n".join(lines) + "\n"


def reference_text(times=range(5)):
    """Cubics, which the interpolation gives exactly. Blanks and commas, and comments."""
    lines = ["# Made up"]
    for time in times:
        comma = "," if time % 2 else ""
        lines.append(f"{time}{comma} {energy_at(time)!r}{comma} {loss_at(time)!r}{comma} {enstrophy_at(time)!r} # row")
    return "\n".join(lines) + "\n"


class FlowTest(ToolTest):
    # The enstrophy is 3 % too small at time 1.5, which is the most; the energy is 0.1 % too large everywhere.
    ERRORS = {0: 0.0, 0.5: 0.01, 1.5: -0.03, 2.5: 0.02, 4: 0.005}

    def setUp(self):
        super().setUp()
        rows = [(time, 1.001 * energy_at(time), (1 + error) * enstrophy_at(time))
                for time, error in self.ERRORS.items()]
        self.series = self.write("run.csv", series_text(rows))
        self.reference = self.write("reference.dat", reference_text())


class FlowSeries(FlowTest):
    def test_interpolates_cubics_exactly_and_only_within_the_times(self):
        reference = flow_series.Reference(self.reference)
        for time in (0, 0.3, 1, 1.5, 2.7, 3.99, 4):
            self.assertAlmostEqual(reference.at("enstrophy", time), enstrophy_at(time), places=12)
            self.assertAlmostEqual(reference.at("energy", time), energy_at(time), places=12)
        self.assertIsNone(reference.at("energy", -0.01))
        self.assertIsNone(reference.at("energy", 4.01))
        self.assertIsNotNone(reference.at("energy", 4 + 1e-10))  # a rounding error behind the end

    def test_interpolates_between_the_four_rows_around(self):
        rows = [f"{time} 1 1 {17 if time == 0 else 1}" for time in range(7)]
        reference = flow_series.Reference(self.write("peak.dat", "\n".join(rows)))
        # The weight of the row at 0 is -1/16 in the middle between 1 and 2, and 5/16 between 0 and 1.
        for time, value in ((0, 17), (0.5, 6), (1.5, 0), (2.5, 1), (5.5, 1), (6, 1)):
            self.assertAlmostEqual(reference.at("enstrophy", time), value, places=12, msg=time)

    def test_means_of_cubics_are_exact(self):
        mean = flow_series.Reference(self.reference).mean("enstrophy", 1, 3)
        self.assertAlmostEqual(mean, 1 + (3**4 - 1) / 4 / 2, places=12)

    def test_losses_are_differences_of_the_energy(self):
        series = flow_series.read_series(self.series)
        begin, end, loss = series.energy_losses()[1]
        self.assertEqual((begin, end), (0.5, 1.5))
        self.assertAlmostEqual(loss, 1.001 * (1.5**2 - 0.5**2) / 10, places=12)
        self.assertAlmostEqual(series.viscosity, VISCOSITY, places=12)

    def test_half_a_last_line_of_a_killed_run_is_left_out(self):
        text = self.series.read_text()
        for cut in (1, 5, 60):  # without its end, a digit, or several columns
            rows = flow_series.read_series(self.write("killed.csv", text[:-cut]))["time"]
            self.assertEqual(rows, [0, 0.5, 1.5, 2.5])

    def test_a_report_has_the_series_as_well(self):
        text = self.series.read_text().splitlines()
        rows = [dict(zip(HEADER.split(","), map(float, (cell or "nan" for cell in line.split(",")))))
                for line in text[1:]]
        for row in rows:
            row["reference_enstrophy"] = None
        rows[0]["step_s"] = None
        series = flow_series.read_series(self.write("report.json", {"flow": {"series": rows}}))
        same = flow_series.read_series(self.series)
        self.assertEqual(series["enstrophy"], same["enstrophy"])
        self.assertTrue(math.isnan(series["step_s"][0]))

    def test_knows_the_columns_that_the_program_writes(self):
        source = (ROOT / "src/report/flow_series.cpp").read_text(encoding="utf-8")
        columns = "".join(re.findall(r'^ +"(.*?)(?:\\n)?"', source[source.index("series_columns"):], re.M)[:2])
        self.assertEqual(columns, HEADER)
        self.assertLessEqual(set(flow_series.NUMBERS), set(columns.split(",")))


class FlowPlot(FlowTest):
    def table(self, *arguments):
        with unittest.mock.patch.object(flow_plot, "new_figure", side_effect=common.InputError("no figure")):
            return self.call(flow_plot, *arguments)[1]

    def test_names_the_largest_differences_and_their_times(self):
        out = self.table(self.series, "--reference", self.reference)
        self.assertIn("run: differences from reference.dat, times 0 to 4, 5 rows", out)
        self.assertRegex(out, r"(?m)^  enstrophy +-3\.00e-02 +1\.5 +4\.243750e\+00 +4\.375000e\+00 +\+5\.00e-03$")
        self.assertRegex(out, r"(?m)^  energy +\+1\.00e-03 ")
        # The mean of t / 5 over each interval is exact, so that 0.1 % is left.
        self.assertRegex(out, r"(?m)^  -dE/dt +\+1\.00e-03 .* \+1\.00e-03$")
        # 2 nu enstrophy over t / 5 is (1 + error) (1 + t^3) / t: most at 4; at 0 there is nothing to divide by.
        self.assertRegex(out, rf"(?m)^  2 nu enstrophy +{re.escape(f'{1.005 * 65 / 4 - 1:+.2e}')} +4 ")

    def test_compares_only_where_times_overlap(self):
        late = self.write("late.dat", reference_text(range(2, 6)))
        out = self.table(self.series, "--reference", late)
        self.assertIn("times 2.5 to 4, 2 rows", out)
        self.assertRegex(out, r"(?m)^  enstrophy +\+2\.00e-02 +2\.5 ")

    def test_without_a_reference_prints_the_largest_values(self):
        out = self.table(self.series)
        self.assertRegex(out, rf"(?m)^  enstrophy +{re.escape(f'{1.005 * 65:.6e}')} +4$")
        self.assertRegex(out, r"(?m)^  energy +2\.002000e\+00 +0$")
        # From 2.5 to 4: 0.2002 times the middle of the interval.
        self.assertRegex(out, rf"(?m)^  -dE/dt +{re.escape(f'{0.2002 * 3.25:.6e}')} +3\.25$")

    def test_series_of_the_same_name_are_told_apart(self):
        (self.folder / "other").mkdir()
        other = self.write("other/run.csv", self.series.read_text())
        out = self.table(self.series, other)
        self.assertIn(f"{self.series}: 5 rows", out)
        self.assertIn(f"{other}: 5 rows", out)

    def test_bad_series_are_refused(self):
        text = self.series.read_text()
        for reason, content in [
                ("is not a series of a flow: its first line has no column step", "a,b\n1,2\n"),
                ("is not a series of a flow", ""),
                ("is neither a series nor a report", "{"),
                ("has no flow", {"report_version": 1, "flow": None}),
                ("has no flow", {"flow": [1]}),
                ("has 1 rows; needs at least 2", "\n".join(text.splitlines()[:2]) + "\n"),
                ("bad:3: time 0 follows time 0; times must rise", text.replace("1,0.5,", "1,0,")),
                ("bad:3: energy is 'x'; it must be a number", re.sub(r"(1,0\.5,0\.5),[^,]*", r"\1,x", text)),
                ("bad:3: energy is nan; it must be finite", re.sub(r"(1,0\.5,0\.5),[^,]*", r"\1,nan", text)),
                ("bad:3: has 15 numbers; needs 16", re.sub(r"(1,0\.5),0\.5", r"\1", text))]:
            with self.subTest(reason):
                self.assert_refused(reason, flow_plot, self.write("bad", content))
        self.assert_refused("missing.csv cannot be read: No such file", flow_plot, self.folder / "missing.csv")
        (self.folder / "binary").write_bytes(b"\xff\xfe\x00")
        self.assert_refused("binary cannot be read: it is not a text file", flow_plot, self.folder / "binary")
        self.assert_refused("a figure shows at most", flow_plot, *[self.series] * 7)

    def test_bad_references_are_refused(self):
        for reason, content in [
                ("bad:2: needs four numbers", "0 1 1 1\n1 1 1\n"),
                ("bad:1: needs four numbers", "time energy dissipation enstrophy\n"),
                ("bad:2: the enstrophy, the fourth number, is -1; it must be positive", "0 1 1 1\n1 1 1 -1\n"),
                ("bad:2: time 0 follows time 0; times must rise", "0 1 1 1\n0 1 1 1\n"),
                ("has 3 lines of time, energy, dissipation and enstrophy", "0 1 1 1\n1 1 1 1\n2 1 1 1\n"),
                ("have no time in common: 0 to 4 and 10 to 13", reference_text(range(10, 14)))]:
            with self.subTest(reason):
                self.assert_refused(reason, flow_plot, self.series, "--reference", self.write("bad", content))
        self.assert_refused("cannot be read", flow_plot, self.series, "--reference", self.folder)

    def test_without_matplotlib_the_table_is_printed_and_the_figure_refused(self):
        with unittest.mock.patch.dict(sys.modules, {"matplotlib": None}):
            self.assert_refused("figures need matplotlib", flow_plot, self.series)
            self.assertIn("run: 5 rows", self.call(flow_plot, self.series)[1])

    @needs_matplotlib
    def test_draws_what_it_was_given(self):
        series, reference = flow_series.read_series(self.series), flow_series.Reference(self.reference)
        figure = common.new_figure(12, 6)
        flow_plot.draw_flow(figure, ["run"], [series], reference, [flow_series.compare(series, reference)])
        energy, enstrophy, dissipation, _, difference, differences = figure.axes
        for axes in figure.axes:
            self.assertRegex(axes.get_ylabel(), r"\[.+\]$")
        self.assertEqual(list(energy.lines[1].get_ydata()), series["energy"])
        drawn_reference, drawn = enstrophy.lines
        self.assertEqual(list(drawn_reference.get_xdata()), [0, 1, 2, 3, 4])
        self.assertEqual(list(drawn.get_xdata()), list(self.ERRORS))
        percents = dict(zip(difference.lines[1].get_xdata(), difference.lines[1].get_ydata()))
        for time, error in self.ERRORS.items():
            self.assertAlmostEqual(percents[time], 100 * error, places=9)
        self.assertEqual(list(dissipation.lines[1].get_xdata()), [0.25, 1, 2, 3.25])
        self.assertAlmostEqual(differences.lines[1].get_ydata()[1], 0.1, places=9)  # of -dE/dt

    @needs_matplotlib
    def test_shows_energy_that_grows(self):
        rows = [(time, 1 + time, 1) for time in range(4)]
        series = flow_series.read_series(self.write("forced.csv", series_text(rows)))
        figure = common.new_figure(12, 6)
        flow_plot.draw_flow(figure, ["forced"], [series], None, [])
        _, enstrophy, dissipation = figure.axes
        self.assertLess(dissipation.get_ylim()[0], -1)  # -dE/dt is -1
        self.assertEqual(enstrophy.get_ylim()[0], 0)

    @needs_matplotlib
    def test_writes_pictures_where_it_is_told(self):
        out = self.printed(flow_plot, self.series, "--steps", "--out", self.folder)
        for name in ("run.png", "run-steps.png"):
            self.assertIn(f"{self.folder / name}\n", out)
            self.assertTrue((self.folder / name).read_bytes().startswith(b"\x89PNG"))
        picture = self.folder / "both.svg"
        copy = self.write("copy.csv", self.series.read_text())
        self.printed(flow_plot, self.series, copy, "--reference", self.reference, "--out", picture)
        first = picture.read_text(encoding="utf-8")
        self.assertTrue(xml.etree.ElementTree.fromstring(first).tag.endswith("svg"))
        for text in ("reference", "run", "copy", "time  [L/U]", "difference  [%]"):
            self.assertRegex(first, f"<!-- .*{re.escape(text)}")
        self.printed(flow_plot, self.series, copy, "--reference", self.reference, "--out", picture)
        self.assertEqual(picture.read_text(encoding="utf-8"), first, "the same data gives the same file")
        self.assert_refused("cannot be written", flow_plot, self.series, "--out", self.folder / "no" / "x.png")


# ---- Reports --------------------------------------------------------------------------------------------------------

def stage(median, low=None, high=None, relative=None, tie=False):
    """A stage of timing, in microseconds."""
    cost = {"median_s": median * 1e-6, "low_s": (low or median) * 1e-6, "high_s": (high or median) * 1e-6}
    return {"cost": cost, "relative_to_best": relative, "tie": tie}


def candidate(strategy, alone=None, with_work=None, failure=None):
    return {"strategy": strategy, "available": failure is None, "verified": failure is None, "failure": failure,
            "alone": alone, "with_work": with_work}


def order(number, selected, *candidates, sent=4096, components=1, neighbours=1, replayed=False):
    sizes = {"min": sent, "avg": sent, "max": sent}
    return {"order": number, "total_dofs": 1000, "replayed": replayed,
            "per_rank": {"neighbours": {"avg": neighbours}, "message_bytes": sizes, "sent_bytes": sizes},
            "tuning": {"components": components, "precision": "double", "selected": selected,
                       "candidates": list(candidates)}}


def report(*orders, devices=("Cuda 0, NVIDIA H100 at 0000:00:06", "Cuda 1, NVIDIA H100 at 0000:00:07"), **changes):
    machine = {"commit": "abc1234", "mpi_library": "Open MPI v4.1.6", "compiler": "GNU 12.2.0",
               "build_type": "Release", "kokkos_version": "4.5.1", "backend": "Cuda", "processor": "Xeon",
               "ranks": len(devices), "ranks_per_node": [len(devices)], "devices": list(devices),
               "copy_bandwidth_bytes_per_s": 6e12, "hosts": ["secret"] * len(devices)}
    result = {"report_version": 1, "passed": True, "complete": True, "warnings": [], "started": "2026-11-27T02:42:13Z",
              "input": {"mesh": {"elements": [2, 2, 2]}, "report": {"json": "x.json"}}, "machine": machine,
              "process_grid": {"selected": "1 × 1 × 2"}, "orders": list(orders),
              "all_reduce": {"selected": "host-shared"}, "solve": None, "flow": None}
    for key in list(changes):
        if key in machine:
            machine[key] = changes.pop(key)
    return result | changes


SOLVE = {"order": 7, "strategy": "nccl", "all_reduce": "host-shared", "variant": "classic", "launch": "graph",
         "total_dofs": 2000000, "iterations": 50, "solve_s": 0.1, "flops_per_s": 5e11, "dofs_per_s": 1e9,
         "bandwidth_share": 0.755, "triad_share": None, "passed": True, "audit": {"regret": 0.031}}


class CompareTest(ToolTest):
    def compare(self, *contents, options=()):
        paths = [self.write(f"{'abcdef'[n]}.json", content) for n, content in enumerate(contents)]
        return self.printed(compare, *paths, *options)

    @staticmethod
    def section(out, title):
        """The lines of a table, without the title."""
        found = re.search(rf"(?m)^{re.escape(title)}\n((?:  .*\n)*)", out)
        return found[1] if found else None


class CompareTables(CompareTest):
    def test_choices_and_differences(self):
        out = self.compare(report(order(3, "nccl"), order(7, "put"), solve=SOLVE),
                           report(order(3, "nccl"), order(7, "host-put", components=3), commit="def5678",
                                  input={"mesh": {"elements": [4, 2, 2]}, "report": {"json": "y.json"}}))
        self.assertEqual(self.section(out, "Differences from A").split("\n")[1:3],
                         ["  B  commit         abc1234    def5678", "  B  mesh.elements  [2, 2, 2]  [4, 2, 2]"])
        self.assertNotIn("y.json", out)
        choices = self.section(out, "Selected strategies")
        self.assertRegex(choices, r"(?m)^  order 3 +nccl +nccl$")
        self.assertRegex(choices, r"(?m)^  order 7 +put +-$")
        self.assertRegex(choices, r"(?m)^  order 7, 3 components +- +host-put$")
        self.assertRegex(choices, r"(?m)^  method of CG +classic, graph +-$")
        self.assertNotIn("secret", out)

    def test_whole_and_compacted_reports_of_one_input_are_launches_of_one_version(self):
        whole, compacted = ({"mesh": {"extent": [extent]}} for extent in (6.283185307179586, 6.2832))
        exchanges = [order(7, None, candidate("put", stage(1)), sent=sent) for sent in (1234567.891, 1234600)]
        out = self.compare(report(exchanges[0], input=whole), report(exchanges[1], input=compacted),
                           report(exchanges[1], input=compacted, commit="new"))
        self.assertNotIn("mesh.extent", out)
        self.assertIn("0 slower, 0 faster, 1 unchanged", self.section(out, "Upgrade from A, B to C"))

    def test_regret_is_of_a_choice_in_the_times_of_another(self):
        # B's best with the work is put; nccl, the choice of A, takes 25 % more there. A has no put. The choice of C
        # was not timed with the work in A, where it takes 3 us alone and the best 2.
        first = report(order(7, "nccl", candidate("nccl", stage(2), stage(1, relative=1.004, tie=True)),
                             candidate("put", failure="no MPI for it"), candidate("host", stage(3)),
                             candidate("nccl+overlap", None, stage(0.9, relative=1.0))))
        second = report(order(7, "put", candidate("nccl", stage(9), stage(5, relative=1.25)),
                              candidate("put", stage(8), stage(1, relative=1.0)), candidate("host", failure="wrong")))
        third = report(order(7, "host"))
        regret = self.section(self.compare(first, second, third), compare.table_of_regret([]).title)
        self.assertRegex(regret, r"(?m)^  order 7  A +nccl +\+0\.4 % tie +\+25\.0 % +-$")
        self.assertRegex(regret, r"(?m)^  order 7  B +put +excluded +\+0\.0 % +-$")
        self.assertRegex(regret, r"(?m)^  order 7  C +host +\+50\.0 % alone +excluded +-$")

    def test_figures_of_merit(self):
        flow = {"order": 5, "elements": 512, "vector_strategy": "put", "scalar_strategy": "nccl", "step_s": 0.0125,
                "pressure_iterations": 2.5, "point_steps_per_s": 9e8, "passed": False}
        out = self.compare(report(solve=SOLVE), report(flow=flow, passed=False))
        self.assertRegex(self.section(out, "CG"), r"(?m)^  A +7 +2  nccl +host-shared +50 +2 +500 +1 +75\.5 % +- "
                                                  r"+3\.1 % +PASS$")
        self.assertRegex(self.section(out, "Flow"), r"(?m)^  B +5 +512  put +nccl +12\.5 +2\.50 +900  FAIL$")

    def test_fastest_exchanges_and_all_of_them(self):
        contents = [report(order(7, "nccl", candidate("nccl", stage(20, 19, 22)), candidate("put", stage(30)))),
                    report(order(7, "put", candidate("nccl", stage(15)), candidate("put", stage(10))))]
        out = self.compare(*contents)
        self.assertRegex(self.section(out, "Fastest exchange alone [µs]"), r"(?m)^  order 7 +4 KiB +nccl 20 +put 10$")
        self.assertNotIn("22]", out.split("Upgrade")[0])
        full = self.compare(*contents, options=["--full"])
        self.assertRegex(full, r"order 7: exchange alone \[µs\], median \[95 % interval\]\n.*\n"
                               r"  nccl +20 \[19 \.\. 22\] +15 \[15 \.\. 15\]\n")

    def test_long_tables_are_cut_unless_full(self):
        names = [f"s{n}" for n in range(compare.MOST_CHANGES + 2)]
        slow = [report(order(7, None, *[candidate(name, stage(us)) for name in names]), mpi_library=str(us))
                for us in (1, 2)]
        out = self.compare(*slow)
        self.assertIn("2 slower ones not shown: --full", out)
        self.assertEqual(out.count("2.00x"), compare.MOST_CHANGES)
        self.assertEqual(self.compare(*slow, options=["--full"]).count("2.00x"), len(names))

    def test_reads_the_reports_of_the_project(self):
        """With numbers that README.md cites."""
        paths = [path for path in sorted(RESULTS.glob("*.json"))
                 if "report_version" in json.loads(path.read_text(encoding="utf-8"))]
        self.assertGreater(len(paths), 20)
        for path in paths:
            with self.subTest(path.name):
                self.assertIn(path.name, self.printed(compare, path))
        out = self.printed(compare, RESULTS / "tgv64-openmp-intel-later-np2.json")
        self.assertRegex(out, r"(?m)^  A +7 +89\.92  device-pairwise\+overlap  host-shared +100 +613\.3 +28\.45 "
                              r"+0\.1466 +60\.6 % +92\.2 % +0\.6 % +PASS$")

    def test_knows_the_names_of_the_schema(self):
        schema = (ROOT / "docs/report.schema.json").read_text(encoding="utf-8")
        self.assertEqual(json.loads(schema)["properties"]["report_version"]["const"], reports.REPORT_VERSION)
        for program in ("reports.py", "compare.py"):
            text = (ROOT / "tools" / program).read_text(encoding="utf-8")
            names = set(re.findall(r'(?:get\(|\[)"([a-z_]{4,})"', text))
            # Those of bench_exchange_by_size, and the parts of a made-up table.
            names -= {"context", "benchmarks", "cpu_model", "kokkos_backend", "date", "error_occurred", "error_message",
                      "real_time", "name", "devices", "processor"}
            self.assertGreater(len(names), 5)
            self.assertEqual([name for name in names if f'"{name}"' not in schema], [], program)


class Upgrade(CompareTest):
    def upgrade(self, *contents, title="Upgrade from A to B"):
        return self.section(self.compare(*contents), title)

    def test_names_exchanges_that_are_slower_beyond_their_intervals(self):
        before = report(order(7, "nccl", candidate("nccl", stage(10, 9, 11), stage(4, 3, 5)),
                              candidate("put", stage(10, 9, 13)), candidate("host", stage(10, 9, 11)),
                              candidate("pipelined", stage(2, 1.9, 2.1))))
        after = report(order(7, "put", candidate("nccl", stage(15, 12, 16), stage(4.5, 3.5, 5.5)),  # 12 > 11
                             candidate("put", stage(14, 12.5, 15)),  # 12.5 < 13
                             candidate("host", stage(5, 4, 6)),  # faster
                             candidate("pipelined", stage(8, 7, 9))), mpi_library="Open MPI v5")
        table = self.upgrade(before, after)
        rows = table.splitlines()[1:3]
        self.assertRegex(rows[0], r"^  order 7  nccl +alone +10 \[9 \.\. 11\] +15 \[12 \.\. 16\] +1\.50x  selected$")
        self.assertRegex(rows[1], r"^  order 7  pipelined +alone +2 \[1\.9 \.\. 2\.1\] +8 \[7 \.\. 9\] +4\.00x$")
        self.assertIn("2 slower, 1 faster, 2 unchanged", table)
        self.assertIn("Two launches of one version may differ", table)

    def test_further_launches_widen_the_intervals(self):
        slow = [report(order(7, None, candidate("nccl", stage(15, 12, 16))), commit="new")]
        calm = report(order(7, None, candidate("nccl", stage(10, 9, 11))))
        noisy = report(order(7, None, candidate("nccl", stage(12, 10, 12.5))))
        self.assertIn("1 slower, 0 faster", self.upgrade(calm, *slow))
        table = self.upgrade(calm, noisy, *slow, title="Upgrade from A, B to C")
        self.assertIn("0 slower, 0 faster, 1 unchanged", table)
        self.assertNotIn("SLOWER", table)
        better = report(order(7, None, candidate("nccl", stage(13, 10.5, 14))), commit="new")
        table = self.upgrade(calm, *slow, better, title="Upgrade from A to B, C")
        self.assertIn("0 slower, 0 faster, 1 unchanged", table)

    def test_names_strategies_that_are_lost(self):
        why = "MPI cannot send it"
        before = [order(n, None, candidate("put", stage(n))) for n in (3, 7)]
        after = [order(n, None, candidate("put", failure=why)) for n in (3, 7)]
        table = self.upgrade(report(*before), report(*after, commit="new"))
        self.assertEqual(table.count(f"LOST put: {why}\n"), 1)

    def test_strategies_that_were_timed_and_are_absent_are_lost(self):
        before = [order(n, None, candidate("put", stage(1)), candidate("nccl", stage(2)), candidate("host"))
                  for n in (3, 7)]
        after = [order(n, None, candidate("nccl", stage(2))) for n in (3, 7)]
        table = self.upgrade(report(*before), report(*after, commit="new"))
        self.assertIn("0 slower, 0 faster, 2 unchanged", table)
        self.assertEqual(re.findall("LOST.*", table), ["LOST put: absent in B"])
        self.assertNotIn("not compared", table)

    def test_strategies_beside_the_choice_of_an_earlier_run_are_not_lost(self):
        whole = [candidate("put", stage(1)), candidate("nccl", stage(2)), candidate("host", stage(3))]
        slow = [candidate("put", stage(3)), candidate("nccl", stage(6)), candidate("host", stage(9))]
        replay = order(7, "put", slow[0], replayed=True)
        table = self.upgrade(report(order(7, "put", *whole)), report(replay, commit="new"))
        self.assertIn("1 slower, 0 faster, 0 unchanged", table)
        self.assertIn("not compared, order 7: B did not time nccl, host\n", table)
        self.assertNotIn("LOST", table)
        # Launches that measured count for what the others did not time.
        table = self.upgrade(report(order(7, "put", *whole)), report(replay, commit="new"),
                             report(order(7, "put", *slow), commit="new"), title="Upgrade from A to B, C")
        self.assertEqual(table.count("3.00x"), 3)
        self.assertNotIn("not compared", table)
        self.assertNotIn("LOST", table)

    def test_names_launches_of_one_version_that_differ(self):
        def launch(us, neighbours=1, sent=4096, **changes):
            return report(order(3, None, candidate("put", stage(us))),
                          order(7, None, candidate("put", stage(us)), sent=sent, neighbours=neighbours), **changes)
        new = launch(3, commit="new")
        self.assertEqual(self.upgrade(launch(1), new).count("3.00x"), 2)
        table = self.upgrade(launch(1), launch(1), launch(1, neighbours=2, sent=8192), new,
                             title="Upgrade from A, B, C to D")
        self.assertEqual(table.count("3.00x"), 1)
        why = "differ in neighbours, sizes of messages, bytes sent per rank"
        self.assertEqual(" ".join(table.split()).count(f"not compared, order 7: launches A, C {why}"), 1)
        table = self.upgrade(launch(1), launch(1, neighbours=2), new, launch(3, neighbours=3, commit="new"),
                             title="Upgrade from A, B to C, D")
        self.assertIn("order 7: launches A, B differ in neighbours; launches C, D differ in neighbours\n", table)
        self.assertNotIn("timed in both", table)

    def test_names_orders_that_only_some_launches_have_or_time(self):
        whole = [order(n, None, candidate("put", stage(1))) for n in (3, 5, 7)]
        some = [whole[0], order(5, None), whole[2]]
        table = self.upgrade(report(*whole), report(*some), report(*whole[:2]), report(*some, commit="new"),
                             title="Upgrade from A, B, C to D")
        self.assertIn("0 slower, 0 faster, 1 unchanged", table)
        self.assertIn("not compared, order 5: D timed no strategy\n", table)
        self.assertIn("not compared, order 7: absent in C\n", table)
        table = self.upgrade(report(whole[0], order(5, None)), report(*whole[:2], commit="new"))
        self.assertIn("not compared, order 5: A timed no strategy\n", table)

    def test_compares_neither_other_hardware_nor_other_meshes(self):
        exchange = order(7, None, candidate("put", stage(1)))
        other = self.upgrade(report(exchange), report(exchange, devices=["Cuda 0, NVIDIA H200 at 0000:00:06"] * 2))
        self.assertIn("not compared, because the hardware differs: devices 2 × NVIDIA H100 / 2 × NVIDIA H200", other)
        larger = order(7, None, candidate("put", stage(5)), sent=8192)
        mesh = self.upgrade(report(exchange), report(larger, commit="b"))
        self.assertIn("not compared, order 7: other sizes of messages, bytes sent per rank", mesh)
        self.assertNotIn("SLOWER", mesh)
        another = self.upgrade(report(exchange), report(order(3, None), commit="b"))
        self.assertEqual(another, "  not compared, order 3: absent in A\n  not compared, order 7: absent in B\n")
        untimed = self.upgrade(report(order(7, None)), report(order(7, None), commit="b"))
        self.assertEqual(untimed, "  not compared: no exchange was timed in both\n")
        # Old reports do not name the processor; the place of a GPU on the bus means nothing.
        same = self.upgrade(report(exchange), report(exchange, processor=None, commit="b",
                                                     devices=["Cuda 1, NVIDIA H100 at 0000:99:01"] * 2))
        self.assertIn("0 slower, 0 faster, 1 unchanged", same)

    def test_costs_beyond_the_work_may_be_negative(self):
        before = {"cost": {"median_s": -1e-6, "low_s": -2e-6, "high_s": 0.0}, "relative_to_best": 1.0}
        table = self.upgrade(report(order(7, None, candidate("put", None, before))),
                             report(order(7, None, candidate("put", None, stage(2, 1, 3))), commit="new"))
        self.assertRegex(table, r"put +with work +-1 \[-2 \.\. 0\] +2 \[1 \.\. 3\] +-\n")


class Benchmarks(CompareTest):
    CONTEXT = {"devices": "host; host", "cpu_model": "Xeon", "ranks": "2", "ranks_per_node": "2", "commit": "abc",
               "mpi_library": "MPI 1", "compiler": "GNU", "kokkos_backend": "OpenMP", "copy_GB_per_s": "20.5"}

    def result(self, rows, **changes):
        benchmarks = [{"name": f"exchange/{name}/bytes:{size}", "real_time": us, "low_s": (us - 1) * 1e-6,
                       "high_s": (us + 1) * 1e-6} for (name, size), us in rows.items()]
        benchmarks += [{"name": "path/nccl/bytes:8", "real_time": 0.1},
                       {"name": "exchange/nvshmem/bytes:8", "real_time": 0, "error_occurred": True,
                        "error_message": "not built"}]
        return {"context": self.CONTEXT | changes, "benchmarks": benchmarks}

    def test_sizes_are_compared_as_orders_are(self):
        before = {("put", 8): 10, ("nccl", 8): 12, ("put", 65536): 40, ("nccl", 65536): 30}
        out = self.compare(self.result(before), self.result(before | {("nccl", 65536): 45}, mpi_library="MPI 2"))
        self.assertEqual(self.section(out, "Fastest exchange alone [µs]").splitlines()[1:],
                         ["  8 B      put 10  put 10", "  64 KiB  nccl 30  put 40"])
        table = self.section(out, "Upgrade from A to B")
        self.assertRegex(table, r"  64 KiB +nccl +alone +30 \[29 \.\. 31\] +45 \[44 \.\. 46\] +1\.50x\n")
        self.assertIn("1 slower, 0 faster, 3 unchanged", table)


class CompareInput(CompareTest):
    def test_bad_files_are_refused(self):
        good = self.write("good.json", report(order(7, None)))
        for reason, content in [
                ("is not a report: Expecting value", "nonsense"),
                ("is not a report: it has no report_version", [1]),
                ("is not a report: it has no report_version", {"machine": {}, "rows": []}),
                ("has report_version 2; this program reads version 1", {"report_version": 2}),
                ("is not a whole report: KeyError 'machine'", {"report_version": 1}),
                ("is not a whole report", {"report_version": 1, "machine": {}, "orders": [3]})]:
            with self.subTest(reason):
                self.assert_refused(reason, compare, good, self.write("bad.json", content))
        self.assert_refused("missing.json cannot be read: No such file", compare, self.folder / "missing.json")
        self.assert_refused("7 reports are given; at most 6 can be compared", compare, *[good] * 7)

    def test_runs_as_a_program(self):
        for name in ("compare.py", "flow_plot.py"):
            done = subprocess.run([sys.executable, str(ROOT / "tools" / name), "missing"], capture_output=True,
                                  text=True, check=False, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (2, "", f"{name}: missing cannot be read: No such file or directory\n"))


class Balance(html.parser.HTMLParser):
    """Checks that elements of a page nest, and collects texts and sources."""
    EMPTY = {"meta", "img"}

    def __init__(self):
        super().__init__()
        self.open, self.sources, self.texts, self.tags = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)


class Page(CompareTest):
    def test_without_matplotlib_the_tables_are_printed_and_the_page_refused(self):
        path = self.write("a.json", report(order(7, None)))
        with unittest.mock.patch.dict(sys.modules, {"matplotlib": None}):
            sys.modules.pop("compare_page", None)
            self.assert_refused("figures need matplotlib", compare, path, "--html", self.folder / "page.html")

    @needs_matplotlib
    def test_is_one_file_with_every_table_and_figure(self):
        def orders(factor):
            return [order(n, "nccl", candidate("nccl", stage(factor * n, sent)), candidate("host-put", stage(30 * n)),
                          sent=1000 * n) for n, sent in ((3, None), (7, None))]
        page = self.folder / "page.html"
        out = self.compare(report(*orders(1), solve=SOLVE),
                           report(*orders(3), solve=SOLVE, mpi_library="<Open & MPI>"), options=["--html", page])
        self.assertIn(f"{page}\n", out)
        text = page.read_text(encoding="utf-8")
        parser = Balance()
        parser.feed(text)
        self.assertEqual(parser.open, [])
        self.assertEqual(parser.tags & {"script", "link", "iframe"}, set())
        self.assertIn("<Open & MPI>", parser.texts)
        self.assertIn("3.00x", parser.texts)
        self.assertEqual(len(parser.sources), 3)
        pictures = []
        for source in parser.sources:
            kind, data = source.split(",")
            self.assertEqual(kind, "data:image/svg+xml;base64")
            pictures.append(base64.b64decode(data).decode())
            xml.etree.ElementTree.fromstring(pictures[-1])
        for picture, label in zip(pictures, ("share of the roofline", "host-put", "sent by a rank")):
            self.assertIn(label, picture)
        self.assertNotIn("http", re.sub(r'src="data[^"]*"', "", text))
        self.assert_refused("cannot be written", compare, self.folder / "a.json", "--html", self.folder / "no" / "page")


if __name__ == "__main__":
    unittest.main()
