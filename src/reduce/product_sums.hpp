// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Sums of products, reproducible or not.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "reduce/rank_sum.hpp"
#include "reduce/reproducible_sum.hpp"

namespace nekbone_k {

/// Sums of n products over the owned entries of all ranks, by one AllReduceStrategy. With
/// `reproducible_terms`, the number of nonzero entries on all ranks together, they do not depend on
/// the division of the entries among ranks (ReproducibleSums). Otherwise they take one pass over
/// the entries and one all-reduce. All members are collective, and so is destruction.
template <int n>
class ProductSums {
 public:
  /// `comm` outlives the object.
  ProductSums(const Communicator& comm, VectorRange range, const AllReduceStrategy& all_reduce,
              std::optional<double> reproducible_terms)
      : m_range(range) {
    if (reproducible_terms) {
      m_reproducible.emplace(comm, range, *reproducible_terms, all_reduce);
    } else {
      m_parts = DeviceVector<EntryValues<n>>("nekbone_k: parts of products",
                                             EntryReduction<Size, PlainSums<n>>::n_teams(range));
      m_plain.emplace(comm, all_reduce);
    }
  }

  bool is_reproducible() const { return m_reproducible.has_value(); }

  /// The sums of the products of `first` (see EntryReduction). If they are reproducible, a second
  /// pass reads the same terms from `again`; so `first` may change vectors that `again` reads.
  template <class First, class Again>
  std::array<double, n> sum(const char* label, const First& first, const Again& again) const {
    start(label, first, again);
    return wait();
  }
  template <class Terms>
  std::array<double, n> sum(const char* label, const Terms& terms) const {
    return sum(label, terms, terms);
  }

  /// The parts of sum(): call them in turn. Several objects can start before the host waits for the
  /// first of them.
  template <class First, class Again>
  void start(const char* label, const First& first, const Again& again) const {
    if (m_reproducible) {
      m_found = m_reproducible->sum(label, first, again);
    } else {
      EntryReduction<First, PlainSums<n>>{m_range, first, {}, m_parts}.run(label);
      m_plain->start(m_parts);
    }
  }
  std::array<double, n> wait() const {
    if (m_plain) {
      const EntryValues<n> sums = m_plain->wait();
      std::copy(std::begin(sums.values), std::end(sums.values), m_found.begin());
    }
    return m_found;
  }

 private:
  struct Size {
    static constexpr int n_products = n;
  };

  VectorRange m_range;
  DeviceVector<EntryValues<n>> m_parts;  // (n_teams)
  std::optional<RankSum<EntryValues<n>>> m_plain;
  std::optional<ReproducibleSums<n>> m_reproducible;
  mutable std::array<double, n> m_found{};
};

}  // namespace nekbone_k
