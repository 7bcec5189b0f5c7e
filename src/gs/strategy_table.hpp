// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All exchange strategies: each is a class in strategies/ and a line of the table in
/// strategy_table.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gs/exchange.hpp"
#include "machine/exchange_cost.hpp"

namespace nekbone_k {

/// An exchange strategy: how shared DOFs are exchanged.
struct Strategy {
  std::string name;         ///< as in the input and the report
  std::string memory;       ///< memory that holds the messages
  std::string description;  ///< one line for --list-strategies
  ExchangeFactory make = nullptr;
  /// Whether elements inside the rank are computed while messages are under way.
  bool overlapped = false;
  /// Number of buffers that hold the messages of a call, sent or received. Buffers that messages
  /// pass through count, too.
  int buffers = 2;
  CostModel cost = {};              ///< how the cost model predicts its time
  std::string_view not_built = {};  ///< what this build lacks for it; empty if nothing
};

/// All strategies, from the simplest to the most complex. Among strategies that tie, the tuner
/// selects the first in this order; for strategies timed with Ax see tune(). The order follows
/// these rules:
///
/// - plain before overlapped;
/// - direct before its staged twin, because staging adds two copies and two buffers;
/// - point-to-point before collective, collective before one-sided, one-sided before strategies
///   that pass items through other ranks;
/// - MPI before anything else.
std::span<const Strategy> all_strategies();

/// The strategy to start with. It needs only messages in host memory, which every MPI has.
const Strategy& first_strategy();

/// The strategy of that name, or nullptr.
const Strategy* find_strategy(const std::string& name);

/// What an overlapped strategy is without work meanwhile; any other one is itself.
Strategy without_overlap(const Strategy& strategy);

/// The reason why `strategy` is unavailable in this build or on this machine; empty if it is
/// available. Collective, with the same result on every rank.
std::string why_unavailable(const Communicator& comm, const Strategy& strategy);

}  // namespace nekbone_k
