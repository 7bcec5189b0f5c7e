#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the project. The last line is "N passed, N failed", plus ", N skipped" for checks that this
# machine cannot run; the exit code is 1 if anything failed.
#   ci/test.sh             set-up, style, a build with the preset openmp, and its whole test suite
#   ci/test.sh --all       also the sanitizers (preset dev), clang-tidy on changed sources, changed
#                          headers alone, doxygen, VTK, MPICH, the recipes of packaging/, and compiles
#                          for AMD GPUs and, if there is nvcc, NVIDIA GPUs. No further check begins
#                          after 70 minutes
#   ci/test.sh PRESET...   set-up, style, and the tests of these presets
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
presets=("$@")
all=false
if [[ ${1:-} == --all ]]; then
  all=true
  presets=(openmp dev)
elif [[ ${1:-} == -* ]]; then
  sed -n '3,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
elif [[ $# -eq 0 ]]; then
  presets=(openmp)
fi
passed=0
failed=0
skipped=0
failures=()
times=()

# timed NAME COMMAND... records the time of a command.
timed() {
  local name=$1 begin=$SECONDS status=0
  shift
  "$@" || status=$?
  times+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$name")")
  return "$status"
}

# Seconds after which no further check begins, because CI ends after 90 minutes: of a slow machine,
# it should keep the results so far.
late=4200

# extra NAME COMMAND... is check(), unless it is late.
extra() {
  if [[ $((SECONDS - start)) -lt $late ]]; then
    check "$@"
  else
    echo "=== $1: not checked, because $((late / 60)) minutes have passed"
    skipped=$((skipped + 1))
  fi
}

# check NAME COMMAND... runs a command as one test. Exit code 77 means that it cannot run here.
check() {
  local name=$1 status=0
  shift
  echo "=== $name"
  timed "$name" "$@" || status=$?
  if [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
  elif [[ $status -eq 77 ]]; then
    skipped=$((skipped + 1))
  else
    failed=$((failed + 1))
    failures+=("$name")
    return 1
  fi
}

# Runs all tests of a built preset and adds the counts of CTest.
run_ctest() {
  local preset=$1 log=build/$1/ctest.log total bad
  echo "=== test $preset"
  local options=()
  # Tests are slow under the sanitizers. tests/mpi therefore runs only on three ranks, and of
  # tests/cli only what reads input and reports: other files repeat solves and flows, whose code
  # tests/mpi runs, and wait for faults. Other presets run all tests.
  if [[ $preset == dev ]]; then
    options=(--exclude-regex '^(cli\.(runs|bad_days|doctor|faults|fields|flow|streams|mpi_trial|launch)|mpi\..*\.np(1|2|4|7))$')
  fi
  # A test of several ranks seldom keeps two cores busy, so that twice as many tests run side by side.
  ctest --preset "$preset" --no-tests=error --parallel "$((2 * $(nproc)))" \
    ${options[@]+"${options[@]}"} 2>&1 | tee "$log"
  total=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$log")
  bad=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of .*/\1/p' "$log")
  if [[ -z $total ]]; then
    total=1 bad=1 # CTest failed before its summary
  fi
  passed=$((passed + total - bad))
  failed=$((failed + bad))
  if [[ $bad -gt 0 ]]; then failures+=("test $preset: $bad of $total"); fi
}

# Needs the version that formatted the sources, because others differ in details.
formatted() {
  clang-format --version | grep -q 'version 14\.' || { echo "not checked: needs version 14"; return 77; }
  git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs -r clang-format --dry-run -Werror
}

start=$SECONDS
check "set-up" ci/setup.sh
check "layers" ci/check-layers.sh
check "documents" ci/check-docs.sh
check "spelling" ci/check-spelling.sh
if command -v clang-format >/dev/null 2>&1; then check "format" formatted; fi
for preset in "${presets[@]}"; do
  check "build $preset" ci/build.sh "$preset" || continue
  timed "test $preset" run_ctest "$preset"
  # What is installed differs little between presets.
  if [[ $preset == openmp ]]; then check "install" ci/check-install.sh build/openmp; fi
done
if [[ $all == true ]]; then
  extra "changed headers alone" ci/check-headers.sh
  extra "changed sources by clang-tidy" ci/check-tidy.sh
  extra "interfaces as pages" ci/check-doxygen.sh
  extra "fields by VTK" ci/check-vtk.sh
  extra "figures of tools" ci/check-tools.sh
  extra "recipes of packaging" ci/check-packaging.sh
  extra "MPICH" ci/check-mpich.sh
  extra "compile for NVIDIA GPUs" ci/check-cuda.sh
  extra "compile for AMD GPUs" ci/check-hip.sh
  extra "commands of the container" packaging/run_container_recipe.py "ORDERS=1;3;5"
fi

echo "=== $((SECONDS - start)) s, of which"
printf '%s\n' "${times[@]}"
for failure in ${failures[@]+"${failures[@]}"}; do echo "failed: $failure"; done
summary="$passed passed, $failed failed"
if [[ $skipped -gt 0 ]]; then summary+=", $skipped skipped"; fi
echo "$summary"
[[ $failed -eq 0 ]]
