#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves problems with multigrid, and prints iterations and times.

    bench/multigrid_rows.py [--launcher "mpirun -np 1"] [--runs N] [--jacobi] [--set KEY=VALUE]
                            [--out FILE.json] PROGRAM [BOX:ORDER:ELEMENTS]...

Each row is the problem of inputs/multigrid.yaml (lambda 0, tolerance 1e-8) with ELEMENTS^3
elements in a BOX:

    dirichlet   a cube with Dirichlet faces
    periodic    a periodic cube
    sine        a periodic cube, deformed by sines with epsilon 0.3
    kershaw     a cube with Dirichlet faces and Kershaw's deformation, epsilon 0.3
    stretched   a box of extent 1 : 1 : 16 with Dirichlet faces

A row prints the run of median time out of --runs. "Ax" is the time of the solve divided by that of
one application of A in double. --jacobi also solves each row with Jacobi, once. --set passes keys,
e.g. solver.multigrid.smoother=schwarz. FILE receives every solve and the machine's part of the
report.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import cg_rows

PERIODIC = {"mesh.periodic": True, "problem": "taylor-green", "mesh.extent": 6.283185307179586}
BOXES = {
    "dirichlet": {"problem": "nekbone"},
    "periodic": PERIODIC,
    "sine": PERIODIC | {"mesh.deformation": "sine", "mesh.epsilon": 0.3},
    "kershaw": {"mesh.deformation": "kershaw", "mesh.epsilon": 0.3, "problem": "nekbone"},
    "stretched": {"mesh.extent": [1, 1, 16], "problem": "nekbone"},
}
ROWS = ["dirichlet:7:8", "dirichlet:7:16", "periodic:7:8", "periodic:7:16", "sine:7:8", "kershaw:7:12",
        "stretched:7:8", "dirichlet:3:16", "dirichlet:11:6"]


def run(options, row, preconditioner, iterations):
    """The report of one solve."""
    box, order, elements = row.split(":")
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        command = [*shlex.split(options.launcher), options.program, str(cg_rows.ROOT / "inputs/multigrid.yaml"),
                   "--report", str(report)]
        settings = {"mesh.elements": [int(elements)] * 3, "solver.order": int(order), "orders": [int(order)],
                    "solver.preconditioner": preconditioner, "solver.iterations": iterations,
                    "verification.error_bound": 1, "gather_scatter.tuning.journal": f"{folder}/journal",
                    **BOXES[box], **dict(options.set)}
        for key, value in settings.items():
            command += ["--set", f"{key}={json.dumps(value) if not isinstance(value, str) else value}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not report.exists() or not json.loads(report.read_text())["solve"]:
            sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
        return json.loads(report.read_text())


def method_text(solve):
    """The selected V-cycle, and its exchanges."""
    chosen = next(c for c in solve["multigrid"]["candidates"] if c["selected"])
    exchanges = [level["strategy"] or "-" for level in solve["multigrid"]["levels"] if not level["direct"]]
    return (f"{chosen['smoother']} {chosen['polynomial']} {chosen['degree']} {chosen['precision']}"
            f" {'-'.join(map(str, chosen['orders']))}; {' '.join(exchanges)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("rows", nargs="*", metavar="BOX:ORDER:ELEMENTS", default=ROWS)
    parser.add_argument("--launcher", default="mpirun -np 1")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--jacobi", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        type=lambda text: tuple(text.split("=", 1)))
    parser.add_argument("--out")
    options = parser.parse_args()

    rows, machine = [], None
    print(f"{'row':18} {'iter':>5} {'ms/iter':>8} {'solve ms':>9} {'Ax':>6} {'cycle/Ax':>8} {'set-up ms':>9}"
          f" {'one for all':>11} {'Jacobi':>12} {'ratio':>6} passed")
    for row in options.rows or ROWS:
        reports = [run(options, row, "multigrid", 300) for _ in range(options.runs)]
        machine = reports[0]["machine"]
        solves = [report["solve"] for report in reports]
        jacobi = run(options, row, "jacobi", 20000)["solve"] if options.jacobi else None
        solve = sorted(solves, key=lambda s: s["solve_s"])[(len(solves) - 1) // 2]
        multigrid, uniform = solve["multigrid"], solve["multigrid"]["one_strategy_for_all"]
        print(f"{row:18} {solve['iterations']:5} {solve['solve_s'] / max(1, solve['iterations']) * 1e3:8.3f}"
              f" {solve['solve_s'] * 1e3:9.2f} {solve['solve_s'] / (multigrid['operator_s'] or 1):6.1f}"
              f" {(multigrid['cycle_s'] or 0) / (multigrid['operator_s'] or 1):8.1f}"
              f" {(multigrid['setup_s'] or 0) * 1e3:9.1f}"
              f" {'{:.2f}'.format(uniform['cycle_s'] / uniform['selected_cycle_s']) if uniform else '-':>11}"
              f" {'{} it'.format(jacobi['iterations']) if jacobi else '-':>12}"
              f" {'{:.2f}'.format(jacobi['solve_s'] / solve['solve_s']) if jacobi else '-':>6}"
              f" {all(s['passed'] for s in solves)}  {method_text(solve)}", flush=True)
        rows.append({"row": row, "runs": solves, "jacobi": jacobi})
    if options.out:
        for row in rows:
            (row["jacobi"] or {}).pop("history", None)
        cg_rows.save(options.out, machine, rows, settings=cg_rows.settings_of(options))


if __name__ == "__main__":
    main()
