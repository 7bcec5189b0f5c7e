/// @file
/// What dividing the elements one way or another costs, by looking at boxes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/communicator.hpp"
#include "mesh/box_mesh.hpp"

namespace nekbone_k {

/// What a rank shares with others: as many messages as neighbours, and in them, all together, so
/// many DOFs (those that several neighbours have count for each).
struct HaloSize {
  int neighbours = 0;
  std::int64_t sent = 0;
};

/// The halo of `rank` of `ranks` at `order`, exactly as the halo plan will have it, in time for its
/// neighbours and not for all ranks. Not collective.
HaloSize halo_size(const MeshSpec& spec, int order, int ranks, int rank);

/// Every way to divide so many elements among so many ranks: bisection, then all grids that fit,
/// slabs among them, those that cut later directions first. Not collective.
std::vector<Partition> possible_partitions(const std::array<int, 3>& elements, int ranks);

/// A partition by the numbers of its busiest ranks, each of which may be another one.
struct PartitionModel {
  Partition partition;
  std::int64_t elements = 0;  ///< most elements of a rank
  int messages = 0;           ///< most neighbours of a rank
  double sent_bytes = 0;      ///< most bytes that a rank sends

  /// What an exchange costs, in bytes: those sent and, for each message, as many as travel in the
  /// time that an empty one takes (the half-performance length of Hockney, Parallel Computing 20
  /// (1994) 389), taken to be 16 KiB: between those of networks of today and of memory.
  double cost_bytes() const { return sent_bytes + 16384.0 * messages; }
};

/// All possible partitions of the mesh at `order`, the best first: by elements, as Ax costs most,
/// then by cost_bytes(), then as possible_partitions() has them. `dof_bytes` are sent for each DOF.
/// Bisection is left out where it comes to one of the grids. The mesh's own partition does not
/// matter. Collective, with the same result on every rank.
std::vector<PartitionModel> model_partitions(const Communicator& comm, const MeshSpec& spec,
                                             int order, double dof_bytes = sizeof(double));

/// The model of the mesh's own partition. Collective, with the same result on every rank.
PartitionModel model_partition(const Communicator& comm, const MeshSpec& spec, int order,
                               double dof_bytes = sizeof(double));

}  // namespace nekbone_k
