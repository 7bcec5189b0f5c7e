// SPDX-License-Identifier: BSD-3-Clause
// The effect of each key and of --set, and the inputs in inputs/. See test_bad_input.cpp for
// mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/communicator.hpp"
#include "gs/strategy_table.hpp"
#include "input/case.hpp"

namespace nekbone_k {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

using Texts = std::vector<std::string>;

Case parse(const std::string& text, const Texts& overrides = {}, int ranks = 1) {
  return parse_case(text, "x.yaml", overrides, ranks);
}

/// The source folder. The environment variable NEKBONE_K_SOURCE_DIR overrides it if the tests run
/// on another machine than the build (ci/gpu-tests.sh).
std::string source_folder() {
  const char* const elsewhere = std::getenv("NEKBONE_K_SOURCE_DIR");
  return elsewhere != nullptr ? elsewhere : NEKBONE_K_SOURCE_DIR;
}

// ---- Defaults and effects -----------------------------------------------------------------------

TEST(CaseDefaults, AreThoseDocumented) {
  const Case run = parse("{}");
  EXPECT_EQ(run.source, "x.yaml");
  EXPECT_THAT(run.mesh.elements, ElementsAre(8, 8, 8));
  EXPECT_THAT(run.mesh.extent, ElementsAre(1.0, 1.0, 1.0));
  EXPECT_THAT(run.mesh.periodic, ElementsAre(true, true, true));
  EXPECT_EQ(run.partition_mode, PartitionMode::automatic);
  EXPECT_EQ(run.mesh.partition, Partition{});
  EXPECT_EQ(run.grid_budget_seconds, 1.0);
  EXPECT_EQ(run.mesh.deformation, Deformation::none);
  EXPECT_EQ(run.mesh.epsilon, 0.3);
  EXPECT_THAT(run.orders, ElementsAre(1, 3, 7, 11));
  EXPECT_EQ(run.lambda, 1.0);
  EXPECT_EQ(run.mesh.geometry, Geometry::stored);
  EXPECT_EQ(run.problem, ProblemKind::taylor_green);
  EXPECT_EQ(run.error_bound, 1e-6);
  EXPECT_EQ(run.summation, Summation::ordinary);
  EXPECT_EQ(run.solver_order, 7);
  EXPECT_EQ(run.preconditioner, Preconditioner::none);
  EXPECT_EQ(run.iterations, 100);
  EXPECT_EQ(run.tolerance, 0.0);
  EXPECT_EQ(run.vector_ops, VectorOps::fused);
  ASSERT_EQ(run.strategies.size(), all_strategies().size());
  for (std::size_t s = 0; s < run.strategies.size(); ++s)
    EXPECT_EQ(run.strategies[s], all_strategies()[s].name);
  EXPECT_EQ(run.field_kind, (FieldKind{1, Precision::double_}));
  EXPECT_EQ(run.tuning.budget_seconds, 2.0);
  EXPECT_FALSE(run.budget_given);
  EXPECT_EQ(run.tuning.minimum_rounds, 5);
  EXPECT_TRUE(run.tuning.early_stop);
  EXPECT_EQ(run.report_json, "nekbone-k.json");
  EXPECT_TRUE(run.measure_bandwidth);
  EXPECT_EQ(run.memory_limit_gib, 0.0);
}

TEST(CaseDefaults, HoldForSectionsWhoseKeysAreCommentedOut) {
  const Case run = parse("mesh:\n  # elements: 4\nsolver: ~\nproblem: taylor-green\n");
  EXPECT_THAT(run.mesh.elements, ElementsAre(8, 8, 8));
  EXPECT_EQ(run.solver_order, 7);
}

TEST(CaseKeys, GeometryIsThatOfTheMesh) {
  EXPECT_EQ(parse("operator: {geometry: trilinear}").mesh.geometry, Geometry::trilinear);
  EXPECT_EQ(parse("operator: {geometry: affine}").mesh.geometry, Geometry::affine);
}

TEST(CaseKeys, EachHasItsEffect) {
  const Case run = parse(R"(
mesh: {elements: [2, 3, 4], extent: [1.5, 2, +2.5e1], periodic: [true, false, false],
       deformation: sine, epsilon: 0.6}
orders: [15, 1, 31]
operator: {lambda: 0.25, geometry: stored}
problem: manufactured
solver:
  order: 9
  preconditioner: jacobi
  iterations: 7
  tolerance: 1e-9
  vector_ops: kokkos-kernels
gather_scatter:
  strategies: [host-alltoall, device-pairwise]
  tuning: {budget_seconds: 0, minimum_rounds: 10000, early_stop: false}
verification: {error_bound: 0.5}
report: {json: out/a b.json, bandwidth: false}
memory: {limit_gib: 1.5}
)");
  EXPECT_THAT(run.mesh.elements, ElementsAre(2, 3, 4));
  EXPECT_THAT(run.mesh.extent, ElementsAre(1.5, 2.0, 25.0));
  EXPECT_THAT(run.mesh.periodic, ElementsAre(true, false, false));
  EXPECT_EQ(run.mesh.deformation, Deformation::sine);
  EXPECT_EQ(run.mesh.epsilon, 0.6);
  EXPECT_THAT(run.orders, ElementsAre(15, 1, 31));
  EXPECT_EQ(run.lambda, 0.25);
  EXPECT_EQ(run.mesh.geometry, Geometry::stored);
  EXPECT_EQ(run.problem, ProblemKind::manufactured);
  EXPECT_EQ(run.solver_order, 9);
  EXPECT_EQ(run.preconditioner, Preconditioner::jacobi);
  EXPECT_EQ(run.iterations, 7);
  EXPECT_EQ(run.tolerance, 1e-9);
  EXPECT_EQ(run.vector_ops, VectorOps::kokkos_kernels);
  EXPECT_THAT(run.strategies, ElementsAre("device-pairwise", "host-alltoall"));
  EXPECT_EQ(run.tuning.budget_seconds, 0.0);
  EXPECT_TRUE(run.budget_given);
  EXPECT_EQ(run.tuning.minimum_rounds, 10000);
  EXPECT_FALSE(run.tuning.early_stop);
  EXPECT_EQ(run.error_bound, 0.5);
  EXPECT_EQ(run.report_json, "out/a b.json");
  EXPECT_FALSE(run.measure_bandwidth);
  EXPECT_EQ(run.memory_limit_gib, 1.5);
}

TEST(CaseKeys, Deterministic) {
  EXPECT_EQ(parse("deterministic: true").summation, Summation::deterministic);
  EXPECT_EQ(parse("deterministic: false\nsolver: {vector_ops: kokkos-kernels}").summation,
            Summation::ordinary);
}

TEST(CaseKeys, PartitionIsAWordOrAGrid) {
  const auto partition = [](const std::string& given, int ranks) {
    const Case run = parse("mesh: {elements: [6, 8, 8], partition: " + given + "}", {}, ranks);
    return std::pair(run.partition_mode, run.mesh.partition);
  };
  EXPECT_EQ(partition("auto", 7), std::pair(PartitionMode::automatic, Partition{}));
  EXPECT_EQ(partition("bisection", 7), std::pair(PartitionMode::bisection, Partition{}));
  // Slabs are across the longest direction, the last of equals.
  EXPECT_EQ(partition("slabs", 7), std::pair(PartitionMode::slabs, (Partition{{1, 1, 7}})));
  EXPECT_EQ(partition("[6, 1, 2]", 12), std::pair(PartitionMode::grid, (Partition{{6, 1, 2}})));
  EXPECT_EQ(parse("gather_scatter: {tuning: {grid_budget_seconds: 0}}").grid_budget_seconds, 0.0);
}

TEST(CaseKeys, NothingIsSolvedInAnyBox) {
  EXPECT_TRUE(parse("mesh: {periodic: true}").solves());
  for (const char* periodic : {"true", "false", "[false, true, false]"})
    EXPECT_FALSE(parse(std::string("problem: none\nmesh: {periodic: ") + periodic + "}").solves());
}

TEST(CaseKeys, FieldsToExchangeAreOfAnyKindWhereNothingIsSolved) {
  const auto kind = [](const std::string& problem, const std::string& gather_scatter) {
    return parse("problem: " + problem + "\ngather_scatter: {" + gather_scatter + "}").field_kind;
  };
  EXPECT_EQ(kind("none", ""), FieldKind{});
  EXPECT_EQ(kind("none", "components: 3"), (FieldKind{3, Precision::double_}));
  EXPECT_EQ(kind("none", "precision: single"), (FieldKind{1, Precision::single}));
  EXPECT_EQ(kind("none", "components: 64, precision: double"), (FieldKind{64, Precision::double_}));
  EXPECT_EQ(kind("taylor-green", "components: 1, precision: double"), FieldKind{});
}

TEST(CaseKeys, OfAFlowHaveTheirEffect) {
  const Case run = parse(R"(
problem: flow
flow:
  initial: abc
  plane: zx
  translation: [1, 0.5, -0.25]
  viscosity: 0.05
  dt: 5e-3
  cfl: 0.4
  end_time: 0.5
  steps: 12
  time_order: 2
  dealiasing: false
  projection: 64
  tolerance: relative
  pressure_tolerance: 1e-6
  velocity_tolerance: 1e-7
  forcing: [0, 1e-3, 0]
  series: out/a.csv
  series_every: 3
verification: {reference: a.txt}
)",
                         {"flow.series=b.csv"});
  EXPECT_TRUE(run.is_flow());
  EXPECT_TRUE(run.solves());
  const FlowCase& flow = run.flow;
  EXPECT_EQ(flow.initial, FlowKind::abc);
  EXPECT_EQ(flow.plane, FlowPlane::zx);
  EXPECT_EQ(flow.field({1, 1, 1}).normal, 1);
  EXPECT_THAT(flow.translation, ElementsAre(1, 0.5, -0.25));
  EXPECT_EQ(flow.viscosity, 0.05);
  EXPECT_EQ(flow.dt, 5e-3);
  EXPECT_EQ(flow.cfl, 0.4);
  EXPECT_EQ(flow.end_time, 0.5);
  EXPECT_EQ(flow.steps, 12);
  EXPECT_EQ(flow.series, "b.csv");
  EXPECT_EQ(flow.series_every, 3);
  EXPECT_EQ(run.place("flow.series"), "--set flow.series=b.csv: flow.series");
  EXPECT_EQ(run.reference, "a.txt");
  EXPECT_EQ(run.place("verification.reference"), "x.yaml:21: verification.reference");

  const FlowOptions options = flow.options();
  EXPECT_EQ(options.viscosity, 0.05);
  EXPECT_EQ(options.time_order, 2);
  EXPECT_FALSE(options.dealiasing);
  EXPECT_EQ(options.projection, 64);
  EXPECT_EQ(options.pressure.relative, 1e-6);
  EXPECT_EQ(options.pressure.absolute, 0);
  EXPECT_EQ(options.velocity.relative, 1e-7);
  EXPECT_THAT(options.forcing, ElementsAre(0, 1e-3, 0));
  EXPECT_EQ(parse("{}").flow.options().velocity.absolute, 1e-9);
  EXPECT_EQ(parse("{}").flow.options().velocity.relative, 0);

  const FlowField field = flow.field({2, 2, 2});
  EXPECT_EQ(field.kind, FlowKind::abc);
  EXPECT_EQ(field.viscosity, 0.05);
  EXPECT_THAT(field.extent, ElementsAre(2, 2, 2));
  EXPECT_THAT(field.carried, ElementsAre(1, 0.5, -0.25));
}

// A flow tunes exchanges of its vectors and of its scalars, at its order alone. The pressure has
// no term without derivatives.
TEST(CaseKeys, OfOtherProblemsAreFixedByAFlow) {
  const Case run = parse(
      "problem: flow\norders: [1, 3]\noperator: {lambda: 2}\n"
      "solver: {order: 5, preconditioner: jacobi, variant: pipelined, launch: plain}");
  EXPECT_EQ(run.lambda, 0.0);
  EXPECT_EQ(run.preconditioner, Preconditioner::multigrid);
  EXPECT_EQ(run.variant, CgVariantChoice::automatic);
  EXPECT_EQ(run.launch, CgLaunchChoice::automatic);
  EXPECT_THAT(run.orders_to_tune(), ElementsAre(5));
  const auto fields = run.fields_to_tune();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].order, 5);
  EXPECT_EQ(fields[0].kind, (FieldKind{3, Precision::double_}));
  EXPECT_EQ(fields[1].order, 5);
  EXPECT_EQ(fields[1].kind, FieldKind{});

  const Case other = parse("problem: taylor-green\norders: [1, 3]\nsolver: {order: 5}");
  ASSERT_EQ(other.fields_to_tune().size(), 3u);
  EXPECT_EQ(other.fields_to_tune().back().order, 5);
  EXPECT_EQ(other.fields_to_tune().back().kind, FieldKind{});
  EXPECT_FALSE(other.is_flow());
}

// A flow does no work while it exchanges vectors.
TEST(CaseKeys, OfVectorsOfAFlowHaveNoOverlap) {
  const auto names = [](const TunedField& field) {
    std::vector<std::string> tuned;
    for (const Strategy& strategy : field.strategies) tuned.push_back(strategy.name);
    return tuned;
  };
  const Case run = parse(
      "problem: flow\ngather_scatter: {strategies: [device-pairwise, device-persistent+overlap, "
      "device-pairwise+overlap]}");
  const std::vector<TunedField> fields = run.fields_to_tune();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_THAT(names(fields[0]), UnorderedElementsAre("device-pairwise", "device-persistent"));
  EXPECT_THAT(names(fields[1]), UnorderedElementsAre("device-pairwise", "device-persistent+overlap",
                                                     "device-pairwise+overlap"));
}

TEST(CaseKeys, OneValueHoldsForAllDirections) {
  const Case run = parse("mesh: {elements: 5, extent: 2.5, periodic: false}\nproblem: nekbone");
  EXPECT_THAT(run.mesh.elements, ElementsAre(5, 5, 5));
  EXPECT_THAT(run.mesh.extent, ElementsAre(2.5, 2.5, 2.5));
  EXPECT_THAT(run.mesh.periodic, ElementsAre(false, false, false));
  EXPECT_EQ(run.problem, ProblemKind::nekbone);
}

TEST(CaseKeys, OneValueIsAListOfOne) {
  EXPECT_THAT(parse("orders: 5").orders, ElementsAre(5));
  EXPECT_THAT(parse("gather_scatter: {strategies: host-pairwise}").strategies,
              ElementsAre("host-pairwise"));
  EXPECT_THAT(parse("{}", {"gather_scatter.strategies=all"}).strategies,
              testing::SizeIs(all_strategies().size()));
}

TEST(CaseKeys, TabsMayStandBetweenWords) {
  EXPECT_THAT(parse("orders:\t[2,\n\t3]\t# two\n").orders, ElementsAre(2, 3));
}

TEST(CaseKeys, KershawTakesAnyEpsilonUpToOneInAClosedBox) {
  const Case run =
      parse("mesh: {periodic: false, deformation: kershaw, epsilon: 1}\nproblem: manufactured");
  EXPECT_EQ(run.mesh.deformation, Deformation::kershaw);
  EXPECT_EQ(run.mesh.epsilon, 1.0);
}

TEST(CaseKeys, StrategiesCountOnceInTheOrderOfTheTable) {
  EXPECT_THAT(parse("gather_scatter: {strategies: [host-alltoall, host-pairwise, host-alltoall]}")
                  .strategies,
              ElementsAre("host-pairwise", "host-alltoall"));
  EXPECT_THAT(parse("gather_scatter: {strategies: [host-alltoall, all]}").strategies,
              testing::SizeIs(all_strategies().size()));
  EXPECT_THAT(parse("gather_scatter: {strategies: [device-pairwise+overlap]}").strategies,
              ElementsAre("device-pairwise+overlap"));
}

TEST(CaseKeys, ValuesAtTheirBoundsAreAllowed) {
  EXPECT_EQ(parse("operator: {lambda: 0}").lambda, 0.0);
  EXPECT_EQ(parse("mesh: {epsilon: 1}").mesh.epsilon, 1.0);
  EXPECT_THAT(parse("mesh: {extent: [1e-50, 1, 1e50]}").mesh.extent, ElementsAre(1e-50, 1.0, 1e50));
  EXPECT_EQ(parse("solver: {iterations: 2147483647}").iterations, 2147483647);
  EXPECT_EQ(parse("mesh: {elements: [1048575, 1048576, 1]}").mesh.total_elements(),
            1099510579200LL);  // 2^40 - 2^20
  EXPECT_THAT(parse("mesh: {elements: [7, 1, 1]}", {}, 7).mesh.elements, ElementsAre(7, 1, 1));
}

TEST(CaseKeys, QuotedTextIsAFileNameWhateverItLooksLike) {
  EXPECT_EQ(parse("report: {json: '12'}").report_json, "12");
  EXPECT_EQ(parse("report: {json: \"true\"}").report_json, "true");
}

TEST(CaseKeys, AliasesStandForWhatTheyName) {
  const Case run =
      parse("orders: &list [2, 3]\nmesh: {elements: [&n 4, *n, 5]}\nsolver: {order: *n}");
  EXPECT_THAT(run.orders, ElementsAre(2, 3));
  EXPECT_THAT(run.mesh.elements, ElementsAre(4, 4, 5));
  EXPECT_EQ(run.solver_order, 4);
}

TEST(CaseKeys, WindowsLineEndsAndAByteOrderMarkAreRead) {
  const Case run = parse("\xEF\xBB\xBForders: [2]\r\nsolver:\r\n  order: 3\r\n");
  EXPECT_THAT(run.orders, ElementsAre(2));
  EXPECT_EQ(run.solver_order, 3);
}

TEST(CaseKeys, ThoseThatOnlyARunFindsWrongAreRememberedWithTheirPlace) {
  EXPECT_EQ(parse("mesh:\n  deformation: sine\n").place("mesh.deformation"),
            "x.yaml:2: mesh.deformation");
  EXPECT_EQ(parse("{}", {"mesh.deformation=sine"}).place("mesh.deformation"),
            "--set mesh.deformation=sine: mesh.deformation");
  EXPECT_EQ(parse("orders: [1]\nreport: {json: a.json}").place("report.json"),
            "x.yaml:2: report.json");
  EXPECT_EQ(parse("{}").place("report.json"), "x.yaml: report.json");
  EXPECT_EQ(parse("memory:\n  limit_gib: 2\n").place("memory.limit_gib"),
            "x.yaml:2: memory.limit_gib");
  EXPECT_EQ(parse("memory:\n  limit_gib: 2\n", {"memory.limit_gib=1"}).place("memory.limit_gib"),
            "--set memory.limit_gib=1: memory.limit_gib");
}

TEST(CaseNames, AreThoseOfTheInput) {
  EXPECT_STREQ(name(ProblemKind::taylor_green), "taylor-green");
  EXPECT_STREQ(name(ProblemKind::manufactured), "manufactured");
  EXPECT_STREQ(name(ProblemKind::nekbone), "nekbone");
  EXPECT_STREQ(name(Preconditioner::none), "none");
  EXPECT_STREQ(name(Preconditioner::jacobi), "jacobi");
  EXPECT_STREQ(name(VectorOps::fused), "fused");
  EXPECT_STREQ(name(VectorOps::kokkos_kernels), "kokkos-kernels");
  EXPECT_STREQ(name(PartitionMode::automatic), "auto");
  EXPECT_STREQ(name(PartitionMode::bisection), "bisection");
  EXPECT_STREQ(name(PartitionMode::slabs), "slabs");
  EXPECT_STREQ(name(Precision::single), "single");
  EXPECT_STREQ(name(Precision::double_), "double");
  EXPECT_STREQ(name(Geometry::stored), "stored");
  EXPECT_STREQ(name(Geometry::trilinear), "trilinear");
  EXPECT_STREQ(name(Geometry::affine), "affine");
  EXPECT_STREQ(name(Deformation::none), "none");
  EXPECT_STREQ(name(Deformation::sine), "sine");
  EXPECT_STREQ(name(Deformation::kershaw), "kershaw");
}

// ---- --set --------------------------------------------------------------------------------------

TEST(CaseOverrides, ReplaceAndAddValues) {
  const Case run =
      parse("solver: {order: 9, iterations: 7}", {"mesh.elements=[4,5,6]", "solver.order=3",
                                                  "gather_scatter.tuning."
                                                  "minimum_rounds=8",
                                                  " orders = [2] "});
  EXPECT_THAT(run.mesh.elements, ElementsAre(4, 5, 6));
  EXPECT_EQ(run.solver_order, 3);
  EXPECT_EQ(run.iterations, 7);
  EXPECT_EQ(run.tuning.minimum_rounds, 8);
  EXPECT_THAT(run.orders, ElementsAre(2));
}

TEST(CaseOverrides, TheLastOneCounts) {
  EXPECT_EQ(parse("{}", {"solver.order=3", "solver.order=4"}).solver_order, 4);
}

TEST(CaseOverrides, AMappingChangesTheKeysItNames) {
  const Case run = parse("solver: {order: 9, iterations: 7}",
                         {"solver={order: 2, tolerance: 0.5}", "gather_scatter.tuning={}"});
  EXPECT_EQ(run.solver_order, 2);
  EXPECT_EQ(run.tolerance, 0.5);
  EXPECT_EQ(run.iterations, 7);
}

TEST(CaseOverrides, MendAValueThatTheFileHasWrong) {
  EXPECT_EQ(parse("solver: {order: 99}", {"solver.order=3"}).solver_order, 3);
  EXPECT_EQ(parse("solver:\n", {"solver.order=3"}).solver_order, 3);
}

TEST(CaseOverrides, MayHoldAnEqualsSign) {
  EXPECT_EQ(parse("{}", {"report.json=a=b.json"}).report_json, "a=b.json");
}

TEST(CaseFile, IsReadAndNamed) {
  const Communicator comm(MPI_COMM_SELF);
  const std::string path = source_folder() + "/inputs/smoke.yaml";
  const Case run = read_case(comm, path, {"solver.iterations=5"});
  EXPECT_EQ(run.source, path);
  EXPECT_EQ(run.solver_order, 5);
  EXPECT_EQ(run.iterations, 5);
}

// ---- Shipped inputs -----------------------------------------------------------------------------

Case shipped(const std::string& file, int ranks = 4) {
  const std::string path = source_folder() + "/inputs/" + file;
  std::ifstream stream(path);
  EXPECT_TRUE(stream) << path;
  return parse_case(std::string(std::istreambuf_iterator<char>(stream), {}), file, {}, ranks);
}

TEST(CaseShipped, Tgv64) {
  const Case run = shipped("tgv64.yaml");
  EXPECT_THAT(run.mesh.elements, ElementsAre(64, 64, 64));
  for (const double extent : run.mesh.extent) EXPECT_DOUBLE_EQ(extent, 6.283185307179586);
  EXPECT_TRUE(run.mesh.fully_periodic());
  EXPECT_EQ(run.mesh.deformation, Deformation::none);
  EXPECT_THAT(run.orders, ElementsAre(1, 3, 7, 11));
  EXPECT_EQ(run.lambda, 1.0);
  EXPECT_EQ(run.problem, ProblemKind::taylor_green);
  EXPECT_EQ(run.solver_order, 7);
  EXPECT_EQ(run.preconditioner, Preconditioner::none);
  EXPECT_EQ(run.iterations, 100);
  EXPECT_EQ(run.tolerance, 0.0);
  EXPECT_EQ(run.vector_ops, VectorOps::fused);
  EXPECT_EQ(run.strategies.size(), all_strategies().size());
  EXPECT_EQ(run.report_json, "tgv64.json");
}

TEST(CaseShipped, ExchangesAlone) {
  for (const auto& [file, elements] : {std::pair{"gs64.yaml", 64}, std::pair{"gs16.yaml", 16}}) {
    const Case run = shipped(file);
    EXPECT_THAT(run.mesh.elements, ElementsAre(elements, elements, elements));
    EXPECT_THAT(run.orders, ElementsAre(1, 3, 7, 11));
    EXPECT_FALSE(run.solves());
    EXPECT_EQ(run.tuning.minimum_rounds, 1000);
    EXPECT_EQ(run.tuning.budget_seconds, 0);
    EXPECT_FALSE(run.tuning.early_stop);
    EXPECT_EQ(run.strategies.size(), all_strategies().size());
  }
}

TEST(CaseShipped, Nekbone) {
  const Case run = shipped("nekbone.yaml");
  EXPECT_THAT(run.mesh.elements, ElementsAre(16, 16, 16));
  EXPECT_THAT(run.mesh.periodic, ElementsAre(false, false, false));
  EXPECT_THAT(run.orders, ElementsAre(7));
  EXPECT_EQ(run.lambda, 0.1);
  EXPECT_EQ(run.problem, ProblemKind::nekbone);
  EXPECT_EQ(run.solver_order, 7);
  EXPECT_EQ(run.iterations, 100);
  EXPECT_EQ(run.tolerance, 0.0);
}

TEST(CaseShipped, Flows) {
  const Case beltrami = shipped("beltrami.yaml");
  EXPECT_EQ(beltrami.flow.initial, FlowKind::abc);
  EXPECT_EQ(beltrami.mesh.deformation, Deformation::sine);
  EXPECT_EQ(beltrami.error_bound, 1e-6);
  EXPECT_EQ(beltrami.flow.series, "beltrami.csv");
  for (const auto& [file, elements] :
       {std::pair{"tgv-re1600-small.yaml", 8}, std::pair{"tgv-re1600.yaml", 32}}) {
    const Case run = shipped(file);
    EXPECT_EQ(run.flow.initial, FlowKind::taylor_green);
    EXPECT_THAT(run.mesh.elements, ElementsAre(elements, elements, elements));
    EXPECT_EQ(run.mesh.geometry, Geometry::affine);
    EXPECT_DOUBLE_EQ(1 / run.flow.viscosity, 1600);
    EXPECT_EQ(run.solver_order, 7);
    EXPECT_EQ(run.flow.steps, 0);
  }
  const Case scaling = shipped("tgv-re5000.yaml");
  EXPECT_GT(scaling.flow.steps, 0);
  EXPECT_DOUBLE_EQ(1 / scaling.flow.viscosity, 5000);
}

// Every input is valid, and writes files of its own name.
TEST(CaseShipped, AllAreReadAndNameFilesOfTheirOwn) {
  int flows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/inputs")) {
    const std::string file = entry.path().filename().string(), stem = entry.path().stem().string();
    if (entry.path().extension() != ".yaml") continue;
    const Case run = shipped(file);
    EXPECT_EQ(run.report_json, stem + ".json") << file;
    if (!run.is_flow()) continue;
    ++flows;
    EXPECT_EQ(run.flow.series, stem + ".csv") << file;
  }
  EXPECT_EQ(flows, 4);
}

TEST(CaseShipped, Smoke) {
  const Case run = shipped("smoke.yaml");
  EXPECT_THAT(run.mesh.elements, ElementsAre(6, 4, 4));
  EXPECT_TRUE(run.mesh.fully_periodic());
  EXPECT_EQ(run.mesh.deformation, Deformation::sine);
  EXPECT_THAT(run.orders, ElementsAre(1, 3, 5));
  EXPECT_EQ(run.solver_order, 5);
  EXPECT_EQ(run.preconditioner, Preconditioner::jacobi);
  EXPECT_EQ(run.tolerance, 1e-10);
}

}  // namespace
}  // namespace nekbone_k
