# SPDX-License-Identifier: BSD-3-Clause
# An experiment of Benchpark on nekbone-k. In a checkout of Benchpark, copy
#
#     packaging/benchpark/experiments/nekbone-k       to experiments/
#     packaging/ramble/applications/nekbone-k         to repos/ramble_applications/
#
# and add the recipe for Spack by `spack repo add`, because it builds the checkout in which it lies.
from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.programming_model import ProgrammingModel, ProgrammingModelType
from benchpark.scaling import Scaling, ScalingMode


class NekboneK(
    Experiment,
    ProgrammingModel(
        ProgrammingModelType.Mpionly,
        ProgrammingModelType.Openmp,
        ProgrammingModelType.Cuda,
        ProgrammingModelType.Rocm,
    ),
    Scaling(ScalingMode.Strong, ScalingMode.Weak, ScalingMode.Throughput),
):
    variant(
        "workload",
        default="cg",
        values=("smoke", "cg", "exchange", "flow"),
        description="A workload of the application for Ramble",
    )
    variant("version", default="main", values=("main",), description="Version for Spack")

    def compute_applications_section(self):
        # Per rank, one per core or GPU: enough work for a CPU, and a start for a GPU.
        on_gpus = self.spec.satisfies("+cuda") or self.spec.satisfies("+rocm")
        side = 32 if on_gpus else 16
        self.add_experiment_variable("ranks", {"px": 1, "py": 1, "pz": 2}, True)
        self.add_experiment_variable("elements", {"nx": side, "ny": side, "nz": 2 * side}, True)
        self.add_experiment_variable("order", 7, True)

        count = "{px} * {py} * {pz}"
        self.set_required_variables(
            n_resources=count,
            process_problem_size="{nx} * {ny} * {nz} / ({px} * {py} * {pz})",
            total_problem_size="{nx} * {ny} * {nz}",
        )
        self.add_experiment_variable("n_gpus" if on_gpus else "n_ranks", count, True)
        if self.spec.satisfies("+openmp"):
            self.add_experiment_variable("n_threads_per_proc", 1, True)

        def same(variable, _, dimension, __):
            return variable.val(dimension)

        def more(variable, _, dimension, factor):
            return variable.val(dimension) * factor

        self.register_scaling_config(
            {
                ScalingMode.Strong: {"ranks": more, "elements": same},
                ScalingMode.Weak: {"ranks": more, "elements": more},
                ScalingMode.Throughput: {"ranks": same, "elements": more},
            }
        )

    def compute_package_section(self):
        self.add_package_spec(self.name, [f"nekbone-k{self.determine_version()}"])
