#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CG with the strategy that the tuner chooses, beside CG with each right one pinned.

    bench/pinned.py [--launcher "mpirun -np 2"] [--order 7] [--elements 28 28 56] [--rounds 5] [--iterations 1000]
                    [--pin NAME]... [--set KEY=VALUE]... [--out FILE.json] PROGRAM

The first launch, which is not timed, chooses among everything: which strategies are right, how the mesh is
divided and how sums go over the ranks. All later launches have that division and those sums pinned, so that
they differ in the exchange alone. A round launches the program once with all strategies, of which it chooses
one, and once with each right strategy pinned, in shuffled order. A pinned one that took more than --keep times
their median time in each round so far, and in two at least, is left out of later ones.

Prints a line a strategy: its median time an iteration, and how many times as fast CG with the choice was, as
the median of the ratios within each round, with the smallest and the largest. The last line is the smallest
of these ratios: 1 or more, within the noise, is a choice that no pinned strategy beats. The noise is how far
below 1 that smallest ratio would be once in twenty measurements if all strategies were equally fast, by
resampling how far launches were from the median of their strategy. FILE gets every launch's solve.
"""
import argparse
import collections
import operator
import random
import statistics

import cg_rows

CHOICE = "all"  # what gather_scatter.strategies is for the launches that choose
ENOUGH_ROUNDS = 2  # to leave a strategy out


def launch(options, strategy, settings):
    """The report of one launch; settings on the command line come last."""
    values = argparse.Namespace(**vars(options) | {"strategy": strategy, "set": [*settings, *options.set]})
    report = cg_rows.run(values, options.order, options.elements)
    if not report["solve"]["passed"]:
        raise SystemExit(f"{strategy}: {report['solve']['verdict']}")
    return report


def division(grid):
    """What mesh.partition pins a process grid with."""
    [selected] = [c for c in grid["candidates"] if c["partition"] == grid["selected"]]
    return selected["blocks"] or "bisection"


def seconds(solve):
    return solve["solve_s"] / solve["iterations"]


def ratios(choice, pinned):
    """How many times as fast the choice was, by round; both are {round: solve}."""
    return [seconds(pinned[r]) / seconds(choice[r]) for r in sorted(pinned.keys() & choice.keys())]


def median_s(solves):
    return statistics.median(map(seconds, solves.values()))


def left_out(pinned, keep):
    """Strategies that cannot be the fastest: in each round too slow beside the median of all (the smallest of
    many noisy times would be too strict)."""
    times = collections.defaultdict(list)
    for solves in pinned.values():
        for r, solve in solves.items():
            times[r].append(seconds(solve))
    return {name for name, solves in pinned.items() if len(solves) >= ENOUGH_ROUNDS
            and all(seconds(solve) > keep * statistics.median(times[r]) for r, solve in solves.items())}


def deviations(pinned, rounds):
    """Launches of strategies that ran in all rounds, by their strategy's median and how slow the round was."""
    whole = [{r: seconds(solve) / median_s(solves) for r, solve in solves.items()}
             for solves in pinned.values() if len(solves) == rounds]
    level = {r: statistics.median(times[r] for times in whole) for r in (whole[0] if whole else [])}
    return [times[r] / level[r] for times in whole for r in level]


def noise(pinned, rounds, draws=1000):
    """How far below 1 the smallest ratio may be by chance; None of a single round."""
    away = deviations(pinned, rounds)
    if rounds < 2 or not away:
        return None
    generator = random.Random(0)
    smallest = []
    for _ in range(draws):
        choice = generator.choices(away, k=rounds)
        smallest.append(min(statistics.median(map(operator.truediv, generator.choices(away, k=rounds), choice))
                            for _ in range(len(away) // rounds)))
    return 1 - statistics.quantiles(smallest, n=20)[0]


def verdict(ratio, spread):
    if abs(ratio - 1) <= (spread or 0):
        return "as fast"
    return "slower" if ratio > 1 else "faster"


def print_table(choice, pinned, spread):
    names = collections.Counter(solve["strategy"] for solve in choice.values())
    print(f"chosen: {', '.join(f'{name} {count}' for name, count in names.most_common())};"
          f" {median_s(choice) * 1e3:.4f} ms an iteration")
    print(f"{'pinned':28} {'ms/iter':>8} {'ratio':>6}  smallest..largest rounds")
    medians = []
    for name, solves in sorted(pinned.items(), key=lambda item: median_s(item[1])):
        found = ratios(choice, solves)
        medians.append(statistics.median(found))
        spread_of = f"{min(found):.3f}..{max(found):.3f}"
        print(f"{name:28} {median_s(solves) * 1e3:8.4f} {medians[-1]:6.3f}  {spread_of:17}"
              f" {len(found):6}  {verdict(medians[-1], spread)}" + (", chosen" if name in names else ""))
    print(f"chosen / best pinned = {min(medians):.3f} (noise {'unknown' if spread is None else f'{spread:.3f}'})")


def one_round(options, number, running, choosing, pinning, solves):
    """Launches all that are running once and adds their solves; returns those that go on."""
    turn = [CHOICE, *running]
    random.Random(number).shuffle(turn)
    failed = []
    for name in turn:
        try:
            solves[name][number] = launch(options, name, choosing if name == CHOICE else pinning)["solve"]
        except SystemExit as failure:  # a strategy may fail in CG that was right alone
            if name == CHOICE:
                raise
            print(f"round {number + 1}, {name}: {failure}", flush=True)
            failed.append(name)
    slow = left_out({name: solves[name] for name in running}, options.keep)
    running = [name for name in running if name not in slow and name not in failed]
    print(f"round {number + 1} of {options.rounds}: {len(running)} pinned ones go on", flush=True)
    return running


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--launcher", default="mpirun -np 2")
    parser.add_argument("--order", type=int, default=7)
    parser.add_argument("--elements", type=int, nargs=3, default=[28, 28, 56])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=1, help="seconds of tuning where there is a choice")
    parser.add_argument("--keep", type=float, default=1.25, help="above what the machine's noise is")
    parser.add_argument("--pin", action="append", metavar="NAME",
                        help="as many as wanted; default: all that are right")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        type=lambda text: tuple(text.split("=", 1)))
    parser.add_argument("--out")
    options = parser.parse_args()

    # The host launches CG, as few strategies allow more.
    pinning = [("solver.iterations", options.iterations), ("gather_scatter.audit", "false"),
               ("solver.launch", "host")]
    choosing = [*pinning, ("gather_scatter.tuning.budget_seconds", options.budget)]
    first = launch(options, CHOICE, choosing)
    right = [c["strategy"] for c in first["orders"][-1]["tuning"]["candidates"] if c["verified"]]
    running = [name for name in right if name in (options.pin or right)]
    if not running:
        raise SystemExit(f"none of the strategies is right; right: {', '.join(right)}")
    pins = {"mesh.partition": division(first["process_grid"]), "solver.all_reduce": first["solve"]["all_reduce"]}
    print(f"{len(running)} of {len(right)} right strategies pinned; "
          + ", ".join(f"{key} {value}" for key, value in pins.items()), flush=True)

    choosing, pinning = [*choosing, *pins.items()], [*pinning, *pins.items()]
    solves = {name: {} for name in [CHOICE, *running]}
    for number in range(options.rounds):
        running = one_round(options, number, running, choosing, pinning, solves)
        if options.out:  # each round, as it may be the last
            cg_rows.save(options.out, first["machine"],
                         [{"strategies": name, "order": options.order, "elements": options.elements,
                           "rounds": list(done), "runs": list(done.values())} for name, done in solves.items()],
                         settings=dict(choosing) | dict(options.set),
                         first_choice=first["solve"]["strategy"])
    choice = solves.pop(CHOICE)
    pinned = {name: done for name, done in solves.items() if done}
    if not pinned:
        raise SystemExit("no pinned strategy came through")
    print_table(choice, pinned, noise(pinned, options.rounds))


if __name__ == "__main__":
    main()
