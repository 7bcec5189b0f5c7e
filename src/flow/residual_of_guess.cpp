// SPDX-License-Identifier: BSD-3-Clause
#include "flow/residual_of_guess.hpp"

#include <type_traits>

#include "solver/point_preconditioner.hpp"

namespace nekbone_k {
namespace {

/// The products of the residual b - ax, which it may also store.
template <class Preconditioner, bool stores>
struct GuessTerms {
  static constexpr int n_products = 4;
  Preconditioner z;
  const double* ax;
  double *b, *r;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[4], Value (&y)[4]) const {
    const Value given = load_entry<Value>(static_cast<const double*>(b + a));
    const Value residual = given - load_entry<Value>(ax + a);
    if constexpr (stores) {
      store_entry(b + a, residual);
      store_entry(r + a, residual);
    }
    x[0] = y[0] = given;
    x[1] = y[1] = x[2] = x[3] = residual;
    y[2] = z(a, residual);
    y[3] = Value(1.0);
  }
};

}  // namespace

ResidualOfGuess::Products ResidualOfGuess::operator()(const DeviceVector<double>& ax,
                                                      const DeviceVector<double>& b,
                                                      const DeviceVector<double>& r) const {
  return with_preconditioner(m_inverse_diagonal, [&](const auto& z) -> Products {
    using M = std::decay_t<decltype(z)>;
    // Of two passes, only the second may change b.
    const GuessTerms<M, true> stores{z, ax.data(), b.data(), r.data()};
    const GuessTerms<M, false> reads{z, ax.data(), b.data(), r.data()};
    const char* const label = "nekbone_k: residual of the guess";
    const auto sums = m_sums.is_reproducible() ? m_sums.sum(label, reads, stores)
                                               : m_sums.sum(label, stores, reads);
    return {sums[0], {sums[1], sums[2]}, sums[3]};
  });
}

}  // namespace nekbone_k
