#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the program with MPICH, not the MPI of the other tests, and runs it and the tests of all
# libraries that call MPI on two ranks. Installs missing packages.
#   ci/check-mpich.sh [BUILD_DIRECTORY]      (default: build/mpich-check)
# ORDERS is the list of polynomial orders to compile (default: those of inputs/smoke.yaml).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/mpich-check}

if ! command -v mpicxx.mpich >/dev/null 2>&1 && ! ci/apt.sh mpich libmpich-dev; then
  echo "not checked: there is no MPICH"
  exit 77
fi
if [[ ! -f $build/build.ninja ]]; then
  # Optimisation is low, because nothing is timed.
  cmake --preset openmp -B "$build" "-DNEKBONE_K_ORDERS=${ORDERS:-1;3;5}" \
    "-DNEKBONE_K_TESTED_LIBRARIES=core;machine;reduce;gs;tuning;solver;multigrid;app" \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DNEKBONE_K_BENCH=OFF -DNEKBONE_K_HDF5=OFF -DNEKBONE_K_LIBRARY=OFF \
    -DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE="$(command -v mpiexec.mpich)" >&2
fi
cmake --build "$build" --target nekbone-k nk_mpi_tests >&2
# MPICH's ranks spin while they wait, so more ranks than cores would take very long. At the end,
# MPICH and UCX list what they would have freed themselves.
export UCX_LOG_LEVEL=error
ctest --test-dir "$build" --no-tests=error --output-on-failure --tests-regex '^mpi\..*\.np2$' >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
OMP_NUM_THREADS=1 mpiexec.mpich -n 2 "$build/bin/nekbone-k" inputs/smoke.yaml --brief \
  --report "$folder/report.json" --set "gather_scatter.tuning.journal=$folder/journal.jsonl"
