#include "app/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "app/format.hpp"
#include "app/partition_input.hpp"
#include "app/yaml_reader.hpp"
#include "core/errors.hpp"
#include "gs/all_reduce.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {
namespace {

constexpr int max_int = std::numeric_limits<int>::max();
constexpr std::int64_t max_elements = std::int64_t{1} << 40;
constexpr std::size_t max_file_bytes = 1 << 20;
/// More than a velocity, a temperature and many species have.
constexpr int max_components = 64;
/// Bounds of an extent: the powers of it in factors and norms stay finite and not zero.
constexpr double min_extent = 1e-50, max_extent = 1e50;

// ---- Sections: each reads its keys and checks each value for itself ----------------------------

Numbers epsilon_rule(Deformation deformation) {
  if (deformation == Deformation::sine)
    return {.above = 0, .at_most = 0.6, .note = "for deformation sine"};
  return {.above = 0, .at_most = 1};
}

void read_mesh(YamlReader& keys, MeshSpec& mesh) {
  keys.read("elements", mesh.elements, Integers{1, max_int});
  keys.read("extent", mesh.extent, Numbers{.at_least = min_extent, .at_most = max_extent});
  keys.read("periodic", mesh.periodic, Booleans{});
  keys.read_choice("deformation", mesh.deformation,
                   {Deformation::none, Deformation::sine, Deformation::kershaw});
  keys.read("epsilon", mesh.epsilon, epsilon_rule(mesh.deformation));
}

void read_orders(YamlReader& keys, std::vector<int>& orders) {
  keys.read("orders", orders, Integers{1, max_order});
  for (auto order = orders.begin(); order != orders.end(); ++order)
    if (std::find(orders.begin(), order, *order) != order)
      keys.fail("orders", fmt::format("given {} twice; allowed: each order once", *order));
}

/// The entries of a table of strategies that `key` names, each once, in the order of the table; all
/// where none is asked for. Those that the build lacks are listed with the others, but one that it
/// has must be among them.
template <class Table>
void read_names(YamlReader& keys, const char* key, const Table& table,
                std::vector<std::string>& names) {
  std::vector<std::string> given{"all"};
  Words rule{{"all"}};
  for (const auto& entry : table) rule.words.push_back(entry.name);
  keys.read(key, given, rule);

  const auto is_given = [&](const std::string& word) {
    return std::find(given.begin(), given.end(), word) != given.end();
  };
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
  if (any_built) return;
  keys.fail(key, fmt::format("given {}, but {}; allowed: at least one that this build has, and "
                             "nekbone-k --list-strategies says which",
                             fmt::join(names, ", "), fmt::join(missing, ", and ")));
}

void read_solver(YamlReader& keys, Case& run) {
  keys.read("order", run.solver_order, Integers{1, max_order});
  keys.read_choice("preconditioner", run.preconditioner,
                   {Preconditioner::none, Preconditioner::jacobi});
  keys.read("iterations", run.iterations, Integers{1, max_int});
  keys.read("tolerance", run.tolerance, Numbers{.at_least = 0, .below = 1});
  keys.read_choice("vector_ops", run.vector_ops, {VectorOps::fused, VectorOps::kokkos_kernels});
  read_names(keys, "all_reduce", all_reduce_strategies(), run.all_reduces);
}

void read_gather_scatter(YamlReader& keys, Case& run) {
  read_names(keys, "strategies", all_strategies(), run.strategies);
  keys.read("components", run.field_kind.components, Integers{1, max_components});
  keys.read_choice("precision", run.field_kind.precision, {Precision::single, Precision::double_});
  keys.read("audit", run.audit, Booleans{});
  keys.read("audit_others", run.audit_others, Integers{1, 1000});
  YamlReader& tuning = keys.section("tuning");
  tuning.read_choice("mode", run.tuning_mode, {TuningMode::measure, TuningMode::cached});
  tuning.read("cache", run.tuning_cache, FileNames{});
  tuning.read("journal", run.tuning_journal, FileNames{});
  run.cache_place = tuning.place("cache");
  run.journal_place = tuning.place("journal");
  tuning.read("patience_seconds", run.tuning_patience, Numbers{.above = 0});
  tuning.read("budget_seconds", run.tuning.budget_seconds, Numbers{.at_least = 0});
  tuning.read("grid_budget_seconds", run.grid_budget_seconds, Numbers{.at_least = 0});
  tuning.read("minimum_rounds", run.tuning.minimum_rounds, Integers{1, 10'000});
  tuning.read("early_stop", run.tuning.early_stop, Booleans{});
}

// ---- Checks of keys against each other and against the number of ranks --------------------------

void check_element_count(const YamlReader& mesh_keys, const MeshSpec& mesh, int ranks) {
  const auto [ex, ey, ez] = mesh.elements;
  // The product of two stays below 2^62; that of three may not.
  if (std::int64_t{ex} * ey > (max_elements - 1) / ez)
    mesh_keys.fail("elements", fmt::format("given {} x {} x {} elements; allowed: fewer than 2^40 "
                                           "in all",
                                           ex, ey, ez));
  if (const std::int64_t total = mesh.total_elements(); total < ranks)
    mesh_keys.fail("elements",
                   fmt::format("given {} x {} x {} elements for {} ranks, and each rank needs at "
                               "least one; allowed: at most {}, or more elements",
                               ex, ey, ez, ranks, counted(total, "rank")));
}

/// Throws about the later of two keys that do not fit, else the first: the other one may be a
/// default, or in the file and right but for a --set.
[[noreturn]] void fail_together(const YamlReader& keys, const std::string& key,
                                const YamlReader& other_keys, const std::string& other_key,
                                const std::string& message) {
  if (other_keys.origin(other_key) > keys.origin(key)) other_keys.fail(other_key, message);
  keys.fail(key, message);
}

/// Fills in who divides the mesh and the partition that is pinned, if one is.
void divide(const YamlReader& mesh_keys, const GivenPartition& given, int ranks, Case& run) {
  run.partition_mode = given.mode;
  run.mesh.partition = pinned_partition(given, run.mesh.elements, ranks);
  const std::string complaint = complaint_about(given, run.mesh.elements, ranks);
  if (!complaint.empty()) fail_together(mesh_keys, "partition", mesh_keys, "elements", complaint);
}

void check_periodicity(const YamlReader& keys, const YamlReader& mesh_keys, const Case& run) {
  const MeshSpec& mesh = run.mesh;
  const std::string periodic = fmt::format("[{}]", fmt::join(mesh.periodic, ", "));
  const bool any = mesh.periodic[0] || mesh.periodic[1] || mesh.periodic[2];
  if (mesh.deformation == Deformation::kershaw && any)
    fail_together(mesh_keys, "deformation", mesh_keys, "periodic",
                  "given kershaw with mesh.periodic " + periodic +
                      "; allowed: kershaw with periodic [false, false, false], or none or sine");

  if (!run.solves()) return;
  const bool wants_all = run.problem == ProblemKind::taylor_green;
  if (wants_all == mesh.fully_periodic()) return;
  const std::string message = fmt::format(
      "given {} with mesh.periodic {}; allowed: {}", name(run.problem), periodic,
      wants_all ? "taylor-green with periodic [true, true, true], or manufactured or "
                  "nekbone, or none"
                : std::string(name(run.problem)) +
                      " with at least one direction of periodic false, or taylor-green or none");
  fail_together(keys, "problem", mesh_keys, "periodic", message);
}

void check_field(const YamlReader& keys, const YamlReader& gather_scatter_keys, const Case& run) {
  if (!run.solves() || run.field_kind == FieldKind{}) return;
  const bool is_vector = run.field_kind.components != FieldKind{}.components;
  fail_together(
      gather_scatter_keys, is_vector ? "components" : "precision", keys, "problem",
      fmt::format("given gather_scatter.{} with problem {}, whose CG exchanges one component in "
                  "double; allowed: {} with that problem, or problem none",
                  is_vector ? fmt::format("components {}", run.field_kind.components)
                            : fmt::format("precision {}", name(run.field_kind.precision)),
                  name(run.problem), is_vector ? "components 1" : "precision double"));
}

// ---- The file -----------------------------------------------------------------------------------

std::string advice_on_missing(const std::string& path) {
  const std::string command = "doctor";
  return nearest_word(path, std::span(&command, 1))
             ? "did you mean the command nekbone-k doctor?"
             : "give the path of an input file, such as the project's inputs/smoke.yaml";
}

/// What rank 0 found: the text of the file, or why it cannot be read.
struct FileText {
  bool readable;
  std::string text;
};

FileText read_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    // Missing is one reason of several; a folder on the way that may not be entered is another.
    const bool missing = status.type() == std::filesystem::file_type::not_found;
    return {false, missing ? "no such file; " + advice_on_missing(path)
                           : "cannot be opened: " + error.message()};
  }
  if (std::filesystem::is_directory(status)) return {false, "is a folder; give an input file"};

  std::ifstream file(path, std::ios::binary);
  if (!file) return {false, std::string("cannot be opened: ") + std::strerror(errno)};
  // One byte more than allowed tells a file that is too large, also where it has no size: a pipe.
  std::string text(max_file_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return {false, "cannot be read"};
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_file_bytes) return {false, "larger than 1 MiB; this is no input file"};
  return {true, text};
}

}  // namespace

Case read_case(const Communicator& comm, const std::string& path,
               const std::vector<std::string>& overrides) {
  FileText file{true, ""};
  if (comm.is_root()) file = read_file(path);
  file.readable = comm.broadcast(std::int64_t{file.readable}) != 0;
  file.text = comm.broadcast(std::move(file.text));
  if (!file.readable) throw InputError(fmt::format("{}: {}", path, file.text));
  return parse_case(file.text, path, overrides, comm.size());
}

Case parse_case(const std::string& text, const std::string& source,
                const std::vector<std::string>& overrides, int ranks) {
  YamlValue root = parse_yaml(text, source);
  for (const std::string& assignment : overrides) apply_override(root, assignment);

  Case run;
  run.input = source;
  YamlReader keys(root);
  YamlReader& mesh_keys = keys.section("mesh");
  read_mesh(mesh_keys, run.mesh);
  GivenPartition partition;
  mesh_keys.read("partition", partition, PartitionRule{});
  run.deformation_place = mesh_keys.place("deformation");
  read_orders(keys, run.orders);
  YamlReader& operator_keys = keys.section("operator");
  operator_keys.read("lambda", run.lambda, Numbers{.at_least = 0});
  operator_keys.read_choice("geometry", run.mesh.geometry,
                            {Geometry::stored, Geometry::trilinear, Geometry::affine});
  keys.read_choice("problem", run.problem,
                   {ProblemKind::taylor_green, ProblemKind::manufactured, ProblemKind::nekbone,
                    ProblemKind::none});
  bool deterministic = false;
  keys.read("deterministic", deterministic, Booleans{});
  if (deterministic) run.summation = Summation::deterministic;
  YamlReader& solver_keys = keys.section("solver");
  read_solver(solver_keys, run);
  YamlReader& gather_scatter_keys = keys.section("gather_scatter");
  read_gather_scatter(gather_scatter_keys, run);
  keys.section("verification").read("error_bound", run.error_bound, Numbers{.above = 0});
  YamlReader& report_keys = keys.section("report");
  report_keys.read("json", run.report_json, FileNames{});
  run.report_place = report_keys.place("json");
  keys.section("memory").read("limit_gib", run.memory_limit_gib, Numbers{.at_least = 0});

  // Before keys are compared: a misspelt key leaves its default, which may be what does not fit.
  keys.reject_unknown_keys();
  check_element_count(mesh_keys, run.mesh, ranks);
  divide(mesh_keys, partition, ranks, run);
  check_periodicity(keys, mesh_keys, run);
  check_field(keys, gather_scatter_keys, run);
  if (run.mesh.geometry == Geometry::affine && run.mesh.deformation != Deformation::none)
    fail_together(operator_keys, "geometry", mesh_keys, "deformation",
                  fmt::format("given affine with mesh.deformation {}; allowed: affine with "
                              "deformation none, or trilinear or stored",
                              name(run.mesh.deformation)));
  if (deterministic && run.vector_ops == VectorOps::kokkos_kernels)
    fail_together(
        keys, "deterministic", solver_keys, "vector_ops",
        "given deterministic true with solver.vector_ops kokkos-kernels, which adds as it "
        "comes; allowed: deterministic with vector_ops fused");
  return run;
}

const char* name(ProblemKind problem) {
  switch (problem) {
    case ProblemKind::taylor_green:
      return "taylor-green";
    case ProblemKind::manufactured:
      return "manufactured";
    case ProblemKind::nekbone:
      return "nekbone";
    case ProblemKind::none:
      return "none";
  }
  return "";
}

const char* name(Preconditioner preconditioner) {
  return preconditioner == Preconditioner::jacobi ? "jacobi" : "none";
}

const char* name(VectorOps vector_ops) {
  return vector_ops == VectorOps::kokkos_kernels ? "kokkos-kernels" : "fused";
}

const char* name(TuningMode mode) { return mode == TuningMode::cached ? "cached" : "measure"; }

const char* name(Geometry geometry) {
  switch (geometry) {
    case Geometry::stored:
      return "stored";
    case Geometry::trilinear:
      return "trilinear";
    case Geometry::affine:
      return "affine";
  }
  return "";
}

const char* name(Deformation deformation) {
  switch (deformation) {
    case Deformation::none:
      return "none";
    case Deformation::sine:
      return "sine";
    case Deformation::kershaw:
      return "kershaw";
  }
  return "";
}

}  // namespace nekbone_k
