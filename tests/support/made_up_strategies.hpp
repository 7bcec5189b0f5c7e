// Strategies made up for the tests: right ones, wrong ones, and ones that throw.
#pragma once

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gs/strategy_table.hpp"

namespace nekbone_k {

/// A right exchange, pairwise messages staged through the host, for those that do something
/// beside it or instead of it.
class RightExchange : public Exchange {
 public:
  RightExchange(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers);
  void start() override { m_inner->start(); }
  void finish() override { m_inner->finish(); }
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

/// One whose exchanges `make` makes.
Strategy named(const std::string& name, ExchangeFactory make, bool overlapped = false);
/// A right one: pairwise messages, staged through the host.
Strategy good(const std::string& name, bool overlapped = false);

/// An exchange that was made: how long its items are, and how often it was started.
struct MadeExchange {
  std::size_t item_bytes = 0;
  int starts = 0;
};
/// A right one that adds each exchange that is made of it to made_exchanges().
Strategy noted(const std::string& name, bool overlapped = false);
std::vector<MadeExchange>& made_exchanges();

/// Which ranks do wrong.
enum class Where { everywhere, last_rank };

/// What they do to the messages that a right exchange delivered.
enum class Fault {
  delivers_nothing,
  skips_a_neighbour,          ///< whose part of the receive buffer stays as it was
  corrupts_a_byte,            ///< the least significant of the first item
  delivers_the_last_call,     ///< right at the first call, one call behind after it
  reverses_a_message,         ///< right values in wrong slots
  swaps_components,           ///< right with one component
  fails_for_floats,           ///< right for double
  fails_for_three_components  ///< right for fewer
};

/// An exchange with that fault; pairwise messages, staged through the host, but for it.
std::unique_ptr<Exchange> make_faulty(Fault fault, Where where, const Communicator& comm,
                                      const HaloPlan& plan, const MessageBuffers& buffers);

/// A strategy that has to be found wrong where DOFs are shared.
struct Wrong {
  Strategy strategy;
  Where where;
};
/// One for each fault and place, and one that leaves a message behind.
std::vector<Wrong> wrong_strategies();

/// One of which the last rank sends nothing from the third call of all its exchanges on, so that
/// the neighbours wait for ever if they are let.
Strategy stops_sending(const std::string& name);

/// One whose exchanges are right for the first few calls of each, and then deliver NaN.
Strategy turns_wrong(const std::string& name, bool overlapped = false);
/// Right ones for the first calls of each exchange; then messages do not come, or they throw "out
/// of rendezvous slots".
std::vector<Strategy> failing_while_timed();
/// A right one that takes some milliseconds.
Strategy slow(const std::string& name);

/// What makes exchanges that throw "out of rendezvous slots".
struct Thrower {
  std::string name;
  Where where;
  ExchangeFactory make;
};
/// Those that throw when made, at the start or at the finish; everywhere or on one rank; messages
/// that nobody receives then, or a collective that some ranks never join.
std::vector<Thrower> throwers();

/// How GoogleTest names them.
inline void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.strategy.name; }
inline void PrintTo(const Thrower& thrower, std::ostream* out) { *out << thrower.name; }

}  // namespace nekbone_k
