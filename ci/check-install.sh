#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the library of a built tree into a fresh folder, builds every program of examples/ against
# it there with find_package only, runs each on one and three ranks, and checks what it prints. Also
# checks the symbols and the SONAMEs of the libraries, and programs that are built with pkg-config.
#   ci/check-install.sh [BUILD_FOLDER]     (default: build/openmp)
# Exits with 77 for a build with sanitizers: the example programs cannot load it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/openmp}
if grep -q '^NEKBONE_K_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  echo "not checked: the build has sanitizers"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

# The public headers must compile without warnings.
export CFLAGS="-std=c99 -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror" \
  CXXFLAGS="-Wall -Wextra -Wpedantic -Wshadow -Werror" FFLAGS="-std=f2008 -Wall -Wextra"

fail() {
  echo "ci/check-install.sh: $*" >&2
  exit 1
}

# quietly COMMAND... prints the output of a command only if it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}

# run_program PROGRAM runs it on one and three ranks.
run_program() {
  local ranks
  for ranks in 1 3; do
    mpirun -np "$ranks" "$1" >"$work/out" || { cat "$work/out" >&2; fail "$1 failed on $ranks ranks"; }
    [[ $(tail -n 1 "$work/out") == "0 points are wrong" ]] || fail "$1: wrong values on $ranks ranks"
    if [[ $1 == *gslib ]]; then
      grep -q '^gs_setup: .* strategy ' "$work/out" || fail "$1 prints no strategy on $ranks ranks"
      continue
    fi
    # All but the last line is the report.
    python3 - "$work/out" "$ranks" <<'END' || { cat "$work/out" >&2; fail "$1 prints something else on $ranks ranks"; }
import json, sys
lines = open(sys.argv[1]).read().splitlines()
ranks = int(sys.argv[2])
report = json.loads("\n".join(lines[:-1]))
(tuning,) = report["tunings"]
selected = [c for c in tuning["candidates"] if c["selected"]]
assert report["ranks"] == ranks and report["points"] == 2000 * ranks
assert len(selected) == 1 and selected[0]["verified"] and not selected[0]["overlapped"]
assert tuning["selected"] == report["strategy"] == selected[0]["strategy"]
assert (selected[0]["alone"] is not None) == (ranks > 1)  # one rank shares nothing
END
  done
}

quietly cmake --install "$build" --component library --prefix "$prefix"
version=$(sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)

# check_library NAME SYMBOLS checks the SONAME, and that all exported symbols match SYMBOLS.
check_library() {
  local library others
  library=$(find "$prefix" -name "$1.so")
  [[ -n $library ]] || fail "$1.so is not installed"
  readelf -d "$library" | grep -q "SONAME.*\[$1.so.${version%.*}\]" || fail "wrong SONAME of $1"
  others=$(nm -D --defined-only "$library" | awk -v known="$2" '$3 !~ known {print $3}')
  [[ -z $others ]] || fail "$1 exports other symbols: $others"
}
check_library libnekbone_k_gs '^nekbone_k_gs_'
check_library libnekbone_k_gslib '^(f?gslib_|i?gs_.*_$)'

for example in examples/*/; do
  name=$(basename "$example")
  if grep -q 'LANGUAGES Fortran' "$example/CMakeLists.txt" && ! command -v gfortran >/dev/null; then
    echo "not checked: $name, because there is no Fortran compiler"
    continue
  fi
  quietly cmake -S "$example" -B "$work/$name" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build "$work/$name"
  run_program "$work/$name/$name"
done

if command -v pkg-config >/dev/null && command -v mpicc >/dev/null; then
  folder=$(dirname "$(find "$prefix" -name nekbone_k_gs.pc)")
  export PKG_CONFIG_PATH=$folder
  [[ $(pkg-config --modversion nekbone_k_gs) == "$version" ]] || fail "pkg-config has another version"
  # shellcheck disable=SC2046,SC2086 # lists of options
  quietly mpicc $CFLAGS tests/install/own_start.c -o "$work/own_start" \
    $(pkg-config --cflags --libs nekbone_k_gs) -Wl,-rpath,"$(dirname "$folder")"
  programs=("$work/own_start")
  if command -v mpif90 >/dev/null && command -v gfortran >/dev/null; then
    module=$(find "$prefix" -name nekbone_k_gs.f90)
    # shellcheck disable=SC2046 # a list of options
    quietly mpif90 -J "$work" "$module" tests/install/own_start.f90 -o "$work/own_start_fortran" \
      $(pkg-config --libs nekbone_k_gs) -Wl,-rpath,"$(dirname "$folder")"
    programs+=("$work/own_start_fortran")
  fi
  for program in "${programs[@]}"; do
    for ranks in 1 3; do
      sums=$(mpirun -np "$ranks" "$program" | sort -u) || fail "$program failed on $ranks ranks"
      [[ $sums == "$ranks 42" ]] || fail "$program prints '$sums' on $ranks ranks"
    done
  done
  # shellcheck disable=SC2046,SC2086 # lists of options
  quietly mpicc $CFLAGS bench/gs_like_gslib.c -o "$work/time_gslib" -I"$prefix/include/nekbone_k/gslib" \
    $(pkg-config --libs nekbone_k_gslib) -Wl,-rpath,"$(dirname "$folder")"
  for ranks in 1 3; do
    boxes=$(mpirun -np "$ranks" "$work/time_gslib" --quick | grep -cE '^(1|3|7|11) 64 [0-9]') ||
      fail "gs_like_gslib failed on $ranks ranks"
    [[ $boxes == 4 ]] || fail "gs_like_gslib times $boxes of 4 boxes on $ranks ranks"
  done
  if command -v mpif90 >/dev/null && command -v gfortran >/dev/null; then
    # shellcheck disable=SC2046 # a list of options
    quietly mpif90 tests/install/like_nek.f90 -o "$work/like_nek" \
      $(pkg-config --libs nekbone_k_gslib) -Wl,-rpath,"$(dirname "$folder")"
    for ranks in 1 3; do
      right=$(mpirun -np "$ranks" "$work/like_nek" | grep -c '^right$') || true
      [[ $right == "$ranks" ]] || fail "like_nek is right on $right of $ranks ranks"
    done
    if mpirun -np 1 "$work/like_nek" bad >"$work/out" 2>&1; then fail "a wrong handle is accepted"; fi
    grep -q 'gs_op: no handle has the number 1' "$work/out" || fail "a wrong handle is not named"
  fi
  if NEKBONE_K_GSLIB_OPTIONS=speed=1 mpirun -np 3 "$work/time_gslib" --quick >"$work/out" 2>&1; then
    fail "a wrong option is accepted"
  fi
  [[ $(grep -c "gs_setup: .*speed" "$work/out") == 1 ]] || fail "a wrong option is not named once"
  # shellcheck disable=SC2046,SC2086 # lists of options
  quietly mpicc $CFLAGS tests/install/gslib_faults.c -o "$work/gslib_faults" \
    $(pkg-config --cflags --libs nekbone_k_gslib) -Wl,-rpath,"$(dirname "$folder")"
  # expect_fault NUMBER MESSAGE
  expect_fault() {
    if mpirun -np 1 "$work/gslib_faults" "$1" >"$work/out" 2>&1; then fail "fault $1 is accepted"; fi
    grep -q "libnekbone_k_gslib: $2" "$work/out" || { cat "$work/out" >&2; fail "fault $1 is not named"; }
  }
  expect_fault 1 'gs: values were given as NULL'
  expect_fault 2 'gs_vec: values were given as NULL'
  expect_fault 3 'gs_many: array 1 of the values was given as NULL'
  expect_fault 4 'igs: the address of the number to wait for is NULL'
  mpirun -np 1 "$work/gslib_faults" 0 >"$work/out" 2>&1 || fail "gs_free after MPI_Finalize ends the job"
  grep -q 'gs_free: not freed, because MPI_Finalize' "$work/out" || fail "gs_free after MPI_Finalize is silent"
else
  echo "not checked: programs by pkg-config, because there is no pkg-config or no mpicc"
fi
