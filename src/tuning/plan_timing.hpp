// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Times the exchanges of several halo plans in interleaved rounds.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gs/field_exchange.hpp"
#include "tuning/stage.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// The timings of several plans.
struct PlanTiming {
  std::vector<StageResult> stages;  ///< of each plan; only the samples are filled in
  int rounds = 0;
  int repeats = 1;  ///< exchanges timed together for one sample
  /// Reason why nothing is timed: the strategy is unavailable for all plans at once, or threw on
  /// some rank.
  std::string failure;
};

/// Times exchanges (pack, messages, unpack) of fields of a `kind`, by each plan and by `strategy`,
/// which is already verified. Interleaved rounds last `seconds`, with at least `least_rounds`
/// rounds; no plan drops out. The exchanges use a communicator of their own, and the guard is told
/// while the strategy is in use. Collective, with the same result on every rank.
PlanTiming time_plans(const Communicator& comm,
                      std::span<const std::shared_ptr<const DeviceHaloPlan>> plans,
                      const FieldKind& kind, const Strategy& strategy, double seconds,
                      int least_rounds, TuningGuard& guard);

}  // namespace nekbone_k
