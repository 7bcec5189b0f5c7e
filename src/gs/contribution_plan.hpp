// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Exchange of contributions to shared DOFs: ranks send the values of their points, not sums.
#pragma once

#include <span>
#include <vector>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// The local points that form the shared DOFs of a rank, in host memory. Shared DOF s has the
/// points [offsets[s], offsets[s + 1]), in ascending order of their keys. Keys define the order in
/// which contributions are added. The keys of one DOF are distinct over all ranks.
struct SharedPoints {
  std::vector<LocalIndex> offsets{0};  ///< (n_shared + 1)
  std::vector<LocalIndex> points;      ///< local points
  std::vector<GlobalId> keys;          ///< key of each point, not negative
};

/// The order in which the contributions of all ranks to a shared DOF are added: ascending keys. So
/// the sum has the same bits for every partition of the points among the ranks.
///
/// All ranks that share a DOF keep the same number of places for it: the largest number of points
/// that any of them has of it. The places of all shared DOFs, in the order of the HaloPlan, are the
/// shared "DOFs" of a second plan, `messages`. So every strategy can exchange them.
struct ContributionPlan {
  HaloPlan messages;
  std::vector<LocalIndex> place_points;  ///< (n_places) local point, or no_point
  /// Shared DOF s is the sum of sources [source_offsets[s], source_offsets[s + 1]) in this order. A
  /// source is a receive slot of `messages`, or ~place for a contribution of this rank.
  std::vector<LocalIndex> source_offsets, sources;

  static constexpr LocalIndex no_point = -1;

  LocalIndex n_places() const { return static_cast<LocalIndex>(place_points.size()); }
};

/// Makes the plan of contributions from `plan`, the plan of the DOFs. Collective.
ContributionPlan make_contribution_plan(const Communicator& comm, const HaloPlan& plan,
                                        const SharedPoints& shared);

}  // namespace nekbone_k
