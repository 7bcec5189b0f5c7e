// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/level_plan.hpp"

#include <algorithm>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Directions whose elements are at most this many times as long as the shortest are coarsened.
constexpr double similar_length = 1.5;

/// Elements per direction come in multiples of this, so that kinks stay on element faces.
int unit(const MeshSpec& mesh, int d) {
  if (mesh.deformation != Deformation::kershaw) return 1;
  const int kinks = d == 0 ? 6 : 2;
  return mesh.elements[d] % kinks == 0 ? kinks : 1;
}

/// About half the elements in direction d, or all of them if they cannot be halved.
int halved(const MeshSpec& mesh, int d) {
  const int n = mesh.elements[d], of_unit = unit(mesh, d), least = mesh.periodic[d] ? 1 : 2;
  const int units = (n / of_unit + 1) / 2;
  return std::min(n, std::max(units * of_unit, least));
}

double length(const MeshSpec& mesh, int d) { return mesh.extent[d] / mesh.elements[d]; }

}  // namespace

std::int64_t LevelPlan::total_dofs() const {
  return BoxMesh(mesh.divided_by({}), order, 1, 0).total_dofs();
}

std::vector<int> halved_orders(int order) {
  std::vector<int> orders{order};
  while (orders.back() > 1) orders.push_back(orders.back() / 2);
  return orders;
}

MeshSpec coarser_mesh(const MeshSpec& mesh) {
  double shortest = 0;
  for (int d = 0; d < 3; ++d)
    if (halved(mesh, d) < mesh.elements[d] && (shortest == 0 || length(mesh, d) < shortest))
      shortest = length(mesh, d);
  MeshSpec coarser = mesh;
  for (int d = 0; d < 3; ++d)
    if (length(mesh, d) <= similar_length * shortest) coarser.elements[d] = halved(mesh, d);
  return coarser;
}

std::vector<LevelPlan> plan_levels(const MeshSpec& mesh, const std::vector<int>& orders, int ranks,
                                   double coarse_dofs,
                                   const std::function<bool(const MeshSpec&)>& is_valid,
                                   double replicated_dofs) {
  require(!orders.empty(), "a hierarchy without orders");
  std::vector<LevelPlan> levels;
  for (const int order : orders) {
    const LevelPlan level{order, mesh};
    if (level.total_dofs() > 0) levels.push_back(level);
  }
  require(!levels.empty(), "a mesh without DOFs");
  const auto fits = [&](const MeshSpec& coarse) {
    return coarse.partition.fits(coarse.elements, ranks);
  };
  const auto replicate = [&](LevelPlan& level, bool always = false) {
    if (ranks == 1) return;
    if (!always && fits(level.mesh) && static_cast<double>(level.total_dofs()) > replicated_dofs)
      return;
    level.is_replicated = true;
    level.mesh.partition = {};
  };
  if (levels.size() > 1) replicate(levels.back());
  while (static_cast<double>(levels.back().total_dofs()) > coarse_dofs) {
    LevelPlan next = levels.back();
    next.mesh = coarser_mesh(next.mesh);
    if (next.mesh.elements == levels.back().mesh.elements || !is_valid(next.mesh)) break;
    if (!fits(next.mesh)) next.mesh.partition = {};
    replicate(next);
    levels.push_back(next);
  }
  if (levels.size() == 1) levels.push_back(levels.front());
  replicate(levels.back(), /*always=*/true);
  return levels;
}

}  // namespace nekbone_k
