// SPDX-License-Identifier: BSD-3-Clause
// Made-up strategies for the tests: correct ones, wrong ones, and ones that throw.
#pragma once

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gs/strategy_table.hpp"

namespace nekbone_k {

/// A correct exchange: pairwise messages, staged through host memory. Base class of exchanges that
/// add something to it or replace parts of it.
class RightExchange : public Exchange {
 public:
  RightExchange(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers);
  void post() override { m_inner->post(); }
  Arrival wait() override { return m_inner->wait(); }
  void poison() override { m_inner->poison(); }
  void check() const override { m_inner->check(); }

 private:
  std::unique_ptr<Exchange> m_inner;
};

/// The ExchangeFactory of a class.
template <class Made>
std::unique_ptr<Exchange> make(const Communicator& comm, const HaloPlan& plan,
                               const MessageBuffers& buffers) {
  return std::make_unique<Made>(comm, plan, buffers);
}

/// A strategy whose exchanges come from `make`.
Strategy named(const std::string& name, ExchangeFactory make, bool overlapped = false);
/// A correct strategy: pairwise messages, staged through host memory.
Strategy good(const std::string& name, bool overlapped = false);

/// A made exchange: the size of its items and the number of its calls.
struct MadeExchange {
  std::size_t item_bytes = 0;
  int calls = 0;
};
/// A correct strategy that adds each of its exchanges to made_exchanges().
Strategy noted(const std::string& name, bool overlapped = false);
std::vector<MadeExchange>& made_exchanges();

/// The ranks at fault.
enum class Where { everywhere, last_rank };

/// The damage to the messages of a correct exchange.
enum class Fault {
  delivers_nothing,
  skips_a_neighbour,          ///< its part of the receive buffer stays unchanged
  corrupts_a_byte,            ///< the least significant of the first item
  delivers_the_last_call,     ///< correct at the first call, then one call behind
  reverses_a_message,         ///< correct values in wrong slots
  swaps_components,           ///< correct with one component
  fails_for_floats,           ///< correct for double
  fails_for_three_components  ///< correct for fewer
};

/// A pairwise exchange staged through host memory, with this fault.
std::unique_ptr<Exchange> make_faulty(Fault fault, Where where, const Communicator& comm,
                                      const HaloPlan& plan, const MessageBuffers& buffers);

/// A strategy that verification must find wrong if DOFs are shared.
struct Wrong {
  Strategy strategy;
  Where where;
};
/// One strategy per fault and place, and one that leaves a message unreceived.
std::vector<Wrong> wrong_strategies();

/// A strategy whose last rank sends nothing from the third call of all its exchanges on, so that
/// its neighbours wait forever unless there is a timeout.
Strategy stops_sending(const std::string& name);

/// A strategy whose exchanges are each correct for a few calls and then deliver NaN.
Strategy turns_wrong(const std::string& name, bool overlapped = false);
/// Strategies whose exchanges are each correct for a few calls. Then messages do not arrive, or the
/// exchanges throw "out of rendezvous slots".
std::vector<Strategy> failing_while_timed();
/// A correct strategy that takes some milliseconds.
Strategy slow(const std::string& name);

/// A factory of exchanges that throw "out of rendezvous slots".
struct Thrower {
  std::string name;
  Where where;
  ExchangeFactory make;
};
/// Factories of exchanges that throw when they are made, post or wait, on all ranks or on
/// one rank. They leave messages that nobody receives, or a collective that some ranks never join.
std::vector<Thrower> throwers();

/// Their names in GoogleTest.
inline void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.strategy.name; }
inline void PrintTo(const Thrower& thrower, std::ostream* out) { *out << thrower.name; }

}  // namespace nekbone_k
