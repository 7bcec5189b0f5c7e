// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/plan_timing.hpp"

#include <algorithm>
#include <list>

#include "core/errors.hpp"
#include "tuning/candidate.hpp"

namespace nekbone_k {
namespace {

/// One plan with its exchange and field.
template <class T>
struct TimedPlan {
  DeviceField<T> field;
  HaloExchange<T> exchange;

  void exchange_once() { FieldExchange<T>(exchange, field, Reduction::add).run(); }
  /// The time of `repeats` exchanges on this rank, in s; all ranks begin together.
  double time(const Communicator& comm, int repeats) {
    comm.barrier();
    const double begin = wall_seconds();
    for (int i = 0; i < repeats; ++i) exchange_once();
    Kokkos::fence("nekbone_k: exchanges of a plan timed");
    return wall_seconds() - begin;
  }
};

template <class T>
using TimedPlans = std::list<GuardedCandidate<TimedPlan<T>>>;  // addresses stay valid

/// Fills `timed` with exchanges by `plans`, and times them into `timing`. Throws a
/// LateFailure<const Strategy*> if the strategy throws on some rank.
template <class T>
void time_plans_of(const Communicator& comm,
                   std::span<const std::shared_ptr<const DeviceHaloPlan>> plans, int components,
                   const Strategy& strategy, double seconds, int least_rounds, TuningGuard& guard,
                   TimedPlans<T>& timed, PlanTiming& timing) {
  const auto require_none = [&](const std::string& failure) {
    if (!failure.empty()) throw LateFailure<const Strategy*>::while_timed(&strategy, failure);
  };
  // At most one barrier in here: a rank that threw does not reach the next one.
  const auto time = [&](GuardedCandidate<TimedPlan<T>>& candidate, int repeats) {
    double sample = 0;
    require_none(candidate.failure_of(
        [&](TimedPlan<T>& plan) { sample = plan.time(comm, repeats) / repeats; }));
    return sample;
  };
  double shortest = for_ever, round = 0;
  std::vector<GuardedCandidate<TimedPlan<T>>*> candidates;
  for (const auto& plan : plans) {
    GuardedCandidate<TimedPlan<T>>& candidate = timed.emplace_back(comm, guard, strategy.name);
    candidates.push_back(&candidate);
    require_none(candidate.make([&](const Communicator& own, double patience) {
      return TimedPlan<T>{
          DeviceField<T>("nekbone_k: shares of a plan", plan->host.n_shared(), components),
          HaloExchange<T>(own, plan, strategy, components, patience)};
    }));
    time(candidate, 1);
    const double once = comm.max(time(candidate, 1));
    shortest = std::min(shortest, once);
    round += once;
  }
  timing.repeats = repeats_for_sample(shortest, round, seconds, least_rounds);
  std::vector<StageResult*> members;
  for (StageResult& stage : timing.stages) members.push_back(&stage);
  timing.rounds = Rounds(comm).run(
      members, nullptr, {.seconds = seconds, .least = least_rounds, .early_stop = false},
      [&](std::size_t p) { return time(*candidates[p], timing.repeats); });
  for (GuardedCandidate<TimedPlan<T>>* const candidate : candidates)
    require_none(candidate->failure_of([](TimedPlan<T>& plan) { plan.exchange.check(); }));
}

/// time_plans() of fields of `components` values of type T.
template <class T>
PlanTiming try_plans(const Communicator& comm,
                     std::span<const std::shared_ptr<const DeviceHaloPlan>> plans, int components,
                     const Strategy& strategy, double seconds, int least_rounds,
                     TuningGuard& guard) {
  PlanTiming timing;
  timing.stages.resize(plans.size());
  TimedPlans<T> timed;
  try {
    time_plans_of(comm, plans, components, strategy, seconds, least_rounds, guard, timed, timing);
  } catch (const UnavailableError& error) {  // on every rank
    timing.failure = error.what();
  } catch (const LateFailure<const Strategy*>& failure) {
    timing.failure = failure.why;
    for (GuardedCandidate<TimedPlan<T>>& candidate : timed) candidate.abandon();
  }
  if (!timing.failure.empty()) timing.stages.assign(plans.size(), {});
  return timing;
}

}  // namespace

PlanTiming time_plans(const Communicator& comm,
                      std::span<const std::shared_ptr<const DeviceHaloPlan>> plans,
                      const FieldKind& kind, const Strategy& strategy, double seconds,
                      int least_rounds, TuningGuard& guard) {
  return with_value_type(kind.precision, [&]<class T>(T) {
    return try_plans<T>(comm, plans, kind.components, strategy, seconds, least_rounds, guard);
  });
}

}  // namespace nekbone_k
