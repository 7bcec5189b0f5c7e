// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Sums of products over the ranks that go into scalars in device memory.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "core/entry_reduction.hpp"
#include "core/launch_shape.hpp"
#include "reduce/all_reduce.hpp"
#include "reduce/device_sum.hpp"

namespace nekbone_k {

/// Largest number of sums of a rule.
inline constexpr int most_scalar_sums = 3;

/// Parts of n products in device memory, shape (parts, n), that are to be added.
template <int n>
struct ProductParts {
  const double* values;
  LocalIndex n_parts;

  ProductParts(const DeviceVector<EntryValues<n>>& parts)
      : values(reinterpret_cast<const double*>(parts.data())),
        n_parts(static_cast<LocalIndex>(parts.extent(0))) {}
  ProductParts(const DeviceVector<double>& parts) requires(n == 1)
      : values(parts.data()), n_parts(static_cast<LocalIndex>(parts.extent(0))) {}
};
/// No product.
template <>
struct ProductParts<0> {};

/// A kernel of one team. It adds the parts of some products, sums them over all ranks, and applies
/// a rule to the sums and to a state in device memory.
///
/// The sums of `Rule` are the products of `first`, then those of `then`. A rule has n_sums, the
/// view scalars.state, and operator()(sums, state) for one thread.
template <class Rule, int n_first, int n_then>
struct ScalarKernel {
  static constexpr int n_sums = Rule::n_sums,
                       most_threads = LaunchShape<ExecutionSpace>::scalar_team;
  static_assert(n_first + n_then == n_sums && n_sums <= most_scalar_sums);
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<most_threads, 0>>;
  using Team = typename Policy::member_type;

  ProductParts<n_first> first;
  ProductParts<n_then> then;
  DeviceSum all;
  Rule rule;
  /// (most_scalar_sums) If not null, gets this rank's sums, and zeros; the rule is not applied, and
  /// `all` not used.
  double* own_sums;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    // Early, so that the read is in flight with those of the parts.
    auto state = rule.scalars.state();
    double own[n_sums] = {};
    add<n_first>(team, first, own);
    if constexpr (n_then > 0) add<n_then>(team, then, own + n_first);
    reduce_over_team<PlainSums<n_sums>>(team, own);
    if (own_sums != nullptr) {
      if (team.team_rank() == 0)
        for (int v = 0; v < most_scalar_sums; ++v) own_sums[v] = v < n_sums ? own[v] : 0;
      return;
    }
    const auto value = [&](int v) { return own[v]; };
    const std::uint64_t call = all.exchange(team, n_sums, value);
    if (team.team_rank() != 0) return;
    double sums[n_sums];
    for (int v = 0; v < n_sums; ++v) sums[v] = all.sum(v, call, value);
    rule(sums, state);
    rule.scalars.state() = state;
  }

 private:
  template <int n>
  KOKKOS_FORCEINLINE_FUNCTION static void add(const Team& team, const ProductParts<n>& parts,
                                              double* sums) {
    for (LocalIndex p = team.team_rank(); p < parts.n_parts; p += team.team_size())
      for (int v = 0; v < n; ++v) sums[v] += parts.values[p * n + v];
  }
};

/// A kernel of one thread that applies a rule to sums that the host has.
template <class Rule>
struct ApplyRule {
  Rule rule;
  double values[Rule::n_sums];
  KOKKOS_FUNCTION void operator()(int) const {
    auto state = rule.scalars.state();
    rule(values, state);
    rule.scalars.state() = state;
  }
};

/// Runs ScalarKernels with one all-reduce strategy. If the strategy needs the host, the host waits
/// for the sums and hands them to a second kernel. Construction and destruction are collective.
class ScalarStep {
 public:
  /// Throws UnavailableError on every rank if `strategy` does. `comm` outlives the object.
  ScalarStep(const Communicator& comm, const AllReduceStrategy& strategy) {
    if (comm.size() == 1) return;
    m_all_reduce = strategy.make(comm, most_scalar_sums, for_ever);
    if (m_all_reduce->in_kernel() != nullptr) m_all = *m_all_reduce->in_kernel();
  }

  /// Whether run() launches a kernel alone, and the host waits for nothing.
  bool is_queued() const { return !m_all_reduce || m_all_reduce->in_kernel() != nullptr; }

  /// Applies `rule` to the sums of `first`, then of `then`, over all ranks. Collective.
  template <class Rule, int n_first, int n_then = 0>
  void run(const char* label, const ProductParts<n_first>& first, const Rule& rule,
           const ProductParts<n_then>& then = {}) const {
    start(label, first, rule, ExecutionSpace(), then);
    finish(label, rule);
  }

  /// run() in two steps; other kernels may be launched between them. If is_queued(), start() does
  /// everything, in the kernel order of `stream`. Otherwise the sums begin in the default stream,
  /// and finish() waits for them. Collective.
  template <class Rule, int n_first, int n_then = 0>
  void start(const char* label, const ProductParts<n_first>& first, const Rule& rule,
             const ExecutionSpace& stream, const ProductParts<n_then>& then = {}) const {
    using Kernel = ScalarKernel<Rule, n_first, n_then>;
    // A smaller team synchronizes faster.
    LocalIndex n_parts = first.n_parts;
    if constexpr (n_then > 0) n_parts = std::max(n_parts, then.n_parts);
    int threads = Kernel::most_threads;
    while (threads >= 64 && n_parts <= threads) threads /= 2;
    const typename Kernel::Policy policy(is_queued() ? stream : ExecutionSpace(), 1, threads);
    Kokkos::parallel_for(
        label, light(policy),
        Kernel{first, then, m_all, rule, is_queued() ? nullptr : m_all_reduce->next()});
    if (!is_queued()) m_all_reduce->start();
  }
  template <class Rule>
  void finish(const char* label, const Rule& rule) const {
    if (is_queued()) return;
    std::array<double, most_scalar_sums> all{};
    m_all_reduce->wait(all);
    ApplyRule<Rule> sums{rule, {}};
    for (int v = 0; v < Rule::n_sums; ++v) sums.values[v] = all[v];
    if constexpr (is_host_device)
      sums(0);
    else
      Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace>(0, 1), sums);
  }

  /// See AllReduce::check().
  void check() const {
    if (m_all_reduce) m_all_reduce->check();
  }

 private:
  std::unique_ptr<AllReduce> m_all_reduce;  // null on one rank
  DeviceSum m_all;
};

}  // namespace nekbone_k
