// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Estimates of the memory that a run needs, made before it allocates.
#pragma once

#include <span>
#include <string>

#include "core/system.hpp"
#include "input/case.hpp"
#include "machine/limits.hpp"

namespace nekbone_k {

/// Available and needed memory in bytes. Counts the memory of one node if kernels run on the host,
/// else of one GPU. On the host, includes the limits of each process. On GPUs, ignores host memory,
/// because a run needs much less of it.
struct MemoryBudget {
  std::string place = "node";  ///< or "GPU"
  int sharers = 1;             ///< ranks on this rank's node or GPU
  double available = 0;        ///< memory.limit_gib, or `machine` without that limit
  double machine = 0;          ///< memory of the machine
  double solve = 0;            ///< needed by the CG run
  double tuning = 0;           ///< needed by the largest order, without geometric factors
  int tuning_order = 0;        ///< the largest order
  ProcessMemory process;       ///< the smallest remaining limit of any rank
  double rank_solve = 0;       ///< maximum per rank that CG needs of `process`
  double rank_tuning = 0;      ///< maximum per rank that tuning needs of `process`

  double needed() const { return solve > tuning ? solve : tuning; }
  double rank_needed() const { return rank_solve > rank_tuning ? rank_solve : rank_tuning; }
  /// Whether the estimates fit into the node or GPU, and whether they fit into all limits.
  bool fits_machine() const { return needed() <= available; }
  bool fits() const { return fits_machine() && rank_needed() <= process.left; }
  /// Whether `bytes`, including the rank's overhead, fit on every rank. Collective.
  bool fits(const Communicator& comm, double bytes) const;
};

/// Bytes on this rank to tune the case's strategies at the order of `mesh`, without and with the
/// operator.
struct TuningMemory {
  double without_operator = 0, with_operator = 0;
};
TuningMemory tuning_memory(const BoxMesh& mesh, const Case& input);

/// Estimates the memory of the fullest node or GPU, the maximum over `partitions`. Collective.
MemoryBudget estimate_memory(const Communicator& comm, const Case& input, const NodeLayout& layout,
                             std::span<const Partition> partitions);

/// Throws MemoryError on every rank unless the case fits. The error states the estimate, the
/// available memory and a case that would fit.
void require_memory(const Case& input, const MemoryBudget& budget, int ranks);

}  // namespace nekbone_k
