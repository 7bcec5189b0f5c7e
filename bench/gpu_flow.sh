#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs flows on the GPUs of one host, a rank on each, and prints their results. Writes a folder with
# reports and time series for each number of ranks into OUT.
#   bench/gpu_flow.sh PROGRAM OUT RANKS PART...
# STEPS is the number of steps of short flows, by default 60. With 140, the later half does not have
# the first trial without the projection. Parts:
#   exact     a flow with an exact solution, on a deformed mesh and on equal bricks
#   steps     short: steps of inputs/tgv-re1600.yaml, with and without projection
#   vortex    inputs/tgv-re1600.yaml to its end
#   half-step the same with half the step
#   order-9   the same at order 9, with three quarters of the step
#   field     a coarser vortex to time 5, with its fields for ParaView at the end
#   initial   a flow that begins with the velocity of a checkpoint, at another order
#   weak      short, with 32 x 32 x 32 elements per rank
#   weak-pinned  the same with one V-cycle for any number of ranks
#   weak-2d   short, a flow that is constant along z, with 32 x 32 x 32 elements per rank along
#             z: the same flow, and so the same iterations, on any number of ranks
#   strong    short, with 24 x 24 x 24 elements: on two GPUs, 6,912 each
#   re5000    inputs/tgv-re5000.yaml
set -uo pipefail
program=$1
out=$2
ranks=$3
shift 3
steps=${STEPS:-60}
inputs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../inputs" && pwd)
folder="$out/flow-np$ranks"
mkdir -p "$folder"
cd "$folder" || exit 1

# flow NAME INPUT [SETTING]... runs a flow and prints the lines of its result.
flow() {
  # Without a budget, the tuning of short flows would be capped, and another V-cycle might win.
  local name=$1 input=$2 settings=(--set gather_scatter.tuning.budget_seconds=2)
  shift 2
  for setting in "$@"; do settings+=(--set "$setting"); done
  timeout "${LIMIT:-540}" mpirun -np "$ranks" "$program" "$inputs/$input" --report "$name.json" \
    --set "flow.series=$name.csv" "${settings[@]}" >"$name.txt" 2>"$name.err"
  echo "== $name, np $ranks: exit $?"
  sed -n '/^-- Flow/,/^-- Result/p' "$name.txt" | grep -vE '^(-- Result|$)'
  tail -n 2 "$name.err" | cut -c1-200
}

for part in "$@"; do
  case $part in
    exact)
      flow exact-sine beltrami.yaml solver.order=7 verification.error_bound=1e-4
      flow exact-bricks beltrami.yaml solver.order=7 mesh.deformation=none \
        operator.geometry=affine verification.error_bound=1e-4
      ;;
    steps)
      flow steps tgv-re1600.yaml "flow.steps=$steps"
      flow steps-no-projection tgv-re1600.yaml "flow.steps=$steps" flow.projection=0
      ;;
    vortex) flow vortex tgv-re1600.yaml ;;
    half-step) flow half-step tgv-re1600.yaml flow.dt=1e-3 flow.series_every=50 ;;
    order-9) flow order-9 tgv-re1600.yaml solver.order=9 flow.dt=1.5e-3 flow.series_every=33 ;;
    field)
      flow field tgv-re1600.yaml "mesh.elements=[${FIELD_BOX:-14,14,14}]" flow.dt=4e-3 \
        flow.end_time=5 output.every=1000000 output.file=field.vtkhdf
      ;;
    initial)
      flow initial-writes tgv-re1600.yaml "mesh.elements=[16,16,16]" flow.steps=40 \
        checkpoint.every=1000000 checkpoint.file=initial.h5
      flow initial-reads tgv-re1600.yaml "mesh.elements=[16,16,16]" solver.order=3 flow.steps=5 \
        flow.initial=initial.h5
      ;;
    weak | weak-pinned)
      pins=()
      if [[ $part == weak-pinned ]]; then
        pins=("solver.multigrid.orders=[7,3,1]" solver.multigrid.smoother=jacobi solver.multigrid.degree=4
          solver.multigrid.polynomial=chebyshev-4-opt solver.multigrid.precision=single)
      fi
      flow "$part" tgv-re1600.yaml ${pins[@]+"${pins[@]}"} "flow.steps=$steps" "mesh.elements=[32,32,$((32 * ranks))]" \
        "mesh.extent=[6.283185307179586,6.283185307179586,$(awk "BEGIN { printf \"%.15g\", 6.283185307179586 * $ranks }")]"
      ;;
    weak-2d)
      flow weak-2d tgv-re1600.yaml "flow.steps=$steps" flow.initial=taylor-green-2d \
        "flow.translation=[0.5,0.25,0.3]" verification.error_bound=1 \
        "mesh.elements=[32,32,$((32 * ranks))]" \
        "mesh.extent=[6.283185307179586,6.283185307179586,$(awk "BEGIN { printf \"%.15g\", 6.283185307179586 * $ranks }")]"
      ;;
    re5000) flow re5000 tgv-re5000.yaml ;;
    strong) flow strong tgv-re1600.yaml "flow.steps=$steps" "mesh.elements=[24,24,24]" ;;
    *) echo "unknown part $part" >&2; exit 2 ;;
  esac
done
