#include "gs/plan_timing.hpp"

#include <algorithm>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// One plan in the making: what is exchanged, and by what.
template <class T>
struct TimedPlan {
  DeviceField<T> field;
  HaloExchange<T> exchange;

  void exchange_once() { exchange.exchange(field, Reduction::add); }
  /// Seconds on this rank for so many exchanges; all ranks begin together.
  double time(const Communicator& comm, int repeats) {
    comm.barrier();
    const double begin = wall_seconds();
    for (int i = 0; i < repeats; ++i) exchange_once();
    Kokkos::fence("nekbone_k: exchanges of a plan timed");
    return wall_seconds() - begin;
  }
};

/// time_plans() of fields of `components` values of type T.
template <class T>
PlanTiming time_plans_of(const Communicator& comm,
                         std::span<const std::shared_ptr<const DeviceHaloPlan>> plans,
                         int components, const Strategy& strategy, double seconds, int least_rounds,
                         const TuningGuard& guard) {
  PlanTiming timing;
  timing.stages.resize(plans.size());
  std::vector<std::unique_ptr<TimedPlan<T>>> timed;
  double shortest = for_ever, round = 0;
  for (const auto& plan : plans) {
    const auto time_once = [&] {
      timed.push_back(std::make_unique<TimedPlan<T>>(TimedPlan<T>{
          DeviceField<T>("nekbone_k: shares of a plan", plan->host.n_shared(), components),
          HaloExchange<T>(comm, plan, strategy, components, guard.patience)}));
      timed.back()->time(comm, 1);
      return comm.max(timed.back()->time(comm, 1));
    };
    double once = 0;
    try {
      once = guarded(guard, strategy.name, time_once);
    } catch (const UnavailableError& error) {  // on every rank
      timing.failure = error.what();
      return timing;
    }
    shortest = std::min(shortest, once);
    round += once;
  }
  timing.repeats = repeats_for_sample(shortest, round, seconds, least_rounds);
  std::vector<StageResult*> members;
  for (StageResult& stage : timing.stages) members.push_back(&stage);
  timing.rounds = Rounds(comm).run(
      members, nullptr, {.seconds = seconds, .least = least_rounds, .early_stop = false},
      [&](std::size_t p) {
        const auto sample = [&] { return timed[p]->time(comm, timing.repeats) / timing.repeats; };
        return guarded(guard, strategy.name, sample);
      });
  for (const auto& plan : timed) plan->exchange.check();
  return timing;
}

}  // namespace

PlanTiming time_plans(const Communicator& comm,
                      std::span<const std::shared_ptr<const DeviceHaloPlan>> plans,
                      const FieldKind& kind, const Strategy& strategy, double seconds,
                      int least_rounds, const TuningGuard& guard) {
  return with_value_type(kind.precision, [&]<class T>(T) {
    return time_plans_of<T>(comm, plans, kind.components, strategy, seconds, least_rounds, guard);
  });
}

}  // namespace nekbone_k
