// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The overlapping additive Schwarz preconditioner.
#pragma once

#include <vector>

#include "multigrid/patch_line.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// The lowest order of levels that may use AdditiveSchwarz: below it, three patches of one
/// direction share a point.
inline constexpr int least_schwarz_order = 3;

/// The patches of a rank's elements, and the values that they read and write:
///
///     [ entries of assembled vectors | DOFs of patches that are not on this rank's elements ]
struct SchwarzPatches {
  /// Not collective.
  explicit SchwarzPatches(const AssembledSpace& space);

  int points;                 ///< per direction
  LocalIndex n_values;        ///< entries and further DOFs
  std::vector<GlobalId> ids;  ///< (n_values) if another rank may have the DOF; otherwise -1
  /// (block, patch point, lane): value of each patch point, or `no_value`. First direction fastest.
  std::vector<LocalIndex> value_of;
  static constexpr LocalIndex no_value = -1;
};

/// S = Σ_e W^½ R_eᵀ A_e⁻¹ R_e W^½, the symmetric weighted additive Schwarz preconditioner with one
/// layer of overlap (Lottes and Fischer, J. Sci. Comput. 24, 2005). The patch of an element is its
/// (N+1)³ points and the next layer of points around them, (N+3)³ in all. W divides each DOF by the
/// number of patches that have it.
///
/// A_e is the operator on a patch of boxes that approximate the element and its neighbours, with
/// zero values beyond the patch. Fast diagonalisation inverts it, with S_d and Λ_d of line_modes()
/// in direction d:
///
///     A_e⁻¹ = (S_x ⊗ S_y ⊗ S_z) (Λ_x + Λ_y + Λ_z + λ)⁻¹ (S_x ⊗ S_y ⊗ S_z)ᵀ
///
/// One exchange imports the values that other ranks own, and one sums the results of all patches.
/// The modes include W^½, because the number of patches at a point is a product over directions.
/// The order of sums on a rank is fixed, but it depends on the partition.
template <class T>
class AdditiveSchwarz {
 public:
  /// For the operator `scale` (stiffness + `lambda` mass) on `space`, whose order is at least
  /// least_schwarz_order. Collective, and so is destruction.
  AdditiveSchwarz(const Communicator& comm, const AssembledSpace& space, double lambda,
                  double scale);

  /// S r; valid until the next call. Assembled vectors in device memory, padding zero. All kernels
  /// are launched in the default stream. Collective.
  ConstDeviceVector<T> operator()(const ConstDeviceVector<T>& r);

  /// The gather–scatter of both exchanges.
  GatherScatter& gs() { return m_gs; }

  /// The modes of the lines of blocks of elements, in device memory. Blocks with equal lines share
  /// them.
  struct Modes {
    DeviceVector<LocalIndex> of_block;  ///< (block, direction): number of the modes of its lanes
    DeviceVector<T> vectors;            ///< (number, point, mode, lane): W^½ S_d
    DeviceVector<T> values;             ///< (number, mode, lane), times the scale
  };

 private:
  AdditiveSchwarz(const Communicator& comm, const AssembledSpace& space, double lambda,
                  double scale, const SchwarzPatches& patches);

  const Communicator& m_comm;
  VectorRange m_range;
  int m_order;
  T m_lambda;
  GatherScatter m_gs;
  IndexLists m_values_of_patches;  // by block: (patch point, lane)
  Modes m_modes;
  DeviceField<T> m_values;  // (n_values, 1) of r; empty on one rank
  DeviceField<T> m_sums;    // (n_values, 1) of the results of patches
  // If patches store their results, for a sum in a fixed order; otherwise one thread adds them.
  DeviceVector<T> m_results;                       // (block, patch point, lane)
  DeviceVector<LocalIndex> m_row_ends, m_columns;  // results of each value
};

}  // namespace nekbone_k
