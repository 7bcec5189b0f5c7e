// SPDX-License-Identifier: BSD-3-Clause
// Messages of consecutive DOFs, which are sent from the field without packing.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "gs/message_layout.hpp"
#include "gs/strategy_table.hpp"
#include "support/made_up_messages.hpp"

namespace nekbone_k {
namespace {

// The memory that an exchange sends from, tested by the interface that HaloExchange uses.
class MessagesInPlace : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!is_host_device) GTEST_SKIP() << "MPI is given no field in a device's memory";
    const std::string why = why_unavailable(m_comm, m_strategy);
    if (!why.empty()) GTEST_SKIP() << why;
  }

  HaloPlan plan_of(CandidatesOf candidates) const {
    return make_halo_plan(m_comm, candidates(m_comm.rank(), m_comm.size()));
  }
  std::unique_ptr<Exchange> make(const HaloPlan& plan, const Buffer& send, const Buffer& receive,
                                 int components = 1) const {
    return m_strategy.make(m_comm, plan,
                           {send.data(), receive.data(), components * sizeof(double)});
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  const Strategy& m_strategy = *find_strategy(GetParam());
};

using MessagesInPlaceOrPackedAtOnce = MessagesInPlace;

double share_of_call(GlobalId id, int rank, int call) { return 1000. * call + 100 * id + rank; }

TEST_P(MessagesInPlace, ConsecutiveDofsAreSentFromTheField) {
  constexpr double untouched = -1;
  for (const CandidatesOf candidates : {candidates_of_slab, candidates_of_faces_and_edges}) {
    const HaloPlan plan = plan_of(candidates);
    const std::size_t bytes = plan.n_slots() * sizeof(double);
    const Buffer send(bytes), receive(bytes);
    auto* const sent = reinterpret_cast<double*>(send.data());
    const auto* const received = reinterpret_cast<const double*>(receive.data());
    const auto exchange = make(plan, send, receive);
    const DeviceVector<double> a("a", plan.n_shared()), b("b", plan.n_shared());
    const bool some_stay = message_layouts(plan).contiguous > 0;

    for (int call = 0; call < 7; ++call) {
      const DeviceVector<double>& field = call % 2 == 0 ? a : b;
      for (LocalIndex s = 0; s < plan.n_shared(); ++s)
        field(s) = share_of_call(plan.ids[s], m_comm.rank(), call);
      std::fill_n(sent, plan.n_slots(), untouched);
      receive.fill(0xff);
      // Some calls pass no field, like a staged exchange, so the exchange sends the packed buffer.
      const bool is_told = call % 3 != 2;
      const bool packs = is_told && exchange->pack({field.data(), field.extent(0), 8, 1});
      EXPECT_TRUE(packs || !is_told || !some_stay);
      if (!packs)
        for (LocalIndex slot = 0; slot < plan.n_slots(); ++slot)
          sent[slot] = field(plan.message_dofs[slot]);
      exchange->post();
      exchange->wait();

      for (const Neighbour& n : plan.neighbours) {
        const bool stays = packs && layout_of(plan, n) == MessageLayout::contiguous;
        for (LocalIndex slot = n.offset; slot < n.offset + n.count; ++slot) {
          const GlobalId id = plan.ids[plan.message_dofs[slot]];
          EXPECT_EQ(received[slot], share_of_call(id, n.rank, call)) << "call " << call;
          if (stays) {
            EXPECT_EQ(sent[slot], untouched) << "call " << call;
          }
        }
      }
    }
  }
}

// The name of a test: "put" for "device-put".
std::string way_of(const testing::TestParamInfo<const char*>& test) {
  return test.param + std::string("device-").size();
}

INSTANTIATE_TEST_SUITE_P(Table, MessagesInPlace,
                         testing::Values("device-pairwise", "device-persistent", "device-put",
                                         "device-pipelined", "device-datatypes"),
                         way_of);

TEST_P(MessagesInPlaceOrPackedAtOnce, PackingIsTheCallersWhereNothingCanStay) {
  constexpr int components = 2;  // components are interleaved, so no DOFs are consecutive
  const HaloPlan plan = plan_of(candidates_of_slab);
  const DeviceField<double> field("field", plan.n_shared(), components);
  const Buffer send(8 * components * plan.n_slots()), receive(8 * components * plan.n_slots());
  send.fill(0xa5);
  const auto before = send.content();
  const auto exchange = make(plan, send, receive, components);
  EXPECT_FALSE(exchange->pack({field.data(), field.stride(1), 8, components}));
  EXPECT_EQ(send.content(), before);
}

INSTANTIATE_TEST_SUITE_P(Table, MessagesInPlaceOrPackedAtOnce,
                         testing::Values("device-pairwise", "device-persistent", "device-put"),
                         way_of);

}  // namespace
}  // namespace nekbone_k
