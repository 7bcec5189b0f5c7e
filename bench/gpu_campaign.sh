#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Repeats the GPU measurements of docs/performance.md and docs/measurements/, as result files.
#   bench/gpu_campaign.sh BIN_DIRECTORY OUT_DIRECTORY PART...
# BIN_DIRECTORY has the programs of a CUDA or HIP build; mpirun must belong to a GPU-aware MPI.
# The script stops a part after LIMIT seconds (default 300; pinned needs 900). Parts:
#   tests-NP    the GPU tests on NP ranks         smoke-NP   inputs/smoke.yaml
#   rows        CG in the hipBone comparison      trilinear  CG, factors from corners, four sizes
#   sizes       CG from small to large            affine     CG, parallelepipeds, four sizes
#   axhelm      the element kernel, all orders    determinism-NP  deterministic and ordinary sums
#   scaling-NP  weak and strong, 1 to NP ranks    launches-NP  one case, 20 launches
#   weak-NP     the same in hipBone's other cases pinned-NP    the selection and pinned strategies
#   gs64-NP     inputs/gs64.yaml                  exchange-NP  one exchange by size
#   faults-NP   a GPU-aware MPI that is made to crash on device memory; needs jsonschema
#   methods-NP  every method of CG on small meshes, or on METHOD_ROWS (bench/cg_methods.py)
#   multigrid-NP  solves with multigrid, or MULTIGRID_ROWS (bench/multigrid_rows.py)
#   first-run-NP  inputs/smoke.yaml twice without earlier trial results: both must pass
# The last lines have the time and the outcome of each part.
set -uo pipefail
if [[ $# -lt 3 || ! -x $1/nekbone-k ]]; then
  sed -n '3,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
bin=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
program=$bin/nekbone-k

# Decisions of earlier runs are none of a measurement's.
NEKBONE_K_CACHE=$(mktemp -d)
export NEKBONE_K_CACHE
trap 'rm -rf "$NEKBONE_K_CACHE"' EXIT

# The numbers of ranks to scale over: 1, 2, 4, 8 up to one.
ranks_up_to() { local n; for n in 1 2 4 8; do if [[ $n -le $1 ]]; then echo "$n"; fi; done; }

# 28^3 elements a rank.
weak_box() {
  case $1 in 1) echo 28 28 28 ;; 2) echo 28 28 56 ;; 4) echo 28 56 56 ;; 8) echo 56 56 56 ;; esac
}

# Runs with deterministic sums: their reports have an iteration with ordinary ones beside.
determinism() {
  local np=$1 row status=0
  for row in 1:100 3:56 7:28; do
    python3 bench/cg_rows.py --launcher "mpirun -np $np" --strategy all --set deterministic=true \
      --out "$out/determinism-$np-order-${row%:*}.json" "$program" "$row" || status=1
  done
  return "$status"
}

# Weak scaling where hipBone has figures for several GPUs, but at order 7, 28^3 elements a GPU.
weak() {
  local np=$1 row status=0
  for row in 1:63 3:30 7:56 11:18; do
    # shellcheck disable=SC2046
    python3 bench/scaling.py --ranks $(ranks_up_to "$np") --budget 0.5 --order "${row%:*}" \
      --weak "${row#*:}" --strong 0 --out "$out/weak-$np-order-${row%:*}-${row#*:}.json" "$program" || status=1
  done
  return "$status"
}

# The first run in a new folder with an empty cache, and the second: what each came to, and why
# strategies are not here. An MPI that is not GPU-aware must cost neither.
first_run() {
  local np=$1 folder run code status=0
  folder=$(mktemp -d)
  cp inputs/smoke.yaml "$folder"
  for run in 1 2; do
    (cd "$folder" && NEKBONE_K_CACHE=$folder/cache mpirun -np "$np" "$program" smoke.yaml \
      --report "$out/first-run-$np-$run.json")
    code=$?
    python3 bench/first_run.py "$run" "$code" "$out/first-run-$np-$run.json" || status=1
  done
  if [[ -s $folder/nekbone-k-journal.jsonl ]]; then
    echo "FAIL: the journal names what ended a run:"
    cat "$folder/nekbone-k-journal.jsonl"
    status=1
  fi
  rm -rf "$folder"
  return "$status"
}

run_part() {
  local part=${1%%-*} np=${1##*-}
  case $part in
    tests) LIMIT=${LIMIT:-300} OUT=$out ci/gpu-tests.sh "$bin" "$np" ;;
    smoke) mpirun -np "$np" "$program" inputs/smoke.yaml --report "$out/smoke-$np.json" ;;
    rows) python3 bench/cg_rows.py --out "$out/cg-rows.json" "$program" ;;
    sizes)
      python3 bench/cg_rows.py --out "$out/cg-sizes.json" "$program" \
        1:20 1:40 1:80 1:126 1:160 3:16 3:24 3:42 3:70 3:100 7:6 7:10 7:18 7:28 7:40 7:56 \
        11:4 11:7 11:12 11:20 11:36 ;;
    methods)
      # shellcheck disable=SC2086
      python3 bench/cg_methods.py --launcher "mpirun -np $np" --ranks "$np" --out "$out/cg-methods-$np.json" \
        "$program" ${METHOD_ROWS:-} ;;
    multigrid)
      # shellcheck disable=SC2086
      python3 bench/multigrid_rows.py --jacobi --launcher "mpirun -np $np" --out "$out/multigrid-$np.json" \
        ${MULTIGRID_OPTIONS:-} "$program" ${MULTIGRID_ROWS:-} ;;
    trilinear | affine)
      python3 bench/cg_rows.py --set "operator.geometry=$part" --out "$out/cg-rows-$part.json" \
        "$program" 1:160 3:100 7:56 11:36 ;;
    axhelm)
      mpirun -np 1 "$bin/bench_axhelm" --points 60000000 --seconds 0.3 \
        --benchmark_filter="points:(59|60)" --benchmark_out="$out/axhelm-np1.json" \
        --benchmark_out_format=json ;;
    scaling)
      # shellcheck disable=SC2046
      python3 bench/scaling.py --ranks $(ranks_up_to "$np") --budget 0.5 --out "$out/scaling-$np.json" \
        "$program" ;;
    launches)
      # shellcheck disable=SC2046
      python3 bench/launches.py --launches 20 --budget 0.5 --launcher "mpirun -np $np" \
        --elements $(weak_box "$np") --out "$out/launches-$np.json" "$program" ;;
    weak) weak "$np" ;;
    pinned)
      python3 bench/pinned.py --budget 0.5 --keep 1.1 --launcher "mpirun -np $np" --out "$out/pinned-$np.json" \
        "$program" ;;
    gs64) mpirun -np "$np" "$program" inputs/gs64.yaml --report "$out/gs64-$np.json" ;;
    exchange)
      python3 bench/exchange_by_size.py --launcher "mpirun -np $np" "$bin/bench_exchange_by_size" "$out" ;;
    faults)
      python3 tests/cli/test_mpi_trial.py --nekbone-k "$program" --source . --mpiexec mpirun \
        MpiTrial.test_an_mpi_that_is_not_gpu_aware_costs_no_run &&
        python3 tests/cli/test_faults.py --nekbone-k "$program" --source . --mpiexec mpirun \
          Faults.test_an_mpi_that_is_not_gpu_aware_costs_one_run_without_a_trial ;;
    first) first_run "$np" ;;
    determinism) determinism "$np" ;;
    *) echo "no part is called $1" >&2; return 2 ;;
  esac
}

# For the shell of a part, which can be given up.
export -f run_part determinism first_run weak weak_box ranks_up_to
export bin out program
ends=()
worst=0
for part in "$@"; do
  echo "=== $part"
  start=$SECONDS
  timeout "${LIMIT:-300}" bash -c 'run_part "$1"' _ "$part" 2>&1 | tee "$out/$part.log"
  status=${PIPESTATUS[0]}
  if [[ $status -ne 0 ]]; then worst=1; fi
  ends+=("$part: $((SECONDS - start)) s, exit code $status")
done
printf '%s\n' "${ends[@]}"
exit "$worst"
