#!/usr/bin/env bash
# Configures a preset unless that was done before, and builds it; quiet when there is nothing to do.
#   ci/build.sh PRESET [TARGET]...     (default: all)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
if [[ $# -eq 1 ]]; then set -- "$preset" all; fi
if [[ ! -f build/$preset/build.ninja ]]; then
  cmake --preset "$preset" >&2
fi
# Ninja itself configures again when a CMake file or the list of sources changed.
cmake --build --preset "$preset" --target "${@:2}" >&2
