#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the spelling of documents, comments and messages with codespell, which apt installs if it
# is missing. ci/words.txt lists names, and misspellings that tests need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v codespell >/dev/null 2>&1 && ! ci/apt.sh codespell; then
  echo "not checked: there is no codespell"
  exit 77
fi
git ls-files -co --exclude-standard ':!bench/results/*.json' ':!*.png' ':!*.svg' |
  xargs codespell --ignore-words ci/words.txt
