#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles and links the program for NVIDIA GPUs. Needs no GPU. Without nvcc it skips the check.
# ci/gpu-tests.sh runs the tests on GPUs.
#   ci/check-cuda.sh [BUILD_DIRECTORY]      (default: build/cuda-check)
# ORDERS is the list of polynomial orders to compile (default 3, because kernels take longest).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/cuda-check}

PATH=$PATH:/usr/local/cuda/bin
if ! command -v nvcc >/dev/null 2>&1; then
  echo "not checked: there is no nvcc"
  exit 77
fi

# CUDA 13 needs CMake 3.31, which many systems lack.
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
  # Optimisation is low, because nothing runs.
  "$cmake" --preset cuda -B "$build" "-DNEKBONE_K_ORDERS=${ORDERS:-3}" \
    "-DCMAKE_CUDA_FLAGS_RELEASE=-O1 -Xptxas -O0 -DNDEBUG" -DNEKBONE_K_BENCH=OFF >&2
fi
"$cmake" --build "$build" --target nekbone-k >&2
python3 ci/check-kernels.py "$build"
