// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/tuning_json.hpp"

#include "machine/json_values.hpp"

namespace nekbone_k {
namespace {

using Json = nlohmann::ordered_json;

Json candidate_json(const CandidateResult& c) {
  return {
      {"strategy", c.strategy.name},
      {"memory", c.strategy.memory},
      {"overlapped", c.strategy.overlapped},
      {"available", c.available},
      {"verified", c.verified},
      {"failure", c.verified ? Json(nullptr) : Json(c.failure)},
      {"selected", c.selected},
      {"alone", stage_json(c.alone)},
      {"with_work", stage_json(c.with_work)},
  };
}

}  // namespace

nlohmann::ordered_json stage_json(const std::optional<StageResult>& stage) {
  if (!stage) return nullptr;
  return {
      {"cost", json::summary(stage->cost)},
      {"predicted_s", json::optional_number(stage->predicted)},
      {"relative_to_best", json::number(stage->relative_to_best)},
      {"tie", stage->tie},
      {"stopped", stage->stopped},
      {"samples_s", json::numbers(stage->samples)},
  };
}

nlohmann::ordered_json tuning_json(const TuningResult& t) {
  Json candidates = Json::array();
  for (const CandidateResult& c : t.candidates) candidates.push_back(candidate_json(c));
  Json selected = nullptr, breakdown = nullptr, on_rank = nullptr;
  if (t.selected >= 0) {
    selected = t.candidates[t.selected].strategy.name;
    on_rank = json::summary(t.on_rank);
  }
  if (t.breakdown)
    breakdown = {{"pack_s", json::number(t.breakdown->pack)},
                 {"exchange_s", json::number(t.breakdown->exchange)},
                 {"unpack_s", json::number(t.breakdown->unpack)}};
  return {
      {"components", t.kind.components},
      {"precision", name(t.kind.precision)},
      {"selected", selected},
      {"breakdown", breakdown},
      {"on_rank", on_rank},
      {"rounds_alone", t.rounds_alone},
      {"repeats", t.repeats},
      {"rounds_with_work", t.rounds_with_work},
      {"work_name", t.work_name},
      {"work_portion", json::number(t.work_portion)},
      {"work_alone_s", json::numbers(t.work_alone)},
      {"work_meanwhile_s", json::number(t.work_meanwhile)},
      {"verify_s", json::number(t.verify_seconds)},
      {"tune_s", json::number(t.tune_seconds)},
      {"candidates", candidates},
  };
}

}  // namespace nekbone_k
