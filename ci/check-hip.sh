#!/usr/bin/env bash
# Compiles and links the program and its tests for AMD GPUs (gfx90a), on a machine that needs no
# GPU: Kokkos with its HIP backend, Debian's HIP and clang 19, which are installed where they are
# missing. Nothing of it is run.
#   ci/check-hip.sh [BUILD_DIRECTORY]      (default: build/hip-check)
# ORDERS are the polynomial orders whose kernels are compiled (default 3, as they take longest).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/hip-check}

if ! command -v apt-get >/dev/null 2>&1; then
  echo "not checked: there is no apt to install Debian's HIP"
  exit 0
fi
missing=()
for package in libamdhip64-dev rocm-device-libs clang-19 clang-tools-19 libclang-rt-19-dev lld-19; do
  if ! dpkg-query --show --showformat='${Status}\n' "$package" 2>/dev/null | grep -q ' installed$'; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -gt 0 ]]; then
  as_root=()
  if [[ $(id -u) -ne 0 ]]; then as_root=(sudo); fi
  echo "ci/check-hip.sh: installing ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [[ ! -f $build/build.ninja ]]; then
  # Not for speed: nothing is run.
  cmake --preset hip -B "$build" "-DNEKBONE_K_ORDERS=${ORDERS:-3}" \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DNEKBONE_K_BENCH=OFF >&2
fi
cmake --build "$build" >&2
