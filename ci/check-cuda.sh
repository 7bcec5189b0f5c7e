#!/usr/bin/env bash
# Compiles and links the program and its tests for NVIDIA GPUs, on a machine that needs no GPU.
# Without nvcc there is nothing to check, and it says so.
#   ci/check-cuda.sh [BUILD_DIRECTORY]      (default: build/cuda-check)
# ORDERS are the polynomial orders whose kernels are compiled (default 3, as they take longest).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/cuda-check}

PATH=$PATH:/usr/local/cuda/bin
if ! command -v nvcc >/dev/null 2>&1; then
  echo "not checked: there is no nvcc"
  exit 0
fi

# CUDA 13 needs a CMake newer than many systems have.
cmake=cmake
if [[ $(printf '%s\n' 3.31 "$(cmake --version | sed -n '1s/.* //p')" | sort -V | head -n 1) != 3.31 ]]; then
  tools=${NEKBONE_K_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nekbone-k}/cmake
  cmake=$tools/bin/cmake
  if [[ ! -x $cmake ]]; then
    python3 -m pip --version >/dev/null 2>&1 || { echo "ci/check-cuda.sh: needs pip for a newer CMake" >&2; exit 1; }
    python3 -m pip install --quiet --target "$tools/lib" 'cmake>=3.31,<5' >&2
    mkdir -p "$tools/bin"
    ln -sfn "$tools/lib/cmake/data/bin/cmake" "$cmake"
  fi
fi

if [[ ! -f $build/build.ninja ]]; then
  # Not for speed: nothing is run.
  "$cmake" --preset cuda -B "$build" "-DNEKBONE_K_ORDERS=${ORDERS:-3}" \
    "-DCMAKE_CUDA_FLAGS_RELEASE=-O1 -DNDEBUG" -DNEKBONE_K_BENCH=OFF >&2
fi
"$cmake" --build "$build" >&2
