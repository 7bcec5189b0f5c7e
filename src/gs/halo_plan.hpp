// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The ranks that share DOFs, and the order in which their shares are combined.
#pragma once

#include <span>
#include <vector>

#include "core/communicator.hpp"
#include "core/types.hpp"

namespace nekbone_k {

/// A rank that shares DOFs with this rank, and its slice of the message buffers. The messages to
/// and from a neighbour have the same length. Both are in the order of the shared DOFs, which is
/// the same at both ends.
struct Neighbour {
  int rank = 0;
  LocalIndex offset = 0, count = 0;  ///< message slots [offset, offset + count)
};

/// The schedule that every exchange strategy uses, in host memory.
///
/// Shared DOFs are numbered 0 … n_shared - 1 per rank: in lexicographic order of the ranks that
/// have them, then by global id. The owner of a DOF is the lowest rank that has it. So the DOFs
/// of lower ranks come before the DOFs of this rank.
struct HaloPlan {
  std::vector<Neighbour> neighbours;     ///< in ascending rank
  std::vector<LocalIndex> candidate;     ///< (n_shared) position among the candidates
  std::vector<GlobalId> ids;             ///< (n_shared) global id
  LocalIndex n_not_owned = 0;            ///< number of shared DOFs that a lower rank owns
  std::vector<LocalIndex> message_dofs;  ///< (n_slots) shared DOF of each message slot

  /// Shared DOF s has the shares [share_offsets[s], share_offsets[s + 1]) in ascending rank.
  std::vector<LocalIndex> share_offsets;  ///< (n_shared + 1)
  std::vector<LocalIndex> share_slots;    ///< receive slot of the share, or own_share
  std::vector<int> share_ranks;           ///< rank that the share comes from

  static constexpr LocalIndex own_share = -1;
  static constexpr LocalIndex several_shares = -1;

  /// (n_shared) The receive slot of each DOF that exactly one other rank has; several_shares for
  /// other DOFs.
  std::vector<LocalIndex> only_slots() const;

  LocalIndex n_shared() const { return static_cast<LocalIndex>(ids.size()); }
  LocalIndex n_slots() const { return static_cast<LocalIndex>(message_dofs.size()); }
};

/// Finds the `candidates` that other ranks have, too. Candidates are distinct, non-negative global
/// ids in any order. Each id goes to a directory rank chosen by its hash, which answers with the
/// ranks that have it. So no rank needs memory for all ids. Collective; a rank may have no
/// candidates.
HaloPlan make_halo_plan(const Communicator& comm, std::span<const GlobalId> candidates);

}  // namespace nekbone_k
