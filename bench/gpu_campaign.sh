#!/usr/bin/env bash
# What docs/performance.md says of GPUs, measured again: every part writes its result files.
#   bench/gpu_campaign.sh BIN_DIRECTORY OUT_DIRECTORY PART...
# BIN_DIRECTORY has the programs of a CUDA or HIP build, from this machine or another; mpirun is a
# GPU-aware MPI's. A part that takes longer than LIMIT seconds (default 300; pinned wants 900) is given up. Parts:
#   tests-NP    the GPU tests on NP ranks         smoke-NP   inputs/smoke.yaml
#   rows        CG beside hipBone's figures       trilinear  CG, factors from corners, four sizes
#   sizes       CG from small to large            affine     CG, parallelepipeds, four sizes
#   axhelm      the element kernel, all orders    determinism-NP  deterministic sums beside ordinary
#   scaling-NP  weak and strong, 1 to NP ranks    launches-NP  one case 20 times: is the choice right?
#   weak-NP     the same at hipBone's other cases pinned-NP    the choice beside each strategy pinned
#   gs64-NP     inputs/gs64.yaml                  exchange-NP  one exchange by size
#   faults-NP   what a run survives of an MPI that is not GPU-aware; wants Python's jsonschema
# The last lines say how long each part took and whether it ended well.
set -uo pipefail
if [[ $# -lt 3 || ! -x $1/nekbone-k ]]; then
  sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
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
      python3 tests/cli/test_faults.py --nekbone-k "$program" --source . --mpiexec mpirun \
        Faults.test_an_mpi_that_is_not_gpu_aware_costs_one_run ;;
    determinism) determinism "$np" ;;
    *) echo "no part is called $1" >&2; return 2 ;;
  esac
}

# For the shell of a part, which can be given up.
export -f run_part determinism weak weak_box ranks_up_to
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
