// SPDX-License-Identifier: BSD-3-Clause
// The timer of exchanges, if the work around them fails.
#include "tuning/exchange_timer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/give_up.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {
namespace {

// The other ranks wait for the all-reduce, so a rank whose work throws takes part in it.
TEST(ExchangeTimer, StartsAndEndsTheAllReduceIfTheWorkThrows) {
  const Communicator comm(MPI_COMM_WORLD);
  const GatherScatter gs(comm, std::vector<GlobalId>{0, 1 + comm.rank()});
  auto halo = std::make_unique<HaloExchange<double>>(comm, gs.message_plan(), first_strategy(), 1);
  std::vector<std::string> events;
  OverlapWork work{"work", [](double) { throw std::runtime_error("no work"); }};
  work.sum = {"sum", [&] { events.push_back("started"); }, [&] { events.push_back("ended"); }};
  ExchangeTimer<double> timer(gs, 1, work);
  const std::vector<std::string> both{"started", "ended"};

  EXPECT_THROW(timer.exchange_amid_work(1, *halo), std::runtime_error);
  EXPECT_EQ(events, both);
  events.clear();
  EXPECT_THROW(timer.exchange_after_work(1, *halo), std::runtime_error);
  EXPECT_EQ(events, both);

  // As the tuner does: the first exchange posted messages, which may still arrive.
  give_up(std::move(halo));
  timer.renew_field();
}

}  // namespace
}  // namespace nekbone_k
