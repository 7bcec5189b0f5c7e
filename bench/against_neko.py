#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Taylor-Green vortex at Re 1600 against Neko on a CPU: seconds per time step, in turn, in one run.

    bench/against_neko.py --neko PROGRAM --genmeshbox PROGRAM [--ranks P...] [--cases NAME...] [--rounds N]
                          [--out FILE.json] NEKBONE_K FOLDER

PROGRAM is your build of Neko with a user file that sets the initial velocity, and the tool of that build that makes
meshes; bench/README.md says how those of the result file were made. Both programs use order 7, third order in time,
over-integration on 12 Gauss points, and absolute tolerances: the root of the sum of r^2 over the points, each counted
once, and divided by the volume. Cases named late begin at time 8: each program first computes the vortex up to there
with a step of 1e-2 and writes a checkpoint into FOLDER, which a later call uses again.

Each round runs every case once with each program, and every other round begins with the other program. The time of a
run is the median over the later half of its steps; iterations are means over them. The table has medians over the
rounds, and the smallest and the largest ratio of a round.
"""
import argparse
import csv
import json
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

import cg_rows

# Elements per direction, step, tolerances of pressure and velocity, vectors of the projection, steps of a run.
CASES = {
    "early": {"side": 8, "dt": 1e-3, "pressure": 1e-8, "velocity": 1e-9, "projection": 0, "steps": 60},
    "early-projection": {"side": 8, "dt": 1e-3, "pressure": 1e-9, "velocity": 1e-9, "projection": 20, "steps": 60},
    "early-16": {"side": 16, "dt": 1e-3, "pressure": 1e-6, "velocity": 1e-8, "projection": 0, "steps": 16},
    "late": {"side": 8, "dt": 1e-2, "pressure": 1e-6, "velocity": 1e-8, "projection": 0, "steps": 40},
    "late-projection": {"side": 8, "dt": 1e-2, "pressure": 1e-6, "velocity": 1e-8, "projection": 20, "steps": 80},
    "late-tighter": {"side": 8, "dt": 1e-2, "pressure": 1e-8, "velocity": 1e-9, "projection": 0, "steps": 40},
    "late-small-step": {"side": 8, "dt": 1e-3, "pressure": 1e-9, "velocity": 1e-9, "projection": 20, "steps": 80},
}
# Up to the time at which the late cases begin.
BEFORE = {"side": 8, "dt": 1e-2, "pressure": 1e-6, "velocity": 1e-8, "projection": 20, "steps": 800}
BEGIN = BEFORE["steps"] * BEFORE["dt"]
V_CYCLE = ("orders", "smoother", "polynomial", "degree", "precision")


def launched(options, ranks, command, folder):
    """The output of a run in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [*options.launcher, "-np", str(ranks), *map(str, command)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def later_half(values):
    return values[len(values) // 2:]


def measured(case, seconds, pressure, velocity, **more):
    if not len(seconds) == len(pressure) == len(velocity) == case["steps"]:
        sys.exit(f"{len(seconds)}, {len(pressure)} and {len(velocity)} values of {case['steps']} steps")
    return {"step_s": statistics.median(later_half(seconds)),
            "pressure_iterations": statistics.mean(later_half(pressure)),
            "velocity_iterations": statistics.mean(later_half(velocity)), **more}


class Neko:
    name = "neko"

    def __init__(self, options):
        self.options = options

    def mesh(self, side):
        """A periodic box [-pi, pi]^3."""
        path = self.options.folder / f"mesh-{side}" / "box.nmsh"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            half = "3.141592653589793"
            subprocess.run([self.options.genmeshbox, *[f"-{half}", half] * 3, *[str(side)] * 3, *[".true."] * 3],
                           cwd=path.parent, check=True, stdout=subprocess.DEVNULL)
        return path

    def run(self, case, ranks, begin=0, checkpoint=False):
        folder = self.options.folder / "neko"
        solver = {"projection_space_size": case["projection"], "max_iterations": 800}
        # Half a step less, so that rounding adds no step.
        end = begin + (case["steps"] - 0.5) * case["dt"]
        settings = {
            "mesh_file": str(self.mesh(case["side"])), "output_boundary": False, "output_at_end": checkpoint,
            "output_checkpoints": checkpoint, "load_balance": False, "job_timelimit": "00:00:00", "end_time": end,
            "timestep": case["dt"],
            "numerics": {"time_order": 3, "polynomial_order": 7, "dealias": True},
            "fluid": {
                "scheme": "pnpn", "Re": 1600, "initial_condition": {"type": "user"}, "output_control": "never",
                "velocity_solver": {"type": "cg", "preconditioner": "jacobi",
                                    "absolute_tolerance": case["velocity"], **solver},
                "pressure_solver": {"type": "gmres", "preconditioner": "hsmg",
                                    "absolute_tolerance": case["pressure"], **solver}}}
        if begin:
            settings["restart_file"] = str(self.checkpoint())
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "box.case").write_text(json.dumps({"version": 1.0, "case": settings}, indent=1))
        log = launched(self.options, ranks, [self.options.neko, "box.case"], folder)
        number = r"[-+0-9.Ee]+"

        def iterations(solve):
            return [int(n) for n in re.findall(
                rf"\b{solve}\s*\n[^\n]*Iterations:[^\n]*\n\s*(?:\|\s*)*(\d+)\s+{number}", log)]

        return measured(case, [float(x) for x in re.findall(rf"Total time for step\s+\d+\s+\(s\):\s*({number})", log)],
                        iterations("Pressure"),
                        [max(three) for three in zip(*(iterations(f"{x}-Velocity") for x in "XYZ"))])

    def checkpoint(self):
        """The newest one; Neko numbers them."""
        return max((self.options.folder / "neko").glob("*.chkp"), default=None, key=lambda path: path.stat().st_mtime)


class NekboneK:
    name = "nekbone-k"

    def __init__(self, options):
        self.options = options

    def checkpoint(self):
        path = self.options.folder / "nekbone-k" / "begin.h5"
        return path if path.exists() else None

    def run(self, case, ranks, begin=0, checkpoint=False):
        folder = self.options.folder / "nekbone-k"
        first = round(begin / BEFORE["dt"])
        sets = {"mesh.elements": [case["side"]] * 3, "flow.dt": case["dt"], "flow.steps": first + case["steps"],
                "flow.end_time": 1000, "flow.pressure_tolerance": case["pressure"],
                "flow.velocity_tolerance": case["velocity"], "flow.tolerance": "absolute",
                "flow.projection": case["projection"], "flow.series": "series.csv", "flow.series_every": 1,
                "checkpoint.every": case["steps"] if checkpoint else 0, "checkpoint.file": "begin.h5"}
        command = [self.options.program, self.options.input, "--report", "report.json"]
        for key, value in sets.items():
            command += ["--set", f"{key}={value}"]
        launched(self.options, ranks, command + (["--restart", "begin.h5"] if begin else []), folder)
        report = json.loads((folder / "report.json").read_text())
        self.machine = report["machine"]
        with open(folder / "series.csv", encoding="utf-8") as f:
            rows = [row for row in csv.DictReader(f) if int(row["step"]) > 0][-case["steps"]:]
        flow = report["flow"]
        cycle = next((c for c in flow["multigrid"]["candidates"] if c.get("selected")), {})
        return measured(case, [float(row["step_s"]) for row in rows], [int(row["pressure_iterations"]) for row in rows],
                        [int(row["velocity_iterations"]) for row in rows], parts_s=flow["parts_s"],
                        multigrid={key: cycle.get(key) for key in V_CYCLE})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, metavar="NEKBONE_K")
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--neko", type=pathlib.Path, required=True)
    parser.add_argument("--genmeshbox", type=pathlib.Path, required=True)
    parser.add_argument("--launcher", type=shlex.split, default=["mpirun", "--bind-to", "core"])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out")
    options = parser.parse_args()
    for name in ("program", "folder", "neko", "genmeshbox"):
        setattr(options, name, getattr(options, name).resolve())
    options.input = pathlib.Path(__file__).resolve().parent.parent / "inputs" / "tgv-re1600-small.yaml"
    programs = [Neko(options), NekboneK(options)]

    if any(name.startswith("late") for name in options.cases):
        for program in programs:
            if not program.checkpoint():
                program.run(BEFORE, max(options.ranks), checkpoint=True)

    runs = {(name, ranks): {program.name: [] for program in programs}
            for name in options.cases for ranks in options.ranks}
    for turn in range(options.rounds):
        for (name, ranks), found in runs.items():
            for program in programs[::1 if turn % 2 == 0 else -1]:
                found[program.name].append(program.run(CASES[name], ranks, BEGIN if name.startswith("late") else 0))

    print(f"{'case':18} {'ranks':>5} {'Neko, s':>8} {'ours, s':>8} {'ratio':>6}  {'smallest..largest':17}"
          "  iterations: pressure, theirs and ours; velocity, theirs and ours")
    rows = []
    for (name, ranks), found in runs.items():
        theirs, ours = found["neko"], found["nekbone-k"]
        ratios = [one["step_s"] / other["step_s"] for one, other in zip(theirs, ours)]

        def middle(measurements, key):
            return statistics.median(m[key] for m in measurements)

        counts = "  ".join(f"{middle(side, f'{field}_iterations'):5.1f}" for field in ("pressure", "velocity")
                           for side in (theirs, ours))
        print(f"{name:18} {ranks:5} {middle(theirs, 'step_s'):8.4f} {middle(ours, 'step_s'):8.4f}"
              f" {statistics.median(ratios):6.2f}  {f'{min(ratios):.2f}..{max(ratios):.2f}':17}  {counts}")
        rows.append({"case": name, **CASES[name], "ranks": ranks, **found})
    if options.out:
        cg_rows.save(options.out, programs[1].machine, rows)


if __name__ == "__main__":
    main()
