# SPDX-License-Identifier: BSD-3-Clause
# How Ramble runs nekbone-k, and what it reads from the report:
#
#     ramble repo add packaging/ramble
from ramble.appkit import *


class NekboneK(ExecutableApplication):
    """Spectral-element mini-app on Kokkos and MPI, which measures and verifies the exchange
    strategies of its gather-scatter."""

    name = "nekbone-k"

    # The result alone, so that a line PASS means that everything passed.
    always = "--brief --report {experiment_run_dir}/report.json"
    mesh = "--set 'mesh.elements=[{nx},{ny},{nz}]'"

    executable("smoke", f"nekbone-k {{inputs}}/smoke.yaml {always}", use_mpi=True)
    executable(
        "cg",
        f"nekbone-k {{inputs}}/nekbone.yaml {mesh} --set 'orders=[{{order}}]'"
        f" --set solver.order={{order}} --set solver.iterations={{iterations}} {always}",
        use_mpi=True,
    )
    executable(
        "exchange",
        f"nekbone-k {{inputs}}/gs16.yaml {mesh} --set 'orders=[{{orders}}]' {always}",
        use_mpi=True,
    )
    executable(
        "flow",
        f"nekbone-k {{inputs}}/tgv-re1600-small.yaml {mesh} --set solver.order={{order}}"
        f" --set flow.steps={{steps}} {always}",
        use_mpi=True,
    )

    workload("smoke", executables=["smoke"])
    workload("cg", executables=["cg"])
    workload("exchange", executables=["exchange"])
    workload("flow", executables=["flow"])

    workload_variable(
        "inputs",
        default="$(dirname $(command -v nekbone-k))/../share/nekbone-k/inputs",
        description="Folder of the input files; by default those that were installed",
        workloads=["smoke", "cg", "exchange", "flow"],
    )
    for axis in ("x", "y", "z"):
        workload_variable(
            f"n{axis}",
            default="16",
            description=f"Elements in {axis}, of all ranks together",
            workloads=["cg", "exchange", "flow"],
        )
    workload_variable(
        "order", default="7", description="Polynomial order", workloads=["cg", "flow"]
    )
    workload_variable(
        "orders",
        default="1,3,7,11",
        description="Polynomial orders at which the exchange is measured",
        workloads=["exchange"],
    )
    workload_variable(
        "iterations", default="100", description="Iterations of CG", workloads=["cg"]
    )
    workload_variable("steps", default="100", description="Time steps", workloads=["flow"])

    # Ramble matches a pattern at the start of each line, strips blanks off the pattern, and expands
    # braces in it.
    number = r"[0-9.]+(e[+-]?[0-9]+)?"
    figure_of_merit(
        "FOM",
        fom_regex=rf"\s\sFOM +(?P<fom>{number}) GFLOP/s by Nekbone's count",
        group_name="fom",
        units="GFLOP/s",
    )
    figure_of_merit(
        "DOF rate",
        fom_regex=rf"\s\sFOM .*, (?P<rate>{number}) GDOF/s",
        group_name="rate",
        units="GDOF/s",
    )
    figure_of_merit(
        "Iterations of CG",
        fom_regex=r"\s\sCG +order [0-9]+, (?P<iterations>[0-9]+) iteration",
        group_name="iterations",
        units="",
    )
    # The JSON report has times and rates in s and 1/s; the text chooses a unit for each. The flow
    # is indented by two blanks, and the rows of its series by more.
    figure_of_merit(
        "Flow",
        log_file="{experiment_run_dir}/report.json",
        fom_regex=rf'\s\s"point_steps_per_s": (?P<rate>{number})',
        group_name="rate",
        units="points x steps/s",
    )
    figure_of_merit(
        "Time step",
        log_file="{experiment_run_dir}/report.json",
        fom_regex=rf'\s\s"step_s": (?P<time>{number})',
        group_name="time",
        units="s",
    )

    figure_of_merit_context(
        "order",
        regex=r"\s+(?P<order>[0-9]+)(, [0-9]+ values)?  +[a-z][a-z+-]+\s",
        output_format="order {order}",
    )
    figure_of_merit(
        "Selected strategy",
        fom_regex=r"\s+[0-9]+(, [0-9]+ values)?  +(?P<strategy>[a-z][a-z+-]+)\s",
        group_name="strategy",
        units="",
        contexts=["order"],
    )

    success_criteria("passed", mode="string", match=r"\s\sPASS\s", file="{log_file}")

    archive_pattern("{experiment_run_dir}/report.json")
