// SPDX-License-Identifier: BSD-3-Clause
// The table of all input keys is at the end. To add a key, see CONTRIBUTING.md.
#include "input/input_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "gs/strategy_table.hpp"
#include "input/initial_input.hpp"
#include "reduce/all_reduce.hpp"

namespace nekbone_k {
namespace {

constexpr int max_int = std::numeric_limits<int>::max();
/// Enough for a velocity, a temperature and many species.
constexpr int max_components = 64;
/// Bounds of an extent. Within them, its powers in factors and norms neither overflow nor vanish.
constexpr double min_extent = 1e-50, max_extent = 1e50;

// ---- Keys with checks of their own --------------------------------------------------------------

/// A list of integers, each at most once.
Key distinct(const std::string& path, const Field<std::vector<int>>& field, const Integers& rule,
             const char* noun, const std::string& help) {
  Key made = key(path, field, rule, help);
  made.schema["uniqueItems"] = true;
  made.read = [=, read = made.read](YamlReader& section, const std::string& name, Case& run) {
    read(section, name, run);
    const std::vector<int> values = field.get(run);
    for (auto value = values.begin(); value != values.end(); ++value)
      if (std::find(values.begin(), value, *value) != value)
        section.fail(name, fmt::format("given {} twice; allowed: each {} once", *value, noun));
  };
  return made;
}

/// The allowed strength of a deformation.
Numbers epsilon_rule(Deformation deformation) {
  if (deformation == Deformation::sine)
    return {.above = 0, .at_most = 0.6, .note = "for deformation sine"};
  return {.above = 0, .at_most = 1};
}

Key epsilon(const std::string& path, const std::string& help) {
  Key made =
      key(path, field(&Case::mesh, &MeshSpec::epsilon), epsilon_rule(Deformation::none), help);
  made.allowed += "; " + epsilon_rule(Deformation::sine).allowed({});
  made.read = [](YamlReader& section, const std::string& name, Case& run) {
    section.read(name, run.mesh.epsilon, epsilon_rule(run.mesh.deformation));
  };
  return made;
}

/// The initial velocity of a flow.
Key initial(const std::string& path, const std::string& help) {
  const Field<GivenInitial> field{[](const Case& run) {
                                    return GivenInitial{run.flow.initial, run.flow.initial_file};
                                  },
                                  [](Case& run, const GivenInitial& given) {
                                    run.flow.initial = given.kind;
                                    run.flow.initial_file = given.file;
                                  }};
  Key made = key(path, field, InitialRule{}, help);
  made.words = {
      {name(FlowKind::taylor_green), "the Taylor-Green vortex"},
      {name(FlowKind::taylor_green_2d), "the plane Taylor-Green vortex, with an exact solution"},
      {name(FlowKind::abc),
       "the Beltrami flow of Arnold, Beltrami and Childress, with an exact solution; the box must "
       "be a cube"},
      {"FILE",
       "the velocity of a checkpoint, or of an HDF5 file like it, on as many elements and at any "
       "order (docs/flow.md#initial-velocity-from-a-file)"}};
  return made;
}

/// The partition as given. parse_case() derives the actual one later, from the number of ranks.
Key partition(const std::string& path, const std::string& help) {
  const Field<GivenPartition> field{
      [](const Case& run) {
        return GivenPartition{run.partition_mode, run.mesh.partition.blocks};
      },
      [](Case& run, const GivenPartition& given) {
        run.partition_mode = given.mode;
        run.mesh.partition.blocks = given.blocks;
      }};
  Key made = key(path, field, PartitionRule{}, help);
  made.words = {
      {name(PartitionMode::automatic),
       "the run models all divisions, measures the best few, and selects the fastest "
       "(docs/tuning.md#process-grid)"},
      {name(PartitionMode::bisection), "recursive; for any number of ranks"},
      {name(PartitionMode::slabs), "across the longest direction only; among equals the last"},
      {"[px, py, pz]",
       "the blocks of a grid; their product is the number of ranks, and each is at most the "
       "elements of its direction"}};
  return made;
}

/// The tuning budget. Without one, the run has the default of TunerOptions, and may cap it.
Field<std::optional<double>> tuning_budget() {
  return {[](const Case& run) {
            return run.budget_given ? std::optional(run.tuning.budget_seconds) : std::nullopt;
          },
          [](Case& run, const std::optional<double>& seconds) {
            run.budget_given = seconds.has_value();
            run.tuning.budget_seconds = seconds.value_or(TunerOptions{}.budget_seconds);
          }};
}

Field<bool> deterministic() {
  return {[](const Case& run) { return run.summation == Summation::deterministic; },
          [](Case& run, bool is_deterministic) {
            run.summation = is_deterministic ? Summation::deterministic : Summation::ordinary;
          }};
}

/// The entries of a strategy table that the key `name` lists, without repeats, in table order; all
/// if the key is not given. At least one must be in this build.
template <class Table>
std::vector<std::string> read_names(YamlReader& section, const std::string& name,
                                    const Table& table) {
  std::vector<std::string> given{"all"};
  Words rule{{"all"}};
  for (const auto& entry : table) rule.words.push_back(entry.name);
  section.read(name, given, rule);

  const auto is_given = [&](const std::string& word) {
    return std::find(given.begin(), given.end(), word) != given.end();
  };
  std::vector<std::string> names;
  bool any_built = false;
  std::vector<std::string> missing;  // each reason once
  for (const auto& entry : table) {
    if (!is_given("all") && !is_given(entry.name)) continue;
    names.push_back(entry.name);
    if (entry.not_built.empty())
      any_built = true;
    else if (std::find(missing.begin(), missing.end(), entry.not_built) == missing.end())
      missing.emplace_back(entry.not_built);
  }
  if (!any_built)
    section.fail(name,
                 fmt::format("given {}, but {}; allowed: at least one that this build has, and "
                             "nekbone-k --list-strategies says which",
                             fmt::join(names, ", "), fmt::join(missing, ", and ")));
  return names;
}

/// A list of names from a table of strategies.
template <class Table>
Key names(const std::string& path, const Field<std::vector<std::string>>& field, const Table& table,
          const std::string& help) {
  Json schema = schema_by(FileNames{}, std::vector<std::string>{});
  schema["uniqueItems"] = true;
  return {
      .path = path,
      .help = help,
      .type = "list of words",
      .allowed = "a list of at least one, each all or a name from `nekbone-k --list-strategies`",
      .schema = schema,
      .default_value = Json::array({"all"}),
      .read = [=](YamlReader& section, const std::string& name,
                  Case& run) { field.set(run, read_names(section, name, table)); },
      .value = [=](const Case& run) { return as_json(field.get(run)); }};
}

// ---- The table ----------------------------------------------------------------------------------

std::vector<Key> make_table() {
  return {
      section("mesh", "The mesh: a box of hexahedra."),
      key("mesh.elements", field(&Case::mesh, &MeshSpec::elements), Integers{1, max_int},
          "Elements in x, y and z: fewer than 2^40 in all, and at least one per rank."),
      key("mesh.extent", field(&Case::mesh, &MeshSpec::extent),
          Numbers{.at_least = min_extent, .at_most = max_extent}, "Size of the box in x, y and z."),
      key("mesh.periodic", field(&Case::mesh, &MeshSpec::periodic), Booleans{},
          "`true` joins the two faces of a direction; `false` sets the solution to zero on them "
          "(Dirichlet)."),
      choice(
          "mesh.deformation", field(&Case::mesh, &MeshSpec::deformation),
          "How elements are bent inside the box; the formulas are in `src/mesh/mapping.hpp`. Every "
          "element must keep a positive Jacobian at every order of the run.",
          {{Deformation::none, "all elements are equal bricks; no kernel takes advantage of that"},
           {Deformation::sine, "smooth waves, which fit a periodic box, too"},
           {Deformation::kershaw,
            "squeezed in layers along x; only without a periodic direction; even numbers of "
            "elements in y and z keep the Jacobian positive"}}),
      epsilon("mesh.epsilon",
              "Strength of the deformation; ignored for `none`. For `sine`, more is stronger. For "
              "`kershaw`, less is stronger, and 1 leaves the elements as they are."),
      partition("mesh.partition", "How the elements are divided among the ranks."),

      distinct("orders", field(&Case::orders), Integers{1, max_order}, "order",
               "Polynomial orders at which the tuner selects a strategy, each once. `solver.order` "
               "always comes last, because CG reuses its set-up."),

      section("operator", "The operator A = stiffness + lambda * mass."),
      key("operator.lambda", field(&Case::lambda), Numbers{.at_least = 0}, "Factor of the mass."),
      choice(
          "operator.geometry", field(&Case::mesh, &MeshSpec::geometry),
          "The source of the geometric factors.",
          {{Geometry::stored, "six numbers per point, computed once and read in each application"},
           {Geometry::trilinear,
            "computed at each point from the corners of its element; elements have straight edges"},
           {Geometry::affine, "six numbers per element; only with `mesh.deformation: none`"}}),

      choice("problem", field(&Case::problem), "The problem that CG solves.",
             {{ProblemKind::taylor_green,
               "Taylor-Green modes, with an exact solution; needs all directions periodic"},
              {ProblemKind::manufactured,
               "sine modes, with an exact solution; needs at least one direction that is not "
               "periodic"},
              {ProblemKind::nekbone,
               "a rough right-hand side as in Nekbone and hipBone, without an exact solution; "
               "needs at least one direction that is not periodic"},
              {ProblemKind::flow,
               "incompressible Navier-Stokes in time (docs/flow.md), by the keys of `flow`; needs "
               "all directions periodic, ignores `orders` and `operator.lambda`, and of `solver` "
               "takes the order, the all-reduces and `multigrid`, which solves for the pressure"},
              {ProblemKind::none,
               "no solve: the run measures only the gather-scatter at `orders`, and ignores "
               "`solver`"}}),
      key("deterministic", deterministic(), Booleans{},
          "`true` gives the same bits for every strategy and number of ranks "
          "(docs/deterministic.md). It is slower, and needs `solver.vector_ops: fused`."),

      section("solver", "Conjugate gradients, with the selected exchange strategy."),
      key("solver.order", field(&Case::solver_order), Integers{1, max_order},
          "Polynomial order of the solve; need not be in `orders`."),
      key("solver.preconditioner", field(&Case::preconditioner),
          Choices<Preconditioner>{
              {Preconditioner::none, Preconditioner::jacobi, Preconditioner::multigrid}},
          "The preconditioner of CG: `jacobi` is the diagonal of A, `multigrid` a V-cycle "
          "(docs/multigrid.md)."),
      key("solver.iterations", field(&Case::iterations), Integers{1, max_int},
          "Exact number of iterations if `solver.tolerance` is 0, else the maximum."),
      key("solver.tolerance", field(&Case::tolerance), Numbers{.at_least = 0, .below = 1},
          "CG stops when the norm of the residual is below this fraction of the norm of the "
          "right-hand side. The run fails if CG does not reach it. 0: CG does all iterations."),
      choice(
          "solver.vector_ops", field(&Case::vector_ops), "The kernels of vector operations.",
          {{VectorOps::fused, "kernels of this program, several operations in each"},
           {VectorOps::kokkos_kernels,
            "dot, axpby and nrm2 of that library, which reduces its products by `MPI_Allreduce`"}}),
      names("solver.all_reduce", field(&Case::all_reduces), all_reduce_strategies(),
            "The all-reduces that the tuner measures; the build must have at least one. One name "
            "pins the choice."),

      choice("solver.variant", field(&Case::variant),
             "How CG forms its scalars (docs/cg.md). The iterates are the same up to rounding.",
             {{CgVariantChoice::automatic, "the fastest of those below"},
              {CgVariantChoice::classic, "two all-reduces per iteration"},
              {CgVariantChoice::single_reduction,
               "one all-reduce per iteration, with one vector more (Chronopoulos and Gear)"},
              {CgVariantChoice::pipelined,
               "one all-reduce per iteration, overlapped with Ax, with three vectors more (Ghysels "
               "and "
               "Vanroose)"}}),
      choice(
          "solver.launch", field(&Case::launch), "How the kernels of CG are launched (docs/cg.md).",
          {{CgLaunchChoice::automatic, "the fastest of those below"},
           {CgLaunchChoice::host, "the host waits for every scalar; only with variant `classic`"},
           {CgLaunchChoice::plain,
            "the host launches ahead, and scalars stay on the device; it waits where a strategy "
            "needs it"},
           {CgLaunchChoice::graph,
            "a CUDA or HIP graph of iterations; needs strategies that work without the host"},
           {CgLaunchChoice::persistent,
            "one kernel does many iterations, on one GPU and small meshes; only with variant "
            "`pipelined`"}}),

      section("solver.multigrid",
              "The V-cycle of `solver.preconditioner: multigrid`. The run measures the values of "
              "keys that are `auto` and selects the fastest V-cycle (docs/multigrid.md)."),
      key("solver.multigrid.orders", field(&Case::multigrid, &MultigridChoice::orders),
          OrAuto<FallingIntegers>{{1, max_order}},
          "Polynomial orders of the levels: descending, from `solver.order` to 1 or 2. Coarser "
          "meshes at the lowest order follow."),
      key("solver.multigrid.smoother", field(&Case::multigrid, &MultigridChoice::smoother),
          OrAuto<Choices<SmootherKind>>{{{SmootherKind::jacobi, SmootherKind::schwarz}}},
          "Preconditioner that the smoother's polynomial accelerates: the diagonal of A, or "
          "overlapping additive Schwarz on levels of order 3 or more. `deterministic: true` needs "
          "`jacobi`."),
      key("solver.multigrid.polynomial", field(&Case::multigrid, &MultigridChoice::polynomial),
          OrAuto<Choices<ChebyshevKind>>{
              {{ChebyshevKind::first, ChebyshevKind::fourth, ChebyshevKind::optimized_fourth}}},
          "Chebyshev polynomial of the first kind, of the fourth kind, or of the fourth kind with "
          "optimised weights."),
      key("solver.multigrid.degree", field(&Case::multigrid, &MultigridChoice::degree),
          OrAuto<Integers>{{1, most_chebyshev_degree}},
          "Degree of the smoother's polynomial: applications of A before and after the coarser "
          "levels."),
      key("solver.multigrid.precision", field(&Case::multigrid, &MultigridChoice::precision),
          OrAuto<Choices<Precision>>{{{Precision::single, Precision::double_}}},
          "Precision of the V-cycle: operators, vectors and messages. CG around it is always in "
          "double."),
      key("solver.multigrid.coarse_dofs", field(&Case::multigrid, &MultigridChoice::coarse_dofs),
          Integers{1, most_direct_dofs},
          "Maximum number of DOFs of the coarse solve, which every rank does by a dense inverse. "
          "The last level is larger if the mesh cannot be coarsened further."),
      key("solver.multigrid.replicated_dofs",
          field(&Case::multigrid, &MultigridChoice::replicated_dofs),
          OrAuto<Integers>{{0, most_replicated_dofs}},
          "Levels of the lowest order with at most this many DOFs are on every rank, so that they "
          "need no exchange. `auto`: 40000 on GPUs, and 0 on CPUs. Without effect on one rank, or "
          "with `deterministic: true`."),

      section("flow", "The flow of `problem: flow` (docs/flow.md)."),
      initial("flow.initial",
              "The velocity at the beginning: of size 1, with one period in the box, or from a "
              "file."),
      choice("flow.plane", field(&Case::flow, &FlowCase::plane), "The plane of `taylor-green-2d`.",
             {{FlowPlane::xy, "x and y"}, {FlowPlane::yz, "y and z"}, {FlowPlane::zx, "z and x"}}),
      key("flow.translation", field(&Case::flow, &FlowCase::translation), Numbers{},
          "A constant velocity that is added to the flow and carries it along."),
      key("flow.viscosity", field(&Case::flow, &FlowCase::viscosity), Numbers{.above = 0},
          "Kinematic viscosity; 1/1600 is Re = 1600 in a box of size 2 pi."),
      key("flow.dt", field(&Case::flow, &FlowCase::dt), Numbers{.above = 0},
          "Time step; with `flow.cfl`, the longest. The first two are taken in many short steps, "
          "so "
          "that the beginning has the full order, too."),
      key("flow.cfl", field(&Case::flow, &FlowCase::cfl), Numbers{.at_least = 0},
          "CFL number that sets the time step; 0 means a constant one. BDF3/EXT3 is stable to "
          "about "
          "0.6."),
      key("flow.end_time", field(&Case::flow, &FlowCase::end_time), Numbers{.above = 0},
          "Time at the end of the run, which begins at 0."),
      key("flow.steps", field(&Case::flow, &FlowCase::steps), Integers{0, max_int},
          "Number of steps after the short ones, instead of `flow.end_time`; 0 means by time."),
      key("flow.time_order", field(&Case::flow, &FlowCase::time_order), Integers{1, max_time_order},
          "Order in time of BDF and extrapolation."),
      key("flow.dealiasing", field(&Case::flow, &FlowCase::dealiasing), Booleans{},
          "Integrate advection on 3/2 times as many Gauss points per direction."),
      key("flow.projection", field(&Case::flow, &FlowCase::projection),
          Integers{0, most_projection},
          "Maximum number of earlier corrections of pressure and velocity that improve the initial "
          "guess of the next solve; 0: none."),
      key("flow.tolerance", field(&Case::flow, &FlowCase::tolerance),
          Choices<FlowToleranceKind>{{FlowToleranceKind::absolute, FlowToleranceKind::relative}},
          "What the tolerances refer to: `absolute` is the norm of the residual divided by the "
          "root "
          "of the volume, `relative` the norm divided by that of the right-hand side."),
      key("flow.pressure_tolerance", field(&Case::flow, &FlowCase::pressure_tolerance),
          Numbers{.above = 0}, "Tolerance of the pressure solves."),
      key("flow.velocity_tolerance", field(&Case::flow, &FlowCase::velocity_tolerance),
          Numbers{.above = 0}, "Tolerance of the velocity solves."),
      key("flow.forcing", field(&Case::flow, &FlowCase::forcing), Numbers{},
          "A constant acceleration."),
      key("flow.series", field(&Case::flow, &FlowCase::series), FileNames{},
          "The CSV file of energy, enstrophy and more over time, written during the run."),
      key("flow.series_every", field(&Case::flow, &FlowCase::series_every), Integers{1, max_int},
          "Steps between its rows."),

      section(
          "checkpoint",
          "Checkpoints of a flow, from which `--restart FILE` goes on (docs/flow.md). They need "
          "a build with parallel HDF5."),
      key("checkpoint.every", field(&Case::checkpoint, &CheckpointCase::every),
          Integers{0, max_int},
          "Steps between checkpoints; 0: none. With checkpoints there is one at the end, too, and "
          "one at SIGTERM or SIGUSR1, which then stops the run."),
      key("checkpoint.file", field(&Case::checkpoint, &CheckpointCase::file), FileNames{},
          "The file, which each checkpoint replaces when it is whole."),
      key("checkpoint.before_walltime", field(&Case::checkpoint, &CheckpointCase::before_walltime),
          Numbers{.at_least = 0},
          "Wall time of the job, in s: the run writes a checkpoint and stops in time before it. 0 "
          "means no limit."),

      section(
          "output",
          "Fields of a flow for ParaView (docs/flow.md). They need a build with parallel HDF5."),
      key("output.every", field(&Case::output, &FieldOutputCase::every), Integers{0, max_int},
          "Steps between files of velocity, pressure and vorticity; 0: none. The first and the "
          "last "
          "step have one, too."),
      key("output.file", field(&Case::output, &FieldOutputCase::file), FileNames{},
          "Name of the files, in VTKHDF; that of step 100 has `-000100` before the last point."),

      section("gather_scatter", "The exchange strategies, and the fields that they exchange."),
      names(
          "gather_scatter.strategies", field(&Case::strategies), all_strategies(),
          "The exchange strategies that the tuner measures; the build must have at least one. One "
          "name pins the choice."),
      key("gather_scatter.components", field(&Case::field_kind, &FieldKind::components),
          Integers{1, max_components},
          "Components of the exchanged fields, for all measurements, predictions and cached "
          "choices. 1 unless `problem` is `none`; a flow has its own fields."),
      key("gather_scatter.precision", field(&Case::field_kind, &FieldKind::precision),
          Choices<Precision>{{Precision::single, Precision::double_}},
          "Precision of the exchanged values; `double` unless `problem` is `none`. The work of "
          "stage "
          "2 is always Ax in double or, if its factors do not fit in memory, the on-rank "
          "gather-scatter."),
      key("gather_scatter.audit", field(&Case::audit), Booleans{},
          "Re-time rejected strategies after CG (docs/tuning.md#audit)."),
      key("gather_scatter.audit_others", field(&Case::audit_others), Integers{1, 1000},
          "Minimum number of rejected strategies to re-time, regardless of time. The audit "
          "re-times more if there is time; 1000 means all."),

      section("gather_scatter.tuning", "How the tuner measures."),
      choice("gather_scatter.tuning.mode", field(&Case::tuning_mode),
             "Whether a choice of an earlier run may be taken (docs/tuning.md#cached-choices).",
             {{TuningMode::measure, "measure in every run"},
              {TuningMode::cached,
               "take the choice of an earlier run for the same case on the same machine, if it is "
               "still right and about as fast; otherwise measure, and keep the choice"}}),
      key("gather_scatter.tuning.cache", field(&Case::tuning_cache), FileNames{},
          "The file of earlier choices."),
      key("gather_scatter.tuning.journal", field(&Case::tuning_journal), FileNames{},
          "The file that records strategies that crashed or hung, so that the next run skips them "
          "(docs/failures.md#the-journal)."),
      key("gather_scatter.tuning.patience_seconds", field(&Case::tuning_patience),
          Numbers{.above = 0},
          "How long a message may take, in s. The tuner excludes a strategy whose message takes "
          "longer. A message that never arrives ends the job after four times that. Time in which "
          "the job is stopped does not count."),
      key("gather_scatter.tuning.budget_seconds", tuning_budget(), OrAuto<Numbers>{{.at_least = 0}},
          "Time to make and time exchanges at each order, in s; verification is extra. `auto` is 2 "
          "s, and less in a short flow (docs/tuning.md#short-flows)."),
      key("gather_scatter.tuning.grid_budget_seconds", field(&Case::grid_budget_seconds),
          Numbers{.at_least = 0},
          "Time to measure process grids, in s, with `mesh.partition: auto`; planning and "
          "verification are extra. With 0 the model selects."),
      key("gather_scatter.tuning.minimum_rounds",
          field(&Case::tuning, &TunerOptions::minimum_rounds), Integers{1, 10'000},
          "Rounds that are measured even past the budget."),
      key("gather_scatter.tuning.early_stop", field(&Case::tuning, &TunerOptions::early_stop),
          Booleans{}, "Drop strategies that cannot win any more."),

      section("verification", "When a solution passes."),
      key("verification.error_bound", field(&Case::error_bound), Numbers{.above = 0},
          "Largest error allowed, relative to the largest value of the exact solution, if there is "
          "one. Of a flow: the largest relative error in the L2 norm and, with `reference`, the "
          "largest relative difference of the enstrophy from it."),
      key("verification.reference", field(&Case::reference), FileNames{.may_be_empty = true},
          "A file with the enstrophy of the flow over time, to compare with: lines of time, "
          "energy, "
          "dissipation and enstrophy, means over the box; `#` begins a comment. Empty: none."),

      section("report", "The report of the run."),
      key("report.json", field(&Case::report_json), FileNames{},
          "The JSON report (docs/output.md). A run refuses a report that another run on the same "
          "host is writing."),
      key("report.bandwidth", field(&Case::measure_bandwidth), Booleans{},
          "Measure the memory bandwidth, to which the report compares the traffic of CG. A short "
          "run on a CPU may spend most of its time on that. Without it, tuning of a flow has no "
          "cap (docs/tuning.md)."),

      section("memory", "The memory that the run may take."),
      key("memory.limit_gib", field(&Case::memory_limit_gib), Numbers{.at_least = 0},
          "GiB per node, or per GPU, that the run may need; 0 means what it has."),
  };
}

std::string parent_of(const std::string& path) {
  const std::size_t point = path.rfind('.');
  return point == std::string::npos ? "" : path.substr(0, point);
}

std::string last_word_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// The reader of the section at `path` below `top_level`.
YamlReader& section_at(YamlReader& top_level, const std::string& path) {
  if (path.empty()) return top_level;
  return section_at(top_level, parent_of(path)).section(last_word_of(path));
}

void read_key(YamlReader& section, const Key& key, Case& run) {
  key.read(section, key.name(), run);
  run.places[key.path] = section.place(key.name());
}

}  // namespace

std::string Key::section() const { return parent_of(path); }
std::string Key::name() const { return last_word_of(path); }

std::span<const Key> input_keys() {
  static const std::vector<Key> table = make_table();
  return table;
}

void read_keys(YamlReader& top_level, Case& run) {
  for (const Key& key : input_keys())
    if (key.is_section())
      section_at(top_level, key.path);
    else
      read_key(section_at(top_level, key.section()), key, run);
}

Json as_input(const Case& run) {
  Json input;
  for (const Key& key : input_keys()) {
    std::string pointer = "/" + key.path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    if (!key.is_section()) input[Json::json_pointer(pointer)] = key.value(run);
  }
  return input;
}

}  // namespace nekbone_k
