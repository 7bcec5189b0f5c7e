/// @file
/// Exchange of contributions to shared DOFs that are not summed before they travel.
#pragma once

#include <span>
#include <vector>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// The local points that form the shared DOFs of a rank: of shared DOF s the points [offsets[s],
/// offsets[s + 1]), ascending in their keys. Keys say in which order contributions are added; of
/// one DOF no two on all ranks are equal.
struct SharedPoints {
  std::vector<LocalIndex> offsets{0};  ///< (n_shared + 1)
  std::vector<LocalIndex> points;      ///< local points
  std::vector<GlobalId> keys;          ///< of each of them, not negative
};

/// How the contributions of all ranks to a shared DOF are added in the order of their keys: the
/// sum then has the same bits whatever the division of the points among the ranks.
///
/// For each shared DOF every rank that has it keeps as many places as the rank with the most
/// points of it fills. The places of all shared DOFs, in the order of the HaloPlan, are the shared
/// "DOFs" of another plan, `messages`, so that every strategy can exchange them.
struct ContributionPlan {
  HaloPlan messages;
  std::vector<LocalIndex> place_points;  ///< (n_places) local point, or no_point
  /// Shared DOF s is the sum of sources [source_offsets[s], source_offsets[s + 1]) in this order: a
  /// receive slot of `messages`, or ~place for a contribution of this rank.
  std::vector<LocalIndex> source_offsets, sources;

  static constexpr LocalIndex no_point = -1;

  LocalIndex n_places() const { return static_cast<LocalIndex>(place_points.size()); }
};

/// Collective. `plan` is that of the DOFs.
ContributionPlan make_contribution_plan(const Communicator& comm, const HaloPlan& plan,
                                        const SharedPoints& shared);

}  // namespace nekbone_k
