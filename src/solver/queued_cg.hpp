// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Conjugate gradients whose scalars stay on the device, so that the host need not wait for them.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"
#include "core/kernel_graph.hpp"
#include "core/region.hpp"
#include "core/streams.hpp"
#include "solver/cg_extra_vectors.hpp"
#include "solver/cg_terms.hpp"
#include "solver/conjugate_gradients.hpp"
#include "solver/persistent_cg.hpp"
#include "solver/point_preconditioner.hpp"
#include "solver/scalar_step.hpp"
#include "solver/solver_options.hpp"

namespace nekbone_k {

/// An operator whose product is summed by the caller; see EllipticOperator::apply_without_sum().
template <class Op>
concept QueuedOperator = requires(const Op& a, const DeviceVector<double>& v) {
  a.apply_without_sum(v, v);
  { a.product_parts() } -> std::convertible_to<DeviceVector<double>>;
  { a.n_cleared_rows() } -> std::convertible_to<LocalIndex>;
  { a.is_queued() } -> std::convertible_to<bool>;
};

/// Preconditioned conjugate gradients in one of the variants, from x = 0. Kernels read and write
/// the scalars in device memory. If is_queued(), that is, if neither the exchange nor the
/// all-reduce needs the host, the host launches iterations ahead. To see whether the solve has
/// ended, it reads the state of the batch before. All ranks read the state of the same batch.
///
/// Rounding makes the recursive residual of the variants with one all-reduce drift from b - A x
/// faster than that of classic CG. Every `replaced_after` iterations they therefore compute it
/// anew, with all vectors that depend on it (van der Vorst and Ye 2000). So they attain the
/// accuracy of classic CG.
template <QueuedOperator Op>
class QueuedCg {
 public:
  /// Keeps references to `comm`, `a` and the vectors. An empty `inverse_diagonal` means M = I.
  /// Throws UnavailableError on every rank if `all_reduce` is unavailable, or if the launch is not
  /// possible: a graph where kernels run on the host, or where `all_reduce` or the selected
  /// exchange needs the host; a persistent kernel with another variant than pipelined, or where
  /// PersistentCg is unavailable. Collective, and so is destruction.
  QueuedCg(const Communicator& comm, const Op& a, VectorRange range,
           ConstDeviceVector<double> inverse_diagonal, const AllReduceStrategy& all_reduce,
           CgVariant variant, CgLaunch launch, const CgVectors& vectors,
           const CgExtraVectors& extra)
      : m_comm(comm),
        m_a(a),
        m_range(range),
        m_inverse_diagonal(std::move(inverse_diagonal)),
        m_variant(variant),
        m_launch(launch),
        m_v(vectors),
        m_extra(extra),
        m_step(comm, all_reduce),
        m_state("nekbone_k: CG state"),
        m_history("nekbone_k: history of CG", kept_iterations()),
        m_seen{Seen(kept_iterations()), Seen(kept_iterations())} {
    const LocalIndex n_teams = EntryReduction<BeginTerms<Identity>, PlainSums<2>>::n_teams(range);
    m_pairs = DeviceVector<EntryValues<2>>("nekbone_k: parts of products", n_teams);
    m_triples = DeviceVector<EntryValues<3>>("nekbone_k: parts of products",
                                             variant == CgVariant::pipelined ? n_teams : 0);
    if (launch == CgLaunch::graph && !KernelGraph::is_available)
      throw UnavailableError("kernels run on the host");
    if (launch == CgLaunch::graph && !is_queued())
      throw UnavailableError(m_step.is_queued()
                                 ? "the exchange strategy needs the host"
                                 : "the all-reduce " + all_reduce.name + " needs the host");
    if (launch == CgLaunch::persistent) make_persistent();
  }

  /// Whether the host waits for nothing within an iteration.
  bool is_queued() const { return m_step.is_queued() && m_a.is_queued(); }

  /// Records the iterations of a graph, unless it has. The operator must have been applied with the
  /// selected exchange strategy. Throws UnavailableError on every rank if one cannot record.
  /// Collective.
  void record() {
    if (m_graph) return;
    std::string failure;
    try {
      m_graph.emplace([&] {
        for (int i = 0; i < graph_iterations; ++i) iterate();
      });
    } catch (const std::exception& error) {
      failure = error.what();
    }
    failure = m_comm.first_text(failure);
    if (failure.empty()) return;
    m_graph.reset();
    throw UnavailableError("its kernels cannot be recorded: " + failure);
  }

  /// Solves A x = b. The vectors get the solution, and the residual of the last iteration.
  /// `progress` is called after every batch with the number of iterations that are known to have
  /// ended. Collective.
  CgResult solve(const DeviceVector<double>& b, const CgOptions& options,
                 const std::function<void(int)>& progress = {}) {
    const Region region("CG");
    if (m_launch == CgLaunch::graph && options.iterations >= graph_iterations) record();
    m_comm.barrier();
    const double begin = wall_seconds();
    begin_solve(b, options);
    int launched = 0;
    for (int batches = 0; launched < options.iterations; ++batches) {
      const int some = std::min(n_of_batch(), options.iterations - launched);
      launch_iterations(some);
      launched += some;
      note_state(batches);
      // The state of the batch before this one, so that the device has work meanwhile. Kernels on
      // the host have ended already.
      if (is_host_device || batches > 0) {
        const CgState& seen = see_state(is_host_device ? batches : batches - 1);
        if (progress) progress(seen.iterations);
        if (seen.status != CgStatus::running) break;
      }
      if (launched % replaced_after == 0 && launched < options.iterations) replace_residual(b);
    }
    if (m_variant == CgVariant::classic) update_direction();  // the last update of x
    Kokkos::fence("nekbone_k: conjugate gradients timed");
    const double seconds = m_comm.max(wall_seconds() - begin);
    m_step.check();
    return result(seconds);
  }

  /// Forgets recorded kernels. Call it after the exchange strategy of the operator has changed.
  void forget_recording() { m_graph.reset(); }

  /// Doubles read and written per entry and iteration by the vector kernels, without replacements.
  int traffic() const {
    // A persistent kernel neither reads nor writes the vectors that it keeps.
    const int kept = m_launch == CgLaunch::persistent ? 2 * PersistentCg::n_kept : 0;
    return cost_of(m_variant).doubles - kept + (m_inverse_diagonal.extent(0) > 0 ? 2 : 0);
  }

 private:
  /// A state and the history, as the host sees them.
  struct Seen {
    explicit Seen(int kept) : history("nekbone_k: history of CG seen", kept) {}

    Kokkos::View<CgState, Kokkos::SharedHostPinnedSpace> state{"nekbone_k: CG state seen"};
    Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> history;
    StreamEvent is_there;
  };
  using Pairs = ProductParts<2>;

  void make_persistent() {
    if (m_variant != CgVariant::pipelined) throw UnavailableError("its kernel does pipelined CG");
    if constexpr (std::is_same_v<Op, EllipticOperator>)
      m_persistent.emplace(m_a,
                           PersistentCgData{m_range, scalars(), m_inverse_diagonal, m_v, m_extra});
    else
      throw UnavailableError("its kernel applies an EllipticOperator");
  }

  /// Iterations between two reads of the state. On a CPU a read costs nothing.
  int n_of_batch() const {
    if (is_host_device) return 1;
    return m_launch == CgLaunch::persistent ? persistent_iterations : graph_iterations;
  }

  /// Iterations whose ‖r‖ the device keeps: the host is at most two batches late.
  int kept_iterations() const { return 3 * n_of_batch(); }

  CgScalars scalars() const { return {m_state, m_history}; }
  ClearedRows cleared(const DeviceVector<double>& v) const {
    return {v.data(), m_a.n_cleared_rows()};
  }
  void clear_rows(const DeviceVector<double>& v) const {
    Kokkos::deep_copy(ExecutionSpace(),
                      Kokkos::subview(v, std::pair(LocalIndex{0}, m_a.n_cleared_rows())), 0.0);
  }
  /// z with a preconditioner, else the vector itself.
  const DeviceVector<double>& preconditioned(const DeviceVector<double>& v) const {
    return m_inverse_diagonal.extent(0) > 0 ? m_extra.z : v;
  }
  /// Calls action(M, M that also stores its results).
  template <class Action>
  void with_preconditioners(const Action& action) const {
    with_preconditioner(m_inverse_diagonal, [&](const auto& m) {
      action(m, Preconditioned<std::decay_t<decltype(m)>>{m, m_extra.z.data()});
    });
  }
  template <class Terms, int n>
  void run(const char* label, const Terms& terms, const DeviceVector<EntryValues<n>>& parts) const {
    EntryReduction<Terms, PlainSums<n>>{m_range, terms, {}, parts}.run(label);
  }

  void begin_solve(const DeviceVector<double>& b, const CgOptions& options) {
    m_norms.clear();
    CgState first;
    first.tolerance = options.tolerance;
    first.absolute = options.absolute;
    first.most_iterations = options.iterations;
    Kokkos::parallel_for("nekbone_k: state of CG", Kokkos::RangePolicy<ExecutionSpace>(0, 1),
                         SetState{m_state, first});
    with_preconditioners([&](const auto& m, const auto& z) {
      run("nekbone_k: CG begins",
          BeginTerms<std::decay_t<decltype(m)>>{
              b.data(),
              m_v.r.data(),
              z,
              {m_v.x.data(), m_v.p.data(), m_v.ap.data(), m_extra.s.data(), m_extra.t.data(),
               m_extra.n.data()}},
          m_pairs);
    });
    if (m_variant == CgVariant::classic) {
      m_step.run("nekbone_k: products of b", Pairs(m_pairs), BeginClassic{scalars()});
    } else {
      m_a.apply_without_sum(preconditioned(m_v.r), m_v.ap);
      sum_of_new_vectors(SetAlphaAndBeta::Of::b);
    }
  }

  /// Launches n iterations; by the graph, if n is its number of iterations.
  void launch_iterations(int n) const {
    if (m_persistent) return m_persistent->run(n);
    if (m_graph && n == graph_iterations) return m_graph->replay();
    for (int i = 0; i < n; ++i) iterate();
  }

  void iterate() const {
    const Region region("CG iteration");
    switch (m_variant) {
      case CgVariant::classic:
        return iterate_classic();
      case CgVariant::single_reduction:
        return iterate_single_reduction();
      case CgVariant::pipelined:
        return iterate_pipelined();
    }
  }

  void iterate_classic() const {
    update_direction();
    m_a.apply_without_sum(m_v.p, m_v.ap);
    m_step.run("nekbone_k: alpha", ProductParts<1>(m_a.product_parts()), SetAlpha{scalars()});
    with_preconditioners([&](const auto& m, const auto&) {
      run("nekbone_k: update residual",
          UpdateResidual<std::decay_t<decltype(m)>, AlphaOfState>{
              {m_state}, m, m_v.ap.data(), m_v.r.data()},
          m_pairs);
    });
    m_step.run("nekbone_k: beta", Pairs(m_pairs), SetBeta{scalars()});
  }

  void update_direction() const {
    with_preconditioners([&](const auto& m, const auto&) {
      Kokkos::parallel_for(
          "nekbone_k: update solution and direction",
          Kokkos::RangePolicy<ExecutionSpace>(0, m_range.size),
          UpdateDirection<std::decay_t<decltype(m)>>{m_state, m, m_v.r.data(), m_v.x.data(),
                                                     m_v.p.data(), cleared(m_v.ap)});
    });
  }

  void iterate_single_reduction() const {
    with_preconditioners([&](const auto& m, const auto& z) {
      run("nekbone_k: update vectors",
          SingleReductionTerms<std::decay_t<decltype(m)>>{m_state, z, m_v.x.data(), m_v.r.data(),
                                                          m_v.p.data(), m_extra.s.data(),
                                                          m_v.ap.data(), cleared(m_v.ap)},
          m_pairs);
    });
    m_a.apply_without_sum(preconditioned(m_v.r), m_v.ap);
    sum_of_pairs(SetAlphaAndBeta::Of::iterate);
  }

  void iterate_pipelined() const {
    with_preconditioners([&](const auto& m, const auto& stored) {
      run("nekbone_k: update vectors",
          PipelinedTerms<std::decay_t<decltype(m)>>{
              m_state, stored, m_v.x.data(), m_v.r.data(), m_v.p.data(), m_extra.s.data(),
              m_extra.t.data(), m_v.ap.data(), m_extra.n.data(), cleared(m_extra.n)},
          m_triples);
    });
    sum_beside_apply(SetAlphaAndBeta::Of::iterate);
  }

  /// Computes r = b - A x, and from it and p all other vectors. Classic CG does not need it.
  void replace_residual(const DeviceVector<double>& b) const {
    if (m_variant == CgVariant::classic) return;
    const bool pipelined = m_variant == CgVariant::pipelined;
    const DeviceVector<double>& ax = pipelined ? m_extra.n : m_v.ap;
    clear_rows(ax);
    m_a.apply_without_sum(m_v.x, ax);
    with_preconditioners([&](const auto& m, const auto& z) {
      run("nekbone_k: replace residual",
          ReplaceResidual<std::decay_t<decltype(m)>>{m_state, z, b.data(), m_v.r.data(), ax.data(),
                                                     cleared(m_v.ap)},
          m_pairs);
    });
    clear_rows(m_extra.s);
    m_a.apply_without_sum(m_v.p, m_extra.s);
    m_a.apply_without_sum(preconditioned(m_v.r), m_v.ap);
    if (pipelined) {
      precondition(m_extra.s, m_extra.t);
      m_a.apply_without_sum(preconditioned(m_extra.s), m_extra.t);
    }
    sum_of_new_vectors(SetAlphaAndBeta::Of::replaced);
  }

  /// Sums the products when r, z and w = A z have been computed anew.
  void sum_of_new_vectors(SetAlphaAndBeta::Of of) const {
    if (m_variant == CgVariant::single_reduction) return sum_of_pairs(of);
    precondition(m_v.ap, m_extra.n);
    sum_beside_apply(of);
  }

  void sum_of_pairs(SetAlphaAndBeta::Of of) const {
    m_step.run("nekbone_k: alpha and beta", Pairs(m_pairs), SetAlphaAndBeta{scalars(), of},
               ProductParts<1>(m_a.product_parts()));
  }

  /// Preconditions a vector, clears the rows of its image, and forms the products if it is w.
  void precondition(const DeviceVector<double>& v, const DeviceVector<double>& image) const {
    with_preconditioners([&](const auto& m, const auto& stored) {
      run("nekbone_k: precondition",
          PipelinedProducts<std::decay_t<decltype(m)>>{stored, m_v.r.data(), v.data(),
                                                       cleared(image)},
          m_triples);
    });
  }

  /// Sums the products over the ranks beside n = A m. If kernels sum, one team waits for other
  /// ranks while the exchange of Ax does; neither waits for the other.
  void sum_beside_apply(SetAlphaAndBeta::Of of) const {
    const SetAlphaAndBeta rule{scalars(), of};
    const ExecutionSpace stream = side_stream();
    const char* const label = "nekbone_k: alpha and beta";
    run_after(stream, ExecutionSpace());
    m_step.start(label, ProductParts<3>(m_triples), rule, stream);
    m_a.apply_without_sum(preconditioned(m_v.ap), m_extra.n);
    m_step.finish(label, rule);
    run_after(ExecutionSpace(), stream);
  }

  /// Copies the state and the history to the host after everything launched so far. Does not wait.
  void note_state(int number) {
    Seen& seen = m_seen[number % 2];
    Kokkos::deep_copy(ExecutionSpace(), seen.state, m_state);
    Kokkos::deep_copy(ExecutionSpace(), seen.history, m_history);
    seen.is_there.record(ExecutionSpace());
  }
  /// Waits for such a copy, and adds its new iterations to m_norms.
  const CgState& see_state(int number) {
    const Seen& seen = m_seen[number % 2];
    seen.is_there.wait();
    const CgState& state = seen.state();
    for (int i = static_cast<int>(m_norms.size()); i <= state.iterations; ++i)
      m_norms.push_back(seen.history(i % kept_iterations()));
    return state;
  }

  CgResult result(double seconds) {
    note_state(0);
    const CgState& state = see_state(0);
    CgResult result;
    result.iterations = state.iterations;
    result.broke_down = state.status == CgStatus::broke_down;
    result.converged =
        state.status == CgStatus::converged || (!has_tolerance(state) && !result.broke_down);
    result.history = m_norms;
    result.seconds = seconds;
    return result;
  }

  const Communicator& m_comm;
  const Op& m_a;
  VectorRange m_range;
  ConstDeviceVector<double> m_inverse_diagonal;
  CgVariant m_variant;
  CgLaunch m_launch;
  CgVectors m_v;
  CgExtraVectors m_extra;
  ScalarStep m_step;
  Kokkos::View<CgState, DeviceMemory> m_state;
  DeviceVector<double> m_history;
  DeviceVector<EntryValues<2>> m_pairs;    // parts of products, by team
  DeviceVector<EntryValues<3>> m_triples;  // the same if pipelined
  Seen m_seen[2];
  std::vector<double> m_norms;  // ‖r‖ of b and of each iteration, as far as the host has seen
  std::optional<KernelGraph> m_graph;
  std::optional<PersistentCg> m_persistent;
};

}  // namespace nekbone_k
