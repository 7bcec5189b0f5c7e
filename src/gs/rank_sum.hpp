/// @file
/// A sum over the parts that a kernel leaves on each rank, and over the ranks.
#pragma once

#include <array>
#include <bit>
#include <memory>

#include "core/types.hpp"
#include "gs/all_reduce.hpp"

namespace nekbone_k {

/// Sums vectors in the device memory of all ranks, by one AllReduceStrategy. `Value` is a double,
/// or a struct of doubles with +=. start() and wait() in turn, all ranks alike; constructor and end
/// are collective.
template <class Value>
class RankSum {
  static constexpr int n_values = sizeof(Value) / sizeof(double);
  using Values = std::array<double, n_values>;
  static_assert(sizeof(Values) == sizeof(Value));

 public:
  /// `comm` outlives the object. Throws as the strategy does; for `patience` see AllReduceFactory.
  RankSum(const Communicator& comm, const AllReduceStrategy& strategy, double patience = for_ever)
      : m_all_reduce(strategy.make(comm, n_values, patience)) {}

  /// Launches the sum of `parts`, any number of them, in the order of the default instance's
  /// kernels.
  void start(const DeviceVector<Value>& parts) const {
    const Kokkos::View<Value, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> sum(
        reinterpret_cast<Value*>(m_all_reduce->next()));
    Kokkos::parallel_reduce(
        "nekbone_k: sum of parts", Kokkos::RangePolicy<ExecutionSpace>(0, parts.extent(0)),
        KOKKOS_LAMBDA(const LocalIndex p, Value& total) { total += parts(p); }, sum);
    m_all_reduce->start();
  }

  /// The sum of the last start(), to be called once for each. Where kernels run beside the host,
  /// those launched since may still run.
  Value wait() const {
    Values sums;
    m_all_reduce->wait(sums);
    return std::bit_cast<Value>(sums);
  }

 private:
  std::unique_ptr<AllReduce> m_all_reduce;
};

}  // namespace nekbone_k
