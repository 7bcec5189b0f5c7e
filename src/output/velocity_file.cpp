// SPDX-License-Identifier: BSD-3-Clause
#include "output/velocity_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "flow/flow_elements.hpp"
#include "multigrid/interpolation.hpp"
#include "output/element_interpolation.hpp"
#include "output/element_values.hpp"

namespace nekbone_k {
namespace {

constexpr const char* array_name = "velocity/0";
/// Nodes per direction that the GLL basis is made for.
constexpr std::uint64_t most_nodes = 64;

}  // namespace

VelocityFile::VelocityFile(const Communicator& comm, const std::string& path,
                           const std::array<int, 3>& elements)
    : m_comm(comm), m_path(path), m_file(Hdf5File::open(comm, path)) {
  const std::vector<std::uint64_t> found = m_file.extents(array_name);
  const std::vector<std::uint64_t> expected{n_components, static_cast<std::uint64_t>(elements[2]),
                                            static_cast<std::uint64_t>(elements[1]),
                                            static_cast<std::uint64_t>(elements[0])};
  bool fits = found.size() == 7 && std::equal(expected.begin(), expected.end(), found.begin());
  if (fits) {
    const std::uint64_t n = found[4];
    fits = n >= 2 && n <= most_nodes && found[5] == n && found[6] == n;
    m_nodes = static_cast<int>(n);
  }
  if (!fits)
    throw FileError(fmt::format(
        "'{}' has an array '{}' of shape ({}); expected: ({}, n, n, n), a component, an element in "
        "z, y and x, and its n nodes per direction",
        path, array_name, fmt::join(found, ", "), fmt::join(expected, ", ")));
}

void VelocityFile::read(FlowElements& elements, const GeometricFactors& factors,
                        const std::array<double, 3>& added, const VectorField& out) const {
  AssembledSpace& space = elements.space();
  const BoxMesh& mesh = space.mesh();
  const Hdf5File::Shape shape = shape_in_file(mesh, n_components, m_nodes);
  const std::size_t points = std::size_t(m_nodes) * m_nodes * m_nodes;
  const std::size_t count = points * space.layout().n_elements;
  std::vector<double> stored(count);
  ElementInterpolation interpolation(
      interpolation_matrix(make_gll_basis(m_nodes - 1), mesh.basis()), m_nodes, mesh.nq());
  ElementValues values(space);
  const ConstDeviceVector<double> inverse_mass = elements.inverse_mass();
  for (int c = 0; c < n_components; ++c) {
    m_file.read_block(array_name, shape, c, stored.data());
    if (!are_finite(m_comm, stored.data(), count))
      throw FileError(
          fmt::format("'{}' has a value that is not finite in component {} of the array '{}'; give "
                      "another file",
                      m_path, c + 1, array_name));
    double* to = values.values();
    for (std::size_t first = 0; first < count; first += points) {
      interpolation.apply(stored.data() + first, to);
      to += space.layout().points();
    }
    const DeviceVector<double> component = out.component(c);
    values.assemble_by_mass(space, factors, component);
    const double constant = added[c];
    Kokkos::parallel_for(
        "nekbone_k: velocity of a file", Kokkos::RangePolicy<ExecutionSpace>(0, space.size()),
        KOKKOS_LAMBDA(const LocalIndex a) {
          if (inverse_mass(a) != 0) component(a) = component(a) * inverse_mass(a) + constant;
        });
  }
  Kokkos::fence("nekbone_k: velocity of a file set");
}

}  // namespace nekbone_k
