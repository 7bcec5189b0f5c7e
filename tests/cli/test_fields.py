#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fields of a flow, read by VTK's own reader. Needs VTK's Python module, which ci/check-vtk.sh gets."""

import math
import subprocess
import sys
import unittest

import harness

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    from vtkmodules.vtkFiltersCore import vtkAppendFilter, vtkProbeFilter
    from vtkmodules.vtkIOHDF import vtkHDFReader
except ImportError:
    vtkHDFReader = None

SIZE = 2 * math.pi
# Kitware's number of a Lagrange hexahedron.
LAGRANGE_HEXAHEDRON = 72
FLOW = harness.SMALL | {
    "problem": "flow",
    "mesh.extent": f"[{SIZE},{SIZE},{SIZE}]",
    "mesh.epsilon": "0.1",
    "solver.order": "7",
    "solver.all_reduce": "[host-mpi]",
    "solver.multigrid.orders": "[7,3,1]",
    "solver.multigrid.smoother": "jacobi",
    "solver.multigrid.polynomial": "chebyshev-4",
    "solver.multigrid.degree": "2",
    "solver.multigrid.precision": "double",
    "flow.initial": "abc",
    "flow.translation": "[1,0.5,0.25]",
    "flow.viscosity": "0.05",
    "flow.dt": "0.01",
    "flow.steps": "1",
    "flow.series": "flow.csv",
    "output.every": "1000",
    "gather_scatter.strategies": "[device-pairwise]",
}


def exact(x, time):
    """The ABC flow that a translation carries along."""
    carried = (1, 0.5, 0.25)
    decay = math.exp(-0.05 * time)
    phase = [x[d] - carried[d] * time for d in range(3)]
    return [carried[d] + decay * (math.sin(phase[(d + 2) % 3]) + math.cos(phase[(d + 1) % 3])) for d in range(3)]


@unittest.skipUnless(vtkHDFReader, "VTK's Python module is missing; ci/check-vtk.sh gets it")
class Fields(harness.CliTest):
    """Files of fields."""

    def read(self, path):
        """The mesh in a file."""
        reader = vtkHDFReader()
        self.assertTrue(reader.CanReadFile(str(path)), path)
        reader.SetFileName(str(path))
        reader.Update()
        parts = reader.GetOutputDataObject(0)
        if not parts.IsA("vtkPartitionedDataSet"):
            return parts
        together = vtkAppendFilter()
        for part in range(parts.GetNumberOfPartitions()):
            together.AddInputData(parts.GetPartition(part))
        together.Update()
        return together.GetOutput()

    def check_nodes(self, mesh, time):
        """The nodes of a mesh have the exact flow."""
        self.assertEqual({mesh.GetCellType(c) for c in range(mesh.GetNumberOfCells())}, {LAGRANGE_HEXAHEDRON})
        self.assertEqual(mesh.GetNumberOfCells(), 27)
        self.assertEqual(mesh.GetNumberOfPoints(), 27 * 8**3)
        for low, high in zip(mesh.GetBounds()[::2], mesh.GetBounds()[1::2]):
            self.assertAlmostEqual(low, 0, delta=1e-6)
            self.assertAlmostEqual(high, SIZE, delta=1e-6)
        data = mesh.GetPointData()
        points = vtk_to_numpy(mesh.GetPoints().GetData())
        velocity, vorticity = (vtk_to_numpy(data.GetArray(name)) for name in ("velocity", "vorticity"))
        self.assertEqual(data.GetArray("pressure").GetNumberOfComponents(), 1)
        for x, u, curl in zip(points[::37], velocity[::37], vorticity[::37]):
            for d, value in enumerate(exact(x, time)):
                self.assertAlmostEqual(u[d], value, delta=1e-3)
                # The curl of this flow at rest is the flow.
                self.assertAlmostEqual(curl[d], value - (1, 0.5, 0.25)[d], delta=2e-2)

    def check_between(self, mesh, time):
        """Points between nodes have the exact flow."""
        between = vtkPoints()
        for n in range(60):
            between.InsertNextPoint(*(SIZE * (0.05 + 0.9 * (n * step % 1)) for step in (0.618, 0.382, 0.271)))
        asked = vtkPolyData()
        asked.SetPoints(between)
        probe = vtkProbeFilter()
        probe.SetInputData(asked)
        probe.SetSourceData(mesh)
        probe.Update()
        found = vtk_to_numpy(probe.GetOutput().GetPointData().GetArray("velocity"))
        for n, u in enumerate(found):
            for d, value in enumerate(exact(between.GetPoint(n), time)):
                self.assertAlmostEqual(u[d], value, delta=1e-3)

    def test_values_at_nodes(self):
        for ranks in (1, 3):
            run = self.run_program(ranks, "smoke.yaml", *harness.settings(FLOW))
            self.assertEqual(run.code, 0, str(run))
            flow = self.report(run)["flow"]
            self.assertEqual(flow["field_files"], 2)
            last = flow["steps"]
            self.check_nodes(self.read(run.folder / "nekbone-k-fields-000000.vtkhdf"), 0)
            self.check_nodes(self.read(run.folder / f"nekbone-k-fields-{last:06}.vtkhdf"), flow["series"][-1]["time"])

    # Not in curved elements, where VTK finds the place of a point by straight pieces.
    def test_values_between_nodes(self):
        run = self.run_program(2, "smoke.yaml", *harness.settings(FLOW | {"mesh.deformation": "none"}))
        self.assertEqual(run.code, 0, str(run))
        self.check_between(self.read(run.folder / "nekbone-k-fields-000000.vtkhdf"), 0)

    def test_files_that_cannot_be_drawn(self):
        folder = self.new_folder()
        (folder / "text.vtkhdf").write_text("no fields", encoding="utf-8")
        program = harness.options.source / "tools" / "vortex_picture.py"
        for name, message in (("none.vtkhdf", "there is no file none.vtkhdf"), ("text.vtkhdf", "not a VTKHDF file")):
            done = subprocess.run([sys.executable, program, name], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertFalse(list(folder.glob("*.png")))


if __name__ == "__main__":
    harness.main()
