#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks sources that changed since a commit with clang-tidy 19, by the rules in .clang-tidy.
# Installs it if it is missing.
#   ci/check-tidy.sh [COMMIT]      (default: the tenth commit before this one)
# Also checks uncommitted changes. MOST limits the number of files (default 8, the last to
# change), because each takes 10 to 20 s.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/tidy

if ! command -v clang-tidy-19 >/dev/null 2>&1 && ! ci/apt.sh clang-tidy-19; then
  echo "not checked: there is no clang-tidy 19"
  exit 77
fi
changed=$(ci/changed-files.sh '^(src|tests|bench)/.*[.]cpp$' "${1:-HEAD~10}") || exit $?
if [[ -z $changed ]]; then exit 0; fi
mapfile -t all <<<"$changed"
files=("${all[@]:0:${MOST:-8}}")
echo "checking ${#files[@]} of ${#all[@]} changed sources"

# Each file is checked alone, with Kokkos Serial, which needs no omp.h of clang.
cmake --preset dev -B "$build" -DNEKBONE_K_SANITIZE=OFF -DCMAKE_UNITY_BUILD=OFF \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
cmake --build "$build" --target nk_commit >/dev/null # a header that the build writes
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy-19 -p "$build" --quiet \
  --warnings-as-errors='*,-clang-diagnostic-*' --extra-arg=-w
