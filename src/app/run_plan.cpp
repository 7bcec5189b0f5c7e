// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_plan.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"
#include "core/launcher.hpp"
#include "flow/flow_elements.hpp"
#include "mesh/partition_model.hpp"
#include "operators/assembled_space.hpp"
#include "operators/geometric_factors.hpp"
#include "report/warnings.hpp"
#include "selection/process_grid.hpp"

namespace nekbone_k {

RunPlan make_run_plan(const Communicator& comm, Case given) {
  RunPlan plan;
  plan.restart = plan_restart(comm, given);
  plan.input = std::make_shared<const Case>(std::move(given));
  const Case& input = *plan.input;
  pretended_ranks_per_node();  // throws if the variable is invalid
  if (input.is_flow() && !has_flow_kernels(input.solver_order))
    throw InputError(fmt::format(
        "{}: this build has no kernels for a flow of order {}; take another solver.order, or "
        "configure with -DNEKBONE_K_ORDERS={}",
        input.source, input.solver_order, input.solver_order));
  plan.fields = input.fields_to_tune();
  if (plan.restart)
    for (TunedField& field : plan.fields) plan.restart->pin(field);
  plan.layout = find_node_layout(comm);
  plan.grid = list_grids(comm, input);
  plan.budget = estimate_memory(comm, input, plan.layout, selectable_partitions(plan.grid));
  const auto launched = comm.max(std::int64_t{launched_processes(comm.size())});
  plan.separate_jobs = separate_jobs(static_cast<int>(launched), comm.size(), mpi_library());
  return plan;
}

void require_countable(const Communicator& comm, const RunPlan& plan) {
  const Case& input = *plan.input;
  // MPI counts are int, and set-up sends four values per shared DOF. The factor 0.9 allows for
  // ranks that hold more of the directory than others.
  constexpr double most_sent = 0.9 * (1U << 29);
  for (const int order : input.orders_to_tune())
    for (const Partition& partition : selectable_partitions(plan.grid)) {
      const MeshSpec spec = input.mesh.divided_by(partition);
      const BoxMesh mesh(spec, order, comm.size(), comm.rank());
      if (mesh.total_dofs() == 0)
        throw InputError(fmt::format(
            "{}: order {} has no DOF, as every point of the mesh is on a Dirichlet face; use a "
            "higher order, more mesh.elements, or mesh.periodic true",
            input.source, order));
      try {
        AssembledSpace::require_indexable(comm, mesh);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", input.source, error.what()));
      }
      const auto sent = static_cast<double>(halo_size(spec, order, comm.size(), comm.rank()).sent);
      if (const double most = comm.max(sent); most > most_sent)
        throw InputError(fmt::format(
            "{}: at order {} and partition {}, a rank shares {:.3g} DOFs with its neighbours, more "
            "than MPI can count; use more ranks, or another mesh.partition",
            input.source, order, partition.name(), most));
    }
}

void require_size(const Communicator& comm, const RunPlan& plan) {
  if (plan.budget.fits_machine()) require_countable(comm, plan);
  require_memory(*plan.input, plan.budget, comm.size());
}

void require_no_inverted_elements(const Communicator& comm, const RunPlan& plan) {
  const Case& input = *plan.input;
  for (const int order : input.orders_to_tune()) {
    const BoxMesh mesh(input.mesh, order, comm.size(), comm.rank());
    if (comm.all(!has_inverted_elements(mesh))) continue;
    throw InputError(fmt::format(
        "{}: {} with mesh.epsilon {} turns elements of order {} inside out; allowed: {}",
        input.place("mesh.deformation"), name(input.mesh.deformation), input.mesh.epsilon, order,
        input.mesh.deformation == Deformation::kershaw
            ? "even numbers of mesh.elements in y and z, or mesh.epsilon above 0.5"
            : "a smaller mesh.epsilon, more elements, or a higher order in its place"));
  }
}

}  // namespace nekbone_k
