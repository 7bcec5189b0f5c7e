// SPDX-License-Identifier: BSD-3-Clause
#include "output/element_values.hpp"

#include <algorithm>
#include <cmath>

#include "operators/counted_nodes.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {
namespace {

/// The place of each node among the values.
struct NodePlaces {
  explicit NodePlaces(const AssembledSpace& space) : nodes(space), elements(space.elements()) {
    const ElementBox& box = space.mesh().box();
    for (int d = 0; d < 3; ++d) {
      begin[d] = box.begin[d];
      length[d] = box.length(d);
    }
  }

  KOKKOS_FUNCTION std::int64_t place(std::int64_t node) const {
    const int points = nodes.layout.points();
    const auto position = static_cast<LocalIndex>(node / points);
    std::int64_t element = 0;
    for (int d = 2; d >= 0; --d) element = element * length[d] + (elements(position, d) - begin[d]);
    return element * points + node % points;
  }

  CountedNodes nodes;
  Kokkos::View<const int* [3], Kokkos::LayoutRight, DeviceMemory> elements;
  int begin[3], length[3];
};

/// A value times the mass of its node.
struct WeightedValues {
  NodePlaces places;
  FactorReader factors;
  ConstDeviceVector<double> values;

  KOKKOS_FUNCTION double operator()(LocalIndex position, int i, int j, int k) const {
    const int nq = places.nodes.layout.nq;
    const std::int64_t node = std::int64_t{position} * places.nodes.layout.points();
    return values(places.place(node + (k * nq + j) * nq + i)) * factors.mass(position, i, j, k);
  }
};

void gather_values(const NodePlaces& places, const DeviceVector<double>& vector,
                   const DeviceVector<double>& values) {
  Kokkos::parallel_for(
      "nekbone_k: values of elements", places.nodes.policy(),
      KOKKOS_LAMBDA(const std::int64_t node) {
        values(places.place(node)) = vector(places.nodes.entry(node));
      });
}

// Copies of a node have the same value, so that it does not matter which one comes last.
void scatter_values(const NodePlaces& places, const DeviceVector<double>& values,
                    const DeviceVector<double>& vector) {
  Kokkos::parallel_for(
      "nekbone_k: entries from elements", places.nodes.policy(),
      KOKKOS_LAMBDA(const std::int64_t node) {
        vector(places.nodes.entry(node)) = values(places.place(node));
      });
}

}  // namespace

Hdf5File::Shape shape_in_file(const BoxMesh& mesh, int components, int nodes) {
  Hdf5File::Shape shape;
  shape.whole[0] = shape.length[0] = components;
  for (int d = 0; d < 3; ++d) {
    shape.whole[3 - d] = mesh.spec().elements[d];
    shape.begin[3 - d] = mesh.box().begin[d];
    shape.length[3 - d] = mesh.box().length(d);
    shape.whole[4 + d] = shape.length[4 + d] = nodes;
  }
  return shape;
}

ElementValues::ElementValues(const AssembledSpace& space)
    : m_space(space),
      m_device("nekbone_k: values of elements",
               std::size_t(space.layout().n_elements) * space.layout().points()),
      m_host("nekbone_k: values of elements", m_device.extent(0)) {}

const double* ElementValues::from(const DeviceVector<double>& vector) {
  gather_values(NodePlaces(m_space), vector, m_device);
  Kokkos::deep_copy(m_host, m_device);
  return m_host.data();
}

void ElementValues::put_into(const DeviceVector<double>& vector) {
  Kokkos::deep_copy(m_device, m_host);
  scatter_values(NodePlaces(m_space), m_device, vector);
}

void ElementValues::assemble_by_mass(AssembledSpace& space, const GeometricFactors& factors,
                                     const DeviceVector<double>& vector) {
  Kokkos::deep_copy(m_device, m_host);
  space.assemble(WeightedValues{NodePlaces(space), FactorReader(factors, space.layout()), m_device},
                 vector);
}

bool are_finite(const Communicator& comm, const double* values, std::size_t count) {
  const bool here =
      std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
  return comm.max(here ? 0.0 : 1.0) == 0;
}

}  // namespace nekbone_k
