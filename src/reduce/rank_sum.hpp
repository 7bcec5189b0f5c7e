// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The sum of vectors over all ranks.
#pragma once

#include <array>
#include <bit>
#include <memory>

#include "core/types.hpp"
#include "reduce/all_reduce.hpp"

namespace nekbone_k {

/// The kernel of RankSum. Not a lambda, because nvcc mixes up those of a header in several files.
template <class Value>
struct SumOfParts {
  DeviceVector<Value> parts;
  KOKKOS_FUNCTION void operator()(const LocalIndex p, Value& total) const { total += parts(p); }
};

/// Sums all entries of vectors in the device memory of all ranks, by one AllReduceStrategy. `Value`
/// is a double, or a struct of doubles with +=. Call start() and wait() in turn, on all ranks.
/// Construction and destruction are collective.
template <class Value>
class RankSum {
  static constexpr int n_values = sizeof(Value) / sizeof(double);
  using Values = std::array<double, n_values>;
  static_assert(sizeof(Values) == sizeof(Value));

 public:
  /// `comm` outlives the object. Throws UnavailableError if `strategy` does. For `patience` see
  /// AllReduceFactory.
  RankSum(const Communicator& comm, const AllReduceStrategy& strategy, double patience = for_ever)
      : m_all_reduce(strategy.make(comm, n_values, patience)) {}

  /// Launches the sum of `parts`, of any length, in the default stream.
  void start(const DeviceVector<Value>& parts) const {
    const Kokkos::View<Value, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> sum(
        reinterpret_cast<Value*>(m_all_reduce->next()));
    Kokkos::parallel_reduce("nekbone_k: sum of parts",
                            Kokkos::RangePolicy<ExecutionSpace>(0, parts.extent(0)),
                            SumOfParts<Value>{parts}, sum);
    m_all_reduce->start();
  }

  /// Returns the sum of the last start(); call it once per start(). On a GPU, kernels launched
  /// after start() may still run.
  Value wait() const {
    Values sums;
    m_all_reduce->wait(sums);
    return std::bit_cast<Value>(sums);
  }

 private:
  std::unique_ptr<AllReduce> m_all_reduce;
};

}  // namespace nekbone_k
