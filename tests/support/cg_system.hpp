// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Small systems for tests of conjugate gradients, and the textbook algorithm.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "operators/elliptic_operator.hpp"
#include "solver/conjugate_gradients.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline MeshSpec mixed_box() {
  MeshSpec spec;
  spec.elements = {3, 2, 2};
  spec.extent = {1.5, 1, 1};
  spec.periodic = {true, false, true};
  spec.deformation = Deformation::sine;
  spec.epsilon = 0.2;
  return spec;
}

inline MeshSpec periodic_box() {
  MeshSpec spec = mixed_box();
  spec.periodic = {true, true, true};
  return spec;
}

// A x = b on a communicator, with a known random x.
struct System {
  System(MPI_Comm parent, const MeshSpec& spec, int order, double lambda)
      : comm(parent),
        reference(spec, order, lambda),
        mesh(spec, order, comm.size(), comm.rank()),
        space(comm, mesh),
        geometry(space),
        a(space, geometry, lambda),
        range{space.size(), space.n_not_owned()},
        exact(reference.mesh().random(1)),
        b(reference.apply(exact)) {}

  CgVectors vectors(const ById& right_hand_side) const {
    return {space.make_vector("x"), to_assembled(space, reference.mesh(), right_hand_side),
            space.make_vector("p"), space.make_vector("Ap")};
  }
  CgVectors vectors() const { return vectors(b); }
  FusedVectorOps plain() const { return {comm, range, {}}; }
  FusedVectorOps jacobi() const { return {comm, range, a.inverse_diagonal()}; }
  CgResult solve(const CgVectors& v, const CgOptions& options) const {
    return conjugate_gradients(a, plain(), v, options);
  }
  ById by_id(const DeviceVector<double>& v) const {
    return to_ids(comm, space, reference.mesh(), v);
  }

  Communicator comm;
  ReferenceOperator reference;
  BoxMesh mesh;
  AssembledSpace space;
  GeometricFactors geometry;
  EllipticOperator a;
  VectorRange range;
  ById exact, b;
};

inline double norm(const ById& a) { return std::sqrt(dot(a, a)); }

inline void expect_same_history(const CgResult& found, const CgResult& expected, double tolerance) {
  ASSERT_GT(found.history.size(), 20u);
  for (int i = 0; i <= 20; ++i)
    EXPECT_NEAR(found.history[i], expected.history[i], tolerance * expected.history[0])
        << "iteration " << i;
}

// The textbook algorithm with plain loops.
inline std::vector<double> reference_history(const ReferenceOperator& a, const ById& b,
                                             const ById& inverse_diagonal, int iterations) {
  ById r = b, p(b.size(), 0);
  std::vector<double> history{norm(r)};
  double r_dot_z_before = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    ById z = r;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= inverse_diagonal[i];
    const double r_dot_z = dot(r, z), beta = iteration == 0 ? 0 : r_dot_z / r_dot_z_before;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + beta * p[i];
    const ById ap = a.apply(p);
    const double alpha = r_dot_z / dot(p, ap);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * ap[i];
    r_dot_z_before = r_dot_z;
    history.push_back(norm(r));
  }
  return history;
}

}  // namespace nekbone_k
