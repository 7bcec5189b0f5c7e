#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles and links the program for AMD GPUs (gfx90a) with Kokkos' HIP backend, Debian's HIP and
# clang 19. Installs missing packages. Needs no GPU and runs nothing.
#   ci/check-hip.sh [BUILD_DIRECTORY]      (default: build/hip-check)
# ORDERS is the list of polynomial orders to compile (default 3, because kernels take longest).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/hip-check}

if ! command -v apt-get >/dev/null 2>&1; then
  echo "not checked: there is no apt to install Debian's HIP"
  exit 77
fi
missing=()
for package in libamdhip64-dev rocm-device-libs clang-19 clang-tools-19 libclang-rt-19-dev lld-19; do
  if ! dpkg-query --show --showformat='${Status}\n' "$package" 2>/dev/null | grep -q ' installed$'; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -gt 0 ]]; then ci/apt.sh "${missing[@]}"; fi

if [[ ! -f $build/build.ninja ]]; then
  # Optimisation is low, because nothing runs.
  cmake --preset hip -B "$build" "-DNEKBONE_K_ORDERS=${ORDERS:-3}" \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DNEKBONE_K_BENCH=OFF >&2
fi
cmake --build "$build" --target nekbone-k >&2
