#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the benchmarks and runs them at each number of ranks; the results go to bench/results/ as
# NAME-MACHINE-npP.json, where MACHINE is the processor or accelerator, never the host.
#   bench/run.sh [argument of the benchmark programs]...
#   PRESET=cuda NP="1 2 4" BENCH="axhelm cg" bench/run.sh --seconds 3
# PRESET is a preset of CMakePresets.json (default openmp), NP the numbers of MPI ranks (default
# "1 2"), BENCH the benchmarks (default all), OMP_NUM_THREADS the threads per rank (default 1).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${PRESET:-openmp}
build=$root/build/$preset
cd "$root"
if [[ ! -f $build/build.ninja ]]; then cmake --preset "$preset" >&2; fi
cmake --build --preset "$preset" --target benchmarks >&2

# What the times depend on first, in words fit for a file name: "nvidia-h200" or "amd-epyc-2-cores".
machine_tag() {
  local name
  case $preset in
    cuda) name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1) ;;
    hip) name=$(rocminfo | sed -n 's/.*Marketing Name: *\(.*Instinct.*\)/\1/p' | head -n 1) ;;
    *) name="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
       name+=" $(getconf _NPROCESSORS_ONLN) cores" ;;
  esac
  echo "${name:-unknown}" | sed -E 's/\((R|TM)\)//g; s/[^A-Za-z0-9]+/-/g; s/^-|-$//g' |
    tr '[:upper:]' '[:lower:]'
}
tag=$(machine_tag)

export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
if [[ $OMP_NUM_THREADS -eq 1 ]]; then export OMP_PROC_BIND=${OMP_PROC_BIND:-false}; fi
if [[ $(id -u) -eq 0 ]]; then # Open MPI refuses root, which is all that a container has
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
launcher=mpirun
command -v mpirun >/dev/null 2>&1 || launcher=mpiexec

mkdir -p bench/results
for ranks in ${NP:-1 2}; do
  for name in ${BENCH:-axhelm gs cg}; do
    result=bench/results/$name-$tag-np$ranks.json
    echo "=== $result" >&2
    # Beside the result first, so that an interrupted run leaves no half of one.
    "$launcher" -np "$ranks" "$build/bin/bench_$name" --benchmark_out="$result.part" "$@"
    # Not to be published; and what the programs always tell Google Benchmark says nothing.
    sed -i -e '/^ *"host_name":/d' -e 's|/iterations:1/manual_time"|"|' "$result.part"
    mv "$result.part" "$result"
  done
done
