// An operator on a small mesh, with its independent reference.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "operators/elliptic_operator.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {

// The largest error of an entry of A u over the largest entry: sums of some hundred products of
// either sign, the most at high order. Measured are 4e-14, at order 14.
inline constexpr double operator_tolerance = 2e-13;

// Seven elements at least, so that every number of ranks has one each.
inline MeshSpec operator_spec(Deformation deformation) {
  MeshSpec spec;
  spec.elements = {2, 2, 2};
  spec.extent = {2, 1, 1.5};
  spec.periodic = {true, false, true};
  spec.deformation = deformation;
  spec.epsilon = 0.3;
  if (deformation == Deformation::kershaw) {
    spec.elements = {6, 2, 2};
    spec.periodic = {false, false, false};
  }
  return spec;
}

inline MeshSpec operator_spec(Deformation deformation, std::array<int, 3> elements,
                              std::array<bool, 3> periodic) {
  MeshSpec spec = operator_spec(deformation);
  spec.elements = elements;
  spec.periodic = periodic;
  return spec;
}

struct OperatorCase {
  OperatorCase(const MeshSpec& spec, int order, double lambda)
      : reference(spec, order, lambda),
        mesh(spec, order, comm.size(), comm.rank()),
        space(comm, mesh),
        geometry(space),
        a(space, geometry, lambda) {}

  // A u by id, and uᵀ A u summed over the ranks.
  std::pair<ById, double> apply(const ById& u) const {
    const auto au = space.make_vector("Au");
    const double u_dot_au = a.apply(to_assembled(space, reference.mesh(), u), au);
    return {to_ids(comm, space, reference.mesh(), au), u_dot_au};
  }

  // Of strongly distorted elements of high order stored factors keep fewer digits.
  void expect_equals_reference(double within = operator_tolerance) const {
    const ById u = reference.mesh().random(1), expected = reference.apply(u);
    const auto [au, u_dot_au] = apply(u);
    EXPECT_LE(relative_difference(au, expected), within);
    EXPECT_NEAR(u_dot_au, dot(u, expected), 1e-12 * dot(u, expected));
  }

  Communicator comm{MPI_COMM_WORLD};
  ReferenceOperator reference;
  BoxMesh mesh;
  AssembledSpace space;
  GeometricFactors geometry;
  EllipticOperator a;
};

}  // namespace nekbone_k
