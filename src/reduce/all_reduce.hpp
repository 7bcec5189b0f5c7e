// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-reduces of a few doubles. CG needs two per iteration.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/communicator.hpp"
#include "core/waiting.hpp"
#include "machine/exchange_cost.hpp"

namespace nekbone_k {

struct DeviceSum;  // device_sum.hpp

/// Sums a few values that a kernel computes on each rank, once per call; the host of every rank
/// gets the sums. Call next(), start() and wait() in this order, on all ranks. Destruction is
/// collective.
class AllReduce {
 public:
  virtual ~AllReduce() = default;

  /// The address to which a kernel in the default stream writes the values of this rank. Kernels
  /// can access it; valid until wait().
  virtual double* next() = 0;
  /// Call it after launching that kernel. Does not wait.
  virtual void start() {}
  /// Returns the sums, with the same bits on every rank. On a GPU it waits only for the values, not
  /// for kernels launched after start(). An all-reduce through shared memory throws InternalError
  /// if the values of another rank do not come.
  virtual void wait(std::span<double> sums) = 0;

  /// The all-reduce for a kernel that uses the sums itself; valid as long as the object. Null, on
  /// all ranks, if the strategy needs the host. A caller may alternate between both ways.
  virtual const DeviceSum* in_kernel() const { return nullptr; }
  /// Throws InternalError if a kernel did not get the values of another rank. Call it after the
  /// host has waited for the device.
  virtual void check() const {}
};

/// Makes an AllReduce of `n_values`. Its waits end after `patience` seconds if it can end them:
/// with host memory that ranks share. Collective; throws UnavailableError on every rank if this
/// build or this machine lacks what it needs.
using AllReduceFactory = std::unique_ptr<AllReduce> (*)(const Communicator&, int n_values,
                                                        double patience);

/// One all-reduce.
struct AllReduceStrategy {
  std::string name;         ///< as in the input and the report
  std::string memory;       ///< memory that the values are exchanged in
  std::string description;  ///< one line for --list-strategies
  AllReduceFactory make = nullptr;
  SumCostModel cost = {};           ///< how the cost model predicts its time
  std::string_view not_built = {};  ///< what this build lacks for it; empty if nothing
  bool in_kernel = false;           ///< whether kernels can call it; see AllReduce::in_kernel()
};

/// All all-reduces, from the simplest to the most complex. Among all-reduces that tie, the tuner
/// selects the first in this order.
std::span<const AllReduceStrategy> all_reduce_strategies();

/// The all-reduce of that name, or nullptr.
const AllReduceStrategy* find_all_reduce(const std::string& name);

/// The reason why `strategy` is unavailable in this build or on this machine; empty if it is
/// available. Collective, with the same result on every rank.
std::string why_unavailable(const Communicator& comm, const AllReduceStrategy& strategy);

}  // namespace nekbone_k
