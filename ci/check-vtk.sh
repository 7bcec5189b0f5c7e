#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Reads the fields of a flow by VTK's own reader (tests/cli/test_fields.py). Installs VTK's Python
# module into a virtual environment in the cache (140 MB) if python3 does not have it.
#   ci/check-vtk.sh [PROGRAM]      (default: build/openmp/bin/nekbone-k)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-build/openmp/bin/nekbone-k}
python=python3
if ! python3 -c 'import vtkmodules.vtkIOHDF, numpy, jsonschema' >/dev/null 2>&1; then
  folder=${NEKBONE_K_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nekbone-k}/vtk
  python=$folder/bin/python3
  if ! "$python" -c 'import vtkmodules.vtkIOHDF' >/dev/null 2>&1; then
    if ! { python3 -m venv --system-site-packages "$folder" &&
      "$folder/bin/pip" install --quiet vtk numpy; } >&2; then
      echo "not checked: VTK's Python module cannot be installed"
      exit 77
    fi
  fi
fi
# Open MPI refuses to start as root, as in a container, unless told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMP_NUM_THREADS=1 "$python" tests/cli/test_fields.py --nekbone-k "$program" --source . \
  --mpiexec "mpirun --oversubscribe" >&2
