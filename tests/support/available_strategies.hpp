// SPDX-License-Identifier: BSD-3-Clause
// The strategies of the table that are available in this build on this machine.
#pragma once

#include <ostream>
#include <vector>

#include "gs/strategy_table.hpp"

namespace nekbone_k {

// Collective.
inline std::vector<Strategy> available_strategies(const Communicator& comm) {
  std::vector<Strategy> available;
  for (const Strategy& strategy : all_strategies())
    if (why_unavailable(comm, strategy).empty()) available.push_back(strategy);
  return available;
}

// The name of a strategy in GoogleTest.
inline void PrintTo(const Strategy& strategy, std::ostream* out) { *out << strategy.name; }

}  // namespace nekbone_k
