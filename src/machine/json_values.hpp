// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Numbers and statistics as JSON.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/statistics.hpp"

namespace nekbone_k::json {

/// A number, or null for NaN and infinities, which JSON lacks.
inline nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json optional_number(const std::optional<double>& value) {
  return value ? number(*value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json numbers(const std::vector<double>& values) {
  auto array = nlohmann::ordered_json::array();
  for (const double value : values) array.push_back(number(value));
  return array;
}

inline nlohmann::ordered_json summary(const Summary& s) {
  return {{"median_s", number(s.median)},
          {"low_s", number(s.low)},
          {"high_s", number(s.high)},
          {"mean_s", number(s.mean)},
          {"deviation_s", number(s.deviation)}};
}

}  // namespace nekbone_k::json
