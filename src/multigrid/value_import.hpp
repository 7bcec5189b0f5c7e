// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Values of DOFs that other ranks own.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "gs/gather_scatter.hpp"

namespace nekbone_k {

/// Copies values of DOFs from their owners to the ranks that want them, by a gather–scatter in
/// which all but the owner have zero. No sum rounds, so the copies are exact.
template <class T>
class ValueImport {
 public:
  /// `owned[e]` is the global id of entry e of this rank's vector, or negative if another rank owns
  /// it; `wanted` are distinct ids. Collective; `comm` outlives the object.
  ValueImport(const Communicator& comm, std::span<const GlobalId> owned,
              std::span<const GlobalId> wanted)
      : m_n_entries(static_cast<LocalIndex>(owned.size())),
        m_gs(comm, joined(owned, wanted)),
        m_points("nekbone_k: imported values", owned.size() + wanted.size(), 1) {}

  GatherScatter& gs() { return m_gs; }

  /// The values of the wanted DOFs; valid until the next call. Device memory. Collective.
  ConstDeviceVector<T> operator()(const ConstDeviceVector<T>& vector) {
    const auto all = Kokkos::subview(m_points, Kokkos::ALL, 0);
    const std::pair<LocalIndex, LocalIndex> here(0, m_n_entries),
        wanted(m_n_entries, static_cast<LocalIndex>(m_points.extent(0)));
    Kokkos::deep_copy(ExecutionSpace(), Kokkos::subview(all, here), vector);
    Kokkos::deep_copy(ExecutionSpace(), Kokkos::subview(all, wanted), T{0});
    m_gs.gs_op(m_points, Reduction::add);
    return Kokkos::subview(all, wanted);
  }

 private:
  static std::vector<GlobalId> joined(std::span<const GlobalId> owned,
                                      std::span<const GlobalId> wanted) {
    std::vector<GlobalId> ids(owned.begin(), owned.end());
    ids.insert(ids.end(), wanted.begin(), wanted.end());
    return ids;
  }

  LocalIndex m_n_entries;
  GatherScatter m_gs;
  DeviceField<T> m_points;
};

}  // namespace nekbone_k
