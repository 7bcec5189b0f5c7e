// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Launches the flow's element kernels of a compiled order.
#pragma once

#include "flow/element_kernels.hpp"

namespace nekbone_k {

/// A kernel with its scratch.
template <class Kernel>
struct FlowLaunch {
  Kernel kernel;

  /// Of Kokkos: 0 is the fast one.
  KOKKOS_FUNCTION static constexpr int level() {
    return fits_fast_scratch(Kernel::scratch, Kernel::team_size) ? 0 : 1;
  }
  KOKKOS_FUNCTION void operator()(const FlowTeam& team) const {
    auto* const work = static_cast<Lanes*>(team.team_scratch(level()).get_shmem_aligned(
        sizeof(Lanes) * Kernel::scratch, alignof(Lanes)));
    kernel(team, team.league_rank(), work);
  }
};

template <class Kernel>
void launch_flow_kernel(const char* label, const FlowElementArguments& arguments) {
  const LocalIndex blocks = arguments.space->layout().n_blocks();
  if (blocks == 0) return;
  Kokkos::TeamPolicy<ExecutionSpace> policy(blocks, Kernel::team_size);
  using Launch = FlowLaunch<Kernel>;
  policy.set_scratch_size(Launch::level(), Kokkos::PerTeam(scratch_bytes(Kernel::scratch)));
  Kokkos::parallel_for(label, light(policy), Launch{Kernel(arguments)});
}

/// Runs a kernel on elements whose metric is or is not constant in each.
template <int order, bool per_element>
void run_flow_kernel_on(FlowKernel which, const FlowElementArguments& arguments) {
  constexpr int nq = order + 1;
  switch (which) {
    case FlowKernel::advection:
      return launch_flow_kernel<AdvectionKernel<nq, GaussPoints::points_for(nq), per_element>>(
          "nekbone_k: advection", arguments);
    case FlowKernel::nodal_advection:
      return launch_flow_kernel<NodalAdvectionKernel<nq, per_element>>("nekbone_k: nodal advection",
                                                                       arguments);
    case FlowKernel::curl:
      return launch_flow_kernel<CurlKernel<nq, per_element>>("nekbone_k: curl", arguments);
    case FlowKernel::pressure_source:
      return launch_flow_kernel<PressureSourceKernel<nq, per_element>>("nekbone_k: pressure source",
                                                                       arguments);
    case FlowKernel::gradient:
      return launch_flow_kernel<GradientKernel<nq, per_element>>("nekbone_k: gradient", arguments);
    case FlowKernel::sums:
      return launch_flow_kernel<FlowSumsKernel<nq, per_element>>("nekbone_k: flow sums", arguments);
  }
}

template <int order>
void run_flow_kernel(FlowKernel which, const FlowElementArguments& arguments) {
  if (arguments.metric->per_element)
    run_flow_kernel_on<order, true>(which, arguments);
  else
    run_flow_kernel_on<order, false>(which, arguments);
}

}  // namespace nekbone_k
