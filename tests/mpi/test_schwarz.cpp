// SPDX-License-Identifier: BSD-3-Clause
// Additive Schwarz equals solves with dense matrices of the patches, and smooths multigrid levels.
#include "multigrid/schwarz.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "multigrid/dense_inverse.hpp"
#include "multigrid/multigrid.hpp"
#include "operators/null_space.hpp"
#include "solver/flexible_cg.hpp"
#include "solver/problem.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

// One direction of a patch by plain loops.
struct ReferenceLine {
  // All elements of a direction have length h. Position p is lattice point e N + p - 1.
  ReferenceLine(const ReferenceMesh& mesh, int d, int e)
      : n(mesh.order() + 3), stiffness(n * n), mass(n), points(n, -1) {
    const int order = mesh.order(), elements = mesh.spec().elements[d];
    const bool periodic = mesh.spec().periodic[d], closed = periodic && elements == 1;
    const double h = mesh.spec().extent[d] / elements;
    const GlobalId length = std::int64_t{1} * elements * order + (periodic ? 0 : 1);
    for (int p = 0; p < n; ++p) {
      const GlobalId at = std::int64_t{1} * e * order + p - 1;
      if (closed ? p > 0 && p <= order : periodic) points[p] = (at + length) % length;
      if (!periodic && at > 0 && at < length - 1) points[p] = at;
    }
    for (int neighbour = closed ? 0 : -1; neighbour <= (closed ? 0 : 1); ++neighbour) {
      const int other = e + neighbour;
      if (!periodic && (other < 0 || other >= elements)) continue;
      const auto position = [&](int i) {
        return closed && i == order ? 1 : neighbour * order + i + 1;
      };
      for (int i = 0; i <= order; ++i) {
        if (position(i) < 0 || position(i) >= n) continue;
        mass[position(i)] += h / 2 * mesh.weights()[i];
        for (int j = 0; j <= order; ++j) {
          if (position(j) < 0 || position(j) >= n) continue;
          for (int q = 0; q <= order; ++q)
            stiffness[position(i) * n + position(j)] +=
                2 / h * mesh.weights()[q] * mesh.derivative(q, i) * mesh.derivative(q, j);
        }
      }
    }
  }

  int n;
  std::vector<double> stiffness, mass;
  std::vector<GlobalId> points;  // of the whole mesh; -1: no DOF
};

// S by dense inverses of all patches of a box that is not deformed.
class ReferenceSchwarz {
 public:
  ReferenceSchwarz(const ReferenceMesh& mesh, double lambda) : m_mesh(mesh) {
    const auto& elements = mesh.spec().elements;
    m_counts.resize(mesh.n_points());
    for (int z = 0; z < elements[2]; ++z)
      for (int y = 0; y < elements[1]; ++y)
        for (int x = 0; x < elements[0]; ++x)
          add({ReferenceLine(mesh, 0, x), ReferenceLine(mesh, 1, y), ReferenceLine(mesh, 2, z)},
              lambda);
  }

  ById apply(const ById& r) const {
    ById result(r.size());
    for (const Patch& patch : m_patches)
      for (std::size_t i = 0; i < patch.ids.size(); ++i)
        for (std::size_t j = 0; j < patch.ids.size(); ++j)
          result[patch.ids[i]] += weight(patch.ids[i]) * patch.inverse[i * patch.ids.size() + j] *
                                  weight(patch.ids[j]) * r[patch.ids[j]];
    return result;
  }

 private:
  struct Patch {
    std::vector<GlobalId> ids;
    std::vector<double> inverse;
  };

  double weight(GlobalId id) const { return 1 / std::sqrt(m_counts[id]); }

  void add(const std::array<ReferenceLine, 3>& lines, double lambda) {
    const auto& [x, y, z] = lines;
    struct Dof {
      int i, j, k;
    };
    std::vector<Dof> dofs;
    Patch patch;
    const auto& spec = m_mesh.spec();
    const auto length = [&](int d) {
      return std::int64_t{1} * spec.elements[d] * m_mesh.order() + (spec.periodic[d] ? 0 : 1);
    };
    for (int k = 0; k < z.n; ++k)
      for (int j = 0; j < y.n; ++j)
        for (int i = 0; i < x.n; ++i) {
          if (x.points[i] < 0 || y.points[j] < 0 || z.points[k] < 0) continue;
          dofs.push_back({i, j, k});
          patch.ids.push_back((z.points[k] * length(1) + y.points[j]) * length(0) + x.points[i]);
          ++m_counts[patch.ids.back()];
        }
    const std::size_t n = dofs.size();
    patch.inverse.resize(n * n);
    const auto entry = [&](const ReferenceLine& line, int a, int b) {
      return line.stiffness[a * line.n + b];
    };
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t column = 0; column < n; ++column) {
        const auto [i, j, k] = dofs[row];
        const auto [l, m, o] = dofs[column];
        double value = 0;
        if (j == m && k == o) value += entry(x, i, l) * y.mass[j] * z.mass[k];
        if (i == l && k == o) value += x.mass[i] * entry(y, j, m) * z.mass[k];
        if (i == l && j == m) value += x.mass[i] * y.mass[j] * entry(z, k, o);
        if (row == column) value += lambda * x.mass[i] * y.mass[j] * z.mass[k];
        patch.inverse[row * n + column] = value;
      }
    EXPECT_TRUE(invert_by_cholesky(patch.inverse, static_cast<int>(n)));
    m_patches.push_back(std::move(patch));
  }

  const ReferenceMesh& m_mesh;
  std::vector<double> m_counts;
  std::vector<Patch> m_patches;
};

MeshSpec box(std::array<int, 3> elements, std::array<bool, 3> periodic) {
  MeshSpec spec;
  spec.elements = elements;
  spec.periodic = periodic;
  spec.extent = {1, 2, 0.5};
  return spec;
}

struct SchwarzCase {
  SchwarzCase(const MeshSpec& spec, int order)
      : mesh(spec, order), space(comm, BoxMesh(spec, order, comm.size(), comm.rank())) {}

  // S r by id. Collective.
  template <class T>
  ById apply(AdditiveSchwarz<T>& s, const ById& r) const {
    const auto vector = space.make_vector<T>("r");
    Kokkos::deep_copy(vector, to_assembled(space, mesh, r));
    const auto doubles = space.make_vector("S r");
    Kokkos::deep_copy(doubles, s(vector));
    return to_ids(comm, space, mesh, doubles);
  }

  Communicator comm{MPI_COMM_WORLD};
  ReferenceMesh mesh;
  AssembledSpace space;
};

class SchwarzBox : public testing::TestWithParam<MeshSpec> {};

TEST_P(SchwarzBox, EqualsDenseInversesOfPatches) {
  for (const int order : {3, 4})
    for (const double lambda : {0.0, 10.0}) {
      SCOPED_TRACE(fmt::format("order {}, lambda {}", order, lambda));
      SchwarzCase on(GetParam(), order);
      const ById r = on.mesh.random(1), expected = ReferenceSchwarz(on.mesh, lambda).apply(r);
      AdditiveSchwarz<double> s(on.comm, on.space, lambda, 1);
      EXPECT_LE(relative_difference(on.apply(s, r), expected), 1e-12);
      AdditiveSchwarz<float> single(on.comm, on.space, lambda, 0.5);
      ById halved = on.apply(single, r);
      for (double& value : halved) value /= 2;
      EXPECT_LE(relative_difference(halved, expected), 1e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(Boxes, SchwarzBox,
                         testing::Values(box({3, 2, 2}, {true, false, false}),
                                         box({2, 2, 2}, {true, true, true}),
                                         box({7, 1, 1}, {false, true, false}),
                                         box({1, 2, 4}, {false, true, true})));

TEST(SchwarzDeformed, IsSymmetricAndPositive) {
  for (const int order : {3, 5, 7, 8, 17}) {  // no build of a test compiles 17
    SCOPED_TRACE(order);
    MeshSpec spec = box({2, 2, 2}, {true, false, true});
    spec.deformation = Deformation::sine;
    SchwarzCase on(spec, order);
    AdditiveSchwarz<double> s(on.comm, on.space, 1, 1);
    const ById u = on.mesh.random(1), v = on.mesh.random(2);
    const ById su = on.apply(s, u), sv = on.apply(s, v);
    EXPECT_GT(dot(u, su), 0);
    EXPECT_NEAR(dot(v, su), dot(u, sv), 1e-12 * dot(u, su));
  }
}

// All directions are closed, so the patch is the whole mesh, and constants are its null space.
TEST(SchwarzOneElement, IsThePseudoInverse) {
  if (Communicator(MPI_COMM_WORLD).size() > 1) GTEST_SKIP() << "one element";
  SchwarzCase on(box({1, 1, 1}, {true, true, true}), 4);
  ById r = on.mesh.random(1);
  double sum = 0;
  for (const double value : r) sum += value;
  for (double& value : r) value -= sum / static_cast<double>(r.size());
  AdditiveSchwarz<double> s(on.comm, on.space, 0, 1);
  const ReferenceOperator a(on.mesh.spec(), 4, 0);
  EXPECT_LE(relative_difference(a.apply(on.apply(s, r)), r), 1e-11);
}

// Iterations of CG with a V-cycle on a distorted box.
template <class T>
int iterations(SmootherKind smoother) {
  MeshSpec spec;
  spec.elements = {4, 4, 4};
  spec.extent = {1, 1, 8};
  spec.periodic = {true, false, true};
  spec.deformation = Deformation::sine;
  Communicator comm(MPI_COMM_WORLD);
  AssembledSpace space(comm, BoxMesh(spec, 7, comm.size(), comm.rank()));
  const GeometricFactors factors(space);
  const EllipticOperator a(space, factors, 0);
  MultigridOptions options;
  options.smoother = smoother;
  options.coarse_dofs = 20;
  options.replicated_dofs = 0;
  Multigrid<T> m(comm, space, factors, 0, options);
  const auto& levels = m.levels();
  EXPECT_EQ(levels[0].smoother->schwarz() != nullptr, smoother == SmootherKind::schwarz);
  EXPECT_EQ(levels.back().plan.order, 1);
  EXPECT_EQ(levels.back().smoother->schwarz(), nullptr);
  const FlexibleCgVectors v{{space.make_vector("x"), space.make_vector("r"), space.make_vector("p"),
                             space.make_vector("ap")},
                            space.make_vector("z")};
  Problem(ProblemKind::nekbone, spec, 0).right_hand_side(space, factors, v.r);
  const FusedVectorOps ops(comm, space.range(), {});
  const CgResult result =
      flexible_conjugate_gradients(a, m, ops, v, {.iterations = 100, .tolerance = 1e-8});
  EXPECT_TRUE(result.converged);
  return result.iterations;
}

TEST(SchwarzSmoother, NeedsFewerIterationsThanJacobiIfStretched) {
  const int jacobi = iterations<double>(SmootherKind::jacobi);
  const int schwarz = iterations<double>(SmootherKind::schwarz);
  EXPECT_LT(schwarz, jacobi / 2);
  EXPECT_NEAR(iterations<float>(SmootherKind::schwarz), schwarz, 2);
}

TEST(SchwarzSmoother, IsJacobiOnADeterministicSpace) {
  MeshSpec spec;
  spec.elements = {2, 2, 2};
  spec.periodic = {false, false, false};
  Communicator comm(MPI_COMM_WORLD);
  AssembledSpace space(comm, BoxMesh(spec, 3, comm.size(), comm.rank()), Summation::deterministic);
  const GeometricFactors factors(space);
  MultigridOptions options;
  options.smoother = SmootherKind::schwarz;
  Multigrid<double> m(comm, space, factors, 0, options);
  EXPECT_EQ(m.levels()[0].smoother->schwarz(), nullptr);
}

}  // namespace
}  // namespace nekbone_k
