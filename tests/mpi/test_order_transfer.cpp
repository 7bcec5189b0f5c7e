// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/order_transfer.hpp"

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

MeshSpec transfer_box(const std::array<int, 3>& elements, const Flags& periodic) {
  MeshSpec spec;
  spec.elements = elements;
  spec.periodic = periodic;
  return spec;
}

/// Two orders on one mesh, and the plain interpolation between them.
struct TwoOrders {
  TwoOrders(MPI_Comm parent, const MeshSpec& spec, int high, int low,
            Summation summation = Summation::ordinary)
      : comm(parent),
        fine_mesh(spec, high),
        coarse_mesh(spec, low),
        fine(comm, BoxMesh(spec, high, comm.size(), comm.rank()), summation),
        coarse(comm, BoxMesh(spec, low, comm.size(), comm.rank()), summation, &fine),
        p(coarse_mesh, fine_mesh) {}

  template <class T>
  ById prolonged(const ById& u) {
    const auto result = nan_vector<T>(fine, fine_mesh);
    OrderTransfer<T>(fine, coarse).prolong_to(to_assembled_of<T>(coarse, coarse_mesh, u), result);
    return to_ids_of(comm, fine, fine_mesh, result);
  }
  template <class T>
  ById restricted(const ById& f) {
    const auto result = nan_vector<T>(coarse, coarse_mesh);
    OrderTransfer<T>(fine, coarse).restrict_to(to_assembled_of<T>(fine, fine_mesh, f), result);
    return to_ids_of(comm, coarse, coarse_mesh, result);
  }

  Communicator comm;
  ReferenceMesh fine_mesh, coarse_mesh;
  AssembledSpace fine, coarse;
  PlainInterpolation p;
};

template <class T>
class OrderTransferOf : public testing::Test {
 protected:
  static constexpr double tolerance = 100 * std::numeric_limits<T>::epsilon();
};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(OrderTransferOf, ValueTypes);

// Orders with compiled kernels, and others. Boxes have at least seven elements, so that each of up
// to seven ranks has one.
TYPED_TEST(OrderTransferOf, EqualsThePlainLoopsOnEveryBox) {
  for (const auto& [high, low] : {std::pair{7, 3}, {3, 1}, {2, 1}, {4, 2}, {6, 5}, {7, 1}, {9, 4}})
    for (const MeshSpec& spec : {transfer_box({2, 2, 2}, {true, true, true}),
                                 transfer_box({3, 2, 2}, {false, false, false}),
                                 transfer_box({7, 1, 1}, {true, true, true}),
                                 transfer_box({2, 1, 5}, {true, false, false})}) {
      SCOPED_TRACE(fmt::format("orders {} and {}, {} elements in x", high, low, spec.elements[0]));
      TwoOrders t(MPI_COMM_WORLD, spec, high, low);
      if (t.coarse.mesh().total_dofs() == 0) continue;
      const ById u = t.coarse_mesh.random(1), f = t.fine_mesh.random(2);
      EXPECT_LE(relative_difference(t.template prolonged<TypeParam>(u), t.p.prolong(u)),
                this->tolerance);
      EXPECT_LE(relative_difference(t.template restricted<TypeParam>(f), t.p.restrict_to(f)),
                this->tolerance);
    }
}

// Pᵀ is the transpose if each DOF counts once: <P u, f> = <u, Pᵀ f>.
TYPED_TEST(OrderTransferOf, RestrictsByTheTranspose) {
  TwoOrders t(MPI_COMM_WORLD, transfer_box({3, 3, 2}, {true, false, true}), 7, 3);
  const ById u = t.coarse_mesh.random(3), f = t.fine_mesh.random(4);
  const double product = dot(t.template prolonged<TypeParam>(u), f);
  EXPECT_NEAR(product, dot(u, t.template restricted<TypeParam>(f)),
              this->tolerance * std::sqrt(dot(u, u) * dot(f, f)));
}

// In coordinates of the undeformed box, on Dirichlet faces zero.
TYPED_TEST(OrderTransferOf, ProlongsPolynomialsOfTheLowerOrderExactly) {
  const MeshSpec spec = transfer_box({3, 2, 2}, {false, false, false});
  TwoOrders t(MPI_COMM_WORLD, spec, 5, 3);
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
  EXPECT_LE(relative_difference(t.template prolonged<TypeParam>(values(t.coarse_mesh)),
                                values(t.fine_mesh)),
            this->tolerance);
}

TYPED_TEST(OrderTransferOf, EveryStrategyRestrictsAlike) {
  TwoOrders t(MPI_COMM_WORLD, transfer_box({3, 3, 2}, {true, false, true}), 3, 1);
  const ById f = t.fine_mesh.random(5), expected = t.p.restrict_to(f);
  for (const Strategy& strategy : available_strategies(t.comm)) {
    t.coarse.gs().select(strategy);
    EXPECT_LE(relative_difference(t.template restricted<TypeParam>(f), expected), this->tolerance)
        << strategy.name;
  }
}

TYPED_TEST(OrderTransferOf, HasTheSameBitsOnAnyRanksOfADeterministicSpace) {
  for (const auto& [high, low] : {std::pair{7, 3}, {5, 2}, {3, 1}}) {
    const MeshSpec spec = transfer_box({3, 3, 2}, {true, false, true});
    TwoOrders together(MPI_COMM_WORLD, spec, high, low, Summation::deterministic),
        alone(MPI_COMM_SELF, spec, high, low, Summation::deterministic);
    const ById u = alone.coarse_mesh.random(6), f = alone.fine_mesh.random(7);
    EXPECT_EQ(together.template prolonged<TypeParam>(u), alone.template prolonged<TypeParam>(u));
    EXPECT_EQ(together.template restricted<TypeParam>(f), alone.template restricted<TypeParam>(f));
  }
}

}  // namespace
}  // namespace nekbone_k
