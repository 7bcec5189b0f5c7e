/// @file
/// Sums of a few doubles over the ranks, as conjugate gradients needs twice an iteration.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/communicator.hpp"
#include "core/waiting.hpp"
#include "gs/cost_model.hpp"

namespace nekbone_k {

/// Sums a few values of each rank that a kernel computes, again and again, for the host of every
/// rank. next(), start() and wait() in turn; all ranks alike. Destruction is collective.
class AllReduce {
 public:
  virtual ~AllReduce() = default;

  /// Where a kernel on the default instance is to write this rank's values, in memory that kernels
  /// reach.
  virtual double* next() = 0;
  /// To be called when that kernel is launched. Waits for nothing.
  virtual void start() {}
  /// The sums, with the same bits on every rank. Where kernels run beside the host it waits for the
  /// values alone, not for kernels launched after start(). Throws InternalError if another rank's
  /// values do not come.
  virtual void wait(std::span<double> sums) = 0;
};

/// What makes an AllReduce of `n_values`, whose waits end after `patience` seconds where they can:
/// in memory that ranks share. Collective; throws UnavailableError on every rank where this build
/// or this machine lacks what it needs.
using AllReduceFactory = std::unique_ptr<AllReduce> (*)(const Communicator&, int n_values,
                                                        double patience);

/// One way to sum.
struct AllReduceStrategy {
  std::string name;         ///< as in the input and the report
  std::string memory;       ///< the memory in which ranks meet
  std::string description;  ///< one line for --list-strategies
  AllReduceFactory make = nullptr;
  SumCostModel cost = {};           ///< what it should take
  std::string_view not_built = {};  ///< what this build lacks for it; empty if nothing
};

/// All ways, from the simplest to the least simple: among those that tie, the tuner takes the one
/// that comes first here.
std::span<const AllReduceStrategy> all_reduce_strategies();

/// The way of that name, or nullptr.
const AllReduceStrategy* find_all_reduce(const std::string& name);

/// What `strategy` lacks in this build or on this machine; empty if nothing. Collective, with the
/// same result on every rank.
std::string why_unavailable(const Communicator& comm, const AllReduceStrategy& strategy);

}  // namespace nekbone_k
