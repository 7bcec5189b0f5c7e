// SPDX-License-Identifier: BSD-3-Clause
// An operator on a small mesh and its independent reference.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "operators/elliptic_operator.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {

// Tolerance of an entry of A u, relative to the largest entry. An entry is a sum of some hundred
// products of either sign, the most at high order. The largest measured error is 4e-14, at order
// 14.
inline constexpr double operator_tolerance = 2e-13;

// At least seven elements, so that each of up to seven ranks has one.
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

  // A u by id, and uᵀ A u over all ranks. Collective.
  std::pair<ById, double> apply(const ById& u) const {
    const auto au = space.make_vector("Au");
    const double u_dot_au = a.apply(to_assembled(space, reference.mesh(), u), au);
    return {to_ids(comm, space, reference.mesh(), au), u_dot_au};
  }

  // Stored factors of strongly distorted elements of high order keep fewer digits. Collective.
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
