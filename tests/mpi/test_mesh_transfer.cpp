// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/mesh_transfer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/available_strategies.hpp"
#include "support/plain_levels.hpp"
#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

using Flags = std::array<bool, 3>;
using Elements = std::array<int, 3>;

/// Two meshes of one box, and the plain interpolation between them.
struct TwoMeshes {
  struct Side {
    Elements elements;
    int order;
    Partition partition = {};
  };
  TwoMeshes(MPI_Comm parent, const Flags& flags, const Side& coarse_side, const Side& fine_side)
      : comm(parent),
        coarse_mesh(spec(flags, coarse_side), coarse_side.order),
        fine_mesh(spec(flags, fine_side), fine_side.order),
        coarse(comm, box(coarse_mesh)),
        fine(comm, box(fine_mesh)),
        p(coarse_mesh, fine_mesh) {}

  template <class T>
  ById prolonged(MeshTransfer<T>& transfer, const ById& u) const {
    const auto result = nan_vector<T>(fine, fine_mesh);
    transfer.prolong_to(to_assembled_of<T>(coarse, coarse_mesh, u), result);
    return to_ids_of(comm, fine, fine_mesh, result);
  }
  template <class T>
  ById restricted(MeshTransfer<T>& transfer, const ById& f) const {
    const auto result = nan_vector<T>(coarse, coarse_mesh);
    transfer.restrict_to(to_assembled_of<T>(fine, fine_mesh, f), result);
    return to_ids_of(comm, coarse, coarse_mesh, result);
  }
  template <class T>
  MeshTransfer<T> transfer() const {
    return MeshTransfer<T>(comm, fine, coarse);
  }

  static MeshSpec spec(const Flags& flags, const Side& side) {
    MeshSpec spec;
    spec.elements = side.elements;
    spec.periodic = flags;
    spec.partition = side.partition;
    return spec;
  }
  BoxMesh box(const ReferenceMesh& mesh) const {
    return BoxMesh(mesh.spec(), mesh.order(), comm.size(), comm.rank());
  }

  Communicator comm;
  ReferenceMesh coarse_mesh, fine_mesh;
  AssembledSpace coarse, fine;
  PlainInterpolation p;
};

template <class T>
class MeshTransferOf : public testing::Test {
 protected:
  static constexpr double tolerance = 100 * std::numeric_limits<T>::epsilon();

  static void expect_equals_plain_loops(const TwoMeshes& t) {
    auto transfer = t.template transfer<T>();
    for (const unsigned seed : {1u, 2u}) {  // the second use overwrites what the first left
      const ById u = t.coarse_mesh.random(seed), f = t.fine_mesh.random(seed + 10);
      EXPECT_LE(relative_difference(t.prolonged(transfer, u), t.p.prolong(u)), tolerance);
      EXPECT_LE(relative_difference(t.restricted(transfer, f), t.p.restrict_to(f)), tolerance);
    }
  }
};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(MeshTransferOf, ValueTypes);

// At least seven elements on either mesh, so that each of up to seven ranks has one.
TYPED_TEST(MeshTransferOf, EqualsThePlainLoops) {
  for (const auto& [coarse, fine] : {std::pair<Elements, Elements>{{2, 2, 2}, {4, 4, 4}},
                                     {{2, 2, 2}, {4, 3, 2}},
                                     {{4, 3, 2}, {7, 5, 3}},
                                     {{7, 1, 1}, {8, 1, 3}}})
    for (const Flags& flags : {all_periodic, mixed_ends, all_dirichlet})
      for (const auto& [low, high] : {std::pair{1, 1}, {1, 2}, {3, 3}}) {
        if (low == 1 && !flags[1] && coarse[1] == 1) continue;  // no DOFs
        SCOPED_TRACE(
            fmt::format("{} to {} elements in x, orders {} and {}", coarse[0], fine[0], low, high));
        this->expect_equals_plain_loops(
            TwoMeshes(MPI_COMM_WORLD, flags, {coarse, low}, {fine, high}));
      }
}

// Each rank's coarse and fine elements are then in different places.
TYPED_TEST(MeshTransferOf, EqualsThePlainLoopsOnDifferentPartitions) {
  const int size = Communicator(MPI_COMM_WORLD).size();
  const Elements coarse{4, 2, 8}, fine{8, 3, 9};
  this->expect_equals_plain_loops(TwoMeshes(MPI_COMM_WORLD, mixed_ends, {coarse, 1, {{1, 1, size}}},
                                            {fine, 1, {{size, 1, 1}}}));
  this->expect_equals_plain_loops(
      TwoMeshes(MPI_COMM_WORLD, mixed_ends, {coarse, 2}, {fine, 1, {{1, 1, size}}}));
}

// Pᵀ is the transpose if each DOF counts once: <P u, f> = <u, Pᵀ f>.
TYPED_TEST(MeshTransferOf, RestrictsByTheTranspose) {
  const TwoMeshes t(MPI_COMM_WORLD, mixed_ends, {{4, 3, 2}, 2}, {{7, 5, 3}, 3});
  auto transfer = t.template transfer<TypeParam>();
  const ById u = t.coarse_mesh.random(3), f = t.fine_mesh.random(4);
  EXPECT_NEAR(dot(t.prolonged(transfer, u), f), dot(u, t.restricted(transfer, f)),
              this->tolerance * std::sqrt(dot(u, u) * dot(f, f)));
}

// Fine elements are not parts of coarse ones, but a polynomial of the whole box is one of both.
TYPED_TEST(MeshTransferOf, ProlongsPolynomialsExactly) {
  const TwoMeshes t(MPI_COMM_WORLD, all_dirichlet, {{3, 3, 2}, 3}, {{5, 4, 3}, 4});
  const auto values = [](const ReferenceMesh& mesh) {
    ById u(mesh.n_points(), 0);
    mesh.for_each_node([&](int e, int i, int j, int k) {
      const auto [x, y, z] = mesh.coordinates(e, i, j, k);
      if (!mesh.is_masked(mesh.id(e, i, j, k)))
        u[mesh.id(e, i, j, k)] =
            x * (1 - x) * (1 + x) * y * (1 - y) * (3 - y) * z * (1 - z) * (2 + 5 * z);
    });
    return u;
  };
  auto transfer = t.template transfer<TypeParam>();
  EXPECT_LE(relative_difference(t.prolonged(transfer, values(t.coarse_mesh)), values(t.fine_mesh)),
            this->tolerance);
}

TYPED_TEST(MeshTransferOf, HasTheSameBitsOnAnyRanks) {
  const TwoMeshes::Side coarse{{4, 3, 2}, 2}, fine{{7, 5, 3}, 2};
  const TwoMeshes together(MPI_COMM_WORLD, mixed_ends, coarse, fine),
      alone(MPI_COMM_SELF, mixed_ends, coarse, fine);
  auto of_all = together.template transfer<TypeParam>();
  auto of_one = alone.template transfer<TypeParam>();
  const ById u = alone.coarse_mesh.random(6), f = alone.fine_mesh.random(7);
  const ById prolonged = alone.prolonged(of_one, u), restricted = alone.restricted(of_one, f);
  for (const Strategy& strategy : available_strategies(together.comm)) {
    of_all.coarse_gs().select(strategy);
    of_all.fine_gs().select(strategy);
    EXPECT_EQ(together.prolonged(of_all, u), prolonged) << strategy.name;
    EXPECT_EQ(together.restricted(of_all, f), restricted) << strategy.name;
  }
}

}  // namespace
}  // namespace nekbone_k
