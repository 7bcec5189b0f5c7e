// SPDX-License-Identifier: BSD-3-Clause
#include "output/vtk_file.hpp"

#include <numeric>
#include <vector>

#include "mesh/mapping.hpp"
#include "output/element_values.hpp"
#include "output/hdf5_file.hpp"
#include "output/lagrange_cell.hpp"

namespace nekbone_k {
namespace {

constexpr std::uint8_t lagrange_hexahedron = 72;  // VTK's number of that cell

/// This rank's rows among those of all ranks, in the sequence of ranks. Collective.
Hdf5File::Rows rows_of(const Communicator& comm, std::uint64_t here, int columns) {
  std::vector<std::vector<std::int64_t>> to_all(comm.size(), {static_cast<std::int64_t>(here)});
  Hdf5File::Rows rows{.whole = 0, .begin = 0, .count = here, .columns = columns};
  const auto counts = comm.exchange(to_all);
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank < comm.rank()) rows.begin += counts[rank].front();
    rows.whole += counts[rank].front();
  }
  return rows;
}

/// Values of this rank's elements at GLL nodes as rows at equispaced nodes in VTK's sequence.
class NodeRows {
 public:
  NodeRows(const BoxMesh& mesh, int columns)
      : m_points(mesh.nq() * mesh.nq() * mesh.nq()),
        m_columns(columns),
        m_nodes(vtk_nodes(mesh.order())),
        m_equispaced(mesh.basis()),
        m_nq(mesh.nq()),
        m_rows(std::size_t(mesh.n_elements()) * m_points * columns) {}

  /// Sets a column from the values of element `e`, shape (k, j, i), which it overwrites.
  void set(LocalIndex e, int column, double* values) {
    m_equispaced.apply(values);
    float* const to = &m_rows[std::size_t(e) * m_points * m_columns];
    for (int n = 0; n < m_points; ++n) {
      const auto& [i, j, k] = m_nodes[n];
      to[n * m_columns + column] = static_cast<float>(values[(k * m_nq + j) * m_nq + i]);
    }
  }
  const float* data() const { return m_rows.data(); }

 private:
  int m_points, m_columns;
  std::vector<std::array<int, 3>> m_nodes;
  ToEquispaced m_equispaced;
  int m_nq;
  std::vector<float> m_rows;
};

/// The coordinates of nodes, as the elements have them.
NodeRows coordinates(const BoxMesh& mesh) {
  NodeRows rows(mesh, 3);
  const BoxMapping map = mesh.mapping();
  const int nq = mesh.nq();
  const std::vector<double>& nodes = mesh.basis().nodes;
  const bool is_straight = mesh.spec().geometry == Geometry::trilinear;
  std::array<std::vector<double>, 3> values;
  for (auto& of_direction : values) of_direction.resize(nq * nq * nq);
  for (LocalIndex e = 0; e < mesh.n_elements(); ++e) {
    const std::array<int, 3> element = mesh.element(e);
    const auto at = [&](double a, double b, double c) {
      const auto& n = mesh.spec().elements;
      return map((element[0] + a) / n[0], (element[1] + b) / n[1], (element[2] + c) / n[2]);
    };
    for (int k = 0; k < nq; ++k)
      for (int j = 0; j < nq; ++j)
        for (int i = 0; i < nq; ++i) {
          const std::array<double, 3> f{(nodes[i] + 1) / 2, (nodes[j] + 1) / 2, (nodes[k] + 1) / 2};
          std::array<double, 3> x{};
          if (is_straight) {
            for (int corner = 0; corner < 8; ++corner) {
              const std::array<int, 3> c{corner & 1, corner >> 1 & 1, corner >> 2};
              double weight = 1;
              for (int d = 0; d < 3; ++d) weight *= c[d] == 1 ? f[d] : 1 - f[d];
              const Point p = at(c[0], c[1], c[2]);
              x = {x[0] + weight * p.x, x[1] + weight * p.y, x[2] + weight * p.z};
            }
          } else {
            const Point p = at(f[0], f[1], f[2]);
            x = {p.x, p.y, p.z};
          }
          for (int d = 0; d < 3; ++d) values[d][(k * nq + j) * nq + i] = x[d];
        }
    for (int d = 0; d < 3; ++d) rows.set(e, d, values[d].data());
  }
  return rows;
}

/// The values of a field at nodes.
NodeRows field_rows(const AssembledSpace& space, const DeviceVector<double>& field,
                    ElementValues& values) {
  const BoxMesh& mesh = space.mesh();
  const std::size_t size = space.size(), points = std::size_t(mesh.nq()) * mesh.nq() * mesh.nq();
  const int components = static_cast<int>(field.extent(0) / size);
  NodeRows rows(mesh, components);
  for (int c = 0; c < components; ++c) {
    values.from(Kokkos::subview(field, std::pair(c * size, (c + 1) * size)));
    for (LocalIndex e = 0; e < mesh.n_elements(); ++e) rows.set(e, c, values.values() + e * points);
  }
  return rows;
}

}  // namespace

void write_vtk(const Communicator& comm, const std::string& path, const AssembledSpace& space,
               std::span<const VtkField> fields) {
  const BoxMesh& mesh = space.mesh();
  const std::int64_t n_cells = mesh.n_elements(),
                     points = std::int64_t{1} * mesh.nq() * mesh.nq() * mesh.nq(),
                     n_points = n_cells * points;
  replace_hdf5_file(comm, path, [&](Hdf5File& file) {
    file.write_attribute("VTKHDF", "Type", std::string("UnstructuredGrid"));
    file.write_attribute("VTKHDF", "Version", std::vector<std::int64_t>{1, 0});
    const auto write_count = [&](const char* name, std::int64_t count) {
      file.write_rows(std::string("VTKHDF/") + name, rows_of(comm, 1, 1), &count);
    };
    write_count("NumberOfPoints", n_points);
    write_count("NumberOfConnectivityIds", n_points);
    write_count("NumberOfCells", n_cells);
    // Every piece numbers its points from 0, cell by cell.
    std::vector<std::int64_t> numbers(n_points);
    std::iota(numbers.begin(), numbers.end(), 0);
    file.write_rows("VTKHDF/Connectivity", rows_of(comm, n_points, 1), numbers.data());
    numbers.resize(n_cells + 1);
    for (std::int64_t c = 0; c <= n_cells; ++c) numbers[c] = c * points;
    file.write_rows("VTKHDF/Offsets", rows_of(comm, n_cells + 1, 1), numbers.data());
    const std::vector<std::uint8_t> types(n_cells, lagrange_hexahedron);
    file.write_rows("VTKHDF/Types", rows_of(comm, n_cells, 1), types.data());
    file.write_rows("VTKHDF/Points", rows_of(comm, n_points, 3), coordinates(mesh).data());
    ElementValues values(space);
    for (const VtkField& field : fields) {
      const auto components = static_cast<int>(field.values.extent(0) / space.size());
      file.write_rows("VTKHDF/PointData/" + field.name, rows_of(comm, n_points, components),
                      field_rows(space, field.values, values).data());
    }
  });
}

}  // namespace nekbone_k
