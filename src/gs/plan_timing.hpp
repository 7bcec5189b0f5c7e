/// @file
/// Times the exchanges of several halo plans beside each other.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gs/halo_exchange.hpp"
#include "gs/stage.hpp"
#include "gs/tuner.hpp"

namespace nekbone_k {

/// How the exchange of each of several plans did.
struct PlanTiming {
  std::vector<StageResult> stages;  ///< of each plan, the samples alone
  int rounds = 0;
  int repeats = 1;  ///< exchanges timed together for one sample
  /// Why nothing is timed: the strategy cannot be had for all plans at once, or threw on some rank.
  std::string failure;
};

/// Times one exchange (pack, messages, unpack) of fields of a `kind` by each plan and `strategy`,
/// which has been verified, in interleaved rounds: for `seconds`, and in at least `least_rounds`.
/// None is left out of later rounds. The guard is told while the strategy is used, on a
/// communicator of its own. Collective, with the same result on every rank.
PlanTiming time_plans(const Communicator& comm,
                      std::span<const std::shared_ptr<const DeviceHaloPlan>> plans,
                      const FieldKind& kind, const Strategy& strategy, double seconds,
                      int least_rounds, const TuningGuard& guard = {});

}  // namespace nekbone_k
