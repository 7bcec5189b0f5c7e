// SPDX-License-Identifier: BSD-3-Clause
#include "flow/flow_field.hpp"

#include <cmath>

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

}  // namespace nekbone_k
