// SPDX-License-Identifier: BSD-3-Clause
#include "core/large_vector.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace nekbone_k {
namespace {

/// Asks for large pages for host memory. A refusal is no error, because everything works without
/// them.
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page - 1) / page * page,
                       end = (begin + bytes) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace

template <class T>
DeviceVector<T> large_vector(const std::string& label, std::size_t n) {
  const auto vector = uninitialized<T>(label, n);
  constexpr std::size_t worth_asking = std::size_t{4} << 20;  // bytes: two large pages
  if (is_host_device && n * sizeof(T) >= worth_asking)
    ask_for_large_pages(vector.data(), n * sizeof(T));
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>;
  Kokkos::parallel_for(
      "nekbone_k: zeros", Policy(0, n), KOKKOS_LAMBDA(const std::size_t i) { vector(i) = 0; });
  Kokkos::fence("nekbone_k: zeros written");
  return vector;
}

template DeviceVector<double> large_vector(const std::string& label, std::size_t n);
template DeviceVector<float> large_vector(const std::string& label, std::size_t n);

}  // namespace nekbone_k
