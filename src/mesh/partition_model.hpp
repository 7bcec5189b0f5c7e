// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The cost of a partition of the elements, computed from boxes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/communicator.hpp"
#include "mesh/box_mesh.hpp"

namespace nekbone_k {

/// The halo of a rank: one message per neighbour, and the DOFs in all messages together. A DOF that
/// several neighbours share counts once per neighbour.
struct HaloSize {
  int neighbours = 0;
  std::int64_t sent = 0;
};

/// The halo of `rank` of `ranks` at `order`, equal to that of the later halo plan. The time grows
/// with the number of neighbours, not of ranks. Not collective.
HaloSize halo_size(const MeshSpec& spec, int order, int ranks, int rank);

/// All partitions of a box of elements among `ranks` ranks: bisection, then all process grids that
/// fit, including slabs. Grids that cut later directions come first. Not collective.
std::vector<Partition> possible_partitions(const std::array<int, 3>& elements, int ranks);

/// The numbers of a partition's busiest ranks. Each number may come from a different rank.
struct PartitionModel {
  Partition partition;
  std::int64_t elements = 0;  ///< maximum per rank
  int messages = 0;           ///< maximum number of neighbours per rank
  double sent_bytes = 0;      ///< maximum per rank

  /// Cost of a halo exchange, in bytes: the bytes sent, plus 16 KiB per message. This is the number
  /// of bytes that travel in the time of an empty message: the half-performance length of Hockney,
  /// Parallel Computing 20 (1994) 389. 16 KiB lies between the lengths of current networks and of
  /// memory.
  double cost_bytes() const { return sent_bytes + 16384.0 * messages; }
};

/// All possible partitions of the mesh at `order`, the best first. They are sorted
/// 1. by elements, because Ax costs most,
/// 2. by cost_bytes(),
/// 3. in the order of possible_partitions().
///
/// `dof_bytes` is the number of bytes sent per DOF. Bisection is omitted if it equals one of the
/// process grids. The mesh's own partition has no influence. Collective, with the same result on
/// every rank.
std::vector<PartitionModel> model_partitions(const Communicator& comm, const MeshSpec& spec,
                                             int order, double dof_bytes = sizeof(double));

/// The model of the mesh's own partition. Collective, with the same result on every rank.
PartitionModel model_partition(const Communicator& comm, const MeshSpec& spec, int order,
                               double dof_bytes = sizeof(double));

}  // namespace nekbone_k
