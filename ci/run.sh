#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh clone to a result: installs missing packages, builds, and runs on this machine.
#   ci/run.sh INPUT.yaml [argument of nekbone-k]...
#   PRESET=serial NP=4 ci/run.sh inputs/tgv64.yaml
# PRESET is a CMake preset (default openmp); NP is the number of ranks (default: physical cores).
# Each rank has OMP_NUM_THREADS=1 by default. CMakePresets.json lists the presets.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage() { sed -n '3,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
if [[ $# -eq 0 ]]; then
  usage >&2
  exit 2
fi
if [[ $1 == -h || $1 == --help ]]; then
  usage
  echo "nekbone-k --help, once it is built, lists its arguments."
  exit 0
fi
if [[ -n ${NP:-} && ! $NP =~ ^[1-9][0-9]*$ ]]; then
  echo "ci/run.sh: NP is '$NP'; give the number of ranks, e.g. NP=4" >&2
  exit 2
fi
if [[ $1 != -* && $1 != doctor && ! -r $1 ]]; then # before a build that takes minutes
  echo "ci/run.sh: cannot read the input file '$1'; see inputs/ for examples" >&2
  exit 2
fi
preset=${PRESET:-openmp}
"$root/ci/setup.sh"
"$root/ci/build.sh" "$preset" nekbone-k

# Number of usable physical cores. Hyper-threads share memory bandwidth, which limits the run.
physical_cores() {
  local cores usable
  usable=$(env -u OMP_NUM_THREADS nproc) # nproc obeys OMP_NUM_THREADS
  cores=$( (lscpu -p=Core,Socket 2>/dev/null || true) | grep -v '^#' | sort -u | wc -l)
  if [[ $cores -lt 1 || $cores -gt $usable ]]; then cores=$usable; fi
  echo "$cores"
}
cores=$(physical_cores)
ranks=${NP:-$cores}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# A single thread needs no binding; with more threads, Kokkos asks for these settings.
if [[ $OMP_NUM_THREADS -eq 1 ]]; then
  export OMP_PROC_BIND=${OMP_PROC_BIND:-false}
else
  export OMP_PROC_BIND=${OMP_PROC_BIND:-spread} OMP_PLACES=${OMP_PLACES:-threads}
fi
if [[ $(id -u) -eq 0 ]]; then # Open MPI refuses root, the only user in many containers
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
if [[ $ranks -gt $cores ]]; then
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
fi
launcher=mpirun
command -v mpirun >/dev/null 2>&1 || launcher=mpiexec
exec "$launcher" -np "$ranks" "$root/build/$preset/bin/nekbone-k" "$@"
