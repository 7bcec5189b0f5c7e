// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The launch of the element operator at a compiled order, for every backend.
#pragma once

#include <type_traits>

#include "core/launch_shape.hpp"
#include "operators/axhelm/axhelm_bricks.hpp"
#include "operators/axhelm/axhelm_cpu.hpp"
#include "operators/axhelm/axhelm_gpu.hpp"
#include "operators/axhelm/axhelm_shape.hpp"

namespace nekbone_k {

/// The body that a shape is for. Floats are affine on bricks only; see SingleFactors.
template <int order, Geometry geometry, SurfaceResults surface_results, class Shape, class T>
using AxhelmBodyOf =
    std::conditional_t<Shape::body == AxhelmBody::gpu,
                       AxhelmGpu<order, geometry, surface_results, Shape, T>,
                       std::conditional_t<geometry == Geometry::affine && std::is_same_v<T, float>,
                                          AxhelmBricks<order, geometry, surface_results, Shape, T>,
                                          AxhelmCpu<order, geometry, surface_results, Shape, T>>>;

/// A team applies the operator to some blocks of elements; each lane is an element.
template <int order, Geometry geometry = Geometry::stored,
          SurfaceResults surface_results = SurfaceResults::stored,
          class Shape = AxhelmShape<ExecutionSpace, order + 1>, class T = double>
class AxhelmKernel : AxhelmBodyOf<order, geometry, surface_results, Shape, T> {
  using Body = AxhelmBodyOf<order, geometry, surface_results, Shape, T>;
  using Scratch = typename Body::Scratch;

 public:
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<Body::team_size, Shape::least_teams>>;
  using Body::operator();

  /// Threads of a team and the bytes of its team scratch. They limit the number of teams that a
  /// multiprocessor holds (bench/kernel_resources.py).
  static constexpr int threads_of_team() { return Body::team_size; }
  static constexpr std::size_t scratch_of_team() { return Scratch::bytes(); }

  explicit AxhelmKernel(const AxhelmArgumentsOf<T>& arguments) : Body(arguments) {}

  void run(const ExecutionSpace& stream) const {
    const AxhelmArgumentsOf<T>& args = Body::m_elements.args;
    const LocalIndex blocks = args.last_block - args.first_block;
    if (blocks <= 0) return;
    constexpr int of_team = Shape::blocks_per_team * Body::blocks_at_once;
    Policy policy(stream, (blocks + of_team - 1) / of_team, Body::team_size);
    policy.set_scratch_size(Scratch::level(), Kokkos::PerTeam(Scratch::bytes()));
    Kokkos::parallel_for("nekbone_k: axhelm", light(policy), *this);
  }
};

template <int order, Geometry geometry, class T>
void axhelm_compiled(const AxhelmArgumentsOf<T>& arguments, const ExecutionSpace& stream) {
  using Shape = AxhelmShape<ExecutionSpace, order + 1>;
  if constexpr (Shape::adds_surface_results) {
    if (arguments.surface_results == SurfaceResults::added)
      return AxhelmKernel<order, geometry, SurfaceResults::added, Shape, T>(arguments).run(stream);
  }
  AxhelmKernel<order, geometry, SurfaceResults::stored, Shape, T>(arguments).run(stream);
}

}  // namespace nekbone_k
