# SPDX-License-Identifier: BSD-3-Clause
"""What an upgrade slowed: the exchanges of two versions on the same hardware."""
import dataclasses
import json
import statistics

from reports import ALONE, WITH_WORK, Candidate, Timing, keys_of, shortened


@dataclasses.dataclass
class Change:
    """A candidate in the first report and in a later one."""
    exchange: str
    strategy: str
    stage: str
    before: Timing
    after: Timing
    selected: bool

    @property
    def sign(self):
        """1: slower, -1: faster, by more than the intervals allow; 0: the intervals overlap."""
        return (self.after.low > self.before.high) - (self.after.high < self.before.low)

    @property
    def ratio(self):
        return self.after.median / self.before.median if min(self.after.median, self.before.median) > 0 else None


@dataclasses.dataclass
class Upgrade:
    """Launches of another version beside those of the first, on the same hardware."""
    letters: tuple  # of the launches of either
    other_hardware: list  # how the hardware differs; then the rest is empty
    not_compared: list = dataclasses.field(default_factory=list)  # texts: an exchange, and why
    changes: list = dataclasses.field(default_factory=list)
    lost: list = dataclasses.field(default_factory=list)  # (strategy, why: excluded or absent now)

    def slower(self):
        found = [change for change in self.changes if change.sign > 0]
        return sorted(found, key=lambda c: (not c.selected, -(c.ratio or 0)))


def launches_of_versions(reports):
    """The reports in lists of one hardware, software and input each, that of the first report first."""
    versions = {}
    for report in reports:
        key = json.dumps([report.hardware, report.software, report.settings], sort_keys=True)
        versions.setdefault(key, []).append(report)
    return list(versions.values())


def hull(timings):
    """One timing for several launches: the median of their medians, and an interval that contains theirs."""
    return Timing(statistics.median(timing.median for timing in timings), min(timing.low for timing in timings),
                  max(timing.high for timing in timings))


def letters_of(launches):
    return ", ".join(report.letter for report in launches)


def different(key, launches):
    """The letters of the launches whose case of an exchange differs from that of the first launch, after its own
    letter, and what differs; () if none does."""
    case = launches[0].exchanges[key].case
    others = [report for report in launches if report.exchanges[key].case != case]
    what = [name for name in case if any(case[name] != report.exchanges[key].case.get(name) for report in others)]
    return (letters_of([launches[0], *others]), ", ".join(what)) if others else ()


def obstacles(key, first, second):
    """Why the times of an exchange cannot be compared, as texts."""
    absent = [report for report in [*first, *second] if key not in report.exchanges]
    if absent:
        return [f"absent in {letters_of(absent)}"]
    within = [found for found in (different(key, first), different(key, second)) if found]
    if within:
        return [f"launches {letters} differ in {what}" for letters, what in within]
    between = different(key, [first[0], second[0]])
    return [f"other {between[1]}"] if between else []


def merged(exchanges):
    """One Exchange for those of several launches, with every candidate that one of them has."""
    result = dataclasses.replace(exchanges[0], candidates={},
                                 lists_all=any(exchange.lists_all for exchange in exchanges))
    for strategy in dict.fromkeys(strategy for exchange in exchanges for strategy in exchange.candidates):
        candidates = [exchange.candidates[strategy] for exchange in exchanges if strategy in exchange.candidates]
        stages = {stage: [candidate.timings[stage] for candidate in candidates if stage in candidate.timings]
                  for stage in (ALONE, WITH_WORK)}
        failures = [candidate.failure for candidate in candidates if candidate.failure]
        result.candidates[strategy] = Candidate(
            {stage: hull(timings) for stage, timings in stages.items() if timings}, failures[0] if failures else None)
    return result


def upgrade(first, second):
    """The Upgrade from the launches of one version to those of another."""
    mine, its = first[0].hardware, second[0].hardware
    result = Upgrade((letters_of(first), letters_of(second)),
                     [f"{key} {shortened(mine[key])} / {shortened(its[key])}"
                      for key in mine if None not in (mine[key], its[key]) and mine[key] != its[key]])
    if result.other_hardware:
        return result
    for key, name in keys_of([*first, *second]).items():
        why_not = obstacles(key, first, second)
        if why_not:
            result.not_compared.append(f"{name}: {'; '.join(why_not)}")
            continue
        before, after = (merged([report.exchanges[key] for report in launches]) for launches in (first, second))
        selected = {report.exchanges[key].selected for report in [*first, *second]}
        untimed = []
        for strategy, old in before.candidates.items():
            new, lost = after.candidates.get(strategy), None
            if new is None:
                new = Candidate({})
                if old.timings and after.lists_all:
                    lost = f"absent in {letters_of(second)}"
            elif not old.failure:
                lost = new.failure
            if lost and (strategy, lost) not in result.lost:
                result.lost.append((strategy, lost))
            if old.timings and not new.timings and not lost:
                untimed.append(strategy)
            result.changes += [Change(name, strategy, stage, old.timings[stage], new.timings[stage],
                                      strategy in selected)
                               for stage in (ALONE, WITH_WORK) if stage in old.timings and stage in new.timings]
        if untimed:
            what = f"did not time {', '.join(untimed)}" if after.is_timed else "timed no strategy"
            result.not_compared.append(f"{name}: {letters_of(second)} {what}")
        if after.is_timed and not before.is_timed:
            result.not_compared.append(f"{name}: {letters_of(first)} timed no strategy")
    return result
