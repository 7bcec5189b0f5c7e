// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Measures the paths of exchanges.
#pragma once

#include <span>
#include <vector>

#include "machine/machine_paths.hpp"
#include "tuning/path_meter.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// The partner of each rank in a measurement of a path, or -1. A group is the ranks of a node, or
/// the ranks with the same position on each node. Each rank of the first half of a group has a
/// partner in the second half. So every rank takes part, except one of an odd number, and pairs lie
/// far apart.
std::vector<int> path_partners(std::span<const int> nodes, ProbePlace place);

/// Measures the paths that the cost models of `strategies` need:
///
/// - always launches, waits, the packing kernel and copies;
/// - messages within a node, and between nodes if there are several, by the carriers that the
///   strategies use and that `guard` does not exclude.
///
/// All pairs of ranks (path_partners) exchange at once, one message each way, as in a halo
/// exchange. Sizes run in interleaved rounds; a sample is the maximum over the ranks.
///
/// Each carrier is measured between guard.enter() and leave(), because it may crash or hang like a
/// strategy. A carrier that is unavailable or throws on any rank has a failure instead of a cost.
/// Collective, with the same result on every rank.
MachinePaths measure_paths(const Communicator& comm, std::span<const Strategy> strategies,
                           TuningGuard& guard, const PathOptions& options = {});

}  // namespace nekbone_k
