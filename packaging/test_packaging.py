#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the recipes, with small stand-ins for the frameworks that read them.

They run the commands of the recipe for Ramble, and apply its patterns to what the program prints as
Ramble does: to each line, from its start, without blanks around the pattern.
"""

import argparse
import ast
import contextlib
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

from run_container_recipe import instructions

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SPACK = HERE / "spack/spack_repo/nekbone_k/packages/nekbone_k/package.py"
RAMBLE = HERE / "ramble/applications/nekbone-k/application.py"
BENCHPARK = HERE / "benchpark/experiments/nekbone-k/experiment.py"
EASYBUILD = next((HERE / "easybuild").glob("*.eb"))
CONTAINER = HERE / "container/Containerfile"
WORKLOADS = ("smoke", "cg", "exchange", "flow")

options = argparse.Namespace()


def cmake_files():
    """The text of all CMake files that configure a build, without comments."""
    files = [ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return re.sub(r"^ *#.*", "", text, flags=re.MULTILINE)


def cmake_options():
    """The options NEKBONE_K_... that a user may set."""
    found = re.findall(r'(?:option\(|set\()(NEKBONE_K_\w+)\s+"[^"]*"\s+(?:CACHE|ON|OFF|\$)', cmake_files())
    return set(found)


class Directives:
    """Functions that note how often and with what they are called."""

    def __init__(self, *names):
        self.calls = {name: [] for name in names}
        for name in names:
            setattr(self, name, self.noting(name))

    def noting(self, name):
        def note(*positional, **named):
            self.calls[name].append((positional, named))
        return note

    def functions(self):
        return {name: getattr(self, name) for name in self.calls}


@contextlib.contextmanager
def modules(**contents):
    """Makes modules with these contents importable. Dots in their names are two underscores."""
    made = {}
    for name, content in contents.items():
        module = types.ModuleType(name.replace("__", "."))
        vars(module).update(content)
        made[module.__name__] = module
    for name in list(made):  # the packages that hold them
        while "." in name:
            name = name.rpartition(".")[0]
            made.setdefault(name, types.ModuleType(name))
    before = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def load(path):
    """The names that a recipe defines."""
    space = {"__file__": str(path), "__name__": "recipe"}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), space)  # pylint: disable=exec-used
    return space


class Spec:
    """A concrete spec such as "+cuda ~openmp cuda_arch=90", with the names of dependencies."""

    def __init__(self, text, **values):
        self.words = text.split()
        self.variants = {name: types.SimpleNamespace(value=value) for name, value in values.items()}

    def satisfies(self, text):
        return all(word in self.words for word in text.split())

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=f"/{name}", hipcc=f"/{name}/bin/hipcc")


# ---- Spack ---------------------------------------------------------------------------------------
class Package:
    """The part of Spack's packages that the recipe uses."""

    @staticmethod
    def define(name, value):
        if isinstance(value, bool):
            return f"-D{name}:BOOL={'ON' if value else 'OFF'}"
        return f"-D{name}:STRING={';'.join(value) if isinstance(value, (list, tuple)) else value}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.satisfies(f"+{variant}"))


class Cuda:
    cuda_arch_values = ("80", "90")


class Rocm:
    amdgpu_targets = ("gfx90a", "gfx942")


def spack_recipe():
    directives = Directives("license", "version", "variant", "depends_on", "conflicts", "generator")
    conditions = contextlib.nullcontext
    with modules(spack__package={**directives.functions(), "when": conditions, "which": None},
                 spack_repo__builtin__build_systems__cmake={"CMakePackage": Package, "generator": directives.generator},
                 spack_repo__builtin__build_systems__cuda={"CudaPackage": Cuda},
                 spack_repo__builtin__build_systems__rocm={"ROCmPackage": Rocm}):
        return load(SPACK)["NekboneK"], directives.calls


class SpackTest(unittest.TestCase):
    def arguments(self, spec, **values):
        recipe, _ = spack_recipe()
        package = recipe()
        package.spec = Spec(spec, orders=("11", "3", "7"), **values)
        return dict(re.fullmatch(r"-D(\w+):\w+=(.*)", word).groups() for word in package.cmake_args())

    def test_options_are_those_of_cmake(self):
        for spec, values, expected in (
                ("+openmp +hdf5 +library", {}, {"NEKBONE_K_BACKEND": "openmp", "NEKBONE_K_LIBRARY": "ON",
                                                "NEKBONE_K_HDF5": "ON", "NEKBONE_K_TESTS": "OFF",
                                                "NEKBONE_K_ORDERS": "3;7;11"}),
                ("", {}, {"NEKBONE_K_BACKEND": "serial", "NEKBONE_K_HDF5": "OFF", "NEKBONE_K_LIBRARY": "OFF",
                          "NEKBONE_K_NCCL": "OFF", "NEKBONE_K_NVSHMEM": "OFF"}),
                ("+tests", {}, {"NEKBONE_K_TESTS": "ON"}),
                ("+cuda +nccl +nvshmem +openmp", {"cuda_arch": ("90",)},
                 {"NEKBONE_K_BACKEND": "cuda", "NEKBONE_K_LIBRARY": "OFF", "CMAKE_CUDA_ARCHITECTURES": "90",
                  "NEKBONE_K_NCCL": "ON", "NEKBONE_K_NVSHMEM": "ON", "NCCL_ROOT": "/nccl", "NVSHMEM_ROOT": "/nvshmem"}),
                ("+rocm +nccl", {}, {"NEKBONE_K_BACKEND": "hip", "NEKBONE_K_NVSHMEM": "OFF", "NCCL_ROOT": "/rccl"})):
            arguments = self.arguments(spec, **values)
            for name, value in expected.items():
                self.assertEqual(arguments[name], value, f"{spec}: {name}")
            for name in arguments:
                if name.startswith("NEKBONE_K_"):
                    self.assertIn(name, cmake_options())
                elif name.endswith("_ROOT"):
                    self.assertIn(f"nekbone_k_optional_library({name.removesuffix('_ROOT')} ", cmake_files())

    def test_dependencies_are_those_of_cmake(self):
        _, calls = spack_recipe()
        needed = {re.match(r"[\w-]+", name).group() for (name,), _ in calls["depends_on"]}
        names = {"MPI": "mpi", "nlohmann_json": "nlohmann-json", "CLI11": "cli11", "Kokkos": "kokkos",
                 "KokkosKernels": "kokkos-kernels", "HDF5": "hdf5", "fmt": "fmt", "yaml-cpp": "yaml-cpp"}
        found = set(re.findall(r"find_package\(([\w-]+)", cmake_files()))
        self.assertEqual(found - set(names), set(), "CMake looks for something new")
        self.assertLessEqual({names[name] for name in found}, needed)
        tests = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn("find_package(GTest", tests)
        self.assertIn("googletest", needed)

    def test_versions_are_those_of_cmake(self):
        _, calls = spack_recipe()
        specs = [name for (name,), _ in calls["depends_on"]]
        oldest = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", cmake_files())[1]
        self.assertIn(f"cmake@{oldest}:", specs)
        for_cuda = re.search(r"CMAKE_VERSION VERSION_LESS ([0-9.]+)", cmake_files())[1]
        self.assertIn(f"cmake@{for_cuda}:", specs)
        kokkos = re.search(r"version VERSION_LESS ([0-9.]+) OR version VERSION_GREATER_EQUAL (\d+)", cmake_files())
        self.assertIn(f"kokkos@{kokkos[1]}:{int(kokkos[2]) - 1} cxxstd=20", specs)
        orders = re.search(r'NEKBONE_K_ORDERS "([\d;]+)"', cmake_files())[1]
        recipe, _ = spack_recipe()
        self.assertEqual(recipe.every_order, tuple(orders.split(";")))


# ---- Ramble --------------------------------------------------------------------------------------
class Ramble:
    """The recipe for Ramble, read."""

    def __init__(self):
        directives = Directives("executable", "workload", "workload_variable", "figure_of_merit",
                                "figure_of_merit_context", "success_criteria", "archive_pattern")
        with modules(ramble__appkit={**directives.functions(), "ExecutableApplication": object}):
            self.name = load(RAMBLE)["NekboneK"].name
        calls = directives.calls
        self.executables = {args[0]: args[1] for args, _ in calls["executable"]}
        self.workloads = {args[0]: named["executables"] for args, named in calls["workload"]}
        self.variables = {(workload, args[0]): named["default"]
                          for args, named in calls["workload_variable"] for workload in named["workloads"]}
        self.figures = {args[0]: named for args, named in calls["figure_of_merit"]}
        ((_, self.context),) = calls["figure_of_merit_context"]
        ((_, self.success),) = calls["success_criteria"]
        self.patterns = [self.context["regex"], self.success["match"],
                         *(figure["fom_regex"] for figure in self.figures.values())]

    def command(self, workload, **variables):
        """The command of a workload, with the defaults of variables that are not given."""
        (executable,) = self.workloads[workload]
        values = {name: default for (of, name), default in self.variables.items() if of == workload}
        self.test_case.assertLessEqual(set(variables) - {"experiment_run_dir"}, set(values))
        return self.executables[executable].format(**(values | variables))

    def passed(self, text):
        return any(re.match(self.success["match"].strip(), line) for line in text.splitlines())

    def orders(self, text):
        """The orders with a context."""
        matches = (re.match(self.context["regex"].strip(), line) for line in text.splitlines())
        return [match["order"] for match in matches if match]

    def results(self, log, report):
        """The figures of merit, by name, each the last one found."""
        found = {}
        for name, figure in self.figures.items():
            text = report if "report.json" in figure.get("log_file", "") else log
            for line in text.splitlines():
                if match := re.match(figure["fom_regex"].strip(), line):
                    found[name] = match[figure["group_name"]]
        return found


class RambleTest(unittest.TestCase):
    def setUp(self):
        self.recipe = Ramble()
        self.recipe.test_case = self
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_workload(self, workload, extra="", **variables):
        """Runs a workload on two ranks. Returns its exit code, output and report."""
        variables |= {"inputs": ROOT / "inputs", "experiment_run_dir": self.folder}
        command = shlex.split(self.recipe.command(workload, **variables) + " " + extra)
        self.assertEqual(command[0], "nekbone-k")
        command = [*options.mpiexec, "-n", "2", options.nekbone_k, *command[1:],
                   "--set", "report.bandwidth=false"]
        run = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             check=False, timeout=240)
        self.assertIn(run.returncode, (0, 1), f"{shlex.join(map(str, command))}\n{run.stdout}{run.stderr}")
        return run.returncode, run.stdout, (self.folder / "report.json").read_text(encoding="utf-8")

    def test_all_workloads_are_there(self):
        self.assertEqual(tuple(self.recipe.workloads), WORKLOADS)
        self.assertEqual(self.recipe.name, "nekbone-k")
        self.assertIn("share/nekbone-k/inputs", self.recipe.variables["smoke", "inputs"])
        self.assertRegex(cmake_files(), r"DIRECTORY \S*/inputs\s+DESTINATION \S*CMAKE_INSTALL_DATADIR\S*/nekbone-k")
        for workload in WORKLOADS:
            self.recipe.command(workload, experiment_run_dir="here")  # nothing is missing
        for pattern in self.recipe.patterns:
            self.assertNotRegex(pattern, r"[{}]|^ | $")  # Ramble expands braces, and strips blanks

    def test_smoke(self):
        code, out, report = self.run_workload("smoke")
        self.assertEqual(code, 0, out)
        self.assertTrue(self.recipe.passed(out), out)
        found = self.recipe.results(out, report)
        for name in ("FOM", "DOF rate"):
            self.assertGreater(float(found[name]), 0, out)
        self.assertGreater(int(found["Iterations of CG"]), 1, out)
        self.assertEqual(self.recipe.orders(out), ["1", "3", "5"], out)
        self.assertIn(found["Selected strategy"], out)
        self.assertNotIn("Flow", found)

    def test_a_run_that_fails_has_no_success(self):
        code, out, _ = self.run_workload("smoke", "--set verification.error_bound=1e-12")
        self.assertEqual(code, 1, out)
        self.assertFalse(self.recipe.passed(out), out)

    def test_cg(self):
        code, out, report = self.run_workload("cg", nx=4, ny=4, nz=6, order=3, iterations=10)
        self.assertEqual(code, 0, out)
        self.assertTrue(self.recipe.passed(out), out)
        found = self.recipe.results(out, report)
        self.assertEqual(found["Iterations of CG"], "10", out)
        self.assertGreater(float(found["FOM"]), 0, out)
        self.assertIn("order 3, 10 iterations", out)

    def test_exchange(self):
        code, out, _ = self.run_workload(
            "exchange", "--set gather_scatter.tuning.minimum_rounds=5", nx=4, ny=4, nz=4, orders="2,3")
        self.assertEqual(code, 0, out)
        self.assertTrue(self.recipe.passed(out), out)
        self.assertEqual(self.recipe.orders(out), ["2", "3"], out)

    def test_flow(self):
        code, out, report = self.run_workload("flow", nx=4, ny=4, nz=4, order=3, steps=2)
        self.assertEqual(code, 0, out)
        self.assertTrue(self.recipe.passed(out), out)
        found = self.recipe.results(out, report)
        points, seconds = float(found["Flow"]), float(found["Time step"])
        self.assertAlmostEqual(points * seconds / (4 * 3) ** 3, 1, 6, out)
        self.assertNotIn("FOM", found)


# ---- Benchpark -----------------------------------------------------------------------------------
class BenchparkTest(unittest.TestCase):
    """The experiment gives every variable that the application for Ramble takes, and no others."""

    def experiment(self, spec):
        directives = Directives("variant")
        mode = types.SimpleNamespace(Strong="strong", Weak="weak", Throughput="throughput")
        model = types.SimpleNamespace(Mpionly="mpi", Openmp="openmp", Cuda="cuda", Rocm="rocm")

        class Base:
            name = "nekbone-k"

            def __init__(self):
                self.variables, self.required, self.packages = {}, {}, []

            def add_experiment_variable(self, name, value, _named=False):
                self.variables.update(value if isinstance(value, dict) else {name: value})

            def set_required_variables(self, **values):
                self.required = values

            def register_scaling_config(self, config):
                self.scaling = config

            def add_package_spec(self, name, specs):
                self.packages.append((name, *specs))

            def determine_version(self):
                return "@main"

        with modules(benchpark__directives=directives.functions(),
                     benchpark__experiment={"Experiment": Base},
                     benchpark__programming_model={"ProgrammingModelType": model,
                                                   "ProgrammingModel": lambda *_: type("Model", (), {})},
                     benchpark__scaling={"ScalingMode": mode, "Scaling": lambda *_: type("Scaling", (), {})}):
            experiment = load(BENCHPARK)["NekboneK"]()
        experiment.spec = Spec(spec)
        experiment.compute_applications_section()
        experiment.compute_package_section()
        workloads = next(named["values"] for args, named in directives.calls["variant"] if args[0] == "workload")
        return experiment, workloads

    def test_variables_are_those_of_the_application(self):
        recipe = Ramble()
        taken = {name for _, name in recipe.variables}
        for spec, resource in (("", "n_ranks"), ("+openmp", "n_ranks"), ("+cuda", "n_gpus"), ("+rocm", "n_gpus")):
            experiment, workloads = self.experiment(spec)
            self.assertEqual(workloads, tuple(recipe.workloads))
            given = set(experiment.variables)
            self.assertLessEqual({"nx", "ny", "nz", "order", resource}, given)
            self.assertLessEqual(given - taken, {"px", "py", "pz", "n_ranks", "n_gpus", "n_threads_per_proc"})
            self.assertEqual(set(experiment.required),
                             {"n_resources", "process_problem_size", "total_problem_size"})
            values = {name: value for name, value in experiment.variables.items() if isinstance(value, int)}
            sizes = {name: ast.literal_eval(str(eval(text.format(**values))))  # pylint: disable=eval-used
                     for name, text in experiment.required.items()}
            self.assertEqual(sizes["total_problem_size"], sizes["process_problem_size"] * sizes["n_resources"])
            self.assertEqual(experiment.packages, [("nekbone-k", "nekbone-k@main")])
            self.assertEqual(set(experiment.scaling), {"strong", "weak", "throughput"})


# ---- EasyBuild, the container --------------------------------------------------------------------
class EasyBuildTest(unittest.TestCase):
    def test_easyconfig(self):
        space = {"SOURCE_TAR_GZ": "archive"}
        exec(EASYBUILD.read_text(encoding="utf-8"), space)  # pylint: disable=exec-used
        chain = space["toolchain"]
        self.assertEqual(EASYBUILD.name,
                         f"{space['name']}-{space['version']}-{chain['name']}-{chain['version']}.eb")
        self.assertEqual(space["version"], re.search(r"^ *VERSION ([0-9.]+)$", cmake_files(), re.MULTILINE)[1])
        for name in re.findall(r"-D(NEKBONE_K_\w+)", space["configopts"]):
            self.assertIn(name, cmake_options())
        oldest = re.search(r"cmake_minimum_required\(VERSION ([0-9]+)\.([0-9]+)\)", cmake_files()).groups()
        version = dict(dependency[:2] for dependency in space["builddependencies"])["CMake"]
        self.assertGreaterEqual([int(part) for part in version.split(".")], [int(part) for part in oldest])


class ContainerTest(unittest.TestCase):
    def test_containerfile(self):
        parts = instructions(CONTAINER.read_text(encoding="utf-8"))
        stages = [rest.split() for word, rest in parts if word == "FROM"]
        names = {stage[2] for stage in stages if len(stage) == 3}
        for image, *_ in stages:
            self.assertRegex(image, r"^[a-z/.]+:[\w.-]+$")
            self.assertNotIn("latest", image)
        for word, rest in parts:
            self.assertIn(word, {"FROM", "ARG", "RUN", "COPY", "ENV", "WORKDIR", "USER", "CMD"})
            if word == "RUN":
                check = subprocess.run(["bash", "-n", "-c", rest], capture_output=True, text=True, check=False)
                self.assertEqual(check.returncode, 0, f"{rest}\n{check.stderr}")
                if "apt-get install" in rest:
                    self.assertIn("rm -rf /var/lib/apt/lists/*", rest)
            elif word == "COPY" and not rest.startswith("--"):
                self.assertTrue((ROOT / rest.split()[0]).exists(), rest)
            elif word == "COPY":
                self.assertIn(re.match(r"--from=(\w+)", rest)[1], names)
        preset = re.search(r"--preset (\w+) ", CONTAINER.read_text(encoding="utf-8"))[1]
        self.assertIn(f'"name": "{preset}"', (ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        for name in re.findall(r"-D(NEKBONE_K_\w+)", CONTAINER.read_text(encoding="utf-8")):
            self.assertIn(name, cmake_options())

    def test_packages_are_those_of_the_set_up(self):
        """What ci/setup.sh installs to build is what the first stage installs."""
        build = CONTAINER.read_text(encoding="utf-8").split("\nFROM")[1]
        probe = (ROOT / "ci/probe/CMakeLists.txt").read_text(encoding="utf-8")
        pairs = dict(re.findall(r"([\w-]+):(lib[\w-]+|nlohmann[\w-]+)", probe))
        for library in ("fmt", "yaml-cpp", "nlohmann_json", "CLI11"):
            self.assertIn(f" {pairs[library]}", build)
        self.assertIn("libhdf5-openmpi-dev", build)


class PagesTest(unittest.TestCase):
    def test_batch_scripts_are_bash(self):
        page = (ROOT / "docs/running.md").read_text(encoding="utf-8")
        scripts = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
        self.assertGreaterEqual(len(scripts), 5)
        for script in scripts:
            self.assertTrue(script.startswith("#!/bin/bash\n"), script)
            check = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
            self.assertEqual(check.returncode, 0, check.stderr)
            self.assertIn("nekbone-k", script)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nekbone-k", required=True, help="the program")
    parser.add_argument("--mpiexec", default="mpirun --oversubscribe", help="how to start ranks")
    options, rest = parser.parse_known_args()
    options.nekbone_k = pathlib.Path(options.nekbone_k).resolve()
    options.mpiexec = shlex.split(options.mpiexec)
    unittest.main(argv=[sys.argv[0], *rest])
