// SPDX-License-Identifier: BSD-3-Clause
#include "support/operator_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solver/problem.hpp"

namespace nekbone_k {

MeshSpec mesh_of_size(int ranks, int order, std::int64_t points) {
  std::array<int, 3> rank_grid{};
  check_mpi(MPI_Dims_create(ranks, 3, rank_grid.data()), "MPI_Dims_create");
  MeshSpec mesh;
  mesh.periodic = {false, false, false};
  mesh.deformation = Deformation::sine;
  // Each side is rounded, and the next sides compensate for the rounding.
  double left = static_cast<double>(points) / std::pow(order + 1, 3);
  for (int d = 0; d < 3; ++d) {
    const int side = std::max(1, static_cast<int>(std::lround(std::pow(left, 1.0 / (3 - d)))));
    left /= side;
    mesh.elements[d] = side * rank_grid[d];
  }
  return mesh;
}

std::vector<std::int64_t> point_counts(const BenchOptions& options) {
  if (options.quick) return {500};
  return {options.points, options.cache_points};
}

std::string size_suffix(const MeshSpec& mesh, int order, int ranks) {
  const std::int64_t nq = order + 1;
  return fmt::format("/order:{}/points:{}", order, mesh.total_elements() * nq * nq * nq / ranks);
}

OperatorCase::OperatorCase(const Bench& bench, const MeshSpec& spec, int order)
    : mesh(spec, order, bench.comm().size(), bench.comm().rank()),
      space(bench.comm(), mesh),
      geometry(space),
      a(space, geometry, bench.options().lambda),
      b(space.make_vector("b")) {
  space.gs().select(bench.options().strategy);
  Problem(ProblemKind::nekbone, spec, bench.options().lambda).right_hand_side(space, geometry, b);
}

AxhelmArguments OperatorCase::all_elements(const DeviceVector<double>& au,
                                           SurfaceResults surface_results) const {
  AxhelmArguments arguments = a.element_arguments(b, au, 0, space.layout().n_blocks());
  arguments.surface_results = surface_results;
  // Separate from the operator's array, because the operator divides its blocks differently and
  // writes other parts.
  arguments.partial_dots = DeviceVector<double>("nekbone_k: dots", n_partial_dots(space.layout()));
  return arguments;
}

}  // namespace nekbone_k
