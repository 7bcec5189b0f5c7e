/// @file
/// Sums that do not depend on how their terms are divided among threads and ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/entry_reduction.hpp"
#include "core/host_inbox.hpp"
#include "gs/rank_sum.hpp"

namespace nekbone_k {

/// Where terms are cut into parts whose sums are exact (Demmel and Nguyen, Fast Reproducible
/// Floating-Point Summation, 2013, after Rump, Ogita and Oishi 2008). Adding a cut to a term and
/// taking it away again leaves the part of the term that is a whole multiple of the cut's last bit;
/// cuts are so high that a sum of these parts has no more than 53 bits, so that no order of
/// addition rounds it. What is left of the term is cut again, lower.
struct Cuts {
  static constexpr int n_parts = 3;
  double at[n_parts] = {};

  /// For n_terms terms of which none is larger than `largest` in size; NaN if that is not finite or
  /// so large that no cut is.
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

/// The largest products, for EntryReduction.
template <int n>
struct LargestProducts {
  static constexpr int n_values = n;
  using Reducer = Kokkos::Max<double>;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Value (&largest)[n], const Value (&x)[n],
                                       const Value (&y)[n]) const {
    for (int i = 0; i < n; ++i) largest[i] = larger(largest[i], Kokkos::abs(x[i] * y[i]));
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(double& largest, double other) {
    if (other > largest) largest = other;
  }
};

/// The sums of the parts of products, the parts of the i-th from values[i * n_parts], for
/// EntryReduction.
template <int n>
struct CutProducts {
  static constexpr int n_parts = Cuts::n_parts, n_values = n * n_parts;
  using Reducer = Kokkos::Sum<double>;
  Cuts cuts[n];

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Value (&sums)[n_values], const Value (&x)[n],
                                       const Value (&y)[n]) const {
    for (int i = 0; i < n; ++i) {
      // The product itself is never rounded to a double.
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

/// Values of which the larger ones are kept; none is negative.
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

/// Sums of n products over the owned entries of all ranks, the same to the last bit however the
/// entries are divided. Of a term what is smaller than about n_terms³ / 2^156 of the largest is
/// left out: for a hundred million terms, less than rounding leaves out elsewhere.
///
/// Twice over the entries, and two all-reduces: first for the largest term. Constructor, sum() and
/// end are collective.
template <int n>
class ReproducibleSums {
 public:
  /// `n_terms`: entries that are not zero, at most, on all ranks together. It decides where terms
  /// are cut, so it must not depend on the division. `comm` outlives the object.
  ReproducibleSums(const Communicator& comm, const VectorRange& range, double n_terms,
                   const AllReduceStrategy& all_reduce)
      : m_comm(comm), m_range(range), m_n_terms(n_terms), m_sum(comm, all_reduce) {}

  /// The sums of the products of `terms` (see EntryReduction). `first` is asked for the same terms
  /// before, once, and may compute them.
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
    // Into the host's inbox: it waits for nothing else that the device does.
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
