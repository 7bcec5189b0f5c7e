#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs flows on GPUs of one host and prints the results. Reports go to the folder OUT.
#   bench/gpu_flow.sh PROGRAM OUT [RANKS]
set -uo pipefail
program=$1
out=$2
ranks=${3:-1}
inputs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../inputs" && pwd)
here="$out/flow-np$ranks"
mkdir -p "$here"
cd "$here" || exit 1

# flow NAME INPUT [SETTING]... runs a flow and prints the lines of its result.
flow() {
  local name=$1 input=$2 settings=()
  shift 2
  for setting in "$@"; do settings+=(--set "$setting"); done
  timeout 240 mpirun -np "$ranks" "$program" "$inputs/$input" --report "$name.json" \
    --set "flow.series=$name.csv" ${settings[@]+"${settings[@]}"} >"$name.txt" 2>"$name.err"
  echo "== $name: exit $?"
  grep -E '^ +(V-cycle|iterations|a step|FOM|error|PASS|FAIL|one for all)' -A1 "$name.txt" | head -30
}

flow beltrami beltrami.yaml solver.order=7 verification.error_bound=1e-4
flow abc-affine beltrami.yaml solver.order=7 mesh.deformation=none operator.geometry=affine \
  verification.error_bound=1e-4
flow tgv-32 tgv-re1600.yaml flow.steps=60
flow tgv-32-no-projection tgv-re1600.yaml flow.steps=60 flow.projection=0
