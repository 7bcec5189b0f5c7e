// SPDX-License-Identifier: BSD-3-Clause
#include "operators/checksum.hpp"

#include "operators/node_ids.hpp"

namespace nekbone_k {
namespace {

/// The finalizer of SplitMix64 (Steele et al. 2014).
KOKKOS_FUNCTION std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebULL;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t checksum(const Communicator& comm, const AssembledSpace& space,
                       const DeviceVector<double>& vector) {
  const NodeIds ids(space);
  const NodeReader nodes(space);
  const int nq = space.layout().nq, points = space.layout().points();
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: checksum",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          0, std::int64_t{space.layout().n_elements} * points),
      KOKKOS_LAMBDA(const std::int64_t at, std::uint64_t& total) {
        const auto e = static_cast<LocalIndex>(at / points);
        const int q = static_cast<int>(at % points), i = q % nq, j = q / nq % nq, k = q / (nq * nq);
        const double value =
            vector(nodes.entry(e / ElementLayout::lanes, e % ElementLayout::lanes, i, j, k));
        const auto id = static_cast<std::uint64_t>(ids(e, i, j, k));
        total +=
            mixed(mixed(id + 0x9e37'79b9'7f4a'7c15ULL) ^ Kokkos::bit_cast<std::uint64_t>(value));
      },
      sum);
  // The sum of signed integers wraps around like that of unsigned ones.
  return static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(sum)));
}

}  // namespace nekbone_k
