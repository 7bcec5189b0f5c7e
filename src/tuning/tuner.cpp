// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/errors.hpp"
#include "core/region.hpp"
#include "core/system.hpp"
#include "tuning/candidate.hpp"
#include "tuning/exchange_timer.hpp"
#include "tuning/predict.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

/// In stage 2, the work that hides exchanges lasts about this number of slowest exchanges. This
/// hides the exchange, and the noise of the work does not drown it.
constexpr double work_per_exchange = 3;

/// Shares of the budget that are used when the stages end, including making the exchanges. The rest
/// is for judging, the parts of the selected exchange, and the on-rank gather–scatter, which may
/// take a tenth.
constexpr double end_of_stage_1 = 0.35, end_of_stage_2 = 0.8;

/// A candidate that is timed.
template <class T>
struct TunedCandidate {
  CandidateResult& result;
  GuardedCandidate<HaloExchange<T>> exchange;
};

/// Tunes exchanges of fields of values of type T.
template <class T>
class Tuner {
 public:
  Tuner(GatherScatter& gs, const FieldKind& kind, const OverlapWork& work,
        const TunerOptions& options, TuningGuard& guard, const MachinePaths* paths)
      : m_comm(gs.communicator()),
        m_gs(gs),
        m_work(work),
        m_options(options),
        m_guard(guard),
        m_paths(paths),
        m_timer(gs, kind.components, work) {
    m_result.kind = kind;
  }

  TuningResult run(std::span<const Strategy> strategies) {
    const double begin = wall_seconds();
    verify(strategies);
    m_result.verify_seconds = m_comm.max(wall_seconds() - begin);
    time_candidates();
    m_result.tune_seconds =
        std::max(0.0, m_comm.max(wall_seconds() - begin) - m_result.verify_seconds);
    return std::move(m_result);
  }

 private:
  using Candidate = TunedCandidate<T>;
  using Halo = HaloExchange<T>;
  using Late = LateFailure<Candidate*>;
  using Members = std::vector<Candidate*>;
  using Stage = std::optional<StageResult> CandidateResult::*;

  void verify(std::span<const Strategy> strategies) {
    for (const Strategy& strategy : strategies) {
      const Region region(strategy.name);
      const auto verify = [&] {
        return m_verifier.verify(strategy, m_guard.patience(), m_result.kind);
      };
      m_result.candidates.push_back(
          {verify_candidate(strategy.name, m_guard.why_excluded(strategy.name), m_guard, verify),
           strategy});
    }
  }

  void time_candidates() {
    m_timing_begin = m_comm.broadcast(wall_seconds());
    m_result.work_name = m_work.name;
    std::vector<std::unique_ptr<Candidate>> candidates;
    Members plain, overlapped;
    for (CandidateResult& result : m_result.candidates) {
      if (!result.verified) continue;
      auto candidate = make_candidate(result);
      if (!candidate) continue;
      candidates.push_back(std::move(candidate));
      (result.strategy.overlapped ? overlapped : plain).push_back(candidates.back().get());
    }
    if (candidates.empty()) return;
    Candidate* winner = candidates.front().get();  // if nothing is timed
    if (m_comm.max(std::int64_t{m_gs.plan().n_shared()}) > 0) {
      winner = choose(candidates, plain, overlapped);
      if (winner == nullptr) return;
      if (m_paths != nullptr) predict_costs();
    }
    winner->result.selected = true;
    m_result.selected = static_cast<int>(&winner->result - m_result.candidates.data());
    candidates.clear();
    // With at least five rounds, but fewer if they take more than a tenth of the budget.
    m_result.on_rank =
        m_timer.time_on_rank(std::max(m_options.minimum_rounds, 5), 0.1 * m_options.budget_seconds);
  }

  /// Makes an exchange for timing. Returns null if it cannot be made any more: by now all
  /// candidates hold their buffers.
  std::unique_ptr<Candidate> make_candidate(CandidateResult& result) {
    std::unique_ptr<Candidate> candidate(
        new Candidate{result, {m_comm, m_guard, result.strategy.name}});
    const auto make = [&](const Communicator& comm, double patience) {
      return Halo(comm, m_gs.message_plan(), result.strategy, m_result.kind.components, patience);
    };
    return candidate->exchange.make_verified(result, make) ? std::move(candidate) : nullptr;
  }

  /// The winner of both stages, if it is still right; null if no candidate is left. Excludes a
  /// candidate that fails meanwhile, and times the others again.
  Candidate* choose(std::vector<std::unique_ptr<Candidate>>& candidates, Members& plain,
                    Members& overlapped) {
    while (!plain.empty() || !overlapped.empty()) {
      try {
        Candidate* const winner = time_stages(plain, overlapped);
        require_still_right(*winner);
        m_result.breakdown =
            m_timer.break_down(std::max(m_options.minimum_rounds, 11),
                               [&](const auto& part) { return seconds_of(*winner, part); });
        for (const auto& candidate : candidates)
          attempt(*candidate, [](Halo& exchange) { exchange.check(); });
        return winner;
      } catch (const Late& failure) {
        forget_timings();
        failure.candidate->result.failure = failure.why;
        failure.candidate->result.verified = false;
        std::erase(plain, failure.candidate);
        std::erase(overlapped, failure.candidate);
        const std::string name = failure.candidate->result.strategy.name;
        failure.candidate->exchange.abandon();
        std::erase_if(candidates, [&](const auto& c) { return c.get() == failure.candidate; });
        // If it left the device unusable, the job ends here under its name.
        guarded(m_guard, name, [&] {
          m_timer.renew_field();
          Kokkos::fence("nekbone_k: after a strategy that failed");
        });
        m_timing_begin = m_comm.broadcast(wall_seconds());
      }
    }
    return nullptr;
  }

  void forget_timings() {
    for (CandidateResult& result : m_result.candidates) {
      result.alone.reset();
      result.with_work.reset();
    }
    m_result.rounds_alone = m_result.rounds_with_work = 0;
    m_result.repeats = 1;
    m_result.work_portion = 1;
    m_result.work_meanwhile = 0;
    m_result.work_alone.clear();
    m_result.breakdown.reset();
  }

  /// Runs action(exchange). If it throws on some rank, all ranks throw a Late. Only the start of
  /// `action` may be collective.
  template <class Action>
  void attempt(Candidate& candidate, const Action& action) const {
    const Region region(candidate.result.strategy.name);
    const std::string failure = candidate.exchange.failure_of(action);
    if (!failure.empty()) throw Late::while_timed(&candidate, failure);
  }

  /// The winner of both stages; null if there are no candidates.
  Candidate* time_stages(const Members& plain, const Members& overlapped) {
    Candidate* const winner = plain.empty() ? nullptr : win_alone(plain);
    return overlapped.empty() ? winner : win_with_work(overlapped, winner);
  }

  /// Throws a Late if the timed exchange no longer combines correctly.
  void require_still_right(Candidate& candidate) {
    const double begin = wall_seconds();
    const std::string failure = candidate.exchange.use(
        [&](Halo& exchange) { return m_verifier.verify_again(exchange, m_timer.field()); });
    m_result.verify_seconds += m_comm.max(wall_seconds() - begin);
    if (!failure.empty()) throw Late::of_winner(&candidate, failure);
  }

  Candidate* win_alone(const Members& plain) {
    for (Candidate* c : plain) c->result.alone.emplace();
    m_result.repeats = repeats_for(plain);
    const int repeats = m_result.repeats;
    m_result.rounds_alone = m_rounds.run(stage_of(plain, &CandidateResult::alone), nullptr,
                                         limits(end_of_stage_1), [&](std::size_t c) {
                                           const auto sample = [&](Halo& exchange) {
                                             for (int i = 0; i < repeats; ++i)
                                               m_timer.exchange(exchange);
                                           };
                                           return seconds_of(*plain[c], sample) / repeats;
                                         });
    return plain[judge(stage_of(plain, &CandidateResult::alone), {})];
  }

  /// Times `overlapped` and, if not null, the winner of the plain strategies, with the work.
  Candidate* win_with_work(const Members& overlapped, Candidate* plain_winner) {
    // On a GPU the plain strategy comes first, because overlap costs a kernel and a stream. On a
    // host overlap costs nothing and gives a late message time, so the plain strategy comes last.
    Members members = overlapped;
    if (plain_winner != nullptr)
      members.insert(is_host_device ? members.end() : members.begin(), plain_winner);
    for (Candidate* c : members) c->result.with_work.emplace();
    const double portion = m_result.work_portion = choose_portion(overlapped);
    m_result.work_meanwhile = m_timer.time_meanwhile(portion);
    m_result.rounds_with_work =
        m_rounds.run(stage_of(members, &CandidateResult::with_work), &m_result.work_alone,
                     limits(end_of_stage_2), [&](std::size_t c) {
                       return c == members.size() ? seconds_of_work(portion)
                                                  : seconds_with_work(*members[c], portion);
                     });
    std::vector<const StageResult*> alone;
    for (const Candidate* c : members)
      alone.push_back(c != plain_winner || !is_host_device ? timed_alone(*c) : nullptr);
    return members[judge(stage_of(members, &CandidateResult::with_work), m_result.work_alone,
                         alone)];
  }

  /// The time of the work without an exchange, on this rank, in s.
  double seconds_of_work(double portion) const {
    const auto seconds = [&] { return m_timer.seconds_of([&] { m_timer.do_work(portion); }); };
    return m_work.sum ? guarded(m_guard, m_work.sum->guarded_as, seconds) : seconds();
  }

  /// The time of the work with an exchange by `candidate`, on this rank, in s.
  double seconds_with_work(Candidate& candidate, double portion) {
    // If this hangs, either the exchange or the all-reduce may be the reason. An exception is the
    // fault of the exchange: the all-reduce was verified, and goes on if an exchange throws.
    std::optional<Entered> sum;
    if (m_work.sum) sum.emplace(m_guard, m_work.sum->guarded_as);
    return seconds_of(candidate, [&](Halo& exchange) {
      if (candidate.result.strategy.overlapped)
        m_timer.exchange_amid_work(portion, exchange);
      else
        m_timer.exchange_after_work(portion, exchange);
    });
  }

  /// The result of the exchange of a strategy alone. An overlapped strategy takes that of its plain
  /// form; null if that was not timed.
  const StageResult* timed_alone(const Candidate& candidate) const {
    if (candidate.result.alone) return &*candidate.result.alone;
    for (const CandidateResult& c : m_result.candidates)
      if (c.alone && c.strategy.make == candidate.result.strategy.make) return &*c.alone;
    return nullptr;
  }

  /// `members` are in the order of preference, as judge() wants them.
  static std::vector<StageResult*> stage_of(const Members& members, Stage stage) {
    std::vector<StageResult*> results;
    for (Candidate* c : members) results.push_back(&*(c->result.*stage));
    return results;
  }

  /// Limits for rounds that end when `part_of_budget` is used. Collective.
  Rounds::Limits limits(double part_of_budget) const {
    const double used = m_comm.broadcast(wall_seconds()) - m_timing_begin;
    return {.seconds = part_of_budget * m_options.budget_seconds - used,
            .least = m_options.minimum_rounds,
            .early_stop = m_options.early_stop};
  }

  /// The time of action(exchange) in an attempt(), on this rank, in s. All ranks begin together.
  template <class Action>
  double seconds_of(Candidate& candidate, const Action& action) const {
    double seconds = 0;
    attempt(candidate,
            [&](Halo& exchange) { seconds = m_timer.seconds_of([&] { action(exchange); }); });
    return seconds;
  }

  /// The portion of the work whose hiding part lasts long enough, the same on every rank.
  double choose_portion(const Members& overlapped) {
    double exchange = 0;
    for (Candidate* c : overlapped) {
      exchange = std::max(exchange, usual_time(*c, 3));  // a single sample may meet a busy moment
    }
    // Begin with little, because all of the work may take too long. Work may come in large pieces,
    // so measure the portion that was really done.
    const double wanted = work_per_exchange * exchange;
    for (double portion = 1e-3;;) {
      const double work = m_timer.time_meanwhile(portion);
      const double enough = portion * wanted / std::max(work, 1e-9);
      if (work >= wanted) return std::max(enough, 1e-6);
      if (work > 0.7 * wanted || portion == 1) return portion;
      portion = std::min(1.0, std::max(enough, 2 * portion));
    }
  }

  /// The number of exchanges per sample that makes it long enough, the same on every rank.
  int repeats_for(const Members& plain) {
    double shortest = 1e300, round = 0;
    for (Candidate* c : plain) {
      const double time = usual_time(*c, 1);
      shortest = std::min(shortest, time);
      round += time;
    }
    return repeats_for_sample(shortest, round, end_of_stage_1 * m_options.budget_seconds,
                              m_options.minimum_rounds);
  }

  /// The median of some warm exchanges in a row, on the slowest rank, in s.
  double usual_time(Candidate& c, int exchanges) {
    std::vector<double> times;
    for (int i = 0; i <= exchanges; ++i) {
      const double time = seconds_of(c, [&](Halo& exchange) { m_timer.exchange(exchange); });
      if (i > 0) times.push_back(m_comm.max(time));
    }
    return median(times);
  }

  void predict_costs() {
    const std::vector<int> nodes = nodes_of_ranks(m_comm);
    for (CandidateResult& c : m_result.candidates) {
      if (!c.alone && !c.with_work) continue;
      CostModel model = c.strategy.cost;
      model.one_kernel = model.one_kernel && m_gs.message_plan()->combines_shares;
      const auto cost = predict(m_comm, model, m_gs.message_plan()->host, nodes, *m_paths,
                                m_result.kind.item_bytes());
      if (!cost) continue;
      if (c.alone) c.alone->predicted = cost->alone();
      if (c.with_work)
        c.with_work->predicted =
            c.strategy.overlapped ? cost->beyond(m_result.work_meanwhile) : cost->alone();
    }
  }

  const Communicator& m_comm;
  GatherScatter& m_gs;
  const OverlapWork& m_work;
  TunerOptions m_options;
  TuningGuard& m_guard;
  const MachinePaths* m_paths;
  Verifier m_verifier{m_comm, m_gs.message_plan()};
  ExchangeTimer<T> m_timer;
  double m_timing_begin = 0;  // on the clock of rank 0
  TuningResult m_result;
  Rounds m_rounds{m_comm};
};

}  // namespace

TuningResult tune(GatherScatter& gs, const FieldKind& kind, std::span<const Strategy> strategies,
                  const OverlapWork& work, const TunerOptions& options, TuningGuard& guard,
                  const MachinePaths* paths) {
  const Region region("tune exchange");
  TuningResult result = with_value_type(kind.precision, [&]<class T>(T) {
    return Tuner<T>(gs, kind, work, options, guard, paths).run(strategies);
  });
  if (result.selected >= 0) gs.select(kind, result.candidates[result.selected].strategy);
  return result;
}

}  // namespace nekbone_k
