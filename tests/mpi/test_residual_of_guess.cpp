// SPDX-License-Identifier: BSD-3-Clause
#include "flow/residual_of_guess.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "flow/velocity.hpp"
#include "support/plain_levels.hpp"
#include "support/reference_flow.hpp"

namespace nekbone_k {
namespace {

MeshSpec guess_box() {
  MeshSpec spec;
  spec.elements = {3, 2, 2};
  spec.extent = {2, 1, 1.5};
  return spec;
}

struct GuessCase {
  explicit GuessCase(Summation summation)
      : comm(MPI_COMM_WORLD),
        mesh(guess_box(), 3),
        space(comm, BoxMesh(guess_box(), 3, comm.size(), comm.rank()), summation) {}

  VectorById random(unsigned seed) const {
    return {mesh.random(seed), mesh.random(seed + 1), mesh.random(seed + 2)};
  }
  std::optional<double> terms() const {
    if (!space.is_deterministic()) return {};
    return 3.0 * static_cast<double>(mesh.n_points());
  }

  Communicator comm;
  ReferenceMesh mesh;
  AssembledSpace space;
};

struct Expected {
  double b_dot_b = 0, r_dot_r = 0, r_dot_z = 0, sum = 0, size_of_sum = 0;

  void add(const ById& b, const ById& ax, const ById& diagonal) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      const double r = b[i] - ax[i];
      b_dot_b += b[i] * b[i];
      r_dot_r += r * r;
      r_dot_z += r * diagonal[i] * r;
      sum += r;
      size_of_sum += std::abs(r);
    }
  }
  void expect(const ResidualOfGuess::Products& found) const {
    EXPECT_NEAR(found.b_dot_b, b_dot_b, 1e-13 * b_dot_b);
    EXPECT_NEAR(found.residual.r_dot_r, r_dot_r, 1e-13 * r_dot_r);
    EXPECT_NEAR(found.residual.r_dot_z, r_dot_z, 1e-13 * r_dot_z);
    EXPECT_NEAR(found.sum, sum, 1e-13 * size_of_sum);
  }
};

class ResidualOfGuessOf : public testing::TestWithParam<Summation> {};
INSTANTIATE_TEST_SUITE_P(Sums, ResidualOfGuessOf,
                         testing::Values(Summation::ordinary, Summation::deterministic));

TEST_P(ResidualOfGuessOf, AScalar) {
  const GuessCase s(GetParam());
  const ById b = s.mesh.random(1), ax = s.mesh.random(2);
  const auto in = to_assembled(s.space, s.mesh, b), out = s.space.make_vector("r");
  const ResidualOfGuess residual(s.comm, s.space.range(), {}, all_reduce_strategies().front(),
                                 s.terms());
  Expected expected;
  expected.add(b, ax, ById(b.size(), 1));
  expected.expect(residual(to_assembled(s.space, s.mesh, ax), in, out));
  EXPECT_EQ(to_ids(s.comm, s.space, s.mesh, in), b - ax);
  EXPECT_EQ(to_ids(s.comm, s.space, s.mesh, out), b - ax);
}

TEST_P(ResidualOfGuessOf, AVectorField) {
  const GuessCase s(GetParam());
  const VectorById b = s.random(1), ax = s.random(4), diagonal = s.random(7);
  const VectorField in = to_vector_field(s.space, s.mesh, b), out("r", s.space);
  const ResidualOfGuess residual(s.comm, vector_range(s.space),
                                 to_vector_field(s.space, s.mesh, diagonal).values,
                                 all_reduce_strategies().front(), s.terms());
  Expected expected;
  for (int c = 0; c < n_components; ++c) expected.add(b[c], ax[c], diagonal[c]);
  expected.expect(residual(to_vector_field(s.space, s.mesh, ax).values, in.values, out.values));
  for (const VectorField& field : {in, out}) {
    const VectorById found = to_ids(s.comm, s.space, s.mesh, field);
    for (int c = 0; c < n_components; ++c) EXPECT_EQ(found[c], b[c] - ax[c]);
  }
}

}  // namespace
}  // namespace nekbone_k
