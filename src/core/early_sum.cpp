#include "core/early_sum.hpp"

#include <bit>
#include <cstdint>

#include "core/communicator.hpp"

namespace nekbone_k {
namespace {

// A NaN that no arithmetic yields: processors make quiet ones without a payload of this kind.
constexpr std::uint64_t pending = 0x7ff8'dead'beef'dead;

bool is_pending(double value) { return std::bit_cast<std::uint64_t>(value) == pending; }

}  // namespace

EarlySum::EarlySum() : m_sum("nekbone_k: early sum") {}

void EarlySum::start(const ConstDeviceVector<double>& values) {
  m_sum() = std::bit_cast<double>(pending);
  Kokkos::parallel_reduce(
      "nekbone_k: early sum", Kokkos::RangePolicy<ExecutionSpace>(0, values.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex v, double& sum) { sum += values(v); }, m_sum);
}

double EarlySum::wait() {
  const volatile double* const sum = m_sum.data();
  // A device that has failed never writes: the fence then says so.
  constexpr double patience = 1;  // seconds
  const double begin = wall_seconds();
  while (is_pending(*sum))
    if (wall_seconds() - begin > patience) {
      Kokkos::fence("nekbone_k: early sum is late");
      break;
    }
  return *sum;
}

}  // namespace nekbone_k
