#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws surfaces of equal vorticity in a file of a flow's fields, coloured by speed, as PNG."""

import argparse
import pathlib
import sys

try:
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  makes windows
    from vtkmodules.vtkCommonCore import vtkLogger, vtkLookupTable
    from vtkmodules.vtkFiltersCore import vtkArrayCalculator, vtkContourFilter, vtkPolyDataNormals
    from vtkmodules.vtkFiltersSources import vtkOutlineSource
    from vtkmodules.vtkIOHDF import vtkHDFReader
    from vtkmodules.vtkIOImage import vtkPNGWriter
    from vtkmodules.vtkRenderingCore import (vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow,
                                             vtkWindowToImageFilter)
except ImportError:
    vtkHDFReader = None

# Dark blue to yellow through green, equal steps in lightness, readable without colour vision.
COLOURS = [(0.27, 0.00, 0.33), (0.23, 0.32, 0.55), (0.13, 0.57, 0.55), (0.37, 0.79, 0.38), (0.99, 0.91, 0.14)]


def colour_table(low, high, steps=256):
    """A table from `low` to `high` that blends COLOURS."""
    table = vtkLookupTable()
    table.SetNumberOfTableValues(steps)
    table.SetTableRange(low, high)
    for step in range(steps):
        place = step / (steps - 1) * (len(COLOURS) - 1)
        left = min(int(place), len(COLOURS) - 2)
        blend = [a + (place - left) * (b - a) for a, b in zip(COLOURS[left], COLOURS[left + 1])]
        table.SetTableValue(step, *blend, 1)
    return table


def magnitude(source, name):
    """Adds the Euclidean norm of a vector of the file, under the name |name|."""
    calculator = vtkArrayCalculator()
    calculator.SetInputConnection(source.GetOutputPort())
    calculator.AddVectorArrayName(name)
    calculator.SetFunction(f"mag({name})")
    calculator.SetResultArrayName(f"|{name}|")
    return calculator


def actor_of(source):
    """An actor that shows a surface."""
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(source.GetOutputPort())
    actor = vtkActor()
    actor.SetMapper(mapper)
    return actor


def surface(mesh, level):
    """The actor of |vorticity| = level, coloured by |velocity|. `mesh` has both."""
    contour = vtkContourFilter()
    contour.SetInputConnection(mesh.GetOutputPort())
    contour.SetInputArrayToProcess(0, 0, 0, 0, "|vorticity|")
    contour.SetValue(0, level)
    normals = vtkPolyDataNormals()
    normals.SetInputConnection(contour.GetOutputPort())
    normals.SplittingOff()
    normals.Update()
    if normals.GetOutput().GetNumberOfCells() == 0:
        return None
    actor = actor_of(normals)
    speed = normals.GetOutput().GetPointData().GetArray("|velocity|").GetRange()
    actor.GetMapper().SetScalarModeToUsePointFieldData()
    actor.GetMapper().SelectColorArray("|velocity|")
    actor.GetMapper().SetLookupTable(colour_table(*speed))
    actor.GetMapper().SetScalarRange(*speed)
    return actor


def outline(bounds):
    """The actor of the box's edges."""
    source = vtkOutlineSource()
    source.SetBounds(bounds)
    actor = actor_of(source)
    actor.GetProperty().SetColor(0.4, 0.4, 0.4)
    actor.GetProperty().SetLighting(False)
    return actor


def draw(path, level, size, out):
    """Writes the picture. Raises ValueError if the file has no such surface."""
    reader = vtkHDFReader()
    if not reader.CanReadFile(str(path)):
        raise ValueError(f"{path}: not a VTKHDF file")
    reader.SetFileName(str(path))
    mesh = magnitude(magnitude(reader, "velocity"), "vorticity")
    mesh.Update()
    values = mesh.GetOutput().GetPointData().GetArray("|vorticity|")
    if values is None or mesh.GetOutput().GetPointData().GetArray("|velocity|") is None:
        raise ValueError(f"{path}: has no velocity and vorticity")
    largest = values.GetRange()[1]
    shown = surface(mesh, level if level is not None else 0.3 * largest)
    if shown is None:
        raise ValueError(f"{path}: no vorticity of {level:g}; the largest is {largest:.4g}")
    renderer = vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    renderer.AddActor(shown)
    renderer.AddActor(outline(mesh.GetOutput().GetBounds()))
    camera = renderer.GetActiveCamera()
    camera.SetPosition(1, -1.6, 0.9)
    camera.SetViewUp(0, 0, 1)
    renderer.ResetCamera()
    camera.Zoom(0.98)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(8)
    window.SetSize(size, size)
    window.AddRenderer(renderer)
    window.Render()
    image = vtkWindowToImageFilter()
    image.SetInput(window)
    writer = vtkPNGWriter()
    writer.SetFileName(str(out))
    writer.SetInputConnection(image.GetOutputPort())
    writer.Write()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fields", type=pathlib.Path, metavar="FIELDS.vtkhdf", help="a file that output.every wrote")
    parser.add_argument("--level", type=float, help="the vorticity of the surfaces (default: 0.3 times the largest)")
    parser.add_argument("--size", type=int, default=800, help="pixels of a side (default: 800)")
    parser.add_argument("--out", type=pathlib.Path, help="the picture (default: FIELDS.png)")
    options = parser.parse_args()
    if vtkHDFReader is None:
        parser.error("needs VTK's Python module: pip install vtk")
    if not options.fields.is_file():
        parser.error(f"there is no file {options.fields}")
    if options.size < 1:
        parser.error("--size must be at least 1")
    # Without a display, VTK warns and draws all the same.
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    out = options.out or options.fields.with_suffix(".png")
    try:
        draw(options.fields, options.level, options.size, out)
    except ValueError as error:
        parser.error(str(error))
    print(f"{out}: written")


if __name__ == "__main__":
    sys.exit(main())
