#include "app/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "operators/assembled_space.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
/// Code, MPI's own buffers and message buffers of a rank, as seen with Open MPI 4.1.
constexpr double rank_overhead = 100e6;

double vector_bytes(const BoxMesh& mesh) {
  double lattice = 1;
  for (int d = 0; d < 3; ++d) lattice *= static_cast<double>(mesh.lattice_length(d));
  return lattice * sizeof(double);
}

double factor_bytes(const BoxMesh& mesh) {
  return GeometricFactors::estimated_bytes({mesh.nq(), mesh.n_elements()});
}

double solve_memory(const BoxMesh& mesh, const Case& input) {
  int vectors = 4;  // x, r, p, Ap
  if (input.preconditioner == Preconditioner::jacobi) ++vectors;
  if (input.preconditioner == Preconditioner::jacobi &&
      input.vector_ops == VectorOps::kokkos_kernels)
    ++vectors;
  return rank_overhead + AssembledSpace::estimated_bytes(mesh) + factor_bytes(mesh) +
         vectors * vector_bytes(mesh);
}

/// The mesh's elements made fewer in each direction until they need `fraction` of the memory.
std::string smaller_mesh(const MeshSpec& mesh, double fraction) {
  const double scale = std::cbrt(fraction);
  const auto scaled = [&](int n) { return std::max(1, static_cast<int>(n * scale)); };
  return fmt::format("[{}, {}, {}]", scaled(mesh.elements[0]), scaled(mesh.elements[1]),
                     scaled(mesh.elements[2]));
}

}  // namespace

TuningMemory tuning_memory(const BoxMesh& mesh) {
  const ElementLayout layout{mesh.nq(), mesh.n_elements()};
  const double surface = static_cast<double>(layout.n_surface_values()) * sizeof(double);
  const double interior = static_cast<double>(layout.n_interior_values()) * sizeof(double);
  const double rows = std::max(0.0, vector_bytes(mesh) - interior);
  TuningMemory memory;
  // Timing the on-rank part takes one more array of surface points, and rows twice.
  memory.without_operator =
      rank_overhead + AssembledSpace::estimated_bytes(mesh) + surface + 2 * rows;
  memory.with_operator = memory.without_operator + factor_bytes(mesh) + 2 * vector_bytes(mesh);
  return memory;
}

MemoryBudget estimate_memory(const Communicator& comm, const Case& input,
                             const NodeLayout& layout) {
  MemoryBudget budget;
  // A tenth is left to the system and to the file cache.
  budget.available = 0.9 * comm.min(available_memory());
  if (input.memory_limit_gib > 0)
    budget.available = std::min(budget.available, input.memory_limit_gib * gib);

  const auto on_node = [&](double bytes) { return comm.max(bytes * layout.node_ranks); };
  for (const int order : input.orders) {
    const BoxMesh mesh(input.mesh, order, comm.size(), comm.rank());
    const double bytes = on_node(tuning_memory(mesh).without_operator);
    if (bytes > budget.tuning) {
      budget.tuning = bytes;
      budget.tuning_order = order;
    }
  }
  const BoxMesh mesh(input.mesh, input.solver_order, comm.size(), comm.rank());
  budget.solve = on_node(solve_memory(mesh, input));
  return budget;
}

void require_memory(const Case& input, const MemoryBudget& budget, const NodeLayout& layout) {
  if (budget.needed() <= budget.available) return;
  const bool solve_is_larger = budget.solve >= budget.tuning;
  const double fraction = budget.available / budget.needed();
  const std::string what = solve_is_larger
                               ? fmt::format("the CG run at order {}", input.solver_order)
                               : fmt::format("tuning order {}", budget.tuning_order);
  throw MemoryError(fmt::format(
      "{}: {} needs about {:.1f} GiB a node ({} ranks on it), but {:.1f} GiB can be had{}; use "
      "mesh.elements {} or fewer, {} nodes like this one, or lower orders",
      input.input, what, budget.needed() / gib, layout.node_ranks, budget.available / gib,
      input.memory_limit_gib > 0 ? " (memory.limit_gib)" : "", smaller_mesh(input.mesh, fraction),
      static_cast<int>(std::ceil(layout.nodes / fraction))));
}

}  // namespace nekbone_k
