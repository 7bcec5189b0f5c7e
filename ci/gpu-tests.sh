#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of a CUDA or HIP build on the GPUs of this machine. The build may come from another
# machine: the script needs the folder of its programs, this checkout and an MPI, but no CMake.
#   ci/gpu-tests.sh BIN_DIRECTORY [RANKS]...      (default: 1 2)
# The last line is "N passed, N failed"; the exit code is 1 if anything failed.
# With a build tree, `ctest --preset cuda --label-regex gpu` runs the same tests and more.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
if [[ $# -eq 0 || ! -x $1/nk_mpi_tests ]]; then
  sed -n '3,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
bin=$1
shift
ranks=("${@:-1 2}")
# The tests know the checkout that they were built from; this names the one on this machine.
export NEKBONE_K_SOURCE_DIR=$PWD
passed=0
failed=0
begin=$SECONDS

# run NAME COMMAND... counts the tests of a GoogleTest program under MPI. Shows only failures.
run() {
  local name=$1 log status=0 good bad
  shift
  log=$(mktemp)
  timeout "${LIMIT:-300}" "$@" >"$log" 2>&1 || status=$?
  good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | head -n 1)
  bad=$(sed -n 's/^ *\([0-9]*\) FAILED TEST.*/\1/p' "$log" | head -n 1)
  good=${good:-0}
  bad=${bad:-0}
  # Another rank failed, the program crashed or timed out, or no test ran.
  if [[ $bad -eq 0 && ($status -ne 0 || $good -eq 0) ]]; then bad=1; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  printf '%-24s %4d passed, %d failed, %d s\n' "$name" "$good" "$bad" "$((SECONDS - start))"
  if [[ $bad -gt 0 ]]; then
    grep -E 'Failure|FAILED|rror|WRONG' "$log" | head -n 40
    if [[ -n ${OUT:-} ]]; then cp "$log" "$OUT/${name// /-}.log"; fi
  fi
  rm -f "$log"
}

launcher=mpirun
command -v mpirun >/dev/null 2>&1 || launcher=mpiexec
start=$SECONDS
run "unit" "$bin/nk_unit_tests" --gtest_color=no
for np in ${ranks[*]}; do
  start=$SECONDS
  run "mpi on $np ranks" "$launcher" -np "$np" "$bin/nk_mpi_tests" --gtest_color=no
done
echo "$passed passed, $failed failed"
# A record for docs/measurements/: version, device, ranks and results.
if [[ -n ${OUT:-} ]]; then
  printf '{"version": "%s", "device": "%s", "ranks": "%s", "passed": %d, "failed": %d, "seconds": %d}\n' \
    "$("$bin/nekbone-k" --version)" "$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)" \
    "${ranks[*]}" "$passed" "$failed" "$((SECONDS - begin))" >"$OUT/gpu-tests-${ranks[*]// /-}.json"
fi
[[ $failed -eq 0 ]]
