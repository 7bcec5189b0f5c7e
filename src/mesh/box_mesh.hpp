// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The mesh, a box of hexahedra with GLL points of one order, and the part of one rank.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "mesh/gll.hpp"
#include "mesh/mapping.hpp"
#include "mesh/partition.hpp"

namespace nekbone_k {

/// The mesh without its order, as in the input.
struct MeshSpec {
  std::array<int, 3> elements{8, 8, 8};
  std::array<double, 3> extent{1, 1, 1};
  std::array<bool, 3> periodic{true, true, true};
  Deformation deformation = Deformation::none;
  double epsilon = 0.3;
  Geometry geometry = Geometry::stored;  ///< affine only without a deformation
  Partition partition;                   ///< of the elements among the ranks

  std::int64_t total_elements() const {
    return std::int64_t{1} * elements[0] * elements[1] * elements[2];
  }
  bool fully_periodic() const { return periodic[0] && periodic[1] && periodic[2]; }
  /// The same mesh with another partition.
  MeshSpec divided_by(const Partition& other) const {
    MeshSpec mesh = *this;
    mesh.partition = other;
    return mesh;
  }
};

/// A point of the lattice that all GLL points of the mesh form.
using LatticePoint = std::array<std::int64_t, 3>;

/// The box of elements of one rank. Not collective: every rank computes its own part alone.
///
/// The GLL points of the whole mesh form a lattice. It has elements·N points in a periodic
/// direction and elements·N + 1 in a Dirichlet direction. The global id of a DOF is its lattice
/// position, first direction fastest, so it does not depend on the number of ranks.
class BoxMesh {
 public:
  BoxMesh(const MeshSpec& spec, int order, int ranks, int rank);

  const MeshSpec& spec() const { return m_spec; }
  const GllBasis& basis() const { return m_basis; }
  int order() const { return m_basis.order; }
  int nq() const { return m_basis.nq(); }

  const ElementBox& box() const { return m_box; }
  LocalIndex n_elements() const { return static_cast<LocalIndex>(m_box.volume()); }
  /// Indices in the whole mesh of this rank's element `e`; elements are numbered first direction
  /// fastest.
  std::array<int, 3> element(LocalIndex e) const;

  /// Length of the whole mesh's lattice in direction d, in points.
  std::int64_t global_lattice_length(int d) const;
  /// Length of this rank's part of the lattice in direction d, in points. Its first point is
  /// box().begin[d] · N. If the box spans a periodic direction, the last point coincides with the
  /// first and counts once.
  std::int64_t lattice_length(int d) const;
  /// Whether the rank's own box closes on itself in direction d.
  bool wraps(int d) const { return m_spec.periodic[d] && m_box.length(d) == m_spec.elements[d]; }
  /// Points of this rank's part of the lattice, as a double for estimates.
  double lattice_volume() const {
    return static_cast<double>(lattice_length(0)) * static_cast<double>(lattice_length(1)) *
           static_cast<double>(lattice_length(2));
  }
  /// Lattice point of node (i, j, k) of the element with whole-mesh indices `element`, relative to
  /// the rank's first point. In a direction that wraps, the last point maps to the first.
  LatticePoint lattice_point(const std::array<int, 3>& element, int i, int j, int k) const;
  /// Global id of a lattice point relative to the rank.
  GlobalId global_id(const LatticePoint& p) const;
  /// Whether a lattice point relative to the rank lies on a Dirichlet face, where the solution is
  /// zero.
  bool is_masked(const LatticePoint& p) const;

  /// Lattice points, relative to the rank, that other ranks may share: those on a face of the
  /// rank's box and not on a Dirichlet face, each once.
  std::vector<LatticePoint> sharing_candidates() const;

  /// DOFs of the whole mesh without Dirichlet points.
  std::int64_t total_dofs() const;

  /// The map to the domain, for use in kernels.
  BoxMapping mapping() const;

 private:
  MeshSpec m_spec;
  GllBasis m_basis;
  ElementBox m_box;
};

}  // namespace nekbone_k
