# SPDX-License-Identifier: BSD-3-Clause
"""Tests of an installed nekbone-k on a system that ReFrame 4 knows:

    reframe -C SETTINGS.py -c packaging/reframe/nekbone_k.py -r -S program=/path/to/nekbone-k

`-n smoke` runs only the shortest. `-S ranks=4 -S elements=64` change the size.
"""

import os

import reframe as rfm
import reframe.utility.sanity as sn

INPUTS = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "inputs"))
# It has all times in seconds; the text chooses a unit for each. The flow is indented by two blanks,
# and the rows of its series by more.
REPORT = "report.json"


class NekboneK(rfm.RunOnlyRegressionTest):
    """A run that verifies its own results."""

    program = variable(str, value="nekbone-k")
    ranks = variable(int, value=2)
    threads = variable(int, value=1)  # per rank; on GPUs: cores per rank
    gpus_per_node = variable(int, value=0)
    elements = variable(int, value=16)  # in each direction, of all ranks together
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None

    @run_before("setup")
    def launch(self):
        self.executable = self.program
        self.num_tasks = self.ranks
        self.num_cpus_per_task = self.threads
        if self.gpus_per_node > 0:
            self.num_gpus_per_node = self.gpus_per_node
            self.num_tasks_per_node = self.gpus_per_node  # one rank per GPU
        self.env_vars["OMP_NUM_THREADS"] = self.threads
        self.env_vars["OMP_PROC_BIND"] = "false" if self.threads == 1 else "spread"
        self.executable_opts = [
            os.path.join(INPUTS, self.input), "--report", REPORT, *self.changes()
        ]

    def changes(self):
        return ["--set", f"mesh.elements={self.elements}"]

    @sanity_function
    def passed(self):
        """The whole run passed, not only CG, and all ranks ended."""
        return sn.all([
            sn.assert_eq(self.job.exitcode, 0),
            sn.assert_found(r"(?s)^-- Result -.*^  PASS ", self.stdout),
        ])

    def result(self, pattern, conversion=float):
        """The number in the last line that matches, which is one of the result."""
        return sn.extractall(pattern, self.stdout, 1, conversion)[-1]


class Cg(NekboneK):
    @performance_function("GFLOP/s")
    def fom(self):
        return self.result(r"^  FOM +(\S+) GFLOP/s")

    @performance_function("GDOF/s")
    def dof_rate(self):
        return self.result(r"^  FOM .*, (\S+) GDOF/s")


@rfm.simple_test
class smoke(Cg):
    descr = "Does everything work?"
    input = "smoke.yaml"

    def changes(self):
        return []


@rfm.simple_test
class cg(Cg):
    descr = "Nekbone's conjugate gradients"
    input = "nekbone.yaml"


@rfm.simple_test
class flow(NekboneK):
    descr = "Time steps of the Taylor-Green vortex"
    input = "tgv-re1600-small.yaml"
    steps = variable(int, value=100)

    def changes(self):
        return [*super().changes(), "--set", f"flow.steps={self.steps}"]

    @performance_function("s")
    def time_step(self):
        return sn.extractsingle(r'^  "step_s": ([^,\s]+)', REPORT, 1, float)

    @performance_function("points x steps/s")
    def fom(self):
        return sn.extractsingle(r'^  "point_steps_per_s": ([^,\s]+)', REPORT, 1, float)
