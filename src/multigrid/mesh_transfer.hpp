// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Transfers between two meshes of one box.
#pragma once

#include <vector>

#include "multigrid/sparse_rows.hpp"
#include "multigrid/transfer.hpp"
#include "multigrid/value_import.hpp"
#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// Interpolation P from a coarse to a fine space by their positions in the undeformed box, and its
/// transpose. The spaces may have any numbers of elements and any partitions: each rank first
/// copies the values that it needs from their owners. So no sum depends on the partition.
template <class T>
class MeshTransfer final : public Transfer<T> {
 public:
  /// Collective.
  MeshTransfer(const Communicator& comm, const AssembledSpace& fine, const AssembledSpace& coarse);

  // nvcc registers no kernel of a virtual member that only the table of virtual members uses, as in
  // other files that include this; these are therefore not inline.
  void restrict_to(const DeviceVector<T>& fine, const DeviceVector<T>& coarse) override;
  void prolong_to(const DeviceVector<T>& coarse, const DeviceVector<T>& fine) override;
  /// The gather–scatters that copy values of the fine and of the coarse space.
  GatherScatter& fine_gs() { return m_fine_values.gs(); }
  GatherScatter& coarse_gs() { return m_coarse_values.gs(); }
  std::vector<GatherScatter*> own_gs() override { return {&fine_gs(), &coarse_gs()}; }

 private:
  struct Rows;
  MeshTransfer(const Communicator& comm, const Rows& restriction, const Rows& prolongation);

  ValueImport<T> m_fine_values, m_coarse_values;
  SparseRows<T> m_restriction, m_prolongation;
};

}  // namespace nekbone_k
