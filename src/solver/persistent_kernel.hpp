// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The kernel of PersistentCg. Only for sources that a GPU compiler compiles.
#pragma once

#include <algorithm>

#include "core/cooperative_kernel.hpp"
#include "operators/axhelm/axhelm_gpu.hpp"
#include "solver/cg_terms.hpp"
#include "solver/persistent_cg.hpp"

#if defined(NEKBONE_K_GPU)
namespace nekbone_k {

/// Launch parameters of the element kernel inside PersistentKernel: one team of 256 threads per
/// multiprocessor, which works on several elements at once. More threads would have too few
/// registers each.
template <int nq>
struct PersistentShape : AxhelmShape<ExecutionSpace, nq> {
  using Usual = AxhelmShape<ExecutionSpace, nq>;
  static constexpr int team_size = 256;
  static constexpr int blocks_per_team = team_size / Usual::threads_per_element_block;
  static constexpr int factors_ahead = Usual::factors_ahead < 2 ? Usual::factors_ahead : 2;
};

/// The preconditioner, identity or diagonal, so that one kernel serves for both.
struct IdentityOrDiagonal {
  const double* entries;  ///< null: M = I
  KOKKOS_FORCEINLINE_FUNCTION double operator()(LocalIndex a, double r) const {
    return entries != nullptr ? entries[a] * r : r;
  }
};

/// Iterations of pipelined CG (Ghysels and Vanroose 2014; see PipelinedTerms). Each thread owns
/// some entries of the vectors in all iterations. No other thread needs x, r, p, s and t of these
/// entries, so they stay in scratch. There are two barriers of all teams per iteration:
/// 1. after the update of the entries, because the operator reads w (or m) of other threads, and
///    the sums read the parts of all teams;
/// 2. after the operator, because the update reads n. While a team waits, it sums the parts in the
///    order that all teams use, and sets alpha and beta of the next iteration.
template <int order, Geometry geometry>
class PersistentKernel
    : AxhelmGpu<order, geometry, SurfaceResults::added, PersistentShape<order + 1>> {
  using Shape = PersistentShape<order + 1>;
  using Elements = AxhelmGpu<order, geometry, SurfaceResults::added, Shape>;
  using Elements::m_elements;
  static constexpr int threads = Shape::threads_per_element_block;
  using Part = PartOfTeam<threads>;
  using Terms = PipelinedTerms<IdentityOrDiagonal>;
  using Values = typename Terms::template Loaded<double>;
  static constexpr int n_products = Terms::n_products;
  static constexpr int n_kept = PersistentCg::n_kept;
  static_assert(!Part::has_barrier || Shape::blocks_per_team < 16);

 public:
  static constexpr int team_size = Shape::team_size;

  /// A function that launches some iterations. Throws UnavailableError if the vectors do not fit in
  /// shared memory, or if the device has no cooperative launch.
  static std::function<void(int)> launcher(const AxhelmArguments& elements,
                                           const PersistentCgData& data) {
    PersistentKernel kernel(elements, data);
    const CooperativeLimits limits = CooperativeLimits::get();
    const LocalIndex teams = limits.multiprocessors, n_blocks = elements.last_block;
    kernel.m_blocks_at_once = static_cast<int>(
        std::clamp<LocalIndex>((n_blocks + teams - 1) / teams, 1, Shape::blocks_per_team));
    constexpr int n_tiles = (team_size + threads - 1) / threads;  // idle threads have one, too
    const std::int64_t n_threads = std::int64_t{teams} * team_size;
    const std::int64_t entries = (data.range.size + n_threads - 1) / n_threads;
    const std::int64_t slots = entries * team_size;
    const std::int64_t doubles =
        n_kept * slots + std::int64_t{n_tiles} * Elements::scratch_of_block;
    const CooperativeKernel<PersistentKernel> cooperative(limits, sizeof(double) * doubles);
    kernel.m_entries = static_cast<LocalIndex>(entries);
    kernel.m_slots = static_cast<int>(slots);
    kernel.m_parts =
        DeviceVector<EntryValues<n_products>>("nekbone_k: parts of products", 2 * teams);
    return [kernel, cooperative](int iterations) mutable {
      kernel.m_iterations = iterations;
      cooperative.launch(kernel, ExecutionSpace());
    };
  }

  __device__ void operator()(CooperativeTeam team, double* scratch) const {
    __shared__ double sums[n_products * (team_size / 32)];  // for warps of 32 or more threads
    // Doubles, because CUDA allows no shared variable that has a constructor.
    static_assert(alignof(CgState) <= alignof(double));
    __shared__ double shared_state[(sizeof(CgState) + sizeof(double) - 1) / sizeof(double)];
    CgState& state = *reinterpret_cast<CgState*>(shared_state);
    const bool is_first = team.team_rank() == 0;
    // All teams advance the same state; the first one also keeps its history.
    CgScalars scalars = m_scalars;
    if (team.league_rank() > 0) scalars.history = {};
    const SetAlphaAndBeta set_scalars{scalars, SetAlphaAndBeta::Of::iterate};
    if (is_first) state = m_scalars.state();
    copy_kept(team, scratch, [](double& kept, double& entry) { kept = entry; });
    team.team_barrier();
    for (int i = 0; i < m_iterations && state.status == CgStatus::running; ++i) {
      // A team may write its part of the next iteration while others read those of this one.
      EntryValues<n_products>* const parts = m_parts.data() + i % 2 * team.league_size();
      double products[n_products] = {};
      update_entries(team, scratch, state.alpha, state.beta, products);
      sum_over_warps(products, sums);
      team.arrive([&] { sum_of_warps(sums, parts[team.league_rank()].values); });
      team.wait();
      apply_elements(team, scratch + n_kept * m_slots);
      team.arrive([] {});
      for (double& product : products) product = 0;
      for (int t = team.team_rank(); t < team.league_size(); t += team_size)
        for (int v = 0; v < n_products; ++v) products[v] += parts[t].values[v];
      sum_over_warps(products, sums);
      team.team_barrier();
      if (is_first) {
        sum_of_warps(sums, products);
        set_scalars(products, state);
      }
      team.wait();
    }
    copy_kept(team, scratch, [](const double& kept, double& entry) { entry = kept; });
    if (is_first && team.league_rank() == 0) m_scalars.state() = state;
  }

 private:
  PersistentKernel(const AxhelmArguments& elements, const PersistentCgData& data)
      : Elements(elements),
        m_range(data.range),
        m_scalars(data.scalars),
        m_inverse_diagonal{data.inverse_diagonal.extent(0) > 0 ? data.inverse_diagonal.data()
                                                               : nullptr},
        m_vectors{data.vectors.x.data(), data.vectors.r.data(), data.vectors.p.data(),
                  data.extra.s.data(), data.extra.t.data()},
        m_w(data.vectors.ap.data()),
        m_m(data.extra.z.data()),
        m_n{data.extra.n.data(), elements.n_rows} {}

  /// Calls action(entry a, its number among the entries of the team) for the n entries of a thread
  /// from the first-th on.
  template <int n, class Action>
  __device__ void for_entries(const CooperativeTeam& team, int first, const Action& action) const {
    const LocalIndex stride = team.league_size() * team_size;
    const LocalIndex mine = team.league_rank() * team_size + team.team_rank();
    NEKBONE_K_UNROLL
    for (int q = 0; q < n; ++q)
      if (mine < m_range.size - (first + q) * stride)
        action(q, mine + (first + q) * stride, (first + q) * team_size + team.team_rank());
  }

  /// Copies x, r, p, s and t to or from scratch: copy(value in scratch, entry of the vector).
  template <class Copy>
  __device__ void copy_kept(const CooperativeTeam& team, double* scratch, const Copy& copy) const {
    for (int e = 0; e < m_entries; ++e)
      for_entries<1>(team, e, [&](int, LocalIndex a, int slot) {
        for (int v = 0; v < n_kept; ++v) copy(scratch[v * m_slots + slot], m_vectors[v][a]);
      });
  }

  /// Updates a thread's entries of all vectors, and adds their products.
  __device__ void update_entries(const CooperativeTeam& team, double* x, double alpha, double beta,
                                 double (&products)[n_products]) const {
    constexpr int at_once = 6;  // entries whose loads are issued together
    double *const r = x + m_slots, *const p = r + m_slots, *const s = p + m_slots;
    double* const t = s + m_slots;
    for (int first = 0; first < m_entries; first += at_once) {
      double w[at_once], n[at_once];
      for_entries<at_once>(team, first, [&](int q, LocalIndex a, int) {
        w[q] = m_w[a];
        n[q] = m_n.vector[a];
      });
      for_entries<at_once>(team, first, [&](int q, LocalIndex a, int slot) {
        const Values old{x[slot], r[slot], p[slot], s[slot], t[slot], w[q], n[q]};
        const Values now = Terms::next(old, m_inverse_diagonal(a, old.r), alpha, beta);
        if (alpha != 0) {
          x[slot] = now.x;
          r[slot] = now.r;
        }
        p[slot] = now.p;
        s[slot] = now.s;
        t[slot] = now.t;
        m_w[a] = now.w;
        if (m_m != nullptr) m_m[a] = m_inverse_diagonal(a, now.w);
        m_n.template operator()<double>(a);
        if (m_range.in_component(a) < m_range.first_owned) return;
        const double z = m_inverse_diagonal(a, now.r);
        products[0] += now.r * now.r;
        products[1] += now.r * z;
        products[2] += now.w * z;
      });
    }
  }

  /// Applies the operator to the team's share of the elements.
  __device__ void apply_elements(const CooperativeTeam& team, double* tiles) const {
    const int part = team.team_rank() / threads, thread = team.team_rank() % threads;
    const LocalIndex end = m_elements.args.last_block;
    const LocalIndex stride = team.league_size() * m_blocks_at_once;
    for (LocalIndex first = team.league_rank() * m_blocks_at_once; first < end; first += stride) {
      const LocalIndex block = first + part;
      const bool works = part < m_blocks_at_once && block < end;
      if (Part::has_barrier && !works) return;
      Elements::apply(Part(part), {works ? block : end - 1, part, thread, works},
                      reinterpret_cast<Lanes*>(tiles), NoTeamSum());
    }
  }

  VectorRange m_range;
  CgScalars m_scalars;
  IdentityOrDiagonal m_inverse_diagonal;
  double* m_vectors[n_kept];  // x, r, p, s, t
  double *m_w, *m_m;
  ClearedRows m_n;
  DeviceVector<EntryValues<n_products>> m_parts;  // by team, of two iterations
  LocalIndex m_entries = 0;                       // of a thread
  int m_slots = 0;                                // of a team: entries of a vector in scratch
  int m_blocks_at_once = 1, m_iterations = 0;
};

template <int order>
std::function<void(int)> persistent_launch(const AxhelmArguments& elements,
                                           const PersistentCgData& data) {
  switch (elements.geometry) {
    case Geometry::stored:
      return PersistentKernel<order, Geometry::stored>::launcher(elements, data);
    case Geometry::trilinear:
      return PersistentKernel<order, Geometry::trilinear>::launcher(elements, data);
    case Geometry::affine:
      return PersistentKernel<order, Geometry::affine>::launcher(elements, data);
  }
  return {};
}

}  // namespace nekbone_k
#endif
