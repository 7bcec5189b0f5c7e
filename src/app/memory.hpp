/// @file
/// How much memory a run will take, known before anything is allocated.
#pragma once

#include <span>
#include <string>

#include "app/case.hpp"
#include "core/machine.hpp"

namespace nekbone_k {

/// Memory of one node or, where kernels run on GPUs, of one GPU, in bytes. What a run puts into
/// host memory beside GPUs is a small part of that.
struct MemoryBudget {
  std::string place = "node";  ///< or "GPU"
  int sharers = 1;             ///< ranks that take theirs from the place that this rank does
  double available = 0;        ///< what the run may take: what the machine has, or memory.limit_gib
  double machine = 0;          ///< what the machine has
  double solve = 0;            ///< what the CG run needs
  double tuning = 0;           ///< what the largest order needs without geometric factors
  int tuning_order = 0;        ///< that order

  double needed() const { return solve > tuning ? solve : tuning; }
};

/// Bytes on this rank: for tuning the case's strategies at the order of `mesh`, and with what the
/// real operator adds to that.
struct TuningMemory {
  double without_operator = 0, with_operator = 0;
};
TuningMemory tuning_memory(const BoxMesh& mesh, const Case& input);

/// Estimates what the fullest node or GPU needs, whichever of `partitions` is chosen. Collective.
MemoryBudget estimate_memory(const Communicator& comm, const Case& input, const NodeLayout& layout,
                             std::span<const Partition> partitions);

/// Throws MemoryError, alike on every rank, unless the case fits: with the estimate, what is
/// available and what would fit.
void require_memory(const Case& input, const MemoryBudget& budget, int ranks);

}  // namespace nekbone_k
