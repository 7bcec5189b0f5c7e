// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/mesh_transfer.hpp"

#include <unordered_map>

#include "multigrid/lattice_interpolation.hpp"

namespace nekbone_k {

/// Rows of a transfer: the values of the entries of one space from values of the other.
template <class T>
struct MeshTransfer<T>::Rows {
  typename SparseRows<T>::Builder rows;
  std::vector<GlobalId> owned, wanted;  ///< of the other space: see ValueImport

  /// `for_terms(id, action)` calls action(other id, weight) for the row of an id.
  template <class ForTerms>
  Rows(const AssembledSpace& space, const AssembledSpace& other, const ForTerms& for_terms)
      : owned(entry_ids(other)) {
    std::fill(owned.begin(), owned.begin() + other.n_not_owned(), GlobalId{-1});
    std::unordered_map<GlobalId, LocalIndex> place;
    for (const GlobalId id : entry_ids(space)) {
      if (id >= 0)
        for_terms(id, [&](GlobalId other_id, double weight) {
          const auto [found, is_new] =
              place.try_emplace(other_id, static_cast<LocalIndex>(wanted.size()));
          if (is_new) wanted.push_back(other_id);
          rows.add(found->second, weight);
        });
      rows.end_row();
    }
  }
};

template <class T>
MeshTransfer<T>::MeshTransfer(const Communicator& comm, const Rows& restriction,
                              const Rows& prolongation)
    : m_fine_values(comm, restriction.owned, restriction.wanted),
      m_coarse_values(comm, prolongation.owned, prolongation.wanted),
      m_restriction(restriction.rows),
      m_prolongation(prolongation.rows) {}

template <class T>
MeshTransfer<T>::MeshTransfer(const Communicator& comm, const AssembledSpace& fine,
                              const AssembledSpace& coarse)
    : MeshTransfer([&] {
        const LatticeInterpolation p(coarse.mesh(), fine.mesh());
        return MeshTransfer(
            comm,
            Rows(coarse, fine, [&](GlobalId id, const auto& action) { p.for_fine(id, action); }),
            Rows(fine, coarse, [&](GlobalId id, const auto& action) { p.for_coarse(id, action); }));
      }()) {}

template <class T>
void MeshTransfer<T>::restrict_to(const DeviceVector<T>& fine, const DeviceVector<T>& coarse) {
  m_restriction.multiply("nekbone_k: restrict to mesh", m_fine_values(fine), coarse);
}

template <class T>
void MeshTransfer<T>::prolong_to(const DeviceVector<T>& coarse, const DeviceVector<T>& fine) {
  m_prolongation.multiply("nekbone_k: prolong to mesh", m_coarse_values(coarse), fine);
}

template class MeshTransfer<double>;
template class MeshTransfer<float>;

}  // namespace nekbone_k
