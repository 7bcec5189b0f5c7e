// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Sums that do not depend on the division of their terms among threads and ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/entry_reduction.hpp"
#include "core/host_inbox.hpp"
#include "reduce/rank_sum.hpp"

namespace nekbone_k {

/// The cuts that split terms into parts with exact sums (Demmel and Nguyen, Fast Reproducible
/// Floating-Point Summation, 2013, after Rump, Ogita and Oishi 2008). To add a cut to a term and
/// subtract it again leaves a part: a multiple of the last bit of the cut. Cuts are so high that a
/// sum of these parts has at most 53 bits, so no order of addition rounds it. A lower cut splits
/// the rest of the term.
struct Cuts {
  static constexpr int n_parts = 3;
  double at[n_parts] = {};

  /// The cuts for n_terms terms of absolute value at most `largest`; NaN if `largest` is not finite
  /// or too large for a cut.
  static Cuts of(double largest, double n_terms) {
    Cuts cuts;
    if (largest == 0) return cuts;
    int exponent = 0, bits = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    std::frexp(n_terms, &bits);      // n_terms < 2^bits
    ++bits;
    for (int part = 0; part < n_parts; ++part)
      cuts.at[part] = std::ldexp(1.0, exponent + bits + part * (bits - 53));
    if (!std::isfinite(largest) || !std::isfinite(cuts.at[0]))
      std::fill(cuts.at, cuts.at + n_parts, std::numeric_limits<double>::quiet_NaN());
    return cuts;
  }
};

/// The largest absolute values of products, for EntryReduction.
template <int n>
struct LargestProducts {
  static constexpr int n_values = n;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Value (&largest)[n], const Value (&x)[n],
                                       const Value (&y)[n]) const {
    for (int i = 0; i < n; ++i) largest[i] = larger(largest[i], Kokkos::abs(x[i] * y[i]));
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(double& largest, double other) {
    if (other > largest) largest = other;
  }
};

/// The sums of the parts of products, for EntryReduction. The parts of product i begin at values[i
/// * n_parts].
template <int n>
struct CutProducts {
  static constexpr int n_parts = Cuts::n_parts, n_values = n * n_parts;
  Cuts cuts[n];

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Value (&sums)[n_values], const Value (&x)[n],
                                       const Value (&y)[n]) const {
    for (int i = 0; i < n; ++i) {
      // The fused operation never rounds the product itself to a double.
      Value cut(cuts[i].at[0]);
      Value part = fused_multiply_add(x[i], y[i], cut) - cut;
      Value rest = fused_multiply_add(x[i], y[i], -part);
      sums[i * n_parts] += part;
      NEKBONE_K_UNROLL
      for (int p = 1; p < n_parts; ++p) {
        cut = Value(cuts[i].at[p]);
        part = (rest + cut) - cut;
        rest = rest - part;
        sums[i * n_parts + p] += part;
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(double& sum, double other) { sum += other; }
};

/// Maxima of values that are not negative; += keeps the larger value.
template <int n>
struct EntryMaxima {
  double values[n] = {};

  KOKKOS_FUNCTION EntryMaxima& operator+=(const EntryMaxima& other) {
    for (int i = 0; i < n; ++i) LargestProducts<n>::join(values[i], other.values[i]);
    return *this;
  }
};

/// The largest values of all teams.
template <int n>
struct LargestOfParts {
  DeviceVector<EntryValues<n>> parts;

  KOKKOS_FUNCTION void operator()(const LocalIndex part, EntryMaxima<n>& largest) const {
    EntryMaxima<n> here;
    for (int i = 0; i < n; ++i) here.values[i] = parts(part).values[i];
    largest += here;
  }
};

/// Sums of n products over the owned entries of all ranks, with the same bits for every division of
/// the entries. It omits the part of a term that is smaller than about n_terms³ / 2^156 of the
/// largest term. For a hundred million terms, this is less than rounding errors elsewhere.
///
/// A sum takes two passes over the entries and two all-reduces; the first finds the largest term.
/// Construction, sum() and destruction are collective.
template <int n>
class ReproducibleSums {
 public:
  /// `n_terms` is the maximum number of nonzero entries on all ranks together. The cuts depend on
  /// it, so it must not depend on the division of the entries. `comm` outlives the object.
  ReproducibleSums(const Communicator& comm, const VectorRange& range, double n_terms,
                   const AllReduceStrategy& all_reduce)
      : m_comm(comm), m_range(range), m_n_terms(n_terms), m_sum(comm, all_reduce) {}

  /// The sums of the products of `terms` (see EntryReduction). The first pass reads the same terms,
  /// once, from `first`, which may compute them.
  template <class First, class Terms>
  std::array<double, n> sum(const char* label, const First& first, const Terms& terms) const {
    const std::array<double, n> largest = largest_of(label, first);
    CutProducts<n> scheme;
    for (int i = 0; i < n; ++i) scheme.cuts[i] = Cuts::of(largest[i], m_n_terms);
    using Kernel = EntryReduction<Terms, CutProducts<n>>;
    make_room<Kernel>(m_parts);
    Kernel{m_range, terms, scheme, m_parts}.run(label);
    m_sum.start(m_parts);
    const auto sums = m_sum.wait();
    std::array<double, n> totals{};
    for (int i = 0; i < n; ++i)
      for (int part = Cuts::n_parts - 1; part >= 0; --part)
        totals[i] += sums.values[i * Cuts::n_parts + part];
    return totals;
  }
  template <class Terms>
  std::array<double, n> sum(const char* label, const Terms& terms) const {
    return sum(label, terms, terms);
  }

 private:
  template <class Kernel, class Parts>
  void make_room(Parts& parts) const {
    const LocalIndex n_teams = Kernel::n_teams(m_range);
    if (parts.extent(0) == std::size_t(n_teams)) return;
    parts = uninitialized<typename Parts::value_type>("nekbone_k: parts of sums", n_teams);
  }

  template <class First>
  std::array<double, n> largest_of(const char* label, const First& first) const {
    using Kernel = EntryReduction<First, LargestProducts<n>>;
    make_room<Kernel>(m_largest);
    Kernel{m_range, first, {}, m_largest}.run(label);
    // Written to the inbox, so that the host waits for nothing else on the device.
    const Kokkos::View<EntryMaxima<n>, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> into(
        reinterpret_cast<EntryMaxima<n>*>(m_inbox.open()));
    Kokkos::parallel_reduce("nekbone_k: largest of parts",
                            Kokkos::RangePolicy<ExecutionSpace>(0, m_largest.extent(0)),
                            LargestOfParts<n>{m_largest}, into);
    std::array<double, n> largest{};
    m_inbox.wait(largest);
    m_comm.max(largest);
    return largest;
  }

  const Communicator& m_comm;
  VectorRange m_range;
  double m_n_terms;
  mutable DeviceVector<EntryValues<n>> m_largest;
  mutable DeviceVector<EntryValues<n * Cuts::n_parts>> m_parts;
  RankSum<EntryValues<n * Cuts::n_parts>> m_sum;
  HostInbox m_inbox{n};
};

}  // namespace nekbone_k
