#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Configures a preset if needed and builds it. Prints nothing when there is nothing to do.
#   ci/build.sh PRESET [TARGET]...     (default: all)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
if [[ $# -eq 1 ]]; then set -- "$preset" all; fi
if [[ ! -f build/$preset/build.ninja ]]; then
  cmake --preset "$preset" >&2
fi
# Ninja itself configures again after a change of a CMake file or of the list of sources.
cmake --build --preset "$preset" --target "${@:2}" >&2
