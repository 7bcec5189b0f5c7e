#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Launches one case again and again, and says how the tuner's choices compare with the best found.

    bench/launches.py [--launches 20] [--launcher "mpirun -np 2"] [--order 7] [--elements 28 28 56] PROGRAM

After CG each run compares the selected strategy with others in the same CG (`regret` in the report); a choice
is good if it took at most 5 % more time an iteration than the best of them.
"""
import argparse
import collections

import cg_rows

GOOD = 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--launcher", default="mpirun -np 2")
    parser.add_argument("--order", type=int, default=7)
    parser.add_argument("--elements", type=int, nargs=3, default=[28, 28, 56])
    parser.add_argument("--budget", type=float, default=1, help="seconds of tuning a launch")
    parser.add_argument("--strategy", default="all")
    parser.add_argument("--out")
    options = parser.parse_args()
    # The host launches CG, as few strategies allow more, and all are audited.
    options.set = [("gather_scatter.tuning.budget_seconds", options.budget), ("gather_scatter.audit_others", 1000),
                   ("solver.launch", "host")]

    solves, machine = [], None
    for launch in range(options.launches):
        report = cg_rows.run(options, options.order, options.elements)
        machine = machine or report["machine"]
        solve = report["solve"]
        solves.append(solve)
        audit = solve["audit"]
        print(f"{launch + 1:3}  {solve['strategy']:26} best {audit['best']:26} of {len(audit['strategies'])},"
              f" {100 * audit['regret']:5.1f} % more time; {solve['solve_s'] / solve['iterations'] * 1e6:.1f} us"
              f" an iteration", flush=True)
        if options.out:  # each time, as a launch may be the last
            cg_rows.save(options.out, machine, [{"order": options.order, "elements": options.elements,
                                                 "runs": solves}], settings=cg_rows.settings_of(options))
    good = sum(solve["audit"]["regret"] <= GOOD for solve in solves)
    choices = collections.Counter(solve["strategy"] for solve in solves)
    print(", ".join(f"{name} {count}" for name, count in choices.most_common()))
    print(f"{good} of {len(solves)} choices within {100 * GOOD:.0f} % of the best found")


if __name__ == "__main__":
    main()
