// SPDX-License-Identifier: BSD-3-Clause
#include "flow/flow_field.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "operators/counted_nodes.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {
namespace {

/// The value of one component at a node, times the mass.
struct WeightedComponent {
  FlowField field;
  FactorReader factors;
  NodeCoordinates coordinates;
  double time;
  int component;

  KOKKOS_FUNCTION double operator()(LocalIndex position, int i, int j, int k) const {
    double u[3] = {};
    field(coordinates(position, i, j, k), time, u);
    return u[component] * factors.mass(position, i, j, k);
  }
};

/// Squares and maxima of a difference and of the field.
struct DifferenceTerms {
  ConstDeviceVector<double> mass, u, exact;
  LocalIndex size;

  KOKKOS_FUNCTION void operator()(const LocalIndex a, double& squares, double& of_field,
                                  double& largest, double& largest_value) const {
    for (int c = 0; c < n_components; ++c) {
      const double value = exact(a + c * size), d = u(a + c * size) - value;
      squares += mass(a) * d * d;
      of_field += mass(a) * value * value;
      largest = Kokkos::max(largest, Kokkos::abs(d));
      largest_value = Kokkos::max(largest_value, Kokkos::abs(value));
    }
  }
};

using Largest = Kokkos::MaxLoc<double, std::int64_t>;

Largest::value_type largest_on_rank(const CountedNodes& nodes, const VectorField& velocity) {
  const ConstDeviceVector<double> values = velocity.values;
  const LocalIndex size = velocity.size();
  Largest::value_type largest{-1, 0};
  Kokkos::parallel_reduce(
      "nekbone_k: largest velocity", nodes.policy(),
      KOKKOS_LAMBDA(const std::int64_t node, Largest::value_type& most) {
        const LocalIndex entry = nodes.entry(node);
        double square = 0;
        for (int c = 0; c < n_components; ++c)
          square += values(entry + c * size) * values(entry + c * size);
        if (!Kokkos::isfinite(square)) square = Kokkos::Experimental::infinity_v<double>;
        if (square > most.val) most = {square, node};
      },
      Largest(largest));
  return largest;
}

/// The coordinates of one node, from device memory.
std::array<double, 3> coordinates_of(const AssembledSpace& space, std::int64_t node) {
  const CountedNodes nodes(space);
  const NodeCoordinates coordinates(space);
  const DeviceVector<double> x("nekbone_k: coordinates of a node", 3);
  Kokkos::parallel_for(
      "nekbone_k: coordinates of a node", Kokkos::RangePolicy<ExecutionSpace>(0, 1),
      KOKKOS_LAMBDA(const int) {
        const Point p = nodes.at(node, coordinates);
        x(0) = p.x;
        x(1) = p.y;
        x(2) = p.z;
      });
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  return {on_host(0), on_host(1), on_host(2)};
}

}  // namespace

void set_velocity(FlowElements& elements, const GeometricFactors& factors, const FlowField& field,
                  double time, const VectorField& out) {
  AssembledSpace& space = elements.space();
  const auto inverse_mass = elements.inverse_mass();
  for (int c = 0; c < n_components; ++c) {
    const DeviceVector<double> component = out.component(c);
    space.assemble(WeightedComponent{field, FactorReader(factors, space.layout()),
                                     NodeCoordinates(space), time, c},
                   component);
    Kokkos::parallel_for(
        "nekbone_k: mean at nodes", Kokkos::RangePolicy<ExecutionSpace>(0, space.size()),
        KOKKOS_LAMBDA(const LocalIndex a) { component(a) *= inverse_mass(a); });
  }
  Kokkos::fence("nekbone_k: velocity set");
}

FlowError difference(const Communicator& comm, const FlowElements& elements, const VectorField& u,
                     const VectorField& exact) {
  const AssembledSpace& space = elements.space();
  std::array<double, 2> sums{}, largest{};
  Kokkos::parallel_reduce("nekbone_k: difference of velocities",
                          Kokkos::RangePolicy<ExecutionSpace>(space.n_not_owned(), space.size()),
                          DifferenceTerms{elements.mass(), u.values, exact.values, space.size()},
                          sums[0], sums[1], Kokkos::Max<double>(largest[0]),
                          Kokkos::Max<double>(largest[1]));
  comm.sum(sums);
  comm.max(largest);
  return {largest[0] / largest[1], std::sqrt(sums[0] / sums[1])};
}

FastestNode fastest_node(const Communicator& comm, const FlowElements& elements,
                         const VectorField& velocity) {
  const Largest::value_type mine = largest_on_rank(CountedNodes(elements.space()), velocity);
  // The first rank that has the largest tells where.
  std::vector<double> squares(comm.size());
  squares[comm.rank()] = mine.val;
  comm.sum(squares);
  const auto fastest = std::max_element(squares.begin(), squares.end());
  std::array<double, 3> at{};
  if (fastest - squares.begin() == comm.rank()) at = coordinates_of(elements.space(), mine.loc);
  comm.sum(at);
  return {at, std::sqrt(*fastest)};
}

}  // namespace nekbone_k
