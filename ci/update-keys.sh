#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Brings the files that list the keys of the input up to date with the table in
# src/input/input_keys.cpp. The built program writes their text:
#   - docs/input.md, between its two marks;
#   - docs/report.schema.json, the value of "input";
#   - inputs/tgv64.yaml, all after the comment at its beginning. Its values stay as they are.
# With --check it changes nothing, and exits with 1 and the differences if a file is out of date.
#   ci/update-keys.sh [--check] [PROGRAM]
# PROGRAM is build/openmp/bin/nekbone-k by default.
set -euo pipefail
check=
if [[ ${1:-} == --check ]]; then
  check=--check
  shift
fi
program=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/../build/openmp/bin/nekbone-k}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec python3 - "$program" $check << 'END'
import difflib, json, pathlib, re, subprocess, sys

MOST_CHARACTERS = 100  # of a line of JSON that could be broken


def program(*arguments):
    """What the program prints."""
    run = subprocess.run([sys.argv[1], *arguments], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: exit code {run.returncode}; an input file may have a key that is gone")
    return run.stdout


def replaced(pattern, text, path):
    """A file with what the groups of a pattern enclose replaced by a text."""
    old = pathlib.Path(path).read_text(encoding="utf-8")
    new, count = re.subn(pattern, lambda found: found[1] + text + found[2], old, flags=re.DOTALL)
    if count != 1:
        sys.exit(f"{path}: {count} places for the keys, not 1")
    return new


def compact(value, indent, room):
    """JSON with each object or list on one line, if it fits there."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= room or not isinstance(value, (dict, list)) or not value:
        return line
    blanks = " " * (indent + 2)
    if isinstance(value, list):
        items = [blanks + compact(item, indent + 2, MOST_CHARACTERS - indent - 3) for item in value]
    else:
        items = [f"{blanks}{json.dumps(key)}: " + compact(item, indent + 2, MOST_CHARACTERS - indent - len(key) - 7)
                 for key, item in value.items()]
    begin, end = "[]" if isinstance(value, list) else "{}"
    return begin + "\n" + ",\n".join(items) + "\n" + " " * indent + end


files = {
    "docs/input.md": replaced("(<!-- keys: [^\n]*-->\n).*(<!-- end of keys -->)",
                              "\n" + program("--list-keys=markdown") + "\n", "docs/input.md"),
    "docs/report.schema.json": replaced('(\n    "input": )\\{\n.*?\n    \\}(,\n)',
                                        compact(json.loads(program("--list-keys=report-schema")), 4, 0),
                                        "docs/report.schema.json"),
    "inputs/tgv64.yaml": replaced("(\\A(?:#[^\n]*\n)+\n).*()\\Z",
                                  program("inputs/tgv64.yaml", "--list-keys"), "inputs/tgv64.yaml"),
}
status = 0
for name, new in files.items():
    old = pathlib.Path(name).read_text(encoding="utf-8")
    if new == old:
        continue
    if "--check" in sys.argv:
        status = 1
        print("".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name,
                                           name + " by the program")), end="")
        print(f"{name}: out of date; run ci/update-keys.sh")
    else:
        pathlib.Path(name).write_text(new, encoding="utf-8")
        print(f"{name}: updated")
sys.exit(status)
END
