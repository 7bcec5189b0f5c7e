// SPDX-License-Identifier: BSD-3-Clause
#include "selection/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/format.hpp"
#include "core/message_memory.hpp"
#include "operators/assembled_space.hpp"
#include "operators/geometric_factors.hpp"
#include "output/element_values.hpp"
#include "selection/multigrid_candidates.hpp"
#include "solver/cg_extra_vectors.hpp"

namespace nekbone_k {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
/// Code, MPI's internal buffers and message buffers per rank. Measured with Open MPI 4.1.
constexpr double rank_overhead = 100e6;
/// The part of rank_overhead that a rank maps after the estimate: buffers of transfers, paths and
/// windows, stacks and heaps of threads. Measured with Open MPI 4.1.
constexpr double later_overhead = 64e6;

/// The part of `bytes` that still counts against the limits of a process.
double yet_to_map(double bytes) { return bytes - rank_overhead + later_overhead; }

double vector_bytes(const BoxMesh& mesh) { return mesh.lattice_volume() * sizeof(double); }

/// Bytes per DOF of the widest field that the case exchanges.
double widest_item_bytes(const Case& input) {
  int bytes = 0;
  for (const TunedField& field : input.fields_to_tune())
    bytes = std::max(bytes, field.kind.item_bytes());
  return bytes;
}

/// Bytes of the message buffers of all strategies at an order. Bounds each buffer by the faces of
/// the rank's box of elements.
double message_buffers(const ElementBox& box, int order, const Case& input) {
  const auto length = [&](int d) { return static_cast<double>(box.length(d)) * order + 1; };
  double faces = 0;
  for (int d = 0; d < 3; ++d) faces += 2 * length((d + 1) % 3) * length((d + 2) % 3);
  // Messages contain the points of every element on a face.
  if (input.summation == Summation::deterministic)
    faces *= std::pow((order + 1) / double(order), 2);
  double buffers = 0;
  for (const std::string& name : input.strategies)
    buffers += find_strategy(name)->buffers * faces * widest_item_bytes(input);
  return buffers;
}

/// Bytes of message buffers that remain allocated after all orders were tuned in sequence. Kept
/// buffers are reused for requests that are not larger.
double kept_buffers(const ElementBox& box, const Case& input) {
  if (!keeps_message_memory) return 0;
  double kept = 0, largest = 0;
  for (const int order : input.orders_to_tune()) {
    const double bytes = message_buffers(box, order, input);
    if (bytes > largest) kept += bytes;
    largest = std::max(largest, bytes);
  }
  return kept;
}

/// Bytes of the first V-cycle that the case allows. Others are tried only if they fit.
double multigrid_bytes(const BoxMesh& mesh, const Case& input) {
  const MultigridMethod first = multigrid_choices(input).first();
  return with_value_type(first.precision, [&]<class T>(T) {
    return Multigrid<T>::estimated_bytes(mesh, options_of(first, input));
  });
}

double solve_memory(const BoxMesh& mesh, const Case& input) {
  int vectors = 5;  // b, x, r, p, Ap
  if (input.preconditioner == Preconditioner::jacobi) ++vectors;
  if (input.preconditioner == Preconditioner::jacobi &&
      input.vector_ops == VectorOps::kokkos_kernels)
    ++vectors;
  double multigrid = 0;
  if (input.preconditioner == Preconditioner::multigrid) {
    ++vectors;  // z
    multigrid = multigrid_bytes(mesh, input);
  }
  // Without a pinned variant, CG takes only those whose vectors fit.
  if (input.variant != CgVariantChoice::automatic && !input.cg_methods().empty())
    vectors += CgExtraVectors::count(input.cg_methods().front().variant,
                                     input.preconditioner == Preconditioner::jacobi);
  return rank_overhead + AssembledSpace::estimated_bytes(mesh) +
         GeometricFactors::estimated_bytes(mesh) + vectors * vector_bytes(mesh) +
         kept_buffers(mesh.box(), input) + multigrid +
         (input.is_flow() ? NavierStokes::estimated_bytes(mesh, input.flow.options()) : 0) +
         (input.is_flow() && (input.checkpoint.is_on() || !input.restart.empty() ||
                              !input.flow.initial_file.empty() || input.output.every > 0)
              ? ElementValues::estimated_bytes(mesh)
              : 0) +
         // The vorticity.
         (input.is_flow() && input.output.every > 0 ? 3 * vector_bytes(mesh) : 0) +
         // The cost of deterministic sums is measured against a second space with ordinary sums.
         (input.summation == Summation::deterministic ? AssembledSpace::estimated_bytes(mesh) : 0);
}

/// Maximum memory of the first and last of `ranks` ranks, for advice. The other ranks need about as
/// much as the larger of the two.
double outer_rank_memory(const Case& input, int ranks) {
  double bytes = 0;
  for (const int rank : {0, ranks - 1}) {
    const auto mesh = [&](int order) { return BoxMesh(input.mesh, order, ranks, rank); };
    if (input.solves()) bytes = std::max(bytes, solve_memory(mesh(input.solver_order), input));
    for (const int order : input.orders_to_tune())
      bytes = std::max(bytes, tuning_memory(mesh(order), input).without_operator);
  }
  return bytes;
}

/// The largest mesh.elements, in the proportions of the case, for which the maximum memory of a
/// rank `fits`; nothing if none does.
template <class Fits>
std::optional<std::array<int, 3>> fewer_elements(const Case& input, int ranks, const Fits& fits) {
  Case smaller = input;
  // Always reduce the elements, and by a little more than needed: other ranks may have one more.
  double scale = 1;
  do {
    scale *= 0.97;
    for (int d = 0; d < 3; ++d)
      smaller.mesh.elements[d] = std::max(1, static_cast<int>(input.mesh.elements[d] * scale));
    if (!smaller.mesh.partition.fits(smaller.mesh.elements, ranks) ||
        smaller.mesh.total_elements() == 1)
      return {};
  } while (!fits(outer_rank_memory(smaller, ranks)));
  return smaller.mesh.elements;
}

/// What else a case can give up beside elements.
std::string lower_what(const Case& input) {
  if (!input.is_flow()) return "lower orders";
  return input.flow.projection > 0 ? "a lower solver.order or flow.projection"
                                   : "a lower solver.order";
}

/// E.g. "use mesh.elements [8, 8, 8] or fewer, more nodes, or lower orders".
std::string use_fewer_elements(const std::array<int, 3>& elements, const std::string& place,
                               const Case& input) {
  return fmt::format("use mesh.elements [{}, {}, {}] or fewer, more {}s, or {}", elements[0],
                     elements[1], elements[2], place, lower_what(input));
}

/// Advice on how to change the case or the number of ranks so that the case fits.
std::string smaller_case(const Case& input, const MemoryBudget& budget, int ranks) {
  const std::string fewer_ranks =
      budget.sharers > 1 ? fmt::format("use fewer ranks per {}", budget.place) : "";
  if (budget.sharers * rank_overhead >= budget.available)
    return (fewer_ranks.empty() ? "free some memory" : fewer_ranks) +
           ": each rank takes 100 MB for itself";
  const auto elements = fewer_elements(input, ranks, [&](double bytes) {
    return budget.sharers * bytes <= 0.97 * budget.available;
  });
  if (elements) return use_fewer_elements(*elements, budget.place, input);
  return (fewer_ranks.empty() ? "use " : fewer_ranks + ", or ") + lower_what(input);
}

/// The error text if the case exceeds a limit of a process: the need, the limit and advice.
std::string beyond_limit_of_rank(const Case& input, const MemoryBudget& budget, int ranks) {
  const std::string& limit = budget.process.limit;
  const auto elements = fewer_elements(
      input, ranks, [&](double bytes) { return yet_to_map(bytes) <= 0.97 * budget.process.left; });
  return fmt::format(
      "needs about {} more per rank, but its limit ({}) leaves {}; raise the limit ({} unlimited, "
      "or "
      "what the batch system calls virtual memory){}",
      bytes_text(budget.rank_needed()), limit, bytes_text(budget.process.left), limit,
      elements ? ", or " + use_fewer_elements(*elements, "rank", input) : "");
}

/// smaller_case(), or advice to raise memory.limit_gib if only that is too small.
std::string advice(const Case& input, const MemoryBudget& budget, int ranks) {
  const std::string smaller = smaller_case(input, budget, ranks);
  if (budget.available == budget.machine || budget.needed() > budget.machine) return smaller;
  // Add 1 %, so that rounding does not give less than needed.
  const std::string raise =
      fmt::format("raise memory.limit_gib to {}", significant(1.01 * budget.needed() / gib, 3));
  const bool no_case_fits = budget.sharers * rank_overhead >= budget.available;
  return no_case_fits ? raise : raise + ", or " + smaller;
}

}  // namespace

TuningMemory tuning_memory(const BoxMesh& mesh, const Case& input) {
  const auto size = ElementLayout::estimate(mesh.nq(), static_cast<double>(mesh.box().volume()));
  const double rows = std::max(0.0, mesh.lattice_volume() - size.interior);
  const double item_bytes = widest_item_bytes(input);
  const double buffers =
      std::max(message_buffers(mesh.box(), mesh.order(), input), kept_buffers(mesh.box(), input));
  TuningMemory memory;
  // Timing the on-rank part needs one more array of surface points and two of rows.
  memory.without_operator = rank_overhead + AssembledSpace::estimated_bytes(mesh) +
                            (size.surface + 2 * rows) * item_bytes + buffers;
  memory.with_operator =
      memory.without_operator + GeometricFactors::estimated_bytes(mesh) + 2 * vector_bytes(mesh);
  return memory;
}

MemoryBudget estimate_memory(const Communicator& comm, const Case& input, const NodeLayout& layout,
                             std::span<const Partition> partitions) {
  MemoryBudget budget;
  budget.sharers = layout.node_ranks();
  double here = available_memory();
  if (!is_host_device) {
    budget.place = "GPU";
    budget.sharers = ranks_on_device(comm);
    here = available_device_memory();
  }
  // Leave a tenth to the system and the file cache.
  budget.machine = 0.9 * comm.min(here);
  if (is_host_device) {
    const ProcessMemory process = process_memory();
    budget.process.left = comm.min(process.left);
    budget.process.limit =
        comm.first_text(process.left == budget.process.left ? process.limit : "");
  }
  budget.available = budget.machine;
  if (input.memory_limit_gib > 0)
    budget.available = std::min(budget.available, input.memory_limit_gib * gib);

  // Maximum memory of a rank, and of the fullest node.
  struct Needed {
    double rank = 0, node = 0;
  };
  const auto needed = [&](int order, const auto& bytes_of) -> Needed {
    double bytes = 0;
    for (const Partition& partition : partitions) {
      const BoxMesh mesh(input.mesh.divided_by(partition), order, comm.size(), comm.rank());
      bytes = std::max(bytes, bytes_of(mesh));
    }
    return {comm.max(yet_to_map(bytes)), comm.max(bytes * budget.sharers)};
  };
  for (const int order : input.orders_to_tune()) {
    const Needed tuning = needed(
        order, [&](const BoxMesh& mesh) { return tuning_memory(mesh, input).without_operator; });
    if (tuning.node > budget.tuning) {
      budget.tuning = tuning.node;
      budget.rank_tuning = tuning.rank;
      budget.tuning_order = order;
    }
  }
  if (input.solves()) {
    const Needed solve =
        needed(input.solver_order, [&](const BoxMesh& mesh) { return solve_memory(mesh, input); });
    budget.solve = solve.node;
    budget.rank_solve = solve.rank;
  }
  return budget;
}

bool MemoryBudget::fits(const Communicator& comm, double bytes) const {
  return comm.all(bytes * sharers <= available && yet_to_map(bytes) <= process.left);
}

void require_memory(const Case& input, const MemoryBudget& budget, int ranks) {
  if (budget.fits()) return;
  const std::string what =
      budget.solve > budget.tuning
          ? fmt::format("the {} at order {}", input.is_flow() ? "flow" : "CG run",
                        input.solver_order)
          : fmt::format("tuning order {}", budget.tuning_order);
  if (budget.fits_machine())
    throw MemoryError(
        fmt::format("{}: {} {}", input.source, what, beyond_limit_of_rank(input, budget, ranks)));
  const bool is_limited = budget.available < budget.machine;
  throw MemoryError(
      fmt::format("{}: {} needs about {} per {} ({} on it), but only {} are available{}; {}",
                  is_limited ? input.place("memory.limit_gib") : input.source, what,
                  bytes_text(budget.needed()), budget.place, counted(budget.sharers, "rank"),
                  bytes_text(budget.available), is_limited ? " (memory.limit_gib)" : "",
                  advice(input, budget, ranks)));
}

}  // namespace nekbone_k
