// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/plan_timing.hpp"

#include <algorithm>

#include "core/errors.hpp"
#include "core/give_up.hpp"

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

/// The plans, with a communicator of their own, so that late messages reach nothing else.
template <class T>
struct TimedPlans {
  std::unique_ptr<Communicator> comm;
  std::vector<std::unique_ptr<TimedPlan<T>>> plans;
};

/// Fills `timed` with exchanges by `plans`, and times them into `timing`. Throws a
/// LateFailure<const Strategy*> if the strategy throws on some rank.
template <class T>
void time_plans_of(const Communicator& comm,
                   std::span<const std::shared_ptr<const DeviceHaloPlan>> plans, int components,
                   const Strategy& strategy, double seconds, int least_rounds, TuningGuard& guard,
                   TimedPlans<T>& timed, PlanTiming& timing) {
  const auto attempt = [&](const auto& action) {
    const std::string failure = guarded_failure(comm, guard, strategy.name, action);
    if (!failure.empty()) throw LateFailure<const Strategy*>::while_timed(&strategy, failure);
  };
  // At most one barrier per attempt: a rank that threw does not reach the next one.
  const auto time = [&](std::size_t p, int repeats) {
    double sample = 0;
    attempt([&] { sample = timed.plans[p]->time(comm, repeats) / repeats; });
    return sample;
  };
  double shortest = for_ever, round = 0;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    attempt([&] {
      timed.plans.push_back(std::make_unique<TimedPlan<T>>(TimedPlan<T>{
          DeviceField<T>("nekbone_k: shares of a plan", plans[p]->host.n_shared(), components),
          HaloExchange<T>(*timed.comm, plans[p], strategy, components, guard.patience())}));
    });
    time(p, 1);
    const double once = comm.max(time(p, 1));
    shortest = std::min(shortest, once);
    round += once;
  }
  timing.repeats = repeats_for_sample(shortest, round, seconds, least_rounds);
  std::vector<StageResult*> members;
  for (StageResult& stage : timing.stages) members.push_back(&stage);
  timing.rounds = Rounds(comm).run(members, nullptr,
                                   {.seconds = seconds, .least = least_rounds, .early_stop = false},
                                   [&](std::size_t p) { return time(p, timing.repeats); });
  attempt([&] {
    for (const auto& plan : timed.plans) plan->exchange.check();
  });
  guarded(guard, strategy.name, [&] { timed.plans.clear(); });  // destruction is collective
}

/// time_plans() of fields of `components` values of type T.
template <class T>
PlanTiming try_plans(const Communicator& comm,
                     std::span<const std::shared_ptr<const DeviceHaloPlan>> plans, int components,
                     const Strategy& strategy, double seconds, int least_rounds,
                     TuningGuard& guard) {
  PlanTiming timing;
  timing.stages.resize(plans.size());
  TimedPlans<T> timed{std::make_unique<Communicator>(comm.get()), {}};
  try {
    time_plans_of(comm, plans, components, strategy, seconds, least_rounds, guard, timed, timing);
  } catch (const UnavailableError& error) {  // on every rank
    timing.failure = error.what();
  } catch (const LateFailure<const Strategy*>& failure) {
    timing.failure = failure.why;
    give_up(std::move(timed));  // its messages may still be under way
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
