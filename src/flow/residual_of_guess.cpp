// SPDX-License-Identifier: BSD-3-Clause
#include "flow/residual_of_guess.hpp"

#include <type_traits>
#include <utility>

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

ResidualOfGuess::ResidualOfGuess(const Communicator& comm, VectorRange range,
                                 ConstDeviceVector<double> inverse_diagonal,
                                 const AllReduceStrategy& all_reduce,
                                 std::optional<double> reproducible_terms)
    : m_range(range), m_inverse_diagonal(std::move(inverse_diagonal)) {
  if (reproducible_terms) {
    m_reproducible.emplace(comm, range, *reproducible_terms, all_reduce);
  } else {
    using Kernel = EntryReduction<GuessTerms<Identity, true>, PlainSums<4>>;
    m_parts = decltype(m_parts)("nekbone_k: parts of products", Kernel::n_teams(range));
    m_sum.emplace(comm, all_reduce);
  }
}

ResidualOfGuess::Products ResidualOfGuess::operator()(const DeviceVector<double>& ax,
                                                      const DeviceVector<double>& b,
                                                      const DeviceVector<double>& r) const {
  const char* const label = "nekbone_k: residual of the guess";
  return with_preconditioner(m_inverse_diagonal, [&](const auto& z) -> Products {
    using M = std::decay_t<decltype(z)>;
    const GuessTerms<M, true> terms{z, ax.data(), b.data(), r.data()};
    if (m_reproducible) {
      // Only the second pass may change b.
      const GuessTerms<M, false> unchanged{z, ax.data(), b.data(), r.data()};
      const auto sums = m_reproducible->sum(label, unchanged, terms);
      return {sums[0], {sums[1], sums[2]}, sums[3]};
    }
    EntryReduction<GuessTerms<M, true>, PlainSums<4>>{m_range, terms, {}, m_parts}.run(label);
    m_sum->start(m_parts);
    const EntryValues<4> sums = m_sum->wait();
    return {sums.values[0], {sums.values[1], sums.values[2]}, sums.values[3]};
  });
}

}  // namespace nekbone_k
