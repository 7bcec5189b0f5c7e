#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a run came to, in short: PASS or FAIL, the trial of MPI, and which strategies are not here and why.

    bench/first_run.py RUN EXIT_CODE REPORT.json

The exit code is 0 if the run's is and its report says that it passed.
"""
import json
import sys


def not_here(report):
    """The strategies that no order could use, by the reason."""
    reasons = {}
    for order in report["orders"]:
        for candidate in order["tuning"]["candidates"]:
            if not candidate["available"]:
                names = reasons.setdefault(candidate["failure"], [])
                if candidate["strategy"] not in names:
                    names.append(candidate["strategy"])
    return reasons


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    run, code, path = sys.argv[1:]
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        print(f"run {run}: FAIL, exit code {code}, no report: {error}")
        return 1
    passed = code == "0" and report["passed"] is True
    solve = report["solve"] or {"strategy": "none"}
    print(f"run {run}: {'PASS' if passed else 'FAIL'}, exit code {code}, CG by {solve['strategy']}")
    transfers = report["machine"]["mpi_transfers"]
    trial = transfers["trial"]
    print(f"  trial process   {trial['outcome']}{': ' + trial['what'] if trial['what'] else ''}, "
          f"{trial['trial_s']:.2f} s{', kept of an earlier run' if trial['of_an_earlier_run'] else ''}")
    wrong = sum(entry["failure"] is not None for entry in transfers["tried"])
    print(f"  MPI transfers   {len(transfers['tried'])} tried, {wrong} wrong; claims device memory: "
          f"{transfers['claims_device_memory']}")
    for reason, names in not_here(report).items():
        print(f"  not here        {', '.join(names)}: {reason}")
    for warning in report["warnings"]:
        print(f"  warning         {warning}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
