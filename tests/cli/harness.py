# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of the program's tests: run it in a new folder and check its output and report."""

import argparse
import atexit
import concurrent.futures
import contextlib
import functools
import io
import multiprocessing
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import check_schema  # noqa: E402

TIMEOUT_S = 240  # per run; long enough that only a hang reaches it
MESSAGE = "nekbone-k: "  # start of every line that the program writes to stderr

# Changes that make the smoke test fast, also with sanitizers.
SMALL = {
    "mesh.elements": "[3,3,3]",
    "orders": "[2]",
    "solver.order": "5",
    "solver.tolerance": "1e-10",
    "gather_scatter.tuning.budget_seconds": "0.01",
    "gather_scatter.tuning.grid_budget_seconds": "0.01",
    "gather_scatter.tuning.minimum_rounds": "3",
    "verification.error_bound": "0.05",
    "report.bandwidth": "false",  # takes longer than the rest of a small run
    "report.json": "report.json",
}

# Text that no message to a user may contain: signs of an aborting library or a crash.
TRACES = ["MPI_ABORT", "MPI_Abort", "MPI_ERRORS_ARE_FATAL", "Traceback", "terminate called",
          "Process received signal", "Segmentation", "core dumped", "Sanitizer", "runtime error"]

# Prefix of a command: runs it as process 1 of a PID namespace, as in a container.
CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]

options = argparse.Namespace()


class Run:
    """A finished run: its command, folder, exit code and output."""

    def __init__(self, command, folder, code, out, err):
        self.command, self.folder = command, folder
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return (f"\n$ {shlex.join(map(str, self.command))}\nexit code {self.code}\n"
                f"--- stdout\n{self.out}--- stderr\n{self.err}---")

    def messages(self):
        """The program's own lines on stderr."""
        return [line for line in self.err.splitlines() if line.startswith(MESSAGE)]


@contextlib.contextmanager
def loaded_machine():
    """Runs two busy processes per core, so that a rank loses at least a third of its core."""
    with contextlib.ExitStack() as stack:
        for _ in range(2 * len(os.sched_getaffinity(0))):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        yield


def decoded(output):
    """Output as text; bytes that are not UTF-8 become U+FFFD."""
    return (output or b"").decode(errors="replace")


def settings(values):
    """Command-line options that set these keys."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def small(**changes):
    """Command-line options for SMALL with changes: section__key=value."""
    return settings(SMALL | {key.replace("__", "."): value for key, value in changes.items()})


def ranks_in(folder):
    """Process ids of the program's ranks that run in a folder."""
    name = pathlib.Path(options.nekbone_k).name[:15]  # the kernel keeps 15 characters
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process ended, or belongs to another user
            if ((process / "comm").read_text().strip() == name
                    and (process / "cwd").resolve() == folder.resolve()):
                found.append(int(process.name))
    return sorted(found)


def end(process, folder):
    """Ends a launcher and the ranks that it left running in its folder."""
    for attempt in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(attempt)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
    for rank in ranks_in(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank, signal.SIGKILL)


def side_by_side(calls, workers=2):
    """Makes calls without arguments, two at a time, because short runs mostly wait. Returns the results."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda call: call(), calls))


@functools.lru_cache
def schema_validator():
    """The validator of reports."""
    return check_schema.validator_of(check_schema.load(options.source / "docs/report.schema.json"))


def alone(test):
    """Marks a test that no other test may run beside, because it loads the machine or needs one without load."""
    test.runs_alone = True
    return test


def wait_until(condition, seconds):
    """Whether a condition becomes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class CliTest(unittest.TestCase):
    """Tests that run the program, in new folders with smoke.yaml in them."""

    longMessage = True
    maxDiff = None

    def new_folder(self):
        """A folder to run in, with smoke.yaml."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nekbone-k-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shutil.copy(options.source / "inputs/smoke.yaml", folder)
        return folder

    @staticmethod
    def command(ranks, *arguments):
        """The command that runs the program on a number of ranks; 0: without a launcher."""
        launcher = [*shlex.split(options.mpiexec), "-n", str(ranks)] if ranks else []
        return [*launcher, options.nekbone_k, *map(str, arguments)]

    def start(self, command, folder, **keywords):
        """Starts a command in a folder. The test's cleanup ends it."""
        keywords = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                    "stderr": subprocess.PIPE, "start_new_session": True} | keywords
        # Open MPI's launchers interfere if they start or end at the same time with the same session folder.
        session = tempfile.mkdtemp(prefix="nk-mpi-")
        self.addCleanup(shutil.rmtree, session, ignore_errors=True)
        keywords["env"] = {"OMPI_MCA_orte_tmpdir_base": session,
                           "PRTE_MCA_prte_tmpdir_base": session} | keywords.get("env", dict(os.environ))
        process = subprocess.Popen(command, cwd=folder, **keywords)
        self.addCleanup(end, process, folder)
        return process

    def run_command(self, command, folder, **keywords):
        """Runs a command to its end."""
        with self.start(command, folder, **keywords) as process:
            try:
                out, err = process.communicate(timeout=TIMEOUT_S)
                code = process.returncode
            except subprocess.TimeoutExpired:
                end(process, folder)
                out, err = process.communicate()
                code = f"none, ended after {TIMEOUT_S} s"
        return Run(command, folder, code, *(decoded(text) for text in (out, err)))

    def run_program(self, ranks, *arguments, folder=None):
        """Runs the program on a number of ranks to its end, by default in a new folder."""
        return self.run_command(self.command(ranks, *arguments), folder or self.new_folder())

    def require_containers(self):
        """Skips the test if PID namespaces are unavailable."""
        try:
            tried = subprocess.run([*CONTAINER, "true"], capture_output=True, check=False)
        except OSError as error:
            self.skipTest(f"no unshare: {error}")
        if tried.returncode != 0:
            self.skipTest(f"no PID namespaces: {decoded(tried.stderr)}")

    def run_faulty(self, fault, ranks, *arguments, folder=None, before=()):
        """Runs the program with a fault of tests/cli/faulty_mpi.cpp. `before` precedes the launcher."""
        return self.run_command(self.faulty_command(fault, ranks, *arguments, before=before),
                                folder or self.new_folder())

    def faulty_command(self, fault, ranks, *arguments, before=()):
        """The command that runs the program with a broken MPI; 0 ranks: without a launcher."""
        library = pathlib.Path(options.nekbone_k).parent / "libnk_faulty_mpi.so"
        self.assertTrue(library.is_file(), f"{library} is not built")
        preloaded = ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))
        sanitizers = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:handle_segv=0"
        *launcher, program = self.command(ranks)
        # Preload only into the program, because the launcher may call MPI, too. Each fault is a different
        # MPI, so it gets its own cache of trials.
        cache = pathlib.Path(os.environ["NEKBONE_K_CACHE"]) / f"fault-{fault}"
        return [*before, *launcher, "env", f"NEKBONE_K_TEST_FAULT={fault}", f"ASAN_OPTIONS={sanitizers}",
                f"NEKBONE_K_CACHE={cache}", f"LD_PRELOAD={preloaded}", program, *map(str, arguments)]

    def until_kept(self, attempt):
        """Repeats `attempt` until its run caches its choices. Returns its report and run.

        A run on a loaded machine caches nothing. Skips the test if the machine stays loaded.
        """
        for _ in range(5):
            report, run = attempt()
            words = " ".join(run.out.split())
            if not re.search("(?<!is )not kept", words):  # "is not kept" means that writing failed
                break
        if "not kept: the machine was loaded" in words:
            self.skipTest("others use the cores all the time, so that no run keeps a choice")
        return report, run

    def report(self, run, name="report.json"):
        """The report that a run wrote, checked against the schema."""
        self.assertTrue((run.folder / name).is_file(), f"no report {name}{run}")
        report = check_schema.load(run.folder / name)
        self.assertEqual(check_schema.problems_by(schema_validator(), report), [], f"{name} is invalid{run}")
        return report

    def assert_readable(self, run):
        """Stdout has no line of more than 100 columns and no terminal control characters."""
        wide = [line for line in run.out.splitlines() if len(line) > 100]
        self.assertEqual(wide, [], f"lines of more than 100 columns{run}")
        for character in "\r\033":
            self.assertNotIn(character, run.out, str(run))

    def assert_no_traces(self, run, traces=TRACES):
        """The output shows no sign of a crash."""
        for trace in traces:
            self.assertNotIn(trace, run.out + run.err, str(run))

    def assert_files(self, run, *names):
        """The run's folder has smoke.yaml, these files and no others."""
        found = sorted(path.name for path in run.folder.iterdir())
        self.assertEqual(found, sorted(["smoke.yaml", *names]), f"files in the folder{run}")

    def assert_failed(self, run, reason):
        """The run finished with verdict FAIL. Returns its report."""
        self.assertEqual(run.code, 1, str(run))
        self.assert_readable(run)
        self.assert_no_traces(run)
        self.assertIn("\n  FAIL ", run.out, str(run))
        self.assertNotIn("\n  PASS ", run.out, str(run))
        report = self.report(run)
        self.assert_files(run, "report.json")
        self.assertIs(report["passed"], False, str(run))
        self.assertIs(report["solve"]["passed"], False, str(run))
        self.assertRegex(report["solve"]["verdict"], reason, str(run))
        return report


def run_one(name):
    """Runs one test in this process. Returns its name, whether it passed, its seconds and its output."""
    output, begin = io.StringIO(), time.monotonic()
    suite = unittest.defaultTestLoader.loadTestsFromName(name, sys.modules["__main__"])
    result = unittest.TextTestRunner(output, verbosity=2).run(suite)
    return name, result.wasSuccessful(), time.monotonic() - begin, output.getvalue()


def run_in_processes(workers):
    """Runs all tests in some processes, because most tests mostly wait. Returns whether all passed."""
    def tests(suite):
        for test in suite:
            yield from tests(test) if isinstance(test, unittest.TestSuite) else [test]
    names, lonely = [], []
    for test in tests(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])):
        cls, method = type(test), test._testMethodName
        is_alone = getattr(getattr(cls, method), "runs_alone", getattr(cls, "runs_alone", False))
        (lonely if is_alone else names).append(f"{cls.__name__}.{method}")
    passed, count = True, 0
    for group, processes in ((names, workers), (lonely, 1)):
        # Forks, so that every process has the options.
        with concurrent.futures.ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
            for done in concurrent.futures.as_completed([pool.submit(run_one, name) for name in group]):
                name, is_right, seconds, output = done.result()
                passed, count = passed and is_right, count + 1
                print(f"{seconds:6.1f} s  {name}: {'passed' if is_right else 'FAILED'}", flush=True)
                if not is_right or "skipped" in output:
                    print(output, flush=True)
    print(f"ran {count} tests: {'all passed' if passed else 'some FAILED'}")
    return passed and count == len(names) + len(lonely) > 0


def main():
    """Runs the tests of the calling script. Passes unknown arguments to unittest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nekbone-k", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--mpiexec", required=True, help="launch command up to but without -n")
    parser.add_argument("--workers", type=int, default=1, help="number of tests to run side by side")
    _, rest = parser.parse_known_args(namespace=options)
    options.nekbone_k = str(pathlib.Path(options.nekbone_k).resolve())
    options.source = options.source.resolve()
    os.environ |= {"LC_ALL": "C.UTF-8", "TERM": "xterm"}  # these change the program's output
    cache = tempfile.mkdtemp(prefix="nk-cache-")  # instead of the user's cache
    atexit.register(shutil.rmtree, cache, ignore_errors=True)
    os.environ["NEKBONE_K_CACHE"] = cache
    if options.workers > 1 and not rest:
        sys.exit(0 if run_in_processes(options.workers) else 1)
    unittest.main(argv=[sys.argv[0], *rest])
