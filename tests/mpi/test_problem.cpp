// SPDX-License-Identifier: BSD-3-Clause
#include "solver/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "operators/elliptic_operator.hpp"
#include "operators/null_space.hpp"
#include "solver/conjugate_gradients.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

using std::numbers::pi;

MeshSpec make_spec(std::array<int, 3> elements, bool periodic, Deformation deformation,
                   double epsilon) {
  MeshSpec spec;
  spec.elements = elements;
  spec.extent = {2, 1, 1.5};
  spec.periodic = {periodic, periodic, periodic};
  spec.deformation = deformation;
  spec.epsilon = epsilon;
  return spec;
}

// The exact solutions u and -Δu + λu, written out.
struct Wave {
  double amplitude;
  std::array<double, 3> k;
  std::array<bool, 3> cosine;
};

std::vector<Wave> waves(ProblemKind kind) {
  if (kind == ProblemKind::manufactured)
    return {{1, {pi, pi, pi}, {}}, {0.5, {2 * pi, pi, pi}, {}}, {-0.25, {pi, 3 * pi, 2 * pi}, {}}};
  const double k = 2 * pi;
  return {{1, {k, k, k}, {false, true, true}},
          {-1, {k, k, k}, {true, false, true}},
          {0.5, {2 * k, k, k}, {true, true, false}},
          {0.25, {k, 2 * k, 2 * k}, {false, true, true}}};
}

struct Exact {
  double solution = 0, forcing = 0;
};

Exact exact(ProblemKind kind, const MeshSpec& spec, double lambda,
            const std::array<double, 3>& place) {
  Exact sum;
  for (const Wave& wave : waves(kind)) {
    double value = wave.amplitude, k_squared = 0;
    for (int d = 0; d < 3; ++d) {
      const double k = wave.k[d] / spec.extent[d];
      value *= wave.cosine[d] ? std::cos(k * place[d]) : std::sin(k * place[d]);
      k_squared += k * k;
    }
    sum.solution += value;
    sum.forcing += (k_squared + lambda) * value;
  }
  return sum;
}

// A problem on a communicator.
struct Posed {
  Posed(MPI_Comm parent, ProblemKind problem_kind, const MeshSpec& mesh_spec, int order,
        double lambda_value)
      : comm(parent),
        kind(problem_kind),
        spec(mesh_spec),
        lambda(lambda_value),
        reference(spec, order),
        mesh(spec, order, comm.size(), comm.rank()),
        space(comm, mesh),
        geometry(space),
        problem(kind, spec, lambda) {}

  ById right_hand_side() {
    const auto b = space.make_vector("b");
    problem.right_hand_side(space, geometry, b);
    return to_ids(comm, space, reference, b);
  }

  ById solution() const {
    ById values(reference.n_points());
    reference.for_each_node([&](int e, int i, int j, int k) {
      values[reference.id(e, i, j, k)] =
          exact(kind, spec, lambda, reference.coordinates(e, i, j, k)).solution;
    });
    return values;
  }

  SolutionError error(const ById& x, bool remove_mean = false) const {
    return problem.error(comm, space, geometry, to_assembled(space, reference, x), remove_mean);
  }

  // Solves to rounding, so that only the discretization error remains.
  SolutionError solve() {
    const EllipticOperator a(space, geometry, lambda);
    const CgVectors v{space.make_vector("x"), space.make_vector("r"), space.make_vector("p"),
                      space.make_vector("Ap")};
    problem.right_hand_side(space, geometry, v.r);
    if (a.is_singular()) remove_constants(comm, space, v.r);
    const FusedVectorOps jacobi(comm, {space.size(), space.n_not_owned()}, a.inverse_diagonal());
    EXPECT_TRUE(conjugate_gradients(a, jacobi, v, {1000, 1e-12}).converged);
    return problem.error(comm, space, geometry, v.x, a.is_singular());
  }

  Communicator comm;
  ProblemKind kind;
  MeshSpec spec;
  double lambda;
  ReferenceMesh reference;
  BoxMesh mesh;
  AssembledSpace space;
  GeometricFactors geometry;
  Problem problem;
};

TEST(Problem, RightHandSideDoesNotDependOnTheRanks) {
  for (const ProblemKind kind :
       {ProblemKind::taylor_green, ProblemKind::manufactured, ProblemKind::nekbone}) {
    const MeshSpec spec =
        make_spec({3, 2, 2}, kind == ProblemKind::taylor_green, Deformation::sine, 0.3);
    const ById together = Posed(MPI_COMM_WORLD, kind, spec, 4, 0.1).right_hand_side();
    const ById alone = Posed(MPI_COMM_SELF, kind, spec, 4, 0.1).right_hand_side();
    // The order in which a point's shares are added differs.
    EXPECT_LE(relative_difference(together, alone), 1e-15) << name(kind);
  }
}

// Qᵀ f. Libraries differ by an ulp in the inner cosine, which moves the argument of the sine by
// 1e-7.
TEST(Problem, RightHandSideOfNekboneIsTheFormula) {
  for (const bool periodic : {true, false}) {
    Posed posed(MPI_COMM_WORLD, ProblemKind::nekbone,
                make_spec({3, 2, 2}, periodic, Deformation::none, 0), 5, 0.1);
    ById expected = posed.reference.multiplicity();
    for (std::size_t id = 0; id < expected.size(); ++id) {
      const double g = static_cast<double>(id);
      expected[id] *= std::sin(1e9 * std::cos(1e9 * g * g));
    }
    EXPECT_LE(relative_difference(posed.right_hand_side(), expected), 1e-6);
    EXPECT_FALSE(posed.problem.has_exact_solution());
  }
}

TEST(Problem, RightHandSideIsTheForcingOfTheExactSolution) {
  for (const ProblemKind kind : {ProblemKind::taylor_green, ProblemKind::manufactured}) {
    const MeshSpec spec =
        make_spec({3, 2, 2}, kind == ProblemKind::taylor_green, Deformation::sine, 0.3);
    const double lambda = 2.5;
    Posed posed(MPI_COMM_WORLD, kind, spec, 5, lambda);
    const ReferenceOperator reference(spec, 5, lambda);
    const ReferenceMesh& mesh = reference.mesh();
    ById expected(mesh.n_points(), 0);
    mesh.for_each_node([&](int e, int i, int j, int k) {
      const GlobalId id = mesh.id(e, i, j, k);
      if (mesh.is_masked(id)) return;
      expected[id] += reference.metric(e, i, j, k).mass *
                      exact(kind, spec, lambda, mesh.coordinates(e, i, j, k)).forcing;
    });
    EXPECT_LE(relative_difference(posed.right_hand_side(), expected), 1e-12) << name(kind);
    EXPECT_TRUE(posed.problem.has_exact_solution());
  }
}

TEST(Problem, ErrorIsRelativeToTheSolution) {
  Posed posed(MPI_COMM_WORLD, ProblemKind::manufactured,
              make_spec({3, 2, 2}, false, Deformation::none, 0), 7, 1);
  ById x = posed.solution();
  EXPECT_LE(posed.error(x).max, 1e-14);
  EXPECT_LE(posed.error(x).l2, 1e-14);

  ById scaled = x;
  for (double& value : scaled) value *= 1.001;
  EXPECT_NEAR(posed.error(scaled).max, 1e-3, 1e-12);
  EXPECT_NEAR(posed.error(scaled).l2, 1e-3, 1e-12);

  *std::max_element(x.begin(), x.end()) += 0.125;
  EXPECT_NEAR(posed.error(x).max, 0.125 / max_abs(posed.solution()), 1e-13);
}

TEST(Problem, ErrorLeavesTheMeanOutWhenAsked) {
  Posed posed(MPI_COMM_WORLD, ProblemKind::taylor_green,
              make_spec({3, 2, 2}, true, Deformation::sine, 0.2), 7, 0);
  ById x = posed.solution();
  for (double& value : x) value += 3;
  EXPECT_NEAR(posed.error(x, false).max, 3 / max_abs(posed.solution()), 1e-12);
  EXPECT_LE(posed.error(x, true).max, 1e-12);
  EXPECT_LE(posed.error(x, true).l2, 1e-12);
}

TEST(Problem, ErrorOfANaNIsNaN) {
  Posed posed(MPI_COMM_WORLD, ProblemKind::taylor_green,
              make_spec({3, 2, 2}, true, Deformation::none, 0), 3, 1);
  for (const std::size_t id : {std::size_t{0}, posed.solution().size() - 1}) {
    ById x = posed.solution();
    x[id] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(posed.error(x).max));
    EXPECT_TRUE(std::isnan(posed.error(x).l2));
  }
}

// Each step in order must reduce the error at least tenfold, down to 1e-10.
void expect_spectral_convergence(ProblemKind kind, const MeshSpec& spec, double lambda,
                                 const std::vector<int>& orders) {
  SolutionError before{1, 1};
  for (const int order : orders) {
    const SolutionError error = Posed(MPI_COMM_WORLD, kind, spec, order, lambda).solve();
    EXPECT_LT(error.max, 0.1 * before.max) << "order " << order;
    EXPECT_LT(error.l2, 0.1 * before.l2) << "order " << order;
    before = error;
  }
  EXPECT_LE(before.max, 1e-10);
  EXPECT_LE(before.l2, 1e-10);
}

// A large λ saves iterations, but still shows a wrong stiffness in the first digits.
TEST(Problem, TaylorGreenConvergesSpectrally) {
  const MeshSpec spec = make_spec({2, 2, 2}, true, Deformation::none, 0);
  expect_spectral_convergence(ProblemKind::taylor_green, spec, 100, {4, 7, 10, 13});
  expect_spectral_convergence(ProblemKind::taylor_green, spec, 0, {6, 13});  // a singular operator
}

TEST(Problem, ManufacturedConvergesSpectrallyOnTheSineMesh) {
  expect_spectral_convergence(ProblemKind::manufactured,
                              make_spec({3, 3, 3}, false, Deformation::sine, 0.1), 1000,
                              {4, 7, 10, 13});
}

TEST(Problem, ManufacturedConvergesSpectrallyOnStraightElements) {
  MeshSpec spec = make_spec({3, 3, 3}, false, Deformation::sine, 0.1);
  spec.geometry = Geometry::trilinear;
  expect_spectral_convergence(ProblemKind::manufactured, spec, 1000, {4, 7, 10, 13});
}

// Element boundaries match the six layers of the Kershaw map in the first direction.
TEST(Problem, ManufacturedConvergesSpectrallyOnTheKershawMesh) {
  expect_spectral_convergence(ProblemKind::manufactured,
                              make_spec({12, 2, 2}, false, Deformation::kershaw, 0.95), 10000,
                              {4, 6, 8, 10, 12});
}

}  // namespace
}  // namespace nekbone_k
