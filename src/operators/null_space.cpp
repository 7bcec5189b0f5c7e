// SPDX-License-Identifier: BSD-3-Clause
#include "operators/null_space.hpp"

#include "reduce/product_sums.hpp"

namespace nekbone_k {
namespace {

/// The sum of a vector as products with one, for EntryReduction.
struct SumTerms {
  static constexpr int n_products = 1;
  const double* vector;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[1], Value (&y)[1]) const {
    x[0] = load_entry<Value>(vector + a);
    y[0] = Value(1.0);
  }
};

double sum_of_owned(const Communicator& comm, const AssembledSpace& space,
                    const DeviceVector<double>& vector) {
  const ProductSums<1> sums(comm, space.range(), all_reduce_strategies().front(),
                            space.reproducible_terms());
  return sums.sum("nekbone_k: sum of owned", SumTerms{vector.data()})[0];
}

}  // namespace

void subtract_constant(const AssembledSpace& space, double value,
                       const DeviceVector<double>& vector) {
  using Range = Kokkos::RangePolicy<ExecutionSpace>;
  Kokkos::parallel_for(
      "nekbone_k: subtract from rows", Range(0, space.n_rows()),
      KOKKOS_LAMBDA(const LocalIndex a) { vector(a) -= value; });
  const LocalIndex begin = space.interior_begin(), n_elements = space.layout().n_elements;
  const LocalIndex block_length = space.layout().n_interior() * ElementLayout::lanes;
  Kokkos::parallel_for(
      "nekbone_k: subtract from interiors", Range(begin, space.size()),
      KOKKOS_LAMBDA(const LocalIndex a) {
        const LocalIndex position =
            (a - begin) / block_length * ElementLayout::lanes + (a - begin) % ElementLayout::lanes;
        if (position < n_elements) vector(a) -= value;
      });
}

void remove_constants(const Communicator& comm, const AssembledSpace& space,
                      const DeviceVector<double>& vector) {
  const double sum = sum_of_owned(comm, space, vector);
  subtract_constant(space, sum / static_cast<double>(space.mesh().total_dofs()), vector);
}

}  // namespace nekbone_k
