/// @file
/// What the program can learn about the machine that it runs on.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/communicator.hpp"

namespace nekbone_k {

/// Ranks of one node, and this rank's place among them.
struct NodeLayout {
  int node_rank = 0;          ///< place among them
  int nodes = 1;              ///< nodes of the whole run
  std::vector<int> ranks{0};  ///< ranks on this rank's node, ascending

  int node_ranks() const { return static_cast<int>(ranks.size()); }
};

/// By the nodes that there are, whatever NEKBONE_K_RANKS_PER_NODE pretends, as memory and cores are
/// theirs. Collective.
NodeLayout find_node_layout(const Communicator& comm);

/// The node of each rank, named by its first rank. With NEKBONE_K_RANKS_PER_NODE=n in the
/// environment each n ranks of a node count as a node of their own: what is done between nodes can
/// then be tried on one machine. Collective.
std::vector<int> nodes_of_ranks(const Communicator& comm);
/// The n of NEKBONE_K_RANKS_PER_NODE, or 0. Throws InputError if it is no positive number.
int pretended_ranks_per_node();

/// How many processes the launcher says that it started, by the environment variables of Open MPI,
/// MPICH, MVAPICH and Slurm; 0 if none says.
int launched_processes();

std::string host_name();
/// The processor's name, or "unknown".
std::string processor_name();
/// The cores that this process's threads, each for itself or all of them, may run on by now, e.g.
/// "0-1,4", and how many they are.
std::string allowed_cores();
int allowed_core_count();
/// Processor time, s, that this process has had, on all its threads.
double own_processor_seconds();
/// Time, s, that `cores` of this node have spent on processes, or on another virtual machine, since
/// they were switched on; 0 where the system does not say. `stat` is Linux' file of that.
double busy_seconds(const std::set<int>& cores, const std::filesystem::path& stat = "/proc/stat");
/// First line of the MPI library's own description.
std::string mpi_library();
/// Now, in UTC by ISO 8601.
std::string utc_time();

/// Bytes of memory on this node that new allocations can have: what the system calls available, or
/// less where a control group grants less.
double available_memory();
/// Hands memory that was freed, and that the C library keeps for later, back to the system.
void release_freed_memory();
/// Largest resident set of this process, in bytes, since reset_peak_memory() where the system can
/// forget (Linux), else since it began.
double peak_memory();
void reset_peak_memory();

}  // namespace nekbone_k
