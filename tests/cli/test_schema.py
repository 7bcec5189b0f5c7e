#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/report.schema.json accepts the report of a real run, and rejects wrong ones."""

import argparse
import copy
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import check_schema  # noqa: E402


def run_smoke(options, folder):
    """Runs the smoke test on two ranks. Returns the path of its report."""
    report = folder / "report.json"
    command = shlex.split(options.mpiexec) + ["-n", "2", options.nekbone_k]
    command += [str(options.source / "inputs/smoke.yaml"), "--report", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return report


def shortened(value, length=2):
    """The report with fewer items in each array, so that checks are fast."""
    if isinstance(value, dict):
        directions = ("elements", "extent", "periodic", "blocks", "translation", "forcing")
        return {key: shortened(item, 3 if key in directions else 2) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in value[:length]]
    return value


def objects(value, path="report"):
    """All (path, object) pairs in a report."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, (dict, list)):
            yield from objects(item, f"{path}.{key}")


def mutants(report):
    """Copies of the report with one fault each, and a description of the fault."""
    for number, (path, original) in enumerate(list(objects(report))):
        for key in original:
            mutant = copy.deepcopy(report)
            del list(objects(mutant))[number][1][key]
            yield f"without {path}.{key}", mutant
        mutant = copy.deepcopy(report)
        list(objects(mutant))[number][1]["unknown_key"] = 1
        yield f"with {path}.unknown_key", mutant
    for words, keys, value in [
        ("another version", ["report_version"], 2),
        ("a text for a truth value", ["passed"], "yes"),
        ("an unknown problem", ["input", "problem"], "other"),
        ("no ranks", ["machine", "ranks"], 0),
        ("a negative residual", ["solve", "residual"], -1),
    ]:
        mutant = copy.deepcopy(report)
        parent = mutant
        for key in keys[:-1]:
            parent = parent[key]
        parent[keys[-1]] = value
        yield "with " + words, mutant


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nekbone-k", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--mpiexec", required=True, help="launch command up to but without -n")
    options = parser.parse_args()

    schema_path = options.source / "docs/report.schema.json"
    checker = options.source / "tests/support/check_schema.py"
    with tempfile.TemporaryDirectory() as folder:
        path = run_smoke(options, pathlib.Path(folder))
        report, schema = check_schema.load(path), check_schema.load(schema_path)
        # As a script, once per exit code.
        for file, expected in [(path, 0), (schema_path, 1)]:
            code = subprocess.run([sys.executable, checker, file, schema_path],
                                  stderr=None if expected == 0 else subprocess.DEVNULL).returncode
            if code != expected:
                sys.exit(f"{checker} {file} {schema_path}: exit code {code}, not {expected}")

    report = shortened(report)
    if found := check_schema.problems(report, schema):
        sys.exit("the shortened report is not valid: " + "; ".join(found))
    tried = list(mutants(report))
    validator = check_schema.validator_of(schema)
    accepted = [words for words, mutant in tried if validator.is_valid(mutant)]
    if accepted:
        sys.exit("the schema accepts a report " + ", ".join(accepted))
    print(f"The report is valid, and {len(tried)} broken copies of it are not.")


if __name__ == "__main__":
    main()
