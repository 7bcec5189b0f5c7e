#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the program under a Slurm of one machine: by srun with PMIx on three ranks, then the batch
# script of docs/running.md, which Slurm signals, which stops with a checkpoint and asks to be run
# again, and a run from that checkpoint. Takes about a minute, because Slurm waits for half a
# minute or more before it signals. Needs root and Open MPI. Installs Slurm by apt. Its daemons live
# in namespaces of their own, and end with it.
#   ci/check-slurm.sh [PROGRAM]      (default: build/openmp/bin/nekbone-k)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=$(realpath "${1:-build/openmp/bin/nekbone-k}")
root=$PWD

fail() {
  echo "ci/check-slurm.sh: $*" >&2
  exit 1
}

cannot() {
  echo "not checked: $*"
  exit 77
}

# ---- Outside the namespaces: what is needed ------------------------------------------------------
if [[ ${CHECK_SLURM:-} != inside ]]; then
  [[ $(id -u) -eq 0 ]] || cannot "Slurm needs root"
  missing=()
  command -v slurmctld >/dev/null && command -v slurmd >/dev/null || missing+=(slurm-wlm)
  command -v munged >/dev/null || missing+=(munge)
  command -v ip >/dev/null || missing+=(iproute2)
  # Packages of services start them, or complain that they cannot. Only the programs are wanted.
  if [[ ${#missing[@]} -gt 0 ]]; then
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
      printf '#!/bin/sh\nexit 101\n' >$policy
      chmod +x $policy
      trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    ci/apt.sh "${missing[@]}" || cannot "there is no Slurm"
  fi
  unshare --net --uts --pid --fork --mount-proc true 2>/dev/null || cannot "namespaces cannot be made"
  status=0
  CHECK_SLURM=inside unshare --net --uts --pid --fork --kill-child --mount-proc \
    "$root/ci/check-slurm.sh" "$program" || status=$?
  exit $status
fi

# ---- Inside: start Slurm -------------------------------------------------------------------------
ip link set lo up
ip address add 192.0.2.1/32 dev lo # the daemons do not start where there is only 127.0.0.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # munged wants that others may reach its socket
mkdir "$work/state" "$work/spool" "$work/munge" "$work/run"
head -c 1024 /dev/urandom >"$work/munge/key"
chmod 400 "$work/munge/key"
munged --foreground --socket="$work/munge/socket" --key-file="$work/munge/key" \
  --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" \
  >"$work/munged.out" 2>&1 &
host=check
hostname $host
# More CPUs than there may be, because three ranks are wanted on two cores.
cat >"$work/slurm.conf" <<END
ClusterName=check
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=4
PartitionName=check Nodes=$host Default=YES State=UP
END
export SLURM_CONF=$work/slurm.conf
srun --mpi=list 2>&1 | grep -q pmix || cannot "this Slurm has no PMIx"
slurmctld -D >"$work/slurmctld.out" 2>&1 &
slurmd -D >"$work/slurmd.out" 2>&1 &

show_daemons() { tail -n 20 "$work"/*.out >&2; }

# wait_for SECONDS COMMAND... waits until a command succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [[ $SECONDS -lt $end ]] || return 1
    sleep 0.3
  done
}
node_is_idle() { [[ $(sinfo --noheader --format=%t 2>/dev/null) == idle ]]; }
wait_for 30 node_is_idle || { show_daemons; fail "the node does not become idle"; }

# Ranks that wait sleep, because there are more ranks than cores; and containers forbid that a rank
# reads the memory of another one.
export OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
yield=${program%/bin/*}/tests/lib/libnk_patient_yield.so
if [[ -e $yield ]]; then export LD_PRELOAD=$yield; fi
cd "$work/run"
PATH=${program%/*}:$PATH

# ---- srun ----------------------------------------------------------------------------------------
srun --mpi=pmix --ntasks=3 nekbone-k "$root/inputs/smoke.yaml" >smoke.txt 2>smoke.err ||
  { cat smoke.txt smoke.err >&2; show_daemons; fail "srun failed"; }
grep -q '^  ranks  *3 on 1 node$' smoke.txt || { cat smoke.txt >&2; fail "srun did not start three ranks of one job"; }

# ---- The batch script of the page ----------------------------------------------------------------
python3 - "$root/docs/running.md" >job.sh <<'END'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
(script,) = [block for block in re.findall(r"```bash\n(.*?)```", page, re.S) if "#SBATCH --signal" in block]
print(script, end="")
END
# All choices are given, so that the time steps begin before the signal comes.
small=()
for setting in mesh.elements=3 mesh.partition=slabs solver.order=3 'solver.all_reduce=[host-mpi]' \
  'solver.multigrid.orders=[3,1]' solver.multigrid.smoother=jacobi solver.multigrid.degree=2 \
  solver.multigrid.polynomial=chebyshev-4 solver.multigrid.precision=double \
  'gather_scatter.strategies=[device-pairwise]' gather_scatter.tuning.budget_seconds=0.01 \
  gather_scatter.tuning.minimum_rounds=3 report.bandwidth=false; do
  small+=(--set "$setting")
done
input=$root/inputs/tgv-re1600-small.yaml
checkpoint=nekbone-k-checkpoint.h5
# Slurm looks every 30 s whether it must signal, and is early by as much: here after 30 s to 60 s.
job=$(sbatch --parsable --nodes=1 --ntasks=3 --ntasks-per-node=3 --time=2 --signal=USR1@60 \
  --output=job.txt job.sh "$input" "${small[@]}" --set checkpoint.every=1000000 \
  --set flow.steps=1000000) || { show_daemons; fail "sbatch failed"; }
asks_again() { [[ $(squeue --noheader --jobs="$job" --format='%T %r' 2>/dev/null) == PENDING* && -s $checkpoint ]]; }
wait_for 100 asks_again || { cat job.txt >&2; show_daemons; fail "the job did not ask to be run again"; }
scancel "$job"
grep -q 'stopped by SIGUSR1' job.txt || { cat job.txt >&2; fail "the flow did not stop by SIGUSR1"; }
step=$(sed -n 's/^  checkpoints .*the last of step \([0-9]*\).*/\1/p' job.txt)
[[ -n $step ]] || { cat job.txt >&2; fail "the flow names no checkpoint"; }

# ---- From the checkpoint -------------------------------------------------------------------------
srun --mpi=pmix --ntasks=3 nekbone-k "$input" "${small[@]}" \
  --set flow.steps=$((step - 19 + 2)) --restart "$checkpoint" >again.txt 2>again.err ||
  { cat again.txt again.err >&2; fail "the run from the checkpoint failed"; }
grep -q "^  restart  *from step $step," again.txt || { cat again.txt >&2; fail "it did not go on from step $step"; }
echo "srun on 3 ranks; a flow signalled by Slurm, stopped at step $step, and gone on with"
