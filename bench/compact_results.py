#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reduces result files, in place, to what docs and comparisons read, before they are committed.

    bench/compact_results.py [--rows REGEX] [--superseded] FILE.json...

The medians over the rounds stay, with their 95 % intervals, means and deviations. Raw samples and
residual histories go. Numbers keep five significant digits; whole numbers stay as they are. Each
candidate or benchmark gets a line of its own, so that a diff shows what changed. The file gets
`"compacted": true`. A compacted report is no longer valid by docs/report.schema.json.

Two options are for superseded runs, of which docs cite a few numbers. --rows keeps only the
benchmarks whose name matches. --superseded keeps what a run selected and reached, and the result of
an audit, but not the candidates with their times.
"""
import argparse
import json
import pathlib
import re
import statistics

DIGITS = 5
LINE_LENGTH = 1000
# Raw data, and Google Benchmark's counts and CPU times, which mean nothing for several ranks.
DROPPED = {"samples_s", "history", "family_index", "per_family_instance_index", "run_name", "run_type",
           "repetitions", "repetition_index", "threads", "cpu_time"}


def rounded(number):
    """To DIGITS significant digits; a whole number as it is, as an integer."""
    number = number if number.is_integer() else float(f"{number:.{DIGITS}g}")
    return int(number) if number.is_integer() else number


def lists_candidates(key, value):
    """Whether a report lists timed candidates there: those of a tuner, or those of an audit."""
    return key == "candidates" or key == "strategies" and value and isinstance(value[0], dict)


def compacted(value, superseded=False):
    """A copy without raw data; of `work_alone_s`, the samples of the work, the median stays."""
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, list):
        return [compacted(item, superseded) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, item in value.items():
        if key in DROPPED or superseded and lists_candidates(key, item):
            continue
        if key == "work_alone_s":
            key, item = "work_alone_median_s", statistics.median(item) if item else None
        result[key] = compacted(item, superseded)
    return result


def compact_file(results, rows=None, superseded=False):
    """The reduced form of a whole result file."""
    if rows is not None:
        results = results | {"benchmarks": [row for row in results["benchmarks"] if re.search(rows, row["name"])]}
    return {"compacted": True} | compacted(results, superseded)


def text_of(value, indent=0):
    """JSON with a line for each value that fits on one."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ": "))
    if not isinstance(value, (dict, list)) or indent and len(line) <= LINE_LENGTH:
        return line
    margin = "\n" + " " * indent
    if isinstance(value, dict):
        parts = [f" {json.dumps(key)}: {text_of(item, indent + 1)}" for key, item in value.items()]
    else:
        parts = [f" {text_of(item, indent + 1)}" for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + margin + f",{margin}".join(parts) + margin + closing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--rows", metavar="REGEX", help="the benchmarks to keep")
    parser.add_argument("--superseded", action="store_true", help="drop the candidates' times")
    options = parser.parse_args()
    for path in options.files:
        results = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(text_of(compact_file(results, options.rows, options.superseded)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
