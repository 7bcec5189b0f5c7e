/// @file
/// Every exchange strategy there is: a class in strategies/ and a line of the table in
/// strategy_table.cpp each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gs/cost_model.hpp"
#include "gs/exchange.hpp"

namespace nekbone_k {

/// One way to exchange shared DOFs.
struct Strategy {
  std::string name;         ///< as in the input and the report
  std::string memory;       ///< the memory that messages are read from and written to
  std::string description;  ///< one line for --list-strategies
  ExchangeFactory make = nullptr;
  /// Whether work on interior elements is done between start and finish.
  bool overlapped = false;
  /// How often it holds the messages of a call, sent or received: once each, and again where they
  /// pass through further buffers.
  int buffers = 2;
  CostModel cost = {};              ///< what it should take
  std::string_view not_built = {};  ///< what this build lacks for it; empty if nothing
};

/// All strategies, from the simplest to the least simple: among strategies that tie, the tuner
/// takes the one that comes first here, but under work see tune(). Plain before overlapped;
/// direct before staged, as staging adds two copies and two buffers; point-to-point before
/// collective, that before one-sided and what passes through other ranks; MPI before anything else.
std::span<const Strategy> all_strategies();

/// The strategy to start with: it needs only MPI's messages of host memory, which every MPI has.
const Strategy& first_strategy();

/// The strategy of that name, or nullptr.
const Strategy* find_strategy(const std::string& name);

/// What `strategy` lacks in this build or on this machine; empty if nothing. Collective, with the
/// same result on every rank.
std::string why_unavailable(const Communicator& comm, const Strategy& strategy);

}  // namespace nekbone_k
