#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the pages of the interfaces under src/ in build/doxygen/html. Warnings are errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v doxygen >/dev/null 2>&1 && ! ci/apt.sh doxygen; then
  echo "not checked: there is no doxygen"
  exit 77
fi
mkdir -p build
doxygen docs/Doxyfile
