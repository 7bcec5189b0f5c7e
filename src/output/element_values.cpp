// SPDX-License-Identifier: BSD-3-Clause
#include "output/element_values.hpp"

namespace nekbone_k {
namespace {

/// The place of each node among the values, and its entry in an assembled vector.
struct NodePlaces {
  NodePlaces(const AssembledSpace& space)
      : nodes(space), elements(space.elements()), layout(space.layout()) {
    const ElementBox& box = space.mesh().box();
    for (int d = 0; d < 3; ++d) {
      begin[d] = box.begin[d];
      length[d] = box.length(d);
    }
  }

  std::int64_t count() const { return std::int64_t{layout.n_elements} * layout.points(); }

  KOKKOS_FUNCTION LocalIndex entry(std::int64_t at) const {
    const auto position = static_cast<LocalIndex>(at / layout.points());
    const int q = static_cast<int>(at % layout.points()), nq = layout.nq;
    return nodes.entry(position / ElementLayout::lanes, position % ElementLayout::lanes, q % nq,
                       q / nq % nq, q / (nq * nq));
  }
  KOKKOS_FUNCTION std::int64_t place(std::int64_t at) const {
    const auto position = static_cast<LocalIndex>(at / layout.points());
    std::int64_t element = 0;
    for (int d = 2; d >= 0; --d) element = element * length[d] + (elements(position, d) - begin[d]);
    return element * layout.points() + at % layout.points();
  }

  NodeReader nodes;
  Kokkos::View<const int* [3], Kokkos::LayoutRight, DeviceMemory> elements;
  ElementLayout layout;
  int begin[3], length[3];
};

using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

void gather_values(const NodePlaces& places, const DeviceVector<double>& vector,
                   const DeviceVector<double>& values) {
  Kokkos::parallel_for(
      "nekbone_k: values of elements", Policy(0, places.count()),
      KOKKOS_LAMBDA(const std::int64_t at) {
        values(places.place(at)) = vector(places.entry(at));
      });
}

// Copies of a node have the same value, so that it does not matter which one comes last.
void scatter_values(const NodePlaces& places, const DeviceVector<double>& values,
                    const DeviceVector<double>& vector) {
  Kokkos::parallel_for(
      "nekbone_k: entries from elements", Policy(0, places.count()),
      KOKKOS_LAMBDA(const std::int64_t at) {
        vector(places.entry(at)) = values(places.place(at));
      });
}

}  // namespace

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

}  // namespace nekbone_k
