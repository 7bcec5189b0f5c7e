// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "app/order_run.hpp"
#include "gs/message_layout.hpp"
#include "operators/on_rank_check.hpp"
#include "selection/memory.hpp"
#include "selection/overlap_work.hpp"
#include "selection/replay.hpp"

namespace nekbone_k {
namespace {

/// A vector to apply the operator to. It is not zero, because multiplying zeros could be faster. It
/// is assembled without an exchange, because no strategy is verified yet.
DeviceVector<double> make_operand(AssembledSpace& space) {
  const auto u = space.make_vector("u");
  space.assemble_here(
      KOKKOS_LAMBDA(LocalIndex, int i, int j, int k) { return 1.25 + i - 0.5 * j + 0.25 * k; }, u);
  return u;
}

/// Bytes per message with `item_bytes` per DOF: spread over the messages of all ranks.
Spread message_sizes(const Communicator& comm, const HaloPlan& plan, double item_bytes) {
  const auto messages = comm.sum(static_cast<std::int64_t>(plan.neighbours.size()));
  if (messages == 0) return {};
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const Neighbour& n : plan.neighbours) {
    smallest = std::min(smallest, item_bytes * n.count);
    largest = std::max(largest, item_bytes * n.count);
  }
  const double total = comm.sum(item_bytes * plan.n_slots());
  return {comm.min(smallest), total / static_cast<double>(messages), comm.max(largest)};
}

void record_mesh(const Communicator& comm, const AssembledSpace& space, double item_bytes,
                 OrderRecord& record) {
  const ElementLayout& layout = space.layout();
  const HaloPlan& plan = space.gs().plan();
  const HaloPlan& messages = space.gs().message_plan()->host;
  record.total_dofs = space.mesh().total_dofs();
  record.total_local_points = comm.sum(std::int64_t{layout.n_elements} * layout.points());
  record.elements = comm.spread(layout.n_elements);
  record.owned_dofs = comm.spread(static_cast<double>(space.n_owned()));
  record.boundary_elements = comm.spread(space.n_boundary_elements());
  record.interior_elements = comm.spread(layout.n_elements - space.n_boundary_elements());
  record.shared_dofs = comm.spread(plan.n_shared());
  record.neighbours = comm.spread(static_cast<double>(plan.neighbours.size()));
  record.sent_bytes = comm.spread(item_bytes * messages.n_slots());
  record.message_bytes = message_sizes(comm, messages, item_bytes);
  const MessageLayouts here = message_layouts(messages);
  record.layouts = {comm.sum(here.contiguous), comm.sum(here.strided), comm.sum(here.indexed)};
}

}  // namespace

TunedOrder tune_order(const Communicator& comm, const RunPlan& plan, const MeshSpec& mesh,
                      const TunedField& field, const TunerOptions& options,
                      const MachineRecord& machine, const AllReduceStrategy* all_reduce,
                      TuningGuard& guard, Progress& progress) {
  const Case& input = *plan.input;
  const int order = field.order;
  TunedOrder tuned;
  OrderRecord& record = tuned.record;
  record.order = order;
  record.compiled = is_compiled_order(order);

  progress.stage(fmt::format("order {}: numbering the mesh", order));
  comm.barrier();
  const double begin = wall_seconds();
  tuned.discretization = std::make_unique<Discretization>(comm, mesh, order, input.summation);
  AssembledSpace& space = tuned.discretization->space;
  record.on_rank_failure = check_on_rank(comm, space);
  const TuningMemory memory = tuning_memory(space.mesh(), input);
  const bool fits = plan.budget.fits(comm, memory.with_operator);
  DeviceVector<double> u, au;
  std::optional<Guarded<EllipticOperator>> made;
  if (fits) {
    const GeometricFactors& factors = tuned.discretization->factors();
    u = make_operand(space);
    au = space.make_vector("Au");
    const AllReduceStrategy& sum = all_reduce ? *all_reduce : all_reduce_strategies().front();
    made.emplace(guard, guarded_name(sum),
                 [&] { return EllipticOperator(space, factors, input.lambda, sum); });
  }
  Kokkos::fence("nekbone_k: order set up");
  record.setup_seconds = comm.max(wall_seconds() - begin);
  record_mesh(comm, space, field.kind.item_bytes(), record);

  OverlapWork work;
  DeviceVector<double> rows;
  if (made) {
    const EllipticOperator& a = **made;
    work = overlap_work(a, u, au);
    // With deterministic sums, the product is formed after the exchange, not during it.
    if (all_reduce && !space.is_deterministic()) {
      work.name += ", u·Au by " + all_reduce->name;
      work.sum = {guarded_name(*all_reduce), [&] { a.start_u_dot_au(); }, [&] { a.u_dot_au(); }};
    }
  } else {
    work.name = "on-rank gather-scatter meanwhile (the factors of Ax do not fit in memory)";
    rows = uninitialized<double>("nekbone_k: rows", space.n_rows());
    work.meanwhile = [&](double portion) {
      const LocalIndex n_shared = space.gs().plan().n_shared();
      const auto end =
          n_shared + static_cast<LocalIndex>(std::ceil(portion * (space.n_rows() - n_shared)));
      space.gather_rows(rows, n_shared, end);
      space.gs().assembly().scatter(as_field(rows), as_field(space.surface_values()), n_shared,
                                    end);
    };
  }
  progress.stage(fmt::format("order {}: tuning the gather-scatter", order));
  tune_or_replay(input, {"exchanges", mesh, field, options}, machine, space.gs(), work, guard,
                 record);
  return tuned;
}

}  // namespace nekbone_k
