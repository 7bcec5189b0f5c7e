// SPDX-License-Identifier: BSD-3-Clause
// Error messages for mistakes in the input: place, key, given value and allowed values.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "gs/strategy_table.hpp"
#include "input/case.hpp"
#include "input/yaml_reader.hpp"

namespace nekbone_k {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Texts = std::vector<std::string>;

/// The text of the InputError that `action` throws. Fails the test if it throws none.
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// The names of all strategies, each after ", ".
std::string strategy_names() {
  std::string names;
  for (const Strategy& strategy : all_strategies()) names += ", " + strategy.name;
  return names;
}

struct Mistake {
  std::string test_name, yaml;
  std::string message;  ///< its first words
  Texts overrides{};
  int ranks = 1;
};

void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.test_name; }

const std::vector<Mistake> unknown_keys{
    {"InASection", "orders: [7]\nsolver:\n  order: 3\n  preconditoner: none\n",
     "x.yaml:4: solver.preconditoner: unknown key; did you mean 'preconditioner'? allowed here: "
     "order, preconditioner, iterations, tolerance, vector_ops"},
    {"AtTheTop", "orders: [7]\nslover: {order: 3}\n",
     "x.yaml:2: slover: unknown key; did you mean 'solver'? allowed here: mesh, orders, operator, "
     "problem, deterministic, solver, flow, checkpoint, output, gather_scatter, verification, "
     "report, memory"},
    {"TwoLevelsDown", "gather_scatter:\n  tuning:\n    minimum_round: 3\n",
     "x.yaml:3: gather_scatter.tuning.minimum_round: unknown key; did you mean 'minimum_rounds'? "
     "allowed here: mode, cache, journal, patience_seconds, budget_seconds, grid_budget_seconds, "
     "minimum_rounds, early_stop"},
    {"InAFlowMapping", "mesh: {elements: 4,\n  Extent: 1}\n",
     "x.yaml:2: mesh.Extent: unknown key; did you mean 'extent'?"},
    {"NeighboursSwapped", "prolbem: nekbone",
     "x.yaml:1: prolbem: unknown key; did you mean 'problem'?"},
    {"OfAnotherSection", "orders: [1]\nlambda: 1\n",
     "x.yaml:2: lambda: unknown key; did you mean 'operator.lambda'?"},
    {"OfAnotherLevel", "gather_scatter:\n  budget_seconds: 1\n",
     "x.yaml:2: gather_scatter.budget_seconds: unknown key; did you mean "
     "'gather_scatter.tuning.budget_seconds'?"},
    {"LikeNothing", "xyzzy: 1", "x.yaml:1: xyzzy: unknown key; allowed here: mesh"},
    {"MergeKey", "mesh: {<<: {elements: 4}}", "x.yaml:1: mesh.<<: unknown key"},
    {"EmptyKey", "'': 1", "x.yaml:1: a key must be one word"},
    {"KeyThatIsAList", "orders: [1]\n? [a, b]\n: 3\n", "x.yaml:2: a key must be one word"},
    {"ThatIsAPath", "orders: [1]\nmesh.elements: [4, 4, 4]\n",
     "x.yaml:2: mesh.elements: unknown key; points join keys for --set only, so write 'mesh: "
     "{elements: ...}'; allowed here: mesh, orders"},
    {"ThatIsALongPath", "gather_scatter.tuning.minimum_rounds: 3\n",
     "x.yaml:1: gather_scatter.tuning.minimum_rounds: unknown key; points join keys for --set "
     "only, so write 'gather_scatter: {tuning: {minimum_rounds: ...}}'; allowed here: mesh"},
    {"ThatIsAPathInASection", "gather_scatter:\n  tuning.minimum_rounds: 3\n",
     "x.yaml:2: gather_scatter.tuning.minimum_rounds: unknown key; points join keys for --set "
     "only, so write 'tuning: {minimum_rounds: ...}'; allowed here: strategies, "
     "components, precision, audit, audit_others, tuning"},
    // The default of the misspelt key conflicts with the problem, but the message must not say so.
    {"BeforeKeysAreCompared", "mesh:\n  periodc: false\nproblem: nekbone\n",
     "x.yaml:2: mesh.periodc: unknown key; did you mean 'periodic'?"},
};

const std::vector<Mistake> duplicate_keys{
    {"InASection", "solver:\n  order: 3\n  iterations: 4\n  order: 3\n",
     "x.yaml:4: solver.order: given twice, first at x.yaml:2"},
    {"AtTheTop", "solver:\n  order: 3\nsolver:\n  iterations: 4\n",
     "x.yaml:3: solver: given twice, first at x.yaml:1"},
    {"InAnOverride",
     "{}",
     "--set solver={order: 1, order: 2}: order: given twice",
     {"solver={order: 1, order: 2}"}},
};

const std::vector<Mistake> wrong_types{
    {"TextForAnInteger", "solver:\n  order: seven",
     "x.yaml:2: solver.order: given 'seven'; allowed: an integer from 1 to 31"},
    {"FractionForAnInteger", "solver:\n  iterations: 1.5",
     "x.yaml:2: solver.iterations: given '1.5'; allowed: an integer from 1 to 2147483647"},
    {"ExponentForAnInteger", "solver: {iterations: 1e3}",
     "x.yaml:1: solver.iterations: given '1e3'; allowed: an integer"},
    {"TwoIntegers", "solver: {iterations: 1 2}",
     "x.yaml:1: solver.iterations: given '1 2'; allowed: an integer"},
    {"QuotedInteger", "solver: {order: \"3\"}",
     "x.yaml:1: solver.order: given the text \"3\"; allowed: an integer from 1 to 31"},
    {"ListForAnInteger", "solver: {order: [3]}",
     "x.yaml:1: solver.order: given [3]; allowed: an integer"},
    {"NothingForAnInteger", "solver:\n  order:\n",
     "x.yaml:2: solver.order: given nothing; allowed: an integer"},
    {"TextForANumber", "operator: {lambda: one}",
     "x.yaml:1: operator.lambda: given 'one'; allowed: a finite number >= 0"},
    {"BooleanForANumber", "operator: {lambda: true}",
     "x.yaml:1: operator.lambda: given 'true'; allowed: a finite number >= 0"},
    {"BooleanForAnInteger", "solver: {order: true}",
     "x.yaml:1: solver.order: given 'true'; allowed: an integer"},
    {"NumberForABoolean", "mesh: {periodic: [true, 1, true]}",
     "x.yaml:1: mesh.periodic: given '1'; allowed: true or false"},
    {"WordForABoolean", "mesh:\n  periodic:\n    - true\n    - yes\n    - true\n",
     "x.yaml:4: mesh.periodic: given 'yes'; allowed: true or false"},
    {"NumberForAWord", "problem: 3",
     "x.yaml:1: problem: given '3'; allowed: one of taylor-green, manufactured, nekbone"},
    {"ListForAWord", "problem: [nekbone]",
     "x.yaml:1: problem: given [nekbone]; allowed: one of taylor-green"},
    {"NumberForAFileName", "report: {json: 12}",
     "x.yaml:1: report.json: given '12'; allowed: the name of a file"},
    {"BooleanForAFileName", "report: {json: false}",
     "x.yaml:1: report.json: given 'false'; allowed: the name of a file"},
    {"EmptySeriesName", "flow: {series: \"\"}",
     "x.yaml:1: flow.series: given the text \"\"; allowed: the name of a file"},
    {"ReferenceThatIsNoName", "verification: {reference: 1.5}",
     "x.yaml:1: verification.reference: given '1.5'; allowed: the name of a file, or \"\" for "
     "none"},
    {"EmptyFileName", "report: {json: \"\"}",
     "x.yaml:1: report.json: given the text \"\"; allowed: the name of a file"},
    {"MappingForAList", "orders:\n  {first: 1}",
     "x.yaml:1: orders: given a mapping; allowed: a list of at least one, each an integer from 1 "
     "to 31"},
    {"TextForAList", "orders: all",
     "x.yaml:1: orders: given 'all'; allowed: an integer from 1 to 31, or a list of them"},
    {"TextForAListOfOrders", "orders: 1 3",
     "x.yaml:1: orders: given '1 3'; allowed: an integer from 1 to 31, or a list of them, such as "
     "[1, 3]"},
    {"TextForThree", "mesh: {elements: four}",
     "x.yaml:1: mesh.elements: given 'four'; allowed: an integer from 1 to 2147483647, or a list "
     "of 3"},
    {"ThreeWithoutBrackets", "mesh:\n  elements: 3,4,5\n",
     "x.yaml:2: mesh.elements: given '3,4,5'; allowed: an integer from 1 to 2147483647, or a list "
     "of 3, such as [3, 4, 5]"},
    {"ThreeInParentheses", "mesh:\n  extent: (1.5, 1, 2)\n",
     "x.yaml:2: mesh.extent: given '(1.5, 1, 2)'; allowed: a number >= 1e-50 and <= 1e+50, or a "
     "list of 3, such as [1.5, 1, 2]"},
    {"ThreeInQuotes", "mesh: {periodic: '[true, false, true]'}",
     "x.yaml:1: mesh.periodic: given the text \"[true, false, true]\"; allowed: true or false, or "
     "a list of 3, such as [true, false, true]"},
    {"PartitionWithoutBrackets", "mesh:\n  partition: 1,1,1\n",
     "x.yaml:2: mesh.partition: given '1,1,1'; allowed: a list of 3 integers, each at least 1, "
     "such as [1, 1, 1], or one of auto, bisection, slabs"},
    {"StrategiesWithoutBrackets", "gather_scatter:\n  strategies: host-put, host-pairwise\n",
     "x.yaml:2: gather_scatter.strategies: given 'host-put, host-pairwise'; allowed: one of all" +
         strategy_names() + ", or a list of them, such as [host-put, host-pairwise]"},
    {"UnknownWordForAList", "gather_scatter: {strategies: device-pairwize}",
     "x.yaml:1: gather_scatter.strategies: given 'device-pairwize'; allowed: one of all, "
     "device-pairwise"},
    {"EmptyList", "orders: []",
     "x.yaml:1: orders: given a list of 0; allowed: a list of at least one"},
    {"ListMuchTooLong", "mesh:\n  extent: [1, 2, 3, 4, 5]",
     "x.yaml:2: mesh.extent: given a list of 5; allowed: a list of 3"},
    {"ListOfLists", "mesh:\n  extent: [[1], 2]", "x.yaml:2: mesh.extent: given a list of 2;"},
    {"ListTooShort", "mesh:\n  elements: [4, 4]",
     "x.yaml:2: mesh.elements: given [4, 4]; allowed: a list of 3, each an integer from 1 to "
     "2147483647, or one for all three directions"},
    {"ListTooLong", "mesh:\n  extent: [4, 4, 4, 4]",
     "x.yaml:2: mesh.extent: given [4, 4, 4, 4]; allowed: a list of 3, each a number >= 1e-50 and "
     "<= 1e+50, or "
     "one"},
    {"MappingForThree", "mesh: {periodic: {x: true}}",
     "x.yaml:1: mesh.periodic: given a mapping; allowed: a list of 3, each true or false"},
    {"ScalarForASection", "mesh: 3",
     "x.yaml:1: mesh: given '3'; allowed: a mapping of keys to values"},
    {"ListForASection", "gather_scatter:\n  tuning: [1]",
     "x.yaml:2: gather_scatter.tuning: given [1]; allowed: a mapping"},
};

const std::vector<Mistake> out_of_range{
    {"NoElements", "mesh:\n  elements: [4, 0, 4]",
     "x.yaml:2: mesh.elements: given '0'; allowed: an integer from 1 to 2147483647"},
    {"NegativeElements", "mesh: {elements: -4}",
     "x.yaml:1: mesh.elements: given '-4'; allowed: an integer from 1"},
    {"IntegerOverflow", "mesh: {elements: [2147483648, 1, 1]}",
     "x.yaml:1: mesh.elements: given '2147483648'; allowed: an integer from 1 to 2147483647"},
    {"LongIntegerOverflow", "solver: {iterations: 99999999999999999999}",
     "x.yaml:1: solver.iterations: given '99999999999999999999'; allowed: an integer"},
    {"TooManyElements", "orders: [1]\nmesh:\n  elements: [1048576, 1048576, 1]",
     "x.yaml:3: mesh.elements: given 1048576 x 1048576 x 1 elements; allowed: fewer than 2^40 in "
     "all"},
    {"MoreElementsThan64Bits", "mesh: {elements: 2147483647}",
     "x.yaml:1: mesh.elements: given 2147483647 x 2147483647 x 2147483647 elements"},
    {"NoExtent", "mesh: {extent: [1, 0, 1]}",
     "x.yaml:1: mesh.extent: given '0'; allowed: a number >= 1e-50 and <= 1e+50"},
    {"InfiniteExtent", "mesh: {extent: .inf}",
     "x.yaml:1: mesh.extent: given '.inf'; allowed: a number >= 1e-50 and <= 1e+50"},
    {"HugeExtent", "mesh: {extent: 1e999}",
     "x.yaml:1: mesh.extent: given '1e999'; allowed: a number >= 1e-50 and <= 1e+50"},
    {"ExtentWhosePowersOverflow", "mesh: {extent: 1e51}",
     "x.yaml:1: mesh.extent: given '1e51'; allowed: a number >= 1e-50 and <= 1e+50"},
    {"ExtentWhosePowersUnderflow", "mesh: {extent: [1, 1, 1e-51]}",
     "x.yaml:1: mesh.extent: given '1e-51'; allowed: a number >= 1e-50 and <= 1e+50"},
    {"NotANumber", "mesh: {extent: nan}",
     "x.yaml:1: mesh.extent: given 'nan'; allowed: a number >= 1e-50 and <= 1e+50"},
    {"InfinityByName", "memory: {limit_gib: inf}",
     "x.yaml:1: memory.limit_gib: given 'inf'; allowed: a finite number >= 0"},
    {"NoEpsilon", "mesh: {epsilon: 0}",
     "x.yaml:1: mesh.epsilon: given '0'; allowed: a number > 0 and <= 1"},
    {"EpsilonOfNoDeformation", "mesh: {epsilon: 1.01}",
     "x.yaml:1: mesh.epsilon: given '1.01'; allowed: a number > 0 and <= 1"},
    {"EpsilonOfSine", "mesh: {deformation: sine, epsilon: 0.61}",
     "x.yaml:1: mesh.epsilon: given '0.61'; allowed: a number > 0 and <= 0.6 for deformation sine"},
    {"EpsilonOfKershaw", "mesh: {deformation: kershaw, epsilon: 1.5, periodic: false}",
     "x.yaml:1: mesh.epsilon: given '1.5'; allowed: a number > 0 and <= 1"},
    {"GridOfNothing", "mesh: {partition: [1, 0, 1]}",
     "x.yaml:1: mesh.partition: given [1, 0, 1]; allowed: a list of 3 integers, each at least 1, "
     "or one of auto, bisection, slabs"},
    {"PartitionThatIsNoWord", "mesh: {partition: slabz}",
     "x.yaml:1: mesh.partition: given 'slabz'; allowed: a list of 3 integers, each at least 1, or "
     "one of auto, bisection, slabs; did you mean 'slabs'?"},
    {"NegativeGridBudget", "gather_scatter: {tuning: {grid_budget_seconds: -1}}",
     "x.yaml:1: gather_scatter.tuning.grid_budget_seconds: given '-1'; allowed: a finite number >= "
     "0"},
    {"OrderZero", "orders: [1, 0]",
     "x.yaml:1: orders: given '0'; allowed: an integer from 1 to 31"},
    {"OrderThirtyTwo", "orders:\n  - 1\n  - 32\n",
     "x.yaml:3: orders: given '32'; allowed: an integer from 1 to 31"},
    {"OrderTwice", "problem: taylor-green\norders: [3, 7, 3]",
     "x.yaml:2: orders: given 3 twice; allowed: each order once"},
    {"SolverOrder", "solver: {order: 32}",
     "x.yaml:1: solver.order: given '32'; allowed: an integer from 1 to 31"},
    {"NegativeLambda", "operator: {lambda: -0.1}",
     "x.yaml:1: operator.lambda: given '-0.1'; allowed: a finite number >= 0"},
    {"InfiniteLambda", "operator: {lambda: .inf}",
     "x.yaml:1: operator.lambda: given '.inf'; allowed: a finite number >= 0"},
    {"NoIterations", "solver: {iterations: 0}",
     "x.yaml:1: solver.iterations: given '0'; allowed: an integer from 1"},
    {"ToleranceOne", "solver: {tolerance: 1}",
     "x.yaml:1: solver.tolerance: given '1'; allowed: a number >= 0 and < 1"},
    {"NegativeTolerance", "solver: {tolerance: -1e-8}",
     "x.yaml:1: solver.tolerance: given '-1e-8'; allowed: a number >= 0 and < 1"},
    {"NegativeBudget", "gather_scatter: {tuning: {budget_seconds: -1}}",
     "x.yaml:1: gather_scatter.tuning.budget_seconds: given '-1'; allowed: auto, or a finite "
     "number >= 0"},
    {"NoRounds", "gather_scatter: {tuning: {minimum_rounds: 0}}",
     "x.yaml:1: gather_scatter.tuning.minimum_rounds: given '0'; allowed: an integer from 1 to "
     "10000"},
    {"TooManyRounds", "gather_scatter: {tuning: {minimum_rounds: 10001}}",
     "x.yaml:1: gather_scatter.tuning.minimum_rounds: given '10001'; allowed: an integer from 1 to "
     "10000"},
    {"NoErrorBound", "verification: {error_bound: 0}",
     "x.yaml:1: verification.error_bound: given '0'; allowed: a finite number > 0"},
    {"NoComponents", "problem: none\ngather_scatter:\n  components: 0\n",
     "x.yaml:3: gather_scatter.components: given '0'; allowed: an integer from 1 to 64"},
    {"TooManyComponents", "problem: none\ngather_scatter: {components: 65}",
     "x.yaml:2: gather_scatter.components: given '65'; allowed: an integer from 1 to 64"},
    {"NegativeMemory", "memory: {limit_gib: -1}",
     "x.yaml:1: memory.limit_gib: given '-1'; allowed: a finite number >= 0"},
    {"NegativeTimeStep", "flow: {dt: -1e-3}",
     "x.yaml:1: flow.dt: given '-1e-3'; allowed: a finite number > 0"},
    {"NoTimeStep", "flow: {dt: 0}", "x.yaml:1: flow.dt: given '0'; allowed: a finite number > 0"},
    {"NoViscosity", "flow:\n  viscosity: 0\n",
     "x.yaml:2: flow.viscosity: given '0'; allowed: a finite number > 0"},
    {"NegativeCfl", "flow: {cfl: -0.1}",
     "x.yaml:1: flow.cfl: given '-0.1'; allowed: a finite number >= 0"},
    {"NoEndTime", "flow: {end_time: 0}",
     "x.yaml:1: flow.end_time: given '0'; allowed: a finite number > 0"},
    {"NegativeSteps", "flow: {steps: -1}",
     "x.yaml:1: flow.steps: given '-1'; allowed: an integer from 0"},
    {"TimeOrderFour", "flow: {time_order: 4}",
     "x.yaml:1: flow.time_order: given '4'; allowed: an integer from 1 to 3"},
    {"TooManyProjections", "flow: {projection: 65}",
     "x.yaml:1: flow.projection: given '65'; allowed: an integer from 0 to 64"},
    {"NoPressureTolerance", "flow: {pressure_tolerance: 0}",
     "x.yaml:1: flow.pressure_tolerance: given '0'; allowed: a finite number > 0"},
    {"NegativeVelocityTolerance", "flow: {velocity_tolerance: -1e-9}",
     "x.yaml:1: flow.velocity_tolerance: given '-1e-9'; allowed: a finite number > 0"},
    {"NoStepsBetweenRows", "flow: {series_every: 0}",
     "x.yaml:1: flow.series_every: given '0'; allowed: an integer from 1"},
    {"InfiniteForcing", "flow: {forcing: [0, .inf, 0]}",
     "x.yaml:1: flow.forcing: given '.inf'; allowed: a finite number"},
    {"TranslationInTwoDirections", "flow: {translation: [1, 2]}",
     "x.yaml:1: flow.translation: given [1, 2]; allowed: a list of 3, each a "
     "finite number, or one for all three directions"},
};

const std::vector<Mistake> unknown_words{
    {"Problem", "problem: taylor-gren",
     "x.yaml:1: problem: given 'taylor-gren'; allowed: one of taylor-green, manufactured, nekbone, "
     "flow, none; did you mean 'taylor-green'?"},
    {"Deformation", "mesh: {deformation: sin}",
     "x.yaml:1: mesh.deformation: given 'sin'; allowed: one of none, sine, kershaw; did you mean "
     "'sine'?"},
    {"Geometry", "operator: {geometry: bilinear}",
     "x.yaml:1: operator.geometry: given 'bilinear'; allowed: one of stored, trilinear, affine; "
     "did you mean 'trilinear'?"},
    {"Preconditioner", "solver: {preconditioner: Jacobi}",
     "x.yaml:1: solver.preconditioner: given 'Jacobi'; allowed: one of none, jacobi, multigrid; "
     "did "
     "you mean 'jacobi'?"},
    {"InitialVelocity", "flow: {initial: taylor-gren}",
     "x.yaml:1: flow.initial: given 'taylor-gren'; allowed: the name of a file, with a dot or a "
     "slash, or one of taylor-green, taylor-green-2d, abc; did you mean 'taylor-green'?"},
    {"FlowTolerance", "flow: {tolerance: Relative}",
     "x.yaml:1: flow.tolerance: given 'Relative'; allowed: one of absolute, relative; did you mean "
     "'relative'?"},
    {"Dealiasing", "flow: {dealiasing: maybe}",
     "x.yaml:1: flow.dealiasing: given 'maybe'; allowed: true or false"},
    {"MultigridOrders", "solver: {multigrid: {orders: [7, 7, 1]}}",
     "x.yaml:1: solver.multigrid.orders: given [7, 7, 1]; allowed: auto, or integers from 1 "
     "to 31, each smaller than the one before"},
    {"MultigridOrdersBelowOne", "solver: {multigrid: {orders: [7, 0]}}",
     "x.yaml:1: solver.multigrid.orders: given [7, 0]; allowed: auto, or integers from 1 "
     "to 31, each smaller than the one before"},
    {"MultigridSmoother", "solver: {multigrid: {smoother: chebyshev}}",
     "x.yaml:1: solver.multigrid.smoother: given 'chebyshev'; allowed: auto, or one of jacobi, "
     "schwarz"},
    {"MultigridPolynomial", "solver: {multigrid: {polynomial: chebyshev}}",
     "x.yaml:1: solver.multigrid.polynomial: given 'chebyshev'; allowed: auto, or one of "
     "chebyshev-1, chebyshev-4, chebyshev-4-opt; did you mean 'chebyshev-1'?"},
    {"MultigridDegree", "solver: {multigrid: {degree: 0}}",
     "x.yaml:1: solver.multigrid.degree: given '0'; allowed: auto, or an integer from 1 to 6"},
    {"MultigridPrecision", "solver: {multigrid: {precision: half}}",
     "x.yaml:1: solver.multigrid.precision: given 'half'; allowed: auto, or one of single, "
     "double"},
    {"MultigridReplicatedDofs", "solver: {multigrid: {replicated_dofs: -1}}",
     "x.yaml:1: solver.multigrid.replicated_dofs: given '-1'; allowed: auto, or an integer from 0 "
     "to 1000000"},
    {"MultigridCoarseDofs", "solver: {multigrid: {coarse_dofs: 0}}",
     "x.yaml:1: solver.multigrid.coarse_dofs: given '0'; allowed: an integer from 1 to 4000"},
    {"Variant", "solver: {variant: chronopoulos}",
     "x.yaml:1: solver.variant: given 'chronopoulos'; allowed: one of auto, classic, "
     "single-reduction, pipelined"},
    {"Launch", "solver: {launch: graphs}",
     "x.yaml:1: solver.launch: given 'graphs'; allowed: one of auto, host, plain, graph, "
     "persistent; did you mean 'graph'?"},
    {"VectorOps", "solver: {vector_ops: kokkos_kernels}",
     "x.yaml:1: solver.vector_ops: given 'kokkos_kernels'; allowed: one of fused, kokkos-kernels; "
     "did you mean 'kokkos-kernels'?"},
    {"Strategy", "gather_scatter:\n  strategies:\n    - all\n    - host-pairwsie\n",
     "x.yaml:4: gather_scatter.strategies: given 'host-pairwsie'; allowed: one of all" +
         strategy_names() + "; did you mean 'host-pairwise'?"},
    {"Precision", "problem: none\ngather_scatter: {precision: singel}",
     "x.yaml:2: gather_scatter.precision: given 'singel'; allowed: one of single, double; did you "
     "mean 'single'?"},
    {"PrecisionOfAType", "problem: none\ngather_scatter: {precision: float}",
     "x.yaml:2: gather_scatter.precision: given 'float'; allowed: one of single, double"},
    {"AllReduce", "solver: {all_reduce: host-shred}",
     "x.yaml:1: solver.all_reduce: given 'host-shred'; allowed: one of all, host-mpi, host-shared"},
    {"AuditOfNone", "gather_scatter: {audit_others: 0}",
     "x.yaml:1: gather_scatter.audit_others: given '0'; allowed: an integer from 1 to 1000"},
    {"Audit", "gather_scatter: {audit: perhaps}",
     "x.yaml:1: gather_scatter.audit: given 'perhaps'"},
    {"TuningMode", "gather_scatter: {tuning: {mode: cache}}",
     "x.yaml:1: gather_scatter.tuning.mode: given 'cache'; allowed: one of measure, cached"},
    {"Deterministic", "deterministic: 1",
     "x.yaml:1: deterministic: given '1'; allowed: true or false"},
    {"EarlyStop", "gather_scatter: {tuning: {early_stop: 5}}",
     "x.yaml:1: gather_scatter.tuning.early_stop: given '5'"},
    {"NoPatience", "gather_scatter: {tuning: {patience_seconds: 0}}",
     "x.yaml:1: gather_scatter.tuning.patience_seconds: given '0'; allowed: a finite number > 0"},
    {"NoCacheFile", "gather_scatter: {tuning: {cache: ''}}",
     "x.yaml:1: gather_scatter.tuning.cache: given the text \"\"; allowed: the name of a file"},
    {"NoJournalFile", "gather_scatter: {tuning: {journal: ''}}",
     "x.yaml:1: gather_scatter.tuning.journal: given the text \"\"; allowed: the name of a file"},
    {"EmptyStrategies", "gather_scatter: {strategies: []}",
     "x.yaml:1: gather_scatter.strategies: given a list of 0; allowed: a list of at least one"},
};

const std::vector<Mistake> keys_that_do_not_fit{
    {"KershawWithAPeriodicDirection",
     "problem: manufactured\nmesh:\n  periodic: [false, true, false]\n  deformation: kershaw\n",
     "x.yaml:4: mesh.deformation: given kershaw with mesh.periodic [false, true, false]; allowed: "
     "kershaw with periodic [false, false, false], or none or sine"},
    {"KershawInTheDefaultBox", "mesh:\n  deformation: kershaw\n",
     "x.yaml:2: mesh.deformation: given kershaw with mesh.periodic [true, true, true]"},
    {"BentAffineElements", "operator: {geometry: affine}\nmesh:\n  deformation: sine\n",
     "x.yaml:1: operator.geometry: given affine with mesh.deformation sine; allowed: affine with "
     "deformation none, or trilinear or stored"},
    {"DeterministicByALibrary", "deterministic: true\nsolver:\n  vector_ops: kokkos-kernels\n",
     "x.yaml:1: deterministic: given deterministic true with solver.vector_ops kokkos-kernels, "
     "which adds as it comes; allowed: deterministic with vector_ops fused"},
    {"CheckpointsWithoutAFlow",
     "problem: nekbone\nmesh: {periodic: false}\ncheckpoint: {every: 5}\n",
     "x.yaml:3: checkpoint.every: given checkpoint.every 5 with problem nekbone; allowed: 0 with "
     "that problem, or problem flow"},
    {"WallTimeWithoutAFlow",
     "problem: nekbone\nmesh: {periodic: false}\ncheckpoint: {before_walltime: 60}\n",
     "x.yaml:3: checkpoint.before_walltime: given checkpoint.before_walltime 60 with problem "
     "nekbone"},
    {"FieldsWithoutAFlow", "problem: none\noutput: {every: 5}\n",
     "x.yaml:2: output.every: given output.every 5 with problem none"},
    {"MultigridOrdersOfAnotherOrder",
     "solver:\n  preconditioner: multigrid\n  order: 7\n  multigrid: {orders: [9, 3, 1]}\n",
     "x.yaml:4: solver.multigrid.orders: given [9, 3, 1] with solver.order 7; allowed: orders that "
     "begin with solver.order, or auto"},
    {"MultigridOrdersThatEndHigh",
     "solver:\n  preconditioner: multigrid\n  multigrid: {orders: [7, 3]}\n",
     "x.yaml:3: solver.multigrid.orders: given [7, 3]; allowed: orders that end with 1 or 2, "
     "because "
     "coarser meshes follow at the last one"},
    {"MultigridByALibrary", "solver:\n  preconditioner: multigrid\n  vector_ops: kokkos-kernels\n",
     "x.yaml:2: solver.preconditioner: given multigrid with solver.vector_ops kokkos-kernels; "
     "allowed: multigrid with vector_ops fused, or none or jacobi"},
    {"DeterministicMultigridBySchwarz",
     "deterministic: true\nsolver:\n  preconditioner: multigrid\n"
     "  multigrid: {smoother: schwarz}\n",
     "x.yaml:4: solver.multigrid.smoother: given schwarz with deterministic true, but sums of its "
     "patches depend on the number of ranks; allowed: jacobi or auto"},
    {"MultigridAheadOfTheHost", "solver:\n  preconditioner: multigrid\n  launch: plain\n",
     "x.yaml:3: solver.launch: given solver.launch plain with solver.variant auto and "
     "solver.preconditioner multigrid; allowed: launch auto or host, with variant auto or "
     "classic"},
    {"HostWithAnotherVariant", "solver:\n  variant: pipelined\n  launch: host\n",
     "x.yaml:3: solver.launch: given solver.launch host with solver.variant pipelined; allowed: "
     "launch host with variant classic, "},
    {"DeterministicAheadOfTheHost", "deterministic: true\nsolver: {launch: plain}\n",
     "x.yaml:2: solver.launch: given solver.launch plain with solver.variant auto and "
     "deterministic true; "
     "allowed: launch auto or host, with variant auto or classic"},
    {"ComponentsOfWhatIsSolved", "orders: [1]\ngather_scatter:\n  components: 3\n",
     "x.yaml:3: gather_scatter.components: given gather_scatter.components 3 with problem "
     "taylor-green, whose CG exchanges one component in double; allowed: components 1 with that "
     "problem, or problem none"},
    {"PrecisionOfWhatIsSolved",
     "problem: nekbone\nmesh: {periodic: false}\ngather_scatter:\n  precision: single\n",
     "x.yaml:4: gather_scatter.precision: given gather_scatter.precision single with problem "
     "nekbone, whose CG exchanges one component in double; allowed: precision double with that "
     "problem, or problem none"},
    {"ProblemOfVectorsByAnOverride",
     "problem: none\ngather_scatter: {components: 3, precision: single}\n",
     "--set problem=taylor-green: problem: given gather_scatter.components 3 with problem "
     "taylor-green",
     {"problem=taylor-green"}},
    {"VectorsOfAFlow", "problem: flow\ngather_scatter: {components: 3}\n",
     "x.yaml:2: gather_scatter.components: given gather_scatter.components 3 with problem flow, "
     "which exchanges fields of its own; allowed: components 1 with that problem, or problem none"},
    {"FlowInAClosedBox", "problem: flow\nmesh:\n  periodic: [true, false, true]\n",
     "x.yaml:1: problem: given flow with mesh.periodic [true, false, true]; allowed: flow with "
     "periodic [true, true, true], or manufactured or nekbone, or none"},
    {"FlowWithAnotherLibrary", "problem: flow\nsolver: {vector_ops: kokkos-kernels}\n",
     "x.yaml:1: problem: given flow with solver.vector_ops kokkos-kernels; allowed: flow with "
     "vector_ops fused"},
    {"AbcInABoxThatIsNoCube", "problem: flow\nmesh: {extent: [1, 1, 2]}\nflow:\n  initial: abc\n",
     "x.yaml:4: flow.initial: given abc with mesh.extent [1, 1, 2]; allowed: abc with equal "
     "extents, "
     "or another initial velocity"},
    {"AbcByAnExtentOfAnOverride",
     "problem: flow\nflow: {initial: abc}\n",
     "--set mesh.extent=[1,2,1]: mesh.extent: given abc with mesh.extent [1, 2, 1]",
     {"mesh.extent=[1,2,1]"}},
    {"MoreTimeStepsThanAnInteger", "problem: flow\nflow:\n  dt: 1e-9\n  end_time: 10\n",
     "x.yaml:4: flow.end_time: given 10 with flow.dt 1e-09, 1e+10 steps; allowed: at most "
     "2147483647 "
     "steps"},
    {"MoreTimeStepsThanAnyNumber",
     "problem: flow\nflow: {end_time: 1e20}\n",
     "--set flow.dt=1e-300: flow.dt: given 1e+20 with flow.dt 1e-300, inf steps; allowed: at most",
     {"flow.dt=1e-300"}},
    {"MultigridOrdersOfAFlow", "problem: flow\nsolver: {order: 7, multigrid: {orders: [5, 1]}}\n",
     "x.yaml:2: solver.multigrid.orders: given [5, 1] with solver.order 7"},
    {"SchwarzInADeterministicFlow",
     "problem: flow\ndeterministic: true\nsolver: {multigrid: {smoother: schwarz}}\n",
     "x.yaml:3: solver.multigrid.smoother: given schwarz with deterministic true"},
    {"TaylorGreenInAClosedBox", "mesh: {periodic: [true, true, false]}\nproblem: taylor-green\n",
     "x.yaml:2: problem: given taylor-green with mesh.periodic [true, true, false]; allowed: "
     "taylor-green with periodic [true, true, true], or manufactured or nekbone, or none"},
    {"TheDefaultProblemInAClosedBox", "mesh:\n  periodic: false\n",
     "x.yaml:2: mesh.periodic: given taylor-green with mesh.periodic [false, false, false]"},
    {"NekboneInAPeriodicBox", "mesh: {elements: 4}\nproblem: nekbone\n",
     "x.yaml:2: problem: given nekbone with mesh.periodic [true, true, true]; allowed: nekbone "
     "with at least one direction of periodic false, or taylor-green, flow or none"},
    {"ManufacturedInAPeriodicBox", "problem: manufactured\n",
     "x.yaml:1: problem: given manufactured with mesh.periodic [true, true, true]"},
    {"PeriodicByAnOverride",
     "mesh: {periodic: false}\nproblem: nekbone\n",
     "--set mesh.periodic=true: mesh.periodic: given nekbone with mesh.periodic [true, true, true]",
     {"mesh.periodic=true"}},
    {"ProblemByAnOverride",
     "mesh: {periodic: false}\nproblem: nekbone\n",
     "--set problem=taylor-green: problem: given taylor-green with mesh.periodic",
     {"problem=taylor-green"}},
    {"PeriodicKershawByAnOverride",
     "mesh: {periodic: false, deformation: kershaw}\nproblem: manufactured\n",
     "--set mesh.periodic=true: mesh.periodic: given kershaw with mesh.periodic [true, true, "
     "true]; "
     "allowed: kershaw with periodic [false, false, false], or none or sine",
     {"mesh.periodic=true"}},
    {"MoreRanksThanElements",
     "orders: [1]\nmesh:\n  elements: [3, 2, 1]\n",
     "x.yaml:3: mesh.elements: given 3 x 2 x 1 elements for 7 ranks, and each rank needs at least "
     "one; allowed: at most 6 ranks, or more elements",
     {},
     7},
    {"TwoRanksForOneElement",
     "mesh: {elements: 1}",
     "x.yaml:1: mesh.elements: given 1 x 1 x 1 elements for 2 ranks, and each rank needs at least "
     "one; allowed: at most 1 rank, or more elements",
     {},
     2},
    {"MoreRanksThanDefaultElements",
     "orders: [1]",
     "x.yaml: mesh.elements: given 8 x 8 x 8 elements for 513 ranks, and each rank needs at least "
     "one; allowed: at most 512 ranks",
     {},
     513},
    {"GridOfAnotherProduct",
     "mesh:\n  elements: [4, 4, 4]\n  partition: [2, 2, 1]\n",
     "x.yaml:3: mesh.partition: given [2, 2, 1] for 6 ranks and elements [4, 4, 4]; allowed: three "
     "integers whose product is 6, each at most the elements of its direction, such as [1, 2, 3], "
     "or auto or bisection",
     {},
     6},
    {"GridWhereSlabsFit",
     "mesh:\n  elements: [4, 4, 4]\n  partition: [3, 1, 1]\n",
     "x.yaml:3: mesh.partition: given [3, 1, 1] for 2 ranks and elements [4, 4, 4]; allowed: three "
     "integers whose product is 2, each at most the elements of its direction, such as [1, 1, 2], "
     "or auto, bisection or slabs",
     {},
     2},
    {"GridOfMoreBlocksThanElements",
     "mesh:\n  elements: [8, 4, 4]\n  partition: [8, 1, 1]\n",
     "--set mesh.elements=[4, 2, 8]: mesh.elements: given [8, 1, 1] for 8 ranks and elements [4, "
     "2, "
     "8]; allowed: three integers whose product is 8, each at most the elements of its direction, "
     "such as [",
     {"mesh.elements=[4, 2, 8]"},
     8},
    {"GridWhereNoneFits",
     "mesh: {elements: 4, partition: [7, 1, 1]}",
     "x.yaml:1: mesh.partition: given [7, 1, 1] for 7 ranks and elements [4, 4, 4]; allowed: three "
     "integers whose product is 7, each at most the elements of its direction (there are none), or "
     "auto or bisection",
     {},
     7},
    {"SlabsOfTooManyRanks",
     "mesh:\n  elements: [2, 4, 3]\n  partition: slabs\n",
     "x.yaml:3: mesh.partition: given slabs for 5 ranks and elements [2, 4, 3]; allowed: slabs for "
     "at most 4 ranks, as many as a direction has elements, or auto or bisection",
     {},
     5},
};

const std::vector<Mistake> not_an_input{
    {"Empty", "", "x.yaml: empty; give at least one key"},
    {"OnlyComments", "# nothing\n\n# here\n", "x.yaml: empty"},
    {"OnlyADocumentStart", "---\n", "x.yaml: empty"},
    {"OpenBracket", "orders: [7]\nmesh:\n  elements: [4, 4\n",
     "x.yaml:3: not YAML: the bracket [ is never closed; add ]"},
    {"OpenBracketBeforeOtherKeys", "mesh: {elements: [4, 4}\norders: [1]\n",
     "x.yaml:1: not YAML: the bracket [ is never closed; add ]"},
    {"OpenBrace", "orders: [7]\nsolver: {order: 3,\n  iterations: 5\n",
     "x.yaml:2: not YAML: the bracket { is never closed; add }"},
    {"OpenBraceAfterAComment", "# it's [not\nsolver: {order: 3 # {]\n",
     "x.yaml:2: not YAML: the bracket { is never closed; add }"},
    {"OpenQuote", "orders: [7]\nproblem: \"nekbone\nsolver: {order: 3}\n",
     "x.yaml:2: not YAML: the quote \" is never closed; add \""},
    {"OpenSingleQuote", "report:\n  json: 'it''s\n",
     "x.yaml:2: not YAML: the quote ' is never closed; add '"},
    {"OpenQuoteAfterAnEscape", "report: {json: \"a\\\"}\n",
     "x.yaml:1: not YAML: the quote \" is never closed; add \""},
    {"BracketAfterWordsWithQuotes", "report: {json: it's}\norders: [1\n",
     "x.yaml:2: not YAML: the bracket [ is never closed; add ]"},
    {"BadIndentation", "orders: [7]\n  problem: nekbone\n", "x.yaml:2: not YAML: "},
    {"IndentedByATab", "solver:\n\torder: 3\n",
     "x.yaml:2: not YAML: a tab cannot indent; use blanks"},
    {"IndentedByBlanksAndATab", "solver:\n  order: 3\n  \titerations: 3\n",
     "x.yaml:3: not YAML: a tab cannot indent; use blanks"},
    {"BrokenAfterATab", "orders:\t[7]\nmesh:\t[4, 4\n",
     "x.yaml:2: not YAML: the bracket [ is never closed"},
    {"WithANulByte", std::string("orders: [7]\nsolver: {order: 3}\n# \0\n", 34),
     "x.yaml:3: holds a NUL byte, which no text does; remove it"},
    {"LittleEndianUtf16", std::string("\xFF\xFE{\0}\0", 6),
     "x.yaml: not UTF-8 but UTF-16; save it as UTF-8"},
    {"BigEndianUtf16", std::string("\xFE\xFF\0{\0}", 6),
     "x.yaml: not UTF-8 but UTF-16; save it as UTF-8"},
    {"UnknownAlias", "orders: [7]\nmesh: *box\n",
     "x.yaml:2: not YAML: the referenced anchor is not defined"},
    {"AList", "# first\n- mesh\n- orders\n",
     "x.yaml:2: given [mesh, orders]; allowed: a mapping of keys to values"},
    {"AWord", "hello", "x.yaml:1: given 'hello'; allowed: a mapping of keys to values"},
    {"TwoDocuments", "orders: [7]\n---\norders: [8]\n",
     "x.yaml:2: here starts a second YAML document, or what is no YAML; allowed: one document"},
    {"EmptySecondDocument", "orders: [7]\n---\n", "x.yaml:2: here starts a second"},
    {"MisplacedComma", "\n, 3, 7]\n",
     "x.yaml:2: here starts a second YAML document, or what is no YAML"},
    {"MisplacedBracket", "orders: [7]\n}\n", "x.yaml:2: not YAML: "},
    {"ControlCharacterThatTheParserQuotes", "problem: \"\\\x0c\"", "x.yaml:1: not YAML: "},
    {"AnAliasOfItself", "mesh:\n  elements: &a [*a]\n",
     "x.yaml:2: nested too deeply, or an alias that contains itself"},
    {"NestedDeeply", "orders: " + repeated("[", 100) + repeated("]", 100),
     "x.yaml:1: nested too deeply"},
    {"NestedMoreDeeplyThanTheParserGoes", "orders: " + repeated("[", 100000),
     "x.yaml:1: not YAML: the bracket [ is never closed; add ]"},
    {"MoreValuesThanAnInputMayHave", "orders: [1" + repeated(",\n1", 300'000) + "]",
     "x.yaml:99999: orders: too many values; allowed: at most 100000 in the whole input, counting "
     "what an alias stands for each time"},
    {"ControlCharactersAreShown", "problem: \"a\\nb\"",
     "x.yaml:1: problem: given the text \"a\\x0ab\"; allowed: one of"},
};

const std::vector<Mistake> malformed_overrides{
    {"WithoutAnEqualsSign",
     "{}",
     "--set solver.order: given no '='; write --set key.path=value, for example --set "
     "solver.order=3",
     {"solver.order"}},
    {"WithABlankForTheEqualsSign",
     "{}",
     "--set solver.order  3: given no '='; write --set solver.order=3",
     {"solver.order  3"}},
    {"EndingInABlank",
     "{}",
     "--set solver.order : given no '='; write --set key.path=value",
     {"solver.order "}},
    {"Empty", "{}", "--set : given no '='; write --set key.path=value", {""}},
    {"WithoutAKey",
     "{}",
     "--set =3: given a key path with an empty key; write --set key.path=value",
     {"=3"}},
    {"WithAnEmptyKey",
     "{}",
     "--set solver..order=3: given a key path with an empty key",
     {"solver..order=3"}},
    {"EndingInAPoint", "{}", "--set solver.=3: given a key path with an empty key", {"solver.=3"}},
    {"WithoutAValue", "{}", "--set solver.order=: given no value after '='", {"solver.order="}},
    {"ThroughAScalar",
     "orders: [1]\nproblem: nekbone\n",
     "--set problem.kind=3: problem is 'nekbone' (x.yaml:2) and has no keys, so there is no "
     "problem.kind",
     {"problem.kind=3"}},
    {"ThroughAList",
     "mesh:\n  elements: [1, 2, 3]\n",
     "--set mesh.elements.0=3: mesh.elements is [1, 2, 3] (x.yaml:2) and has no keys",
     {"mesh.elements.0=3"}},
    {"ValueIsNotYaml",
     "{}",
     "--set mesh.elements=[4,4: not YAML: the bracket [ is never closed; add ]",
     {"mesh.elements=[4,4"}},
    {"UnknownKey",
     "solver: {order: 3}",
     "--set solver.ordr=4: solver.ordr: unknown key; did you mean 'order'? allowed here: order, "
     "preconditioner",
     {"solver.ordr=4"}},
    {"UnknownSection",
     "{}",
     "--set slover.order=4: slover: unknown key; did you mean 'solver'?",
     {"slover.order=4"}},
    {"WrongType",
     "solver:\n  order: 3\n",
     "--set solver.order=[3]: solver.order: given [3]; allowed: an integer from 1 to 31",
     {"solver.order=[3]"}},
    {"OutOfRange",
     "{}",
     "--set solver.order=32: solver.order: given '32'; allowed: an integer from 1 to 31",
     {"solver.order=32"}},
    {"ItemOutOfRange",
     "{}",
     "--set orders=[1,32]: orders: given '32'; allowed: an integer from 1 to 31",
     {"orders=[1,32]"}},
    {"ScalarForASection",
     "solver: {order: 3}",
     "--set solver=3: solver: given '3'; allowed: a mapping of keys to values",
     {"solver=3"}},
    {"TooFewElements",
     "{}",
     "--set mesh.elements=1: mesh.elements: given 1 x 1 x 1 elements for 2 ranks",
     {"mesh.elements=1"},
     2},
    {"OfAFileThatIsEmpty", "", "x.yaml: empty", {"solver.order=3"}},
};

class BadInput : public testing::TestWithParam<Mistake> {};

TEST_P(BadInput, IsNamedWithPlaceKeyAndRemedy) {
  const Mistake& mistake = GetParam();
  const std::string message =
      message_of([&] { parse_case(mistake.yaml, "x.yaml", mistake.overrides, mistake.ranks); });
  EXPECT_THAT(message, StartsWith(mistake.message));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

constexpr auto test_name = [](const auto& info) { return info.param.test_name; };

INSTANTIATE_TEST_SUITE_P(UnknownKeys, BadInput, testing::ValuesIn(unknown_keys), test_name);
INSTANTIATE_TEST_SUITE_P(DuplicateKeys, BadInput, testing::ValuesIn(duplicate_keys), test_name);
INSTANTIATE_TEST_SUITE_P(WrongTypes, BadInput, testing::ValuesIn(wrong_types), test_name);
INSTANTIATE_TEST_SUITE_P(OutOfRange, BadInput, testing::ValuesIn(out_of_range), test_name);
INSTANTIATE_TEST_SUITE_P(UnknownWords, BadInput, testing::ValuesIn(unknown_words), test_name);
INSTANTIATE_TEST_SUITE_P(KeysThatDoNotFit, BadInput, testing::ValuesIn(keys_that_do_not_fit),
                         test_name);
INSTANTIATE_TEST_SUITE_P(NotAnInput, BadInput, testing::ValuesIn(not_an_input), test_name);
INSTANTIATE_TEST_SUITE_P(MalformedOverrides, BadInput, testing::ValuesIn(malformed_overrides),
                         test_name);

TEST(BadInputMessage, NamesTheLaunchThatTheBuildLacks) {
  for (const std::string launch : {"graph", "persistent"}) {
    const auto given = [&] { parse_case("solver: {launch: " + launch + "}", "x.yaml", {}, 1); };
    if (!is_host_device) {
      EXPECT_NO_THROW(given());
      continue;
    }
    try {
      given();
      FAIL();
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), "x.yaml:1: solver.launch: given solver.launch " + launch +
                                  " with solver.variant auto, but kernels of this build run on the "
                                  "host; allowed: auto, host or plain");
    }
  }
}

TEST(BadInputMessage, OffersLaunchesThatTheVariantAllows) {
  if (!is_host_device) GTEST_SKIP() << "the launch exists";
  EXPECT_THAT(message_of([] {
                parse_case("solver: {launch: graph, variant: pipelined}", "x.yaml", {}, 1);
              }),
              testing::EndsWith("run on the host; allowed: auto or plain"));
  EXPECT_THAT(
      message_of([] { parse_case("solver: {launch: host, variant: pipelined}", "x.yaml", {}, 1); }),
      testing::EndsWith("allowed: launch host with variant classic, or launch plain"));
}

TEST(BadInputMessage, NamesWhatThePersistentKernelNeeds) {
  if (is_host_device) GTEST_SKIP() << "kernels run on the host";
  EXPECT_NO_THROW(parse_case("solver: {launch: persistent, variant: pipelined}", "x.yaml", {}, 1));
  EXPECT_THROW(parse_case("solver: {launch: persistent, variant: classic}", "x.yaml", {}, 1),
               InputError);
  EXPECT_EQ(message_of([] { parse_case("solver: {launch: persistent}", "x.yaml", {}, 2); }),
            "x.yaml:1: solver.launch: given persistent with 2 ranks; allowed: persistent with one "
            "rank, or auto, host, plain or graph");
}

TEST(BadInputMessage, NamesWhatTheBuildLacks) {
  const auto given = [](const std::string& yaml) { parse_case(yaml, "x.yaml", {}, 1); };
  for (const std::string key : {"gather_scatter: {strategies: ", "solver: {all_reduce: "}) {
    EXPECT_NO_THROW(given(key + "[nccl, " + (key[0] == 's' ? "host-shared" : "peer-memory") + "]}"))
        << "another is left";
    if (find_strategy("nccl")->not_built.empty()) {
      EXPECT_NO_THROW(given(key + "nccl}"));
      continue;
    }
    const std::string message = message_of([&] { given(key + "nccl}"); });
    EXPECT_THAT(message, HasSubstr("given nccl, but this program was built without NCCL or RCCL; "
                                   "allowed: at least one that this build has"));
  }
  if (!find_strategy("nccl")->not_built.empty() && !find_strategy("nvshmem")->not_built.empty()) {
    EXPECT_THAT(
        message_of([&] { given("gather_scatter: {strategies: [nvshmem, nccl, nccl+overlap]}"); }),
        HasSubstr("given nccl, nvshmem, nccl+overlap, but this program was built without "
                  "NCCL or RCCL, and this program was built without NVSHMEM; allowed"));
  }
}

TEST(BadInputMessage, IsShortForLongValues) {
  const std::string message = message_of(
      [] { parse_case("problem: " + repeated("\xC3\xA4", 100000), "x.yaml", {}, 1); });  // "ä"
  EXPECT_LT(message.size(), 400u);
  EXPECT_THAT(message, HasSubstr("\xC3\xA4..."));
}

TEST(BadInputMessage, ComesSoonForAliasesOfAliases) {
  std::string text = "a0: &a0 [1]\n";
  for (int i = 1; i < 30; ++i) {
    text += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_THAT(message_of([&] { parse_case(text, "x.yaml", {}, 1); }),
              HasSubstr("too many values; allowed: at most 100000 in the whole input"));
}

TEST(BadInputNearestWord, CountsEdits) {
  const Texts words{"order", "iterations", "tolerance", "vector_ops"};
  EXPECT_EQ(nearest_word("odrer", words), "order");
  EXPECT_EQ(nearest_word("tol", words), std::nullopt);
  EXPECT_EQ(nearest_word("iteration", words), "iterations");
  EXPECT_EQ(nearest_word("vectorops", words), "vector_ops");
  EXPECT_EQ(nearest_word("viscosity", words), std::nullopt);
  EXPECT_EQ(nearest_word("", words), std::nullopt);
  EXPECT_EQ(nearest_word("x", {}), std::nullopt);
}

// ---- Files --------------------------------------------------------------------------------------

/// A folder for each test.
class BadInputFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "case-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    m_folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }

  std::string write(const std::string& text) {
    const std::string path = (m_folder / "x.yaml").string();
    std::ofstream(path) << text;
    return path;
  }
  std::string message_for(const std::string& path) {
    return message_of([&] { read_case(m_comm, path, {}); });
  }

  Communicator m_comm{MPI_COMM_SELF};
  std::filesystem::path m_folder;
};

TEST_F(BadInputFile, WithAMistakeIsNamedWithItsLine) {
  const std::string path = write("solver:\n  order: 99\n");
  EXPECT_EQ(message_for(path),
            path + ":2: solver.order: given '99'; allowed: an integer from 1 to 31");
}

TEST_F(BadInputFile, ThatIsMissingIsNamed) {
  const std::string path = (m_folder / "missing.yaml").string();
  EXPECT_THAT(message_for(path), StartsWith(path + ": no such file; give the path"));
}

TEST_F(BadInputFile, ThatIsAFolderIsNamed) {
  EXPECT_EQ(message_for(m_folder.string()),
            m_folder.string() + ": is a folder; give an input file");
}

TEST_F(BadInputFile, ThatIsEmptyIsNamed) {
  const std::string path = write("");
  EXPECT_THAT(message_for(path), StartsWith(path + ": empty"));
}

TEST_F(BadInputFile, ThatIsLargeIsRefused) {
  const std::string comment = repeated("#", 1 << 20);
  EXPECT_THAT(message_for(write(comment + "\n")), HasSubstr(": larger than 1 MiB"));
  EXPECT_EQ(read_case(m_comm, write("orders: [7] " + comment.substr(12)), {}).orders.size(), 1u);
}

TEST_F(BadInputFile, ThatCannotBeOpenedIsNamedWithTheReason) {
  const std::string path = write("orders: [7]\n");
  EXPECT_THAT(message_for(path + "/y.yaml"), StartsWith(path + "/y.yaml: no such file;"));
  const std::string long_path = "/" + repeated("a", 5000);
  EXPECT_THAT(message_for(long_path), HasSubstr(": cannot be opened: File name too long"));

  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (std::ifstream(path)) GTEST_SKIP() << "this user may read any file";
  EXPECT_EQ(message_for(path),
            path + ": cannot be opened: Permission denied; give a file that you may read");
}

TEST_F(BadInputFile, ThatBreaksOffIsNamed) {
  // Linux opens this file for its owner, but cannot read the unmapped first page.
  const std::string path = "/proc/self/mem";
  if (!std::ifstream(path)) GTEST_SKIP() << "no such file here";
  EXPECT_EQ(message_for(path), path + ": cannot be read");
}

}  // namespace
}  // namespace nekbone_k
