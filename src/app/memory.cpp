#include "app/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/format.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "gs/message_memory.hpp"
#include "operators/assembled_space.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
/// Code, MPI's own buffers and message buffers of a rank, as seen with Open MPI 4.1.
constexpr double rank_overhead = 100e6;

double vector_bytes(const BoxMesh& mesh) { return mesh.lattice_volume() * sizeof(double); }

/// Bytes of the message buffers that all strategies hold at once at an order, each of at most the
/// faces of the rank's elements.
double message_buffers(const ElementBox& box, int order, const Case& input) {
  const auto length = [&](int d) { return static_cast<double>(box.length(d)) * order + 1; };
  double faces = 0;
  for (int d = 0; d < 3; ++d) faces += 2 * length((d + 1) % 3) * length((d + 2) % 3);
  // Of a face each element's points travel.
  if (input.summation == Summation::deterministic)
    faces *= std::pow((order + 1) / double(order), 2);
  double buffers = 0;
  for (const std::string& name : input.strategies)
    buffers += find_strategy(name)->buffers * faces * input.field_kind.item_bytes();
  return buffers;
}

/// What of that is there once the case's orders, in this order, were tuned, where it is kept: a
/// piece serves another that is no larger.
double kept_buffers(const ElementBox& box, const Case& input) {
  if (!keeps_message_memory) return 0;
  double kept = 0, largest = 0;
  for (const int order : input.orders) {
    const double bytes = message_buffers(box, order, input);
    if (bytes > largest) kept += bytes;
    largest = std::max(largest, bytes);
  }
  return kept;
}

double solve_memory(const BoxMesh& mesh, const Case& input) {
  int vectors = 5;  // b, x, r, p, Ap
  if (input.preconditioner == Preconditioner::jacobi) ++vectors;
  if (input.preconditioner == Preconditioner::jacobi &&
      input.vector_ops == VectorOps::kokkos_kernels)
    ++vectors;
  return rank_overhead + AssembledSpace::estimated_bytes(mesh) +
         GeometricFactors::estimated_bytes(mesh) + vectors * vector_bytes(mesh) +
         kept_buffers(mesh.box(), input) +
         // To see what deterministic sums cost, ordinary ones are made beside them.
         (input.summation == Summation::deterministic ? AssembledSpace::estimated_bytes(mesh) : 0);
}

/// What the first or the last of `ranks` ranks needs at most, for advice; the others' parts are
/// much the same as the larger of these two.
double outer_rank_memory(const Case& input, int ranks) {
  double bytes = 0;
  for (const int rank : {0, ranks - 1}) {
    const auto mesh = [&](int order) { return BoxMesh(input.mesh, order, ranks, rank); };
    if (input.solves()) bytes = std::max(bytes, solve_memory(mesh(input.solver_order), input));
    for (const int order : input.orders)
      bytes = std::max(bytes, tuning_memory(mesh(order), input).without_operator);
  }
  return bytes;
}

/// What to change in the case, or in the number of ranks, so that it fits.
std::string smaller_case(const Case& input, const MemoryBudget& budget, int ranks) {
  const std::string fewer_ranks =
      budget.sharers > 1 ? fmt::format("use fewer ranks a {}", budget.place) : "";
  if (budget.sharers * rank_overhead >= budget.available)
    return (fewer_ranks.empty() ? "free some memory" : fewer_ranks) +
           ": each rank takes 100 MB for itself";
  Case smaller = input;
  // Fewer elements in any case, and a little less than what can be had: other ranks may have an
  // element more.
  double scale = 1;
  do {
    scale *= 0.97;
    for (int d = 0; d < 3; ++d)
      smaller.mesh.elements[d] = std::max(1, static_cast<int>(input.mesh.elements[d] * scale));
    if (!smaller.mesh.partition.fits(smaller.mesh.elements, ranks) ||
        smaller.mesh.total_elements() == 1)
      return fewer_ranks.empty() ? "use lower orders" : fewer_ranks + ", or lower orders";
  } while (budget.sharers * outer_rank_memory(smaller, ranks) > 0.97 * budget.available);
  const auto& e = smaller.mesh.elements;
  return fmt::format("use mesh.elements [{}, {}, {}] or fewer, more {}s, or lower orders", e[0],
                     e[1], e[2], budget.place);
}

/// The same, or the limit where that alone is in the way.
std::string advice(const Case& input, const MemoryBudget& budget, int ranks) {
  const std::string smaller = smaller_case(input, budget, ranks);
  if (budget.available == budget.machine || budget.needed() > budget.machine) return smaller;
  // A per cent more than needed, so that rounding does not make it less.
  const std::string raise =
      fmt::format("raise memory.limit_gib to {}", significant(1.01 * budget.needed() / gib, 3));
  const bool no_case_fits = budget.sharers * rank_overhead >= budget.available;
  return no_case_fits ? raise : raise + ", or " + smaller;
}

}  // namespace

TuningMemory tuning_memory(const BoxMesh& mesh, const Case& input) {
  const auto size = ElementLayout::estimate(mesh.nq(), static_cast<double>(mesh.box().volume()));
  const double rows = std::max(0.0, mesh.lattice_volume() - size.interior);
  const double item_bytes = input.field_kind.item_bytes();
  const double buffers =
      std::max(message_buffers(mesh.box(), mesh.order(), input), kept_buffers(mesh.box(), input));
  TuningMemory memory;
  // Timing the on-rank part takes one more array of surface points, and rows twice.
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
  // A tenth is left to the system and to the file cache.
  budget.machine = 0.9 * comm.min(here);
  budget.available = budget.machine;
  if (input.memory_limit_gib > 0)
    budget.available = std::min(budget.available, input.memory_limit_gib * gib);

  // What this rank's part needs most, on the fullest node.
  const auto on_node = [&](int order, const auto& bytes_of) {
    double bytes = 0;
    for (const Partition& partition : partitions) {
      MeshSpec spec = input.mesh;
      spec.partition = partition;
      bytes = std::max(bytes, bytes_of(BoxMesh(spec, order, comm.size(), comm.rank())));
    }
    return comm.max(bytes * budget.sharers);
  };
  for (const int order : input.orders) {
    const double bytes = on_node(
        order, [&](const BoxMesh& mesh) { return tuning_memory(mesh, input).without_operator; });
    if (bytes > budget.tuning) {
      budget.tuning = bytes;
      budget.tuning_order = order;
    }
  }
  if (input.solves())
    budget.solve =
        on_node(input.solver_order, [&](const BoxMesh& mesh) { return solve_memory(mesh, input); });
  return budget;
}

void require_memory(const Case& input, const MemoryBudget& budget, int ranks) {
  if (budget.needed() <= budget.available) return;
  const std::string what = budget.solve > budget.tuning
                               ? fmt::format("the CG run at order {}", input.solver_order)
                               : fmt::format("tuning order {}", budget.tuning_order);
  throw MemoryError(fmt::format("{}: {} needs about {} a {} ({} on it), but {} can be had{}; {}",
                                input.input, what, bytes_text(budget.needed()), budget.place,
                                counted(budget.sharers, "rank"), bytes_text(budget.available),
                                budget.available < budget.machine ? " (memory.limit_gib)" : "",
                                advice(input, budget, ranks)));
}

}  // namespace nekbone_k
