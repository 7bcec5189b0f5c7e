// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Transfers between two polynomial orders on one mesh.
#pragma once

#include "multigrid/transfer.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// Interpolation P from a lower to a higher order within each element, and its transpose. Within an
/// element P is a tensor product of one-dimensional interpolation matrices (Deville, Fischer and
/// Mund 2002, section 4.1).
///
/// A dual vector (a residual) has the sum over all elements at each DOF. Pᵀ must count each DOF
/// once. In a box, two elements share a point of a face, four a point of an edge and eight a
/// corner. An element therefore takes a half, a quarter or an eighth of these values. At Dirichlet
/// points there is no DOF.
template <class T>
class OrderTransfer final : public Transfer<T> {
 public:
  /// Keeps references to the spaces. `coarse` was made with the elements of `fine`
  /// (AssembledSpace). Not collective.
  OrderTransfer(AssembledSpace& fine, AssembledSpace& coarse);

  /// With the exchange strategy of the coarse space.
  void restrict_to(const DeviceVector<T>& fine, const DeviceVector<T>& coarse) override;
  void prolong_to(const DeviceVector<T>& coarse, const DeviceVector<T>& fine) override;

 private:
  AssembledSpace &m_fine, &m_coarse;
  DeviceVector<T> m_prolongation;  // (fine Nq, coarse Nq)
  DeviceVector<T> m_restriction;   // (coarse Nq, fine Nq), with the shares of an element
};

}  // namespace nekbone_k
