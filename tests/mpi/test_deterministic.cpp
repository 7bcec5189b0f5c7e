// SPDX-License-Identifier: BSD-3-Clause
// Deterministic sums: their bits depend neither on the partition nor on the strategy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gs/contribution_plan.hpp"
#include "operators/checksum.hpp"
#include "operators/elliptic_operator.hpp"
#include "operators/null_space.hpp"
#include "solver/conjugate_gradients.hpp"
#include "support/available_strategies.hpp"
#include "support/reference_operator.hpp"
#include "tuning/tuner.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

// ---- Contributions -----------------------------------------------------------------------------

// A point with its id, its key and the rank that has it. All ranks have the same list of points.
struct ListedPoint {
  GlobalId id, key;
  int rank;
};

std::vector<ListedPoint> random_points(int ranks) {
  std::mt19937 random(11);
  std::vector<ListedPoint> points;
  for (GlobalId p = 0; p < 400; ++p)
    points.push_back({GlobalId(random() % 90), p, int(random() % ranks)});
  std::shuffle(points.begin(), points.end(), random);
  return points;
}

template <class T>
T value_of(GlobalId key, int component) {
  std::mt19937 random(static_cast<unsigned>(key * 7 + component));
  return static_cast<T>(std::ldexp(double(random()) / 4e9 - 0.5, int(random() % 12)));
}

// A gather–scatter with numbering, plan and contributions from this rank's points.
GatherScatter make_deterministic(const Communicator& comm, const std::vector<ListedPoint>& mine) {
  std::vector<GlobalId> distinct;
  for (const ListedPoint& p : mine) distinct.push_back(p.id);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  HaloPlan plan = make_halo_plan(comm, distinct);
  std::map<GlobalId, LocalIndex> row_of;
  for (const GlobalId id : plan.ids) row_of.emplace(id, LocalIndex(row_of.size()));
  for (const GlobalId id : distinct) row_of.emplace(id, LocalIndex(row_of.size()));
  std::vector<LocalIndex> point_rows;
  std::map<std::pair<LocalIndex, GlobalId>, LocalIndex> shared;
  for (std::size_t p = 0; p < mine.size(); ++p) {
    point_rows.push_back(row_of[mine[p].id]);
    if (point_rows[p] < plan.n_shared()) shared[{point_rows[p], mine[p].key}] = LocalIndex(p);
  }
  SharedPoints points;
  points.offsets.assign(plan.n_shared() + 1, 0);
  for (const auto& [row_and_key, point] : shared) {
    points.points.push_back(point);
    points.keys.push_back(row_and_key.second);
    points.offsets[row_and_key.first + 1] = LocalIndex(points.points.size());
  }
  ContributionPlan contributions = make_contribution_plan(comm, plan, points);
  return GatherScatter(comm, std::move(plan),
                       Assembly(LocalIndex(row_of.size()), point_rows,
                                [&](LocalIndex point) { return mine[point].key; }),
                       std::move(contributions));
}

std::vector<ListedPoint> of_rank(int rank, const std::vector<ListedPoint>& all) {
  std::vector<ListedPoint> mine;
  for (const ListedPoint& p : all)
    if (p.rank == rank) mine.push_back(p);
  return mine;
}

template <class T>
void expect_sums_by_key(int components) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<ListedPoint> all = random_points(comm.size());
  std::vector<ListedPoint> by_key = all;
  std::sort(by_key.begin(), by_key.end(),
            [](const ListedPoint& a, const ListedPoint& b) { return a.key < b.key; });
  std::map<std::pair<GlobalId, int>, T> expected;
  for (const ListedPoint& p : by_key)
    for (int c = 0; c < components; ++c) {
      const auto [sum, first] = expected.emplace(std::pair{p.id, c}, value_of<T>(p.key, c));
      if (!first) sum->second += value_of<T>(p.key, c);
    }
  const std::vector<ListedPoint> mine = of_rank(comm.rank(), all);

  GatherScatter gs = make_deterministic(comm, mine);
  const DeviceField<T> field("field", mine.size(), components);
  const auto host = Kokkos::create_mirror_view(field);
  for (const Strategy& strategy : available_strategies(comm)) {
    gs.select(strategy);
    for (std::size_t p = 0; p < mine.size(); ++p)
      for (int c = 0; c < components; ++c) host(p, c) = value_of<T>(mine[p].key, c);
    Kokkos::deep_copy(field, host);
    gs.gs_op(field, Reduction::add);
    Kokkos::deep_copy(host, field);
    for (std::size_t p = 0; p < mine.size(); ++p)
      for (int c = 0; c < components; ++c)
        ASSERT_EQ(host(p, c), (expected[{mine[p].id, c}]))
            << strategy.name << ", id " << mine[p].id;
  }
}

TEST(DeterministicGatherScatter, AddsInTheOrderOfKeys) {
  expect_sums_by_key<double>(1);
  expect_sums_by_key<double>(3);
  expect_sums_by_key<float>(2);
}

// Number of kernels launched while a Counted lives, by name.
std::map<std::string, int>& launched() {
  static std::map<std::string, int> kernels;
  return kernels;
}
struct Counted {
  Counted() {
    launched().clear();
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char* kernel, std::uint32_t, std::uint64_t*) { ++launched()[kernel]; });
  }
  ~Counted() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

// The tuner times exchanges that add contributions by key, as in use. Only verification combines
// shares.
TEST(DeterministicGatherScatter, IsTunedByWhatItDoes) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "nothing is shared";
  GatherScatter gs = make_deterministic(comm, of_rank(comm.rank(), random_points(comm.size())));
  const OverlapWork work{"nothing", [](double) {}};
  const std::vector<Strategy> strategies{*find_strategy("device-pairwise"),
                                         *find_strategy("device-pairwise+overlap")};
  Verifier verifier(comm, gs.message_plan());
  int verifying = 0;
  {
    const Counted counted;
    for (const Strategy& strategy : strategies) EXPECT_EQ(verifier.verify(strategy), "");
    verifying = launched()["nekbone_k: unpack"];
  }
  const Counted counted;
  NoGuard guard;
  const TuningResult result = tune(gs, {}, strategies, work, {.budget_seconds = 0}, guard);
  ASSERT_GE(result.selected, 0);
  EXPECT_GE(launched()["nekbone_k: combine contributions"],
            result.rounds_alone * result.repeats + 2 * result.rounds_with_work);
  EXPECT_EQ(launched()["nekbone_k: unpack"], verifying + 1);  // verifies the winner once more
}

// ---- The operator and CG -----------------------------------------------------------------------

struct NamedCase {
  const char* name;
  std::array<int, 3> elements;
  std::array<bool, 3> periodic;
  int order;
  double lambda;
};

void PrintTo(const NamedCase& c, std::ostream* out) { *out << c.name; }

class Deterministic : public testing::TestWithParam<NamedCase> {
 protected:
  static MeshSpec spec() {
    MeshSpec spec;
    spec.elements = GetParam().elements;
    spec.periodic = GetParam().periodic;
    spec.deformation = Deformation::sine;
    spec.epsilon = 0.2;
    return spec;
  }
};

// A value with many significant bits at every node of every element, the same on every device.
KOKKOS_FUNCTION double rough(int ex, int ey, int ez, int i, int j, int k) {
  const std::uint64_t number =
      ((((std::uint64_t(ex) * 31 + ey) * 31 + ez) * 31 + i) * 31 + j) * 31 + k;
  const auto hash = static_cast<std::uint32_t>((number * 0x9e37'79b9'7f4a'7c15ULL) >> 40);
  return 1.0 / (3 + hash % 1009) * (1 << (hash / 1009 % 12));
}

TEST_P(Deterministic, ContributionsAreAddedByElement) {
  const Communicator comm(MPI_COMM_WORLD);
  const ReferenceMesh reference(spec(), GetParam().order);
  ById expected(reference.n_points(), 0);
  const auto& n = GetParam().elements;
  reference.for_each_node([&](int e, int i, int j, int k) {
    const GlobalId id = reference.id(e, i, j, k);
    if (!reference.is_masked(id))
      expected[id] += rough(e % n[0], e / n[0] % n[1], e / n[0] / n[1], i, j, k);
  });

  AssembledSpace space(comm, BoxMesh(spec(), GetParam().order, comm.size(), comm.rank()),
                       Summation::deterministic);
  const auto elements = space.elements();
  for (const Strategy& strategy : available_strategies(comm)) {
    space.gs().select(strategy);
    const auto sum = space.make_vector("sum");
    space.assemble(
        KOKKOS_LAMBDA(LocalIndex e, int i, int j, int k) {
          return rough(elements(e, 0), elements(e, 1), elements(e, 2), i, j, k);
        },
        sum);
    EXPECT_EQ(to_ids(comm, space, reference, sum), expected) << strategy.name;
  }
}

// A CG solver on a communicator.
struct Solver {
  Solver(MPI_Comm parent, const MeshSpec& spec, int order, double lambda, Summation summation)
      : comm(parent),
        reference(spec, order),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank()), summation),
        geometry(space),
        a(space, geometry, lambda) {}

  // History, and solution by id, of some iterations with the Jacobi preconditioner.
  std::pair<std::vector<double>, ById> solve(int iterations) {
    const CgVectors v{space.make_vector("x"), to_assembled(space, reference, reference.random(5)),
                      space.make_vector("p"), space.make_vector("Ap")};
    std::optional<double> terms;
    if (space.is_deterministic()) terms = static_cast<double>(space.mesh().total_dofs());
    const FusedVectorOps ops(comm, space.range(), a.inverse_diagonal(),
                             all_reduce_strategies().front(), terms);
    if (a.is_singular()) remove_constants(comm, space, v.r);
    const CgResult result = conjugate_gradients(a, ops, v, {iterations, 0});
    sum = checksum(comm, space, v.x);
    return {result.history, to_ids(comm, space, reference, v.x)};
  }

  Communicator comm;
  ReferenceMesh reference;
  AssembledSpace space;
  GeometricFactors geometry;
  EllipticOperator a;
  std::uint64_t sum = 0;  // checksum of the last solution
};

TEST_P(Deterministic, SolutionsHaveTheSameBitsOnOneRankAndOnAll) {
  const auto& [name, elements, periodic, order, lambda] = GetParam();
  Solver alone(MPI_COMM_SELF, spec(), order, lambda, Summation::deterministic);
  Solver together(MPI_COMM_WORLD, spec(), order, lambda, Summation::deterministic);
  const auto expect_same_bits = [&](int iterations, const auto& expected) {
    const auto found = together.solve(iterations);
    const std::string& strategy = together.space.gs().strategy().name;
    EXPECT_EQ(found.first, expected.first) << strategy;
    EXPECT_EQ(found.second, expected.second) << strategy;
    EXPECT_EQ(together.sum, alone.sum) << strategy;
  };
  const auto expected = alone.solve(30);
  ASSERT_GT(expected.first.front(), 10 * expected.first.back());
  expect_same_bits(30, expected);
  // The solutions differ from those with ordinary sums, but only by rounding.
  Solver ordinary(MPI_COMM_WORLD, spec(), order, lambda, Summation::ordinary);
  const auto rounded = ordinary.solve(30);
  EXPECT_LE(relative_difference(rounded.second, expected.second), 1e-9);
  // The first iterations show what a strategy does to the bits of every later one.
  constexpr int few = 5;
  const auto expected_of_few = alone.solve(few);
  for (const Strategy& strategy : available_strategies(together.comm)) {
    together.space.gs().select(strategy);
    expect_same_bits(few, expected_of_few);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Boxes, Deterministic,
    testing::Values(NamedCase{"Periodic", {4, 3, 2}, {true, true, true}, 3, 0.5},
                    NamedCase{"Singular", {3, 3, 3}, {true, true, true}, 2, 0},
                    NamedCase{"Dirichlet", {5, 4, 4}, {false, false, false}, 3, 0.1},
                    NamedCase{"Mixed", {3, 5, 3}, {true, false, true}, 7, 0.1},
                    NamedCase{"LowestOrder", {9, 8, 7}, {true, true, false}, 1, 1}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace nekbone_k
