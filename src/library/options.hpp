// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The options of a gather–scatter of the library as text. Nothing here is collective.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gs/strategy_table.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// The options. The defaults are those of the input file.
struct LibraryOptions {
  std::vector<std::string> strategies = {};  ///< names in table order; empty means all
  TunerOptions tuning = {};
  double patience = 30;  ///< time limit of a message while tuning, s

  /// The strategies to choose from, in table order.
  std::vector<Strategy> chosen_strategies() const;
};

/// The keys, as in section gather_scatter of the input file.
std::vector<std::string> library_option_keys();

/// Reads "key=value" pairs, separated by semicolons or line breaks. Throws InputError with the key,
/// the given value and the allowed values.
LibraryOptions parse_library_options(std::string_view text);

}  // namespace nekbone_k
