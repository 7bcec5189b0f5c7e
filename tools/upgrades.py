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
    other_cases: list = dataclasses.field(default_factory=list)  # why exchanges were not compared
    changes: list = dataclasses.field(default_factory=list)
    lost: list = dataclasses.field(default_factory=list)  # (strategy, why it is excluded now)

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


def merged(key, launches):
    """One Exchange for those of several launches; None if one launch lacks it or has another case."""
    exchanges = [report.exchanges.get(key) for report in launches]
    if None in exchanges or any(exchange.case != exchanges[0].case for exchange in exchanges):
        return None
    result = dataclasses.replace(exchanges[0], candidates={})
    for strategy in exchanges[0].candidates:
        candidates = [exchange.candidates.get(strategy) for exchange in exchanges]
        if None not in candidates:
            stages = {stage: [candidate.timings.get(stage) for candidate in candidates] for stage in (ALONE, WITH_WORK)}
            failures = [candidate.failure for candidate in candidates if candidate.failure]
            result.candidates[strategy] = Candidate(
                {stage: hull(timings) for stage, timings in stages.items() if None not in timings},
                failures[0] if failures else None)
    return result


def upgrade(first, second):
    """The Upgrade from the launches of one version to those of another."""
    mine, its = first[0].hardware, second[0].hardware
    result = Upgrade(tuple(", ".join(report.letter for report in launches) for launches in (first, second)),
                     [f"{key} {shortened(mine[key])} / {shortened(its[key])}"
                      for key in mine if None not in (mine[key], its[key]) and mine[key] != its[key]])
    if result.other_hardware:
        return result
    for key in keys_of(first):
        before, after = merged(key, first), merged(key, second)
        if before is None or after is None:
            continue
        differ = [what for what in before.case if before.case[what] != after.case.get(what)]
        if differ:
            result.other_cases.append(f"{before.name}: other {', '.join(differ)}")
            continue
        selected = {report.exchanges[key].selected for report in [*first, *second]}
        for strategy, old in before.candidates.items():
            new = after.candidates.get(strategy)
            if new is None:
                continue
            if new.failure and not old.failure and (strategy, new.failure) not in result.lost:
                result.lost.append((strategy, new.failure))
            result.changes += [Change(before.name, strategy, stage, old.timings[stage], new.timings[stage],
                                      strategy in selected)
                               for stage in (ALONE, WITH_WORK) if stage in old.timings and stage in new.timings]
    return result
