"""What the tests of the program share: running it in a folder of its own, and its report."""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
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

TIMEOUT_S = 60  # of one run; a hang is a failure, slowness is not
MESSAGE = "nekbone-k: "  # how every line of the program on stderr begins

# The smoke test made so small that a run takes a moment, also with sanitizers.
SMALL = {
    "mesh.elements": "[3,3,3]",
    "orders": "[2]",
    "solver.order": "5",
    "solver.tolerance": "1e-10",
    "gather_scatter.tuning.budget_seconds": "0.01",
    "gather_scatter.tuning.grid_budget_seconds": "0.01",
    "gather_scatter.tuning.minimum_rounds": "3",
    "verification.error_bound": "0.05",
    "report.json": "report.json",
}

# What no message to a user may hold: how a library ends a job, or a program that crashed.
TRACES = ["MPI_ABORT", "MPI_Abort", "MPI_ERRORS_ARE_FATAL", "Traceback", "terminate called",
          "Process received signal", "Segmentation", "core dumped", "Sanitizer", "runtime error"]

options = argparse.Namespace()


class Run:
    """A run that is over: its command, folder, exit code and output."""

    def __init__(self, command, folder, code, out, err):
        self.command, self.folder = command, folder
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return (f"\n$ {shlex.join(map(str, self.command))}\nexit code {self.code}\n"
                f"--- stdout\n{self.out}--- stderr\n{self.err}---")

    def messages(self):
        """The lines on stderr that are of the program."""
        return [line for line in self.err.splitlines() if line.startswith(MESSAGE)]


@contextlib.contextmanager
def loaded_machine():
    """Within it others compute on every core, two for each: they take a third of it at least from one rank."""
    with contextlib.ExitStack() as stack:
        for _ in range(2 * len(os.sched_getaffinity(0))):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        yield


def decoded(output):
    """Output as text; bytes that are no UTF-8 become U+FFFD."""
    return (output or b"").decode(errors="replace")


def settings(values):
    """The command line that sets these keys."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def small(**changes):
    """SMALL on the command line, with changes: section__key=value."""
    return settings(SMALL | {key.replace("__", "."): value for key, value in changes.items()})


def ranks_in(folder):
    """Ids of the running ranks of the program that were started in a folder."""
    name = pathlib.Path(options.nekbone_k).name[:15]  # what the kernel keeps
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, or is another user's
            if ((process / "comm").read_text().strip() == name
                    and (process / "cwd").resolve() == folder.resolve()):
                found.append(int(process.name))
    return sorted(found)


def end(process, folder):
    """Ends a launcher and the ranks that it left in its folder."""
    for attempt in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(attempt)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
    for rank in ranks_in(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank, signal.SIGKILL)


def side_by_side(calls, workers=2):
    """The results of calls without arguments, two at a time: much of a short run is waiting."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda call: call(), calls))


def wait_until(condition, seconds):
    """Whether a condition became true in time."""
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

    def setUp(self):
        self.schema = check_schema.load(options.source / "docs/report.schema.json")

    def new_folder(self):
        """A folder to run in, with smoke.yaml."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="nekbone-k-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shutil.copy(options.source / "inputs/smoke.yaml", folder)
        return folder

    @staticmethod
    def command(ranks, *arguments):
        """The program on a number of ranks; 0: without a launcher."""
        launcher = [*shlex.split(options.mpiexec), "-n", str(ranks)] if ranks else []
        return [*launcher, options.nekbone_k, *map(str, arguments)]

    def start(self, command, folder, **keywords):
        """Starts a command in a folder; the test's end ends it."""
        keywords = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                    "stderr": subprocess.PIPE, "start_new_session": True} | keywords
        # Launchers of Open MPI that begin or end at the same time trip over each other in a folder
        # that they share.
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

    def run_faulty(self, fault, ranks, *arguments, folder=None):
        """Runs the program with an MPI that is broken as tests/cli/faulty_mpi.cpp says."""
        library = pathlib.Path(options.nekbone_k).parent / "libnk_faulty_mpi.so"
        self.assertTrue(library.is_file(), f"{library} is not built")
        sanitizers = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:handle_segv=0"
        *launcher, program = self.command(ranks)
        # Not the launcher itself, which may call MPI for its own ends.
        command = [*launcher, "env", f"NEKBONE_K_TEST_FAULT={fault}", f"ASAN_OPTIONS={sanitizers}",
                   f"LD_PRELOAD={library}", program, *map(str, arguments)]
        return self.run_command(command, folder or self.new_folder())

    def report(self, run, name="report.json"):
        """The report that a run wrote, checked against the schema."""
        self.assertTrue((run.folder / name).is_file(), f"no report {name}{run}")
        report = check_schema.load(run.folder / name)
        self.assertEqual(check_schema.problems(report, self.schema), [], f"{name} is invalid{run}")
        return report

    def assert_readable(self, run):
        """Nothing on stdout is wider than 100 columns or meant for a terminal alone."""
        wide = [line for line in run.out.splitlines() if len(line) > 100]
        self.assertEqual(wide, [], f"lines of more than 100 columns{run}")
        for character in "\r\033":
            self.assertNotIn(character, run.out, str(run))

    def assert_no_traces(self, run, traces=TRACES):
        """Nothing in the output looks like a crash."""
        for trace in traces:
            self.assertNotIn(trace, run.out + run.err, str(run))

    def assert_files(self, run, *names):
        """The run's folder holds smoke.yaml and these files, so no temporary file either."""
        found = sorted(path.name for path in run.folder.iterdir())
        self.assertEqual(found, sorted(["smoke.yaml", *names]), f"files in the folder{run}")

    def assert_failed(self, run, reason):
        """The run came to its end and failed; returns its report."""
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


def main():
    """Runs the tests of the calling script; what this parser does not know is for unittest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nekbone-k", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--mpiexec", required=True, help="launch command up to but without -n")
    _, rest = parser.parse_known_args(namespace=options)
    options.nekbone_k = str(pathlib.Path(options.nekbone_k).resolve())
    options.source = options.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
