#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the Markdown pages and the first lines of the sources of the checkout:
#   - every file and heading exists that a page links to, or names as `folder/file` of this tree;
#   - no line outside code has more than 100 characters;
#   - README.md and docs/*.md have less than 200 lines, and docs/performance.md at most 150, without
#     the list of keys that ci/update-keys.sh writes; a README.md under src/ has at most 15;
#   - every source file has an SPDX identifier in its first 3 lines;
#   - CITATION.cff, if it exists, has the version of CMakeLists.txt.
# Prints each fault. Exits with 1 if there is a fault.
#   ci/check-docs.sh [SOURCE_DIRECTORY]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
git ls-files -zco --exclude-standard | python3 -c '
import os, re, sys

MOST_CHARACTERS = 100
FOLDERS = "src|ci|cmake|docs|examples|inputs|bench|packaging|tests|tools"
SOURCES = (".cpp", ".hpp", ".h", ".c", ".f90", ".in", ".map", ".py", ".sh", ".cmake", "CMakeLists.txt")
LINES_TO_SPDX = 3
faults = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def most_lines(page):
    if page == "docs/performance.md":
        return 150
    if os.path.basename(page) == "README.md" and page.startswith("src/"):
        return 15
    return 199 if page == "README.md" or os.path.dirname(page) == "docs" else None


def prose(lines):
    """The lines outside fenced and indented code, with their numbers from 1."""
    fenced, indented, after_blank = False, False, True
    for number, line in enumerate(lines, 1):
        indented = line.startswith("    ") and (indented or after_blank)
        after_blank = not line.strip()
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not indented:
            yield number, line


def anchors(page):
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = (re.match(r"#+ +(.*)", line) for _, line in prose(read(page)))
    words = (re.sub(r"[^\w\- ]", "", heading[1].lower()) for heading in headings if heading)
    return {text.strip().replace(" ", "-") for text in words}


def check_link(page, place, link):
    path, _, anchor = link.partition("#")
    path = os.path.join(os.path.dirname(page), path) if path else page
    if not os.path.exists(path):
        faults.append(f"{place}: no such file: {link}")
    elif anchor and path.endswith(".md") and anchor not in anchors(path):
        faults.append(f"{place}: no such heading: {link}")


def check_page(page):
    lines = read(page)
    most = most_lines(page)
    written = len(lines)
    marks = [number for number, line in enumerate(lines) if line.startswith(("<!-- keys:", "<!-- end of keys"))]
    if len(marks) == 2:
        written -= marks[1] - marks[0]
    if most and written > most:
        faults.append(f"{page}: {written} lines; at most {most} are allowed")
    for number, line in prose(lines):
        place = f"{page}:{number}"
        if len(line) > MOST_CHARACTERS:
            faults.append(f"{place}: {len(line)} characters; at most {MOST_CHARACTERS} are allowed")
        for link in re.findall(r"(?:\]\(|^\[[^]]+\]: )([^) ]+)", line):
            if not link.startswith("http"):
                check_link(page, place, link)
        for path in re.findall(rf"`((?:{FOLDERS})/[A-Za-z0-9_./-]*)`", line):
            beside = os.path.join(os.path.dirname(page), path)
            if not os.path.exists(path) and not os.path.exists(beside):
                faults.append(f"{place}: no such file: {path}")


def check_source(path):
    first = read(path)[:LINES_TO_SPDX]
    if not any("SPDX-License-Identifier: " in line for line in first):
        faults.append(f"{path}: no SPDX identifier in the first {LINES_TO_SPDX} lines")


def version(path, pattern):
    found = re.search(pattern, "\n".join(read(path)), re.MULTILINE)
    return found[1] if found else "none"


for path in sys.stdin.read().split("\0"):
    if not os.path.exists(path):  # such as a deleted file that git still lists
        continue
    if path.endswith(".md"):
        check_page(path)
    elif path.endswith(SOURCES):
        check_source(path)
if os.path.exists("CITATION.cff"):
    cited = version("CITATION.cff", r"^version: *[\x22\x27]?([^\s\x22\x27]+)")
    built = version("CMakeLists.txt", r"^ *VERSION +([0-9.]+)")
    if cited != built:
        faults.append(f"CITATION.cff: version {cited}; CMakeLists.txt has {built}")
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
'
