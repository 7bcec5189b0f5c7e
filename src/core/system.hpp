// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Properties of the machine that the program runs on.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/communicator.hpp"

namespace nekbone_k {

/// Ranks of one node, and this rank's place among them.
struct NodeLayout {
  int node_rank = 0;          ///< place of this rank among them
  int nodes = 1;              ///< nodes of the whole run
  std::vector<int> ranks{0};  ///< ranks on this rank's node, ascending

  int node_ranks() const { return static_cast<int>(ranks.size()); }
};

/// The layout by real nodes, because memory and cores belong to them. Ignores
/// NEKBONE_K_RANKS_PER_NODE. Collective.
NodeLayout find_node_layout(const Communicator& comm);

/// The node of each rank, identified by the node's first rank. With NEKBONE_K_RANKS_PER_NODE=n in
/// the environment, every n ranks of a node count as a node of their own. One machine can then test
/// exchange between nodes. Collective.
std::vector<int> nodes_of_ranks(const Communicator& comm);
/// The n of NEKBONE_K_RANKS_PER_NODE; 0 if unset. Throws InputError unless n is a positive number.
int pretended_ranks_per_node();

std::string host_name();
/// The processor's name, or "unknown".
std::string processor_name();
/// Processor time of this process, in s, over all its threads.
double own_processor_seconds();
/// Time, in s, that `cores` of this node spent on processes or lost to other virtual machines since
/// boot; 0 if unknown. `stat` is the Linux file with these times.
double busy_seconds(const std::set<int>& cores, const std::filesystem::path& stat = "/proc/stat");
/// The MPI library's name and version.
std::string mpi_library();
/// The current time, in UTC by ISO 8601.
std::string utc_time();

/// Returns freed memory that the C library keeps to the system.
void release_freed_memory();
/// Largest resident set of this process, in bytes, since reset_peak_memory(). Where the system
/// cannot reset it (not Linux), since the process began.
double peak_memory();
void reset_peak_memory();

}  // namespace nekbone_k
