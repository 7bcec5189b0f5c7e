// SPDX-License-Identifier: BSD-3-Clause
#include "input/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "gs/strategy_table.hpp"
#include "input/input_keys.hpp"
#include "input/partition_input.hpp"
#include "input/yaml_reader.hpp"
#include "reduce/all_reduce.hpp"

namespace nekbone_k {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 40;
constexpr std::size_t max_file_bytes = 1 << 20;
// ---- Checks of keys against each other and against the number of ranks --------------------------

void check_element_count(const YamlReader& mesh_keys, const MeshSpec& mesh, int ranks) {
  const auto [ex, ey, ez] = mesh.elements;
  // The product of two stays below 2^62, but that of three may overflow.
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

/// Throws about the later of two conflicting keys, or about `key` if both have the same origin. The
/// earlier one may be a default, or be right in the file but conflict with a --set.
[[noreturn]] void fail_together(const YamlReader& keys, const std::string& key,
                                const YamlReader& other_keys, const std::string& other_key,
                                const std::string& message) {
  if (other_keys.origin(other_key) > keys.origin(key)) other_keys.fail(other_key, message);
  keys.fail(key, message);
}

/// Sets the mesh's partition from the given one. Throws InputError if it does not fit.
void divide(const YamlReader& mesh_keys, int ranks, Case& run) {
  if (ranks == any_ranks) return;
  const GivenPartition given{run.partition_mode, run.mesh.partition.blocks};
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
  const bool wants_all = run.problem == ProblemKind::taylor_green || run.is_flow();
  if (wants_all == mesh.fully_periodic()) return;
  const std::string message = fmt::format(
      "given {} with mesh.periodic {}; allowed: {}", name(run.problem), periodic,
      wants_all
          ? std::string(name(run.problem)) +
                " with periodic [true, true, true], or manufactured or nekbone, or none"
          : std::string(name(run.problem)) +
                " with at least one direction of periodic false, or taylor-green, flow or none");
  fail_together(keys, "problem", mesh_keys, "periodic", message);
}

void check_field(const YamlReader& keys, const YamlReader& gather_scatter_keys, const Case& run) {
  if (!run.solves() || run.field_kind == FieldKind{}) return;
  const bool is_vector = run.field_kind.components != FieldKind{}.components;
  fail_together(
      gather_scatter_keys, is_vector ? "components" : "precision", keys, "problem",
      fmt::format("given gather_scatter.{} with problem {}, {}; allowed: {} with that problem, or "
                  "problem none",
                  is_vector ? fmt::format("components {}", run.field_kind.components)
                            : fmt::format("precision {}", name(run.field_kind.precision)),
                  name(run.problem),
                  run.is_flow() ? "which exchanges fields of its own"
                                : "whose CG exchanges one component in double",
                  is_vector ? "components 1" : "precision double"));
}

/// Why CG must be classic with scalars on the host; empty if it need not.
std::string why_host_alone(const Case& run) {
  if (run.vector_ops == VectorOps::kokkos_kernels) return "solver.vector_ops kokkos-kernels";
  if (run.summation == Summation::deterministic) return "deterministic true";
  if (run.preconditioner == Preconditioner::multigrid) return "solver.preconditioner multigrid";
  return {};
}

void check_method(const YamlReader& solver_keys, const Case& run, int ranks) {
  if (!run.solves()) return;
  if (run.launch == CgLaunchChoice::persistent && ranks > 1 && !is_host_device)
    solver_keys.fail("launch", fmt::format("given persistent with {} ranks; allowed: persistent "
                                           "with one rank, or auto, host, plain or graph",
                                           ranks));
  if (!run.cg_methods().empty()) return;
  const std::string given = fmt::format("given solver.launch {} with solver.variant {}",
                                        name(run.launch), name(run.variant));
  if (is_host_device && needs_gpu(run.launch))
    solver_keys.fail("launch", given + ", but kernels of this build run on the host; allowed: " +
                                   (allows(run.variant, CgVariant::classic) ? "auto, host or plain"
                                                                            : "auto or plain"));
  const std::string why = why_host_alone(run);
  fail_together(solver_keys, "launch", solver_keys, "variant",
                why.empty() ? given + "; allowed: launch host with variant classic, " +
                                  (is_host_device ? "or launch plain"
                                                  : "persistent with pipelined, or launch plain or "
                                                    "graph")
                            : given + " and " + why +
                                  "; allowed: launch auto or host, with variant auto or classic");
}

void check_flow(YamlReader& keys, const Case& run) {
  if (!run.is_flow()) return;
  YamlReader& flow_keys = keys.section("flow");
  const auto& extent = run.mesh.extent;
  if (run.flow.initial == FlowKind::abc && (extent[0] != extent[1] || extent[1] != extent[2]))
    fail_together(flow_keys, "initial", keys.section("mesh"), "extent",
                  fmt::format("given abc with mesh.extent [{}]; allowed: abc with equal extents, "
                              "or another initial velocity",
                              fmt::join(extent, ", ")));
  const double steps = std::ceil(run.flow.end_time / run.flow.dt);
  if (constexpr int most = std::numeric_limits<int>::max(); run.flow.steps == 0 && steps > most)
    fail_together(
        flow_keys, "end_time", flow_keys, "dt",
        fmt::format("given {:g} with flow.dt {:g}, {:.3g} steps; allowed: at most {} steps",
                    run.flow.end_time, run.flow.dt, steps, most));
  if (run.vector_ops == VectorOps::kokkos_kernels)
    fail_together(keys, "problem", keys.section("solver"), "vector_ops",
                  "given flow with solver.vector_ops kokkos-kernels; allowed: flow with vector_ops "
                  "fused");
}

/// Only flows write checkpoints and fields.
void check_files_of_flow(YamlReader& keys, const Case& run) {
  if (run.is_flow()) return;
  const auto check = [&](const char* section, const char* key, double value) {
    if (value == 0) return;
    fail_together(keys.section(section), key, keys, "problem",
                  fmt::format("given {}.{} {:g} with problem {}; allowed: 0 with that problem, or "
                              "problem flow",
                              section, key, value, name(run.problem)));
  };
  check("checkpoint", "every", run.checkpoint.every);
  check("checkpoint", "before_walltime", run.checkpoint.before_walltime);
  check("output", "every", run.output.every);
}

/// Sets what a flow fixes: the operator and the preconditioner of the pressure.
void set_keys_of_flow(Case& run) {
  if (!run.is_flow()) return;
  run.lambda = 0;
  run.preconditioner = Preconditioner::multigrid;
  run.variant = CgVariantChoice::automatic;
  run.launch = CgLaunchChoice::automatic;
}

void check_multigrid(YamlReader& keys, YamlReader& solver_keys, const Case& run) {
  if (!run.solves() || run.preconditioner != Preconditioner::multigrid) return;
  const YamlReader& multigrid_keys = solver_keys.section("multigrid");
  const std::vector<int> orders = run.multigrid.orders.value_or(std::vector{run.solver_order});
  if (orders.front() != run.solver_order)
    fail_together(multigrid_keys, "orders", solver_keys, "order",
                  fmt::format("given [{}] with solver.order {}; allowed: orders that begin with "
                              "solver.order, or auto",
                              fmt::join(orders, ", "), run.solver_order));
  if (orders.back() > 2 && run.multigrid.orders)
    fail_together(multigrid_keys, "orders", multigrid_keys, "orders",
                  fmt::format("given [{}]; allowed: orders that end with 1 or 2, because coarser "
                              "meshes follow at the last one",
                              fmt::join(orders, ", ")));
  if (run.vector_ops == VectorOps::kokkos_kernels)
    fail_together(solver_keys, "preconditioner", solver_keys, "vector_ops",
                  "given multigrid with solver.vector_ops kokkos-kernels; allowed: multigrid with "
                  "vector_ops fused, or none or jacobi");
  if (run.summation == Summation::deterministic && run.multigrid.smoother == SmootherKind::schwarz)
    fail_together(multigrid_keys, "smoother", keys, "deterministic",
                  "given schwarz with deterministic true, but sums of its patches depend on the "
                  "number of ranks; allowed: jacobi or auto");
}

// ---- The file -----------------------------------------------------------------------------------

std::string advice_on_missing(const std::string& path) {
  const std::string command = "doctor";
  return nearest_word(path, std::span(&command, 1))
             ? "did you mean the command nekbone-k doctor?"
             : "give the path of an input file, such as the project's inputs/smoke.yaml";
}

/// Each strategy without overlap, once.
std::vector<Strategy> plain_ones(const std::vector<Strategy>& strategies) {
  std::vector<Strategy> plain;
  for (const Strategy& either : strategies) {
    const Strategy strategy = without_overlap(either);
    const auto is_same = [&](const Strategy& other) { return other.name == strategy.name; };
    if (std::none_of(plain.begin(), plain.end(), is_same)) plain.push_back(strategy);
  }
  return plain;
}

std::string cannot_open(const std::string& why) {
  return "cannot be opened: " + why + "; give a file that you may read";
}

/// The text of the file, or why it cannot be read.
struct FileText {
  bool readable;
  std::string text;
};

FileText read_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    // The file may be missing, or a folder of the path may be inaccessible.
    const bool missing = status.type() == std::filesystem::file_type::not_found;
    return {false,
            missing ? "no such file; " + advice_on_missing(path) : cannot_open(error.message())};
  }
  if (std::filesystem::is_directory(status)) return {false, "is a folder; give an input file"};

  std::ifstream file(path, std::ios::binary);
  if (!file) return {false, cannot_open(std::strerror(errno))};
  // Read one byte more than allowed to detect a file that is too large. A pipe has no size to
  // check.
  std::string text(max_file_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return {false, "cannot be read"};
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_file_bytes) return {false, "larger than 1 MiB; this is no input file"};
  return {true, text};
}

}  // namespace

std::vector<Strategy> Case::chosen_strategies() const {
  std::vector<Strategy> chosen;
  for (const std::string& name : strategies) chosen.push_back(*find_strategy(name));
  return chosen;
}

std::vector<AllReduceStrategy> Case::chosen_all_reduces() const {
  std::vector<AllReduceStrategy> chosen;
  for (const std::string& name : all_reduces) chosen.push_back(*find_all_reduce(name));
  return chosen;
}

const std::string& Case::place(const std::string& key) const {
  const auto found = places.find(key);
  require(found != places.end(), "the input has no key " + key);
  return found->second;
}

std::vector<TunedField> Case::fields_to_tune() const {
  const std::vector<Strategy> chosen = chosen_strategies();
  if (is_flow())
    return {{solver_order, {n_components, Precision::double_}, plain_ones(chosen)},
            {solver_order, FieldKind{}, chosen}};
  std::vector<TunedField> fields;
  for (const int order : orders_to_tune()) fields.push_back({order, field_kind, chosen});
  return fields;
}

std::vector<int> Case::orders_to_tune() const {
  if (is_flow()) return {solver_order};
  std::vector<int> tuned = orders;
  if (!solves()) return tuned;
  std::erase(tuned, solver_order);
  tuned.push_back(solver_order);
  return tuned;
}

std::vector<CgMethod> Case::cg_methods() const {
  std::vector<CgMethod> methods;
  const bool host_alone = !why_host_alone(*this).empty();
  for (const CgLaunch its_launch : all_cg_launches)
    for (const CgVariant its_variant : all_cg_variants) {
      if (!allows(launch, its_launch) || !allows(variant, its_variant)) continue;
      const bool by_host = its_launch == CgLaunch::host;
      if (by_host ? its_variant != CgVariant::classic : host_alone) continue;
      if (needs_gpu(its_launch) && is_host_device) continue;
      if (its_launch == CgLaunch::persistent && its_variant != CgVariant::pipelined) continue;
      methods.push_back({its_variant, its_launch});
    }
  return methods;
}

Case read_case(const Communicator& comm, const std::string& path,
               const std::vector<std::string>& overrides) {
  FileText file{true, ""};
  if (comm.is_root()) file = read_file(path);
  file.readable = comm.broadcast(std::int64_t{file.readable}) != 0;
  file.text = comm.broadcast(std::move(file.text));
  if (!file.readable) throw InputError(fmt::format("{}: {}", path, file.text));
  return parse_case(file.text, path, overrides, comm.size());
}

Case read_case_alone(const std::string& path, const std::vector<std::string>& overrides) {
  const FileText file = read_file(path);
  if (!file.readable) throw InputError(fmt::format("{}: {}", path, file.text));
  return parse_case(file.text, path, overrides, any_ranks);
}

Case parse_case(const std::string& text, const std::string& source,
                const std::vector<std::string>& overrides, int ranks) {
  YamlValue root = parse_yaml(text, source);
  for (const std::string& assignment : overrides) apply_override(root, assignment);

  Case run;
  run.source = source;
  YamlReader keys(root);
  read_keys(keys, run);
  const YamlReader& mesh_keys = keys.section("mesh");
  YamlReader& solver_keys = keys.section("solver");
  const YamlReader& gather_scatter_keys = keys.section("gather_scatter");
  // Before comparing keys: a misspelt key leaves a default, which may cause a misleading conflict.
  keys.reject_unknown_keys();
  check_element_count(mesh_keys, run.mesh, ranks);
  divide(mesh_keys, ranks, run);
  check_periodicity(keys, mesh_keys, run);
  check_field(keys, gather_scatter_keys, run);
  if (run.mesh.geometry == Geometry::affine && run.mesh.deformation != Deformation::none)
    fail_together(keys.section("operator"), "geometry", mesh_keys, "deformation",
                  fmt::format("given affine with mesh.deformation {}; allowed: affine with "
                              "deformation none, or trilinear or stored",
                              name(run.mesh.deformation)));
  if (run.summation == Summation::deterministic && run.vector_ops == VectorOps::kokkos_kernels)
    fail_together(
        keys, "deterministic", solver_keys, "vector_ops",
        "given deterministic true with solver.vector_ops kokkos-kernels, which adds as it "
        "comes; allowed: deterministic with vector_ops fused");
  check_flow(keys, run);
  check_files_of_flow(keys, run);
  set_keys_of_flow(run);
  check_multigrid(keys, solver_keys, run);
  check_method(solver_keys, run, ranks);
  return run;
}

const char* name(TuningMode mode) { return mode == TuningMode::cached ? "cached" : "measure"; }

}  // namespace nekbone_k
