// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/box_mesh.hpp"

namespace nekbone_k {

BoxMesh::BoxMesh(const MeshSpec& spec, int order, int ranks, int rank)
    : m_spec(spec),
      m_basis(make_gll_basis(order)),
      m_box(partition_box({{0, 0, 0}, spec.elements}, ranks, rank, spec.partition)) {}

std::array<int, 3> BoxMesh::element(LocalIndex e) const {
  const int nx = m_box.length(0), ny = m_box.length(1);
  return {m_box.begin[0] + e % nx, m_box.begin[1] + e / nx % ny, m_box.begin[2] + e / (nx * ny)};
}

std::int64_t BoxMesh::lattice_length(int d) const {
  return std::int64_t{1} * m_box.length(d) * order() + (wraps(d) ? 0 : 1);
}

std::int64_t BoxMesh::global_lattice_length(int d) const {
  return std::int64_t{1} * m_spec.elements[d] * order() + (m_spec.periodic[d] ? 0 : 1);
}

LatticePoint BoxMesh::lattice_point(const std::array<int, 3>& element, int i, int j, int k) const {
  const std::array<int, 3> node{i, j, k};
  LatticePoint p;
  for (int d = 0; d < 3; ++d) {
    p[d] = std::int64_t{1} * (element[d] - m_box.begin[d]) * order() + node[d];
    if (p[d] == lattice_length(d)) p[d] = 0;  // only if the box wraps
  }
  return p;
}

GlobalId BoxMesh::global_id(const LatticePoint& p) const {
  GlobalId id = 0;
  for (int d = 2; d >= 0; --d) {
    const std::int64_t length = global_lattice_length(d);
    const std::int64_t position = std::int64_t{1} * m_box.begin[d] * order() + p[d];
    id = id * length + position % length;
  }
  return id;
}

bool BoxMesh::is_masked(const LatticePoint& p) const {
  for (int d = 0; d < 3; ++d) {
    if (m_spec.periodic[d]) continue;
    const std::int64_t position = std::int64_t{1} * m_box.begin[d] * order() + p[d];
    if (position == 0 || position == global_lattice_length(d) - 1) return true;
  }
  return false;
}

std::vector<LatticePoint> BoxMesh::sharing_candidates() const {
  std::vector<LatticePoint> candidates;
  const auto on_face_across = [&](const LatticePoint& p, int d) {
    return !wraps(d) && (p[d] == 0 || p[d] == lattice_length(d) - 1);
  };
  for (int d = 0; d < 3; ++d) {
    if (wraps(d)) continue;
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    for (const std::int64_t side : {std::int64_t{0}, lattice_length(d) - 1}) {
      LatticePoint p;
      p[d] = side;
      for (p[b] = 0; p[b] < lattice_length(b); ++p[b])
        for (p[a] = 0; p[a] < lattice_length(a); ++p[a]) {
          const bool listed = (d > 0 && on_face_across(p, 0)) || (d > 1 && on_face_across(p, 1));
          if (!listed && !is_masked(p)) candidates.push_back(p);
        }
    }
  }
  return candidates;
}

std::int64_t BoxMesh::total_dofs() const {
  std::int64_t dofs = 1;
  for (int d = 0; d < 3; ++d) dofs *= global_lattice_length(d) - (m_spec.periodic[d] ? 0 : 2);
  return dofs;
}

BoxMapping BoxMesh::mapping() const {
  BoxMapping mapping{m_spec.deformation, m_spec.epsilon, {}};
  for (int d = 0; d < 3; ++d) mapping.extent[d] = m_spec.extent[d];
  return mapping;
}

}  // namespace nekbone_k
