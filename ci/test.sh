#!/usr/bin/env bash
# The whole test suite: sets the machine up, checks style, builds each preset and runs its tests;
# without arguments it also compiles for NVIDIA GPUs, where there is nvcc, and for AMD GPUs, where
# there is apt to install Debian's HIP. The last line is "N passed, N failed"; the exit code is 1 when
# anything failed.
#   ci/test.sh [PRESET]...     (default: dev openmp)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
presets=("$@")
compile_for_gpus=false
if [[ ${#presets[@]} -eq 0 ]]; then
  presets=(dev openmp)
  compile_for_gpus=true
fi
passed=0
failed=0
failures=()

# check NAME COMMAND... runs a command and counts it as one test.
check() {
  local name=$1
  shift
  echo "=== $name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$name")
    return 1
  fi
}

# Runs all tests of a built preset and adds CTest's own counts.
run_ctest() {
  local preset=$1 log=build/$1/ctest.log total bad
  echo "=== test $preset"
  local options=()
  # Everything takes longer under the sanitizers: tests/mpi runs once alone and once with neighbours,
  # and the longest of tests/cli not at all. The other preset runs all.
  if [[ $preset == dev ]]; then
    options=(--exclude-regex '^(cli\.(runs|bad_days|faults)|mpi\..*\.np(2|4|7))$')
  fi
  ctest --preset "$preset" --no-tests=error --parallel "$(nproc)" \
    ${options[@]+"${options[@]}"} 2>&1 | tee "$log"
  total=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$log")
  bad=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of .*/\1/p' "$log")
  if [[ -z $total ]]; then
    total=1 bad=1 # CTest broke down before its summary
  fi
  passed=$((passed + total - bad))
  failed=$((failed + bad))
  if [[ $bad -gt 0 ]]; then failures+=("test $preset: $bad of $total"); fi
}

# Only with the version that the sources were formatted with: others differ in small things.
formatted() {
  clang-format --version | grep -q 'version 14\.' || { echo "not checked: needs version 14"; return 0; }
  git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs -r clang-format --dry-run -Werror
}

start=$SECONDS
check "set-up" ci/setup.sh
check "layers" ci/check-layers.sh
check "documents" ci/check-docs.sh
if command -v clang-format >/dev/null 2>&1; then check "format" formatted; fi
for preset in "${presets[@]}"; do
  if check "build $preset" ci/build.sh "$preset"; then run_ctest "$preset"; fi
done
if [[ $compile_for_gpus == true ]]; then
  check "compile for NVIDIA GPUs" ci/check-cuda.sh
  check "compile for AMD GPUs" ci/check-hip.sh
fi

echo "=== $((SECONDS - start)) s"
for failure in ${failures[@]+"${failures[@]}"}; do echo "failed: $failure"; done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
