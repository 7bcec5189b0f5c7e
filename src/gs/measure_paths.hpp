/// @file
/// Measures what the paths of exchanges cost.
#pragma once

#include <span>
#include <vector>

#include "gs/machine_paths.hpp"
#include "gs/path_meter.hpp"
#include "gs/tuner.hpp"

namespace nekbone_k {

/// For each rank the one that it exchanges messages with to measure a path, or -1: the ranks of a
/// node, or those in the same place on each node, are halved, and each of the first half is paired
/// with one of the second. So each rank takes part but one of an odd number, and pairs lie as far
/// apart as ranks do.
std::vector<int> path_partners(std::span<const int> nodes, ProbePlace place);

/// Measures the paths that the models of `strategies` are made of: launches, waits, the kernel that
/// packs and copies always; messages within a node, and between nodes where there are several, by
/// those carriers alone that the strategies use and that `guard` has not excluded. All pairs of
/// ranks (path_partners) exchange at once, a message each way, as in a halo; sizes in interleaved
/// rounds, each sample the maximum over the ranks.
///
/// A carrier is measured between guard.enter() and leave(), as it may crash or hang like a
/// strategy. One that is not available or throws on any rank has a failure instead of a cost.
/// Collective, with the same result on every rank.
MachinePaths measure_paths(const Communicator& comm, std::span<const Strategy> strategies,
                           const TuningGuard& guard, const PathOptions& options = {});

}  // namespace nekbone_k
