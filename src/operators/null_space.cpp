#include "operators/null_space.hpp"

namespace nekbone_k {

void remove_constants(const Communicator& comm, const AssembledSpace& space,
                      const DeviceVector<double>& vector) {
  using Range = Kokkos::RangePolicy<ExecutionSpace>;
  double sum = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: sum of owned", Range(space.n_not_owned(), space.size()),
      KOKKOS_LAMBDA(const LocalIndex a, double& s) { s += vector(a); }, sum);
  const double mean = comm.sum(sum) / static_cast<double>(space.mesh().total_dofs());

  Kokkos::parallel_for(
      "nekbone_k: subtract mean of rows", Range(0, space.n_rows()),
      KOKKOS_LAMBDA(const LocalIndex a) { vector(a) -= mean; });
  const LocalIndex begin = space.interior_begin(), n_elements = space.layout().n_elements;
  const LocalIndex block_length = space.layout().n_interior() * ElementLayout::lanes;
  Kokkos::parallel_for(
      "nekbone_k: subtract mean of interiors", Range(begin, space.size()),
      KOKKOS_LAMBDA(const LocalIndex a) {
        const LocalIndex position =
            (a - begin) / block_length * ElementLayout::lanes + (a - begin) % ElementLayout::lanes;
        if (position < n_elements) vector(a) -= mean;
      });
}

}  // namespace nekbone_k
