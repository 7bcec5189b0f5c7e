# SPDX-License-Identifier: BSD-3-Clause
"""Reports of nekbone-k and results of bench_exchange_by_size, as compare.py needs them (docs/output.md)."""
import collections
import dataclasses
import json
import re
import sys

from common import BENCH, InputError, read_text

sys.path.insert(1, str(BENCH))
import compact_results
import exchange_by_size

REPORT_VERSION = 1
NONE = "-"  # in tables
LONGEST_VALUE = 48
ALONE, WITH_WORK = "alone", "with work"
# Where files go says nothing of a run.
PLACES = ("report.json", "gather_scatter.tuning.cache", "gather_scatter.tuning.journal", "flow.series",
          "checkpoint.file")


@dataclasses.dataclass
class Timing:
    """A median in seconds with its 95 % interval."""
    median: float
    low: float
    high: float
    relative: float = None  # cost, with the work's usual time, over that of the stage's best
    tie: bool = False


@dataclasses.dataclass
class Candidate:
    timings: dict  # ALONE, WITH_WORK -> Timing, of those that were timed
    failure: str = None


@dataclasses.dataclass
class Exchange:
    """One order of a report, or one message size of bench_exchange_by_size."""
    name: str
    sent_bytes: float  # per rank, mean
    case: dict  # what has to be equal if times are to be compared
    selected: str = None
    candidates: dict = dataclasses.field(default_factory=dict)
    lists_all: bool = True  # whether the candidates are all that the run could choose from

    @property
    def is_timed(self):
        return any(candidate.timings for candidate in self.candidates.values())

    def best(self, stage):
        """The fastest candidate of a stage; None if none was timed."""
        timed = [name for name, candidate in self.candidates.items() if stage in candidate.timings]
        return min(timed, key=lambda name: self.candidates[name].timings[stage].median, default=None)


@dataclasses.dataclass
class Report:
    path: str
    letter: str
    content: dict
    hardware: dict
    software: dict
    settings: dict  # keys of the input, and values as JSON
    # By ("order", order, components, precision) or ("size", bytes).
    exchanges: dict = dataclasses.field(default_factory=dict)

    @property
    def hardware_name(self):
        devices = self.hardware["devices"] or "unknown"
        return self.hardware["processor"] or devices if devices.endswith("× host") else devices

    def get(self, *keys):
        """A value of the JSON file; None if it or a part of its path is missing."""
        value = self.content
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value


def size_text(size):
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:g} B"


def shortened(value):
    text = NONE if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE - 1] + "…"


def keys_of(reports):
    """The keys of all exchanges with their names, orders and sizes ascending."""
    names = {key: exchange.name for report in reports for key, exchange in report.exchanges.items()}
    return dict(sorted(names.items()))


def flattened(value, path=""):
    """The keys of an input with their values as JSON."""
    if not isinstance(value, dict):
        return {path: json.dumps(value)}
    result = {}
    for key, item in value.items():
        result |= flattened(item, f"{path}.{key}" if path else key)
    return result


def timing_of(stage):
    cost = (stage or {}).get("cost") or {}
    if None in [cost.get(key) for key in ("median_s", "low_s", "high_s")]:
        return None
    return Timing(cost["median_s"], cost["low_s"], cost["high_s"], stage.get("relative_to_best"),
                  bool(stage.get("tie")))


def candidate_of(entry):
    timings = {name: timing_of(entry.get(key)) for name, key in ((ALONE, "alone"), (WITH_WORK, "with_work"))}
    works = entry.get("available", True) and entry.get("verified", True)
    return Candidate({name: timing for name, timing in timings.items() if timing},
                     None if works else entry.get("failure") or "not right")


def exchange_of(order):
    """The key and the Exchange of an entry of `orders`."""
    tuning = order["tuning"]
    components, precision = tuning.get("components", 1), tuning.get("precision", "double")
    name = f"order {order['order']}"
    if components != 1:
        name += f", {components} components"
    if precision != "double":
        name += f", {precision}"
    per_rank = compact_results.compacted(order.get("per_rank") or {})
    case = {"DOFs": order.get("total_dofs")} | {
        what: per_rank.get(key) for what, key in (("neighbours", "neighbours"), ("sizes of messages", "message_bytes"),
                                                  ("bytes sent per rank", "sent_bytes"))}
    candidates = {entry["strategy"]: candidate_of(entry) for entry in tuning.get("candidates") or []}
    # A run that takes the choice of an earlier one lists that alone. Reports of superseded runs list none.
    lists_all = bool(candidates) and not order.get("replayed")
    return (("order", order["order"], components, precision),
            Exchange(name, (per_rank.get("sent_bytes") or {}).get("avg") or 0, case, tuning.get("selected"),
                     candidates, lists_all))


def counted(devices):
    """The kinds of some devices with their numbers, such as 2 × NVIDIA H100."""
    kinds = collections.Counter(map(exchange_by_size.device_name, devices))
    return ", ".join(f"{count} × {kind}" for kind, count in sorted(kinds.items())) or None


def from_report(path, letter, content):
    machine = content["machine"]
    hardware = {"processor": machine.get("processor"), "ranks": machine.get("ranks"),
                "ranks per node": machine.get("ranks_per_node"), "backend": machine.get("backend"),
                "devices": counted(machine.get("devices") or [])}
    libraries = machine.get("libraries") or {}
    software = {"commit": machine.get("commit"), "MPI": machine.get("mpi_library"),
                "compiler": machine.get("compiler"), "build": machine.get("build_type"),
                "Kokkos": machine.get("kokkos_version"), "device runtime": libraries.get("device_runtime"),
                "device driver": libraries.get("device_driver"), "NCCL": libraries.get("nccl"),
                "NVSHMEM": libraries.get("nvshmem")}
    # Rounded as in compacted reports, so that whole ones have equal values.
    inputs = flattened(compact_results.compacted(content.get("input") or {}))
    settings = {key: value for key, value in inputs.items() if key not in PLACES}
    report = Report(path, letter, content, hardware, software, settings)
    for order in content["orders"]:
        key, exchange = exchange_of(order)
        report.exchanges.setdefault(key, exchange)
    return report


def from_benchmark(path, letter, content):
    """A result of bench_exchange_by_size; each size of a message is an exchange."""
    context = content["context"]
    hardware = {"processor": context.get("cpu_model"), "ranks": int(context["ranks"]),
                "ranks per node": [int(count) for count in context["ranks_per_node"].split(";")],
                "backend": context.get("kokkos_backend"),
                "devices": counted(context["devices"].split(";"))}
    software = {"commit": context.get("commit"), "MPI": context.get("mpi_library"),
                "compiler": context.get("compiler"), "build": context.get("build_type"),
                "Kokkos": context.get("kokkos_version")}
    report = Report(path, letter, content, hardware, software, {})
    for row in content["benchmarks"]:
        kind, name, size = exchange_by_size.parts_of(row)
        if kind != "exchange":
            continue
        exchange = report.exchanges.setdefault(("size", size), Exchange(size_text(size), size, {}))
        failed = row.get("error_occurred")
        median = row["real_time"] * 1e-6
        timings = {} if failed else {ALONE: Timing(median, row.get("low_s", median), row.get("high_s", median))}
        exchange.candidates[name] = Candidate(timings, row.get("error_message") if failed else None)
    report.exchanges = dict(sorted(report.exchanges.items()))
    return report


def read_report(path, letter):
    """Raises an InputError if the file is neither a report of this version nor a result of bench_exchange_by_size."""
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not a report: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a report: it has no report_version")
    try:
        if "context" in content and all(re.match("(exchange|path)/", row["name"]) for row in content["benchmarks"]):
            return from_benchmark(str(path), letter, content)
        version = content.get("report_version")
        if version is None:
            raise InputError(f"{path} is not a report: it has no report_version")
        if version != REPORT_VERSION:
            raise InputError(f"{path} has report_version {version}; this program reads version {REPORT_VERSION}")
        return from_report(str(path), letter, content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{path} is not a whole report: {type(error).__name__} {error}") from error
