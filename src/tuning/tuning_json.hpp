// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The result of tuning as JSON, for the report of a run and of the library.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "tuning/stage.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// One candidate in one stage, with all samples; null without a result. If you change it or
/// tuning_json(), change docs/report.schema.json and report_version, too.
nlohmann::ordered_json stage_json(const std::optional<StageResult>& stage);

/// All candidates with all samples, and the selected strategy.
nlohmann::ordered_json tuning_json(const TuningResult& result);

}  // namespace nekbone_k
