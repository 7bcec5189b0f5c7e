#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares reports of machines, MPI versions or commits, and names exchanges that an upgrade slowed.

    tools/compare.py A.json [B.json ...] [--full] [--html FILE]

Prints tables: the runs and how they differ, the selected strategies, the regret of one run's choice on another, CG and
flow with their figures of merit, the fastest exchanges, and, for each version on the hardware of A, the exchanges that
are slower by more than the 95 % intervals allow. Reports of one version are launches of it; the interval of a version
contains those of its launches. --full lists every strategy. --html writes all tables and figures into
one page that needs no other file; that needs matplotlib. Files are JSON reports of nekbone-k, or results of
bench_exchange_by_size. docs/tools.md explains the tables.
"""
import argparse
import pathlib

from common import COLOURS, InputError, Table, run, written
from reports import ALONE, NONE, WITH_WORK, keys_of, read_report, shortened, size_text
from upgrades import launches_of_versions, upgrade

MOST_CHANGES = 15
MOST_DIFFERENCES = 12


def micro(seconds):
    return f"{seconds * 1e6:.4g}"


def interval(timing):
    return f"{micro(timing.median)} [{micro(timing.low)} .. {micro(timing.high)}]"


def number(value, factor=1.0, form=None):
    """Four digits, but no exponent for large numbers."""
    if value is None:
        return NONE
    value *= factor
    return f"{value:{form or ('.0f' if abs(value) >= 1000 else '.4g')}}"


def percent(value):
    return NONE if value is None else f"{100 * value:.1f} %"


# ---- The runs -----------------------------------------------------------------------------------------------------


def verdict(report):
    passed = report.get("passed")
    if passed is None:
        return NONE
    return "PASS" if passed else "incomplete" if report.get("complete") is False else "FAIL"


def table_of_runs(reports):
    table = Table("Runs", ["", "started", "commit", "MPI", "hardware", ">ranks", ">nodes", ">copy GB/s", "result",
                           "file"])
    for report in reports:
        bandwidth = report.get("machine", "copy_bandwidth_bytes_per_s")
        if bandwidth is None and report.get("context", "copy_GB_per_s"):
            bandwidth = float(report.get("context", "copy_GB_per_s")) * 1e9
        started = report.get("started") or report.get("context", "date") or NONE
        table.rows.append([
            report.letter, started[:16].replace("T", " "), shortened(report.software["commit"]),
            shortened(report.software["MPI"]), report.hardware_name, number(report.hardware["ranks"]),
            number(len(report.hardware["ranks per node"] or [])), number(bandwidth, 1e-9), verdict(report),
            report.path])
    warnings = {}
    for report in reports:
        for warning in report.get("warnings") or []:
            warnings.setdefault(warning, []).append(report.letter)
    table.notes = [f"warning of {', '.join(letters)}: {warning}" for warning, letters in warnings.items()]
    return table


def table_of_differences(reports, elsewhere=None):
    """With `elsewhere`, which says where the others are, it has only some rows of each report."""
    first, *others = reports
    table = Table("Differences from A", ["", "what", "A", "there"])
    for report in others:
        rows = []
        for mine, its in ((first.hardware, report.hardware), (first.software, report.software),
                          (first.settings, report.settings)):
            if mine and its:
                rows += [[report.letter, key, shortened(mine.get(key)), shortened(its.get(key))]
                         for key in dict.fromkeys([*mine, *its]) if mine.get(key) != its.get(key)]
        shown = rows[:MOST_DIFFERENCES] if elsewhere else rows
        table.rows += shown
        if len(shown) < len(rows):
            table.notes.append(f"{len(rows) - len(shown)} more of {report.letter} not shown: {elsewhere}")
    return table


# ---- Choices, regret, figures of merit ----------------------------------------------------------------------------


def method_of(report):
    solve = report.get("solve") or {}
    return ", ".join(filter(None, (solve.get("variant"), solve.get("launch")))) or None


def table_of_choices(reports):
    table = Table("Selected strategies", ["", *[report.letter for report in reports]])
    for key, name in keys_of(reports).items():
        exchanges = [report.exchanges.get(key) for report in reports]
        table.rows.append([name, *[exchange and exchange.selected or NONE for exchange in exchanges]])
    for name, value in (("all-reduce", lambda r: r.get("all_reduce", "selected")), ("method of CG", method_of),
                        ("process grid", lambda r: r.get("process_grid", "selected"))):
        table.rows.append([name, *[value(report) or NONE for report in reports]])
    table.rows = [row for row in table.rows if set(row[1:]) != {NONE}]
    return table


def regret(strategy, exchange):
    """By how much a strategy is slower than the best of an exchange, as a text.

    The stage with work decides, as it does for the tuner; if the strategy was not in it, the exchange alone does.
    """
    if not exchange.candidates:
        return NONE
    candidate = exchange.candidates.get(strategy)
    if candidate is None:
        return "not listed"
    if candidate.failure:
        return "excluded"
    for stage in (WITH_WORK, ALONE):
        timing = candidate.timings.get(stage)
        if timing:
            best = exchange.candidates[exchange.best(stage)].timings[stage].median
            # Costs beyond the work have no ratio without it.
            over = timing.relative or (timing.median / best if stage == ALONE and best > 0 else None)
            if over is not None:
                alone = " alone" if stage == ALONE and exchange.best(WITH_WORK) else ""
                return f"{100 * (over - 1):+.1f} %{alone}{' tie' if timing.tie else ''}"
    return "not timed"


def table_of_regret(reports):
    table = Table("Regret: the choice of one run in the times of another",
                  ["", "by", "choice", *[f">in {report.letter}" for report in reports]])
    for key, name in keys_of(reports).items():
        exchanges = [report.exchanges.get(key) for report in reports]
        if not any(exchange and exchange.is_timed for exchange in exchanges):
            continue
        choices = {}
        for report, exchange in zip(reports, exchanges):
            if exchange and exchange.selected:
                choices.setdefault(exchange.selected, []).append(report.letter)
        table.rows += [[name, ", ".join(letters), choice,
                        *[regret(choice, other) if other else NONE for other in exchanges]]
                       for choice, letters in choices.items()]
    if table.rows:
        table.notes = ["The time of the choice there over that of the best there, less 1, with the work of the tuner.",
                       "alone: without the work, because the choice was not timed with it there.",
                       "tie: the tuner could not tell the choice from the best.",
                       "excluded: unavailable or wrong there."]
        shown = " ".join(cell for row in table.rows for cell in row[3:])
        table.notes = [note for note in table.notes if ":" not in note or note.split(":")[0] in shown]
    return table


def table_of_cg(reports):
    table = Table("CG", ["", ">order", ">MDOF", "strategy", "all-reduce", ">iterations", ">ms/iteration", ">GFLOP/s",
                         ">GDOF/s", ">of copy", ">of triad", ">regret", "result"])
    for report in reports:
        solve = report.get("solve")
        if not solve:
            continue
        iterations, seconds = solve.get("iterations"), solve.get("solve_s")
        each = seconds / iterations if seconds and iterations else None
        table.rows.append([
            report.letter, number(solve.get("order")), number(solve.get("total_dofs"), 1e-6),
            shortened(solve.get("strategy")), shortened(solve.get("all_reduce")), number(iterations), number(each, 1e3),
            number(solve.get("flops_per_s"), 1e-9), number(solve.get("dofs_per_s"), 1e-9),
            percent(solve.get("bandwidth_share")), percent(solve.get("triad_share")),
            percent(report.get("solve", "audit", "regret")), "PASS" if solve.get("passed") else "FAIL"])
    if table.rows:
        table.notes = ["of copy: the share of the roofline, which is the least traffic of CG at the copy bandwidth of "
                       "that run. regret: time per iteration over that of the best strategy of the audit, less 1."]
    return table


def table_of_flow(reports):
    table = Table("Flow", ["", ">order", ">elements", "vectors by", "scalars by", ">ms/step", ">pressure iterations",
                           ">M points × steps/s", "result"])
    for report in reports:
        flow = report.get("flow")
        if flow:
            table.rows.append([
                report.letter, number(flow.get("order")), number(flow.get("elements")),
                shortened(flow.get("vector_strategy")), shortened(flow.get("scalar_strategy")),
                number(flow.get("step_s"), 1e3), number(flow.get("pressure_iterations"), form=".2f"),
                number(flow.get("point_steps_per_s"), 1e-6), "PASS" if flow.get("passed") else "FAIL"])
    return table


# ---- Exchanges ----------------------------------------------------------------------------------------------------


def table_of_fastest(reports):
    table = Table("Fastest exchange alone [µs]", ["", ">sent per rank", *[f">{report.letter}" for report in reports]])
    for key, name in keys_of(reports).items():
        row = []
        for report in reports:
            exchange = report.exchanges.get(key)
            best = exchange.best(ALONE) if exchange else None
            row.append(f"{best} {micro(exchange.candidates[best].timings[ALONE].median)}" if best else NONE)
        if set(row) != {NONE}:
            sizes = {size_text(report.exchanges[key].sent_bytes) for report in reports if key in report.exchanges}
            table.rows.append([name, ", ".join(sorted(sizes)), *row])
    if all(row[0] == row[1] for row in table.rows):  # sizes alone
        table.columns.pop(1)
        table.rows = [[row[0], *row[2:]] for row in table.rows]
    return table


def tables_of_all_exchanges(reports):
    result = []
    for key, name in keys_of(reports).items():
        exchanges = [report.exchanges.get(key) for report in reports]
        for stage, title in ((ALONE, "exchange alone"), (WITH_WORK, "cost beyond the work alone")):
            timed = [{strategy: candidate.timings[stage] for strategy, candidate in exchange.candidates.items()
                      if stage in candidate.timings} if exchange else {} for exchange in exchanges]
            strategies = dict.fromkeys(strategy for timings in timed for strategy in timings)
            rows = [[strategy, *[interval(timings[strategy]) if strategy in timings else NONE for timings in timed]]
                    for strategy in strategies]
            if rows:
                result.append(Table(f"{name}: {title} [µs], median [95 % interval]",
                                    ["", *[f">{report.letter}" for report in reports]], rows))
    return result


def table_of_upgrade(found, elsewhere=None):
    """With `elsewhere`, which says where the others are, it has only the worst rows."""
    before, after = found.letters
    table = Table(f"Upgrade from {before} to {after}",
                  ["SLOWER", "strategy", "", f">{before} [µs]", f">{after} [µs]", ">ratio", ""])
    if found.other_hardware:
        table.notes = [f"not compared, because the hardware differs: {'; '.join(found.other_hardware)}"]
        return table
    slower = found.slower()
    shown = slower[:MOST_CHANGES] if elsewhere else slower
    for change in shown:
        table.rows.append([change.exchange, change.strategy, change.stage, interval(change.before),
                           interval(change.after), f"{change.ratio:.2f}x" if change.ratio else NONE,
                           "selected" if change.selected else ""])
    if len(shown) < len(slower):
        table.notes.append(f"{len(slower) - len(shown)} slower ones not shown: {elsewhere}")
    faster = sum(change.sign < 0 for change in found.changes)
    if found.changes:
        table.notes.append(f"{len(slower)} slower, {faster} faster, {len(found.changes) - len(slower) - faster} "
                           "unchanged: their 95 % intervals overlap")
    if slower and "," not in before + after:
        table.notes.append("Two launches of one version may differ, too: give a second report of each to take that "
                           "into account.")
    table.notes += [f"LOST {strategy}: {failure}" for strategy, failure in found.lost]
    table.notes += [f"not compared, {why}" for why in found.not_compared]
    if not found.changes and not found.not_compared:
        table.notes.append("not compared: no exchange was timed in both")
    return table


def all_tables(reports, elsewhere=None):
    """All tables but those of every strategy. With `elsewhere`, long ones are cut, and say where the rest is."""
    tables = [table_of_runs(reports), table_of_differences(reports, elsewhere), table_of_choices(reports),
              table_of_regret(reports), table_of_cg(reports), table_of_flow(reports), table_of_fastest(reports)]
    first, *others = launches_of_versions(reports)
    tables += [table_of_upgrade(upgrade(first, second), elsewhere) for second in others]
    return [table for table in tables if table.rows or table.notes]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="docs/tools.md explains the tables.")
    parser.add_argument("reports", nargs="+", metavar="REPORT.json")
    parser.add_argument("--full", action="store_true", help="also print the times of every strategy")
    parser.add_argument("--html", metavar="FILE", help="write tables and figures into one page")
    options = parser.parse_args()
    if len(options.reports) > len(COLOURS):
        raise InputError(f"{len(options.reports)} reports are given; at most {len(COLOURS)} can be compared")
    reports = [read_report(path, letter) for path, letter in zip(options.reports, "ABCDEF")]
    every = tables_of_all_exchanges(reports)
    for table in [*all_tables(reports), *every] if options.full else all_tables(reports, "--full"):
        print(table.text() + "\n")
    if options.html:
        import compare_page
        shown = all_tables(reports, "see the end of this page")
        cut = [whole for whole, table in zip(all_tables(reports), shown) if len(whole.rows) > len(table.rows)]
        page = compare_page.page(reports, shown, [*cut, *every], keys_of(reports))
        print(written(options.html, lambda path: pathlib.Path(path).write_text(page, encoding="utf-8")))


if __name__ == "__main__":
    run(main)
