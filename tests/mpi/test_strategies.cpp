// SPDX-License-Identifier: BSD-3-Clause
// Requirements on every exchange strategy: it delivers the bytes of each message to their slots.
#include "gs/strategy_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/system.hpp"
#include "gs/field_exchange.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/pairwise.hpp"
#include "support/available_strategies.hpp"
#include "support/made_up_messages.hpp"
#include "support/pretended_nodes.hpp"

namespace nekbone_k {
namespace {

// The name of a test, from that of the strategy.
std::string test_name(const testing::TestParamInfo<Strategy>& test) {
  std::string name = test.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class StrategiesTest : public testing::TestWithParam<Strategy> {
 protected:
  void SetUp() override {
    std::string why = why_unavailable(m_comm, GetParam());
    if (!why.empty() && m_comm.size() > 2) {
      m_nodes.emplace(2);  // some strategies need several nodes
      why = why_unavailable(m_comm, GetParam());
    }
    if (!why.empty()) GTEST_SKIP() << why;
  }

  std::optional<PretendedNodes> m_nodes;
  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank();
  const HaloPlan m_plan = make_halo_plan(m_comm, candidates_of(m_comm.rank(), m_comm.size()));
};

// Tests of the exchange alone, which is the same for plain and overlapped strategies.
class StrategiesPlain : public StrategiesTest {
 protected:
  void expect_delivery() const;
};

// Tests of the exchange with packing, which differs for overlapped strategies.
class StrategiesEach : public StrategiesTest {};

TEST(Strategies, HaveTheExchangeOfTheirPlainOne) {
  for (const Strategy& strategy : all_strategies()) {
    if (!strategy.overlapped) continue;
    const std::string plain = strategy.name.substr(0, strategy.name.find('+'));
    ASSERT_NE(find_strategy(plain), nullptr) << strategy.name;
    EXPECT_EQ(strategy.make, find_strategy(plain)->make) << strategy.name;
  }
}

// One byte of an item. It differs for ranks, items, bytes and calls that could be mixed up.
unsigned char content(int from, int to, int index, int byte, int call) {
  return static_cast<unsigned char>(1 + 37 * from + 59 * to + 11 * index + 3 * byte + 101 * call);
}

void StrategiesPlain::expect_delivery() const {
  constexpr int guard = 32;
  constexpr unsigned char untouched = 0xa5;
  for (const int item_bytes : {1, 4, 8, 12, 24}) {
    const int bytes = item_bytes * m_plan.n_slots();
    const Buffer send(bytes + guard), receive(bytes + guard);
    receive.fill(untouched);
    const auto exchange = GetParam().make(
        m_comm, m_plan, {send.data(), receive.data(), static_cast<std::size_t>(item_bytes)});

    for (int call = 0; call < 4; ++call) {
      std::vector<unsigned char> sent(bytes + guard, untouched), expected = sent;
      for (const Neighbour& n : m_plan.neighbours)
        for (int i = 0; i < n.count; ++i)
          for (int b = 0; b < item_bytes; ++b) {
            const int at = (n.offset + i) * item_bytes + b;
            sent[at] = content(m_rank, n.rank, i, b, call);
            expected[at] = content(n.rank, m_rank, i, b, call);
          }
      send.copy_from(sent);
      exchange->post();
      exchange->wait();
      exchange->collect();

      EXPECT_EQ(receive.content(), expected) << item_bytes << " bytes an item, call " << call;
      EXPECT_EQ(send.content(), sent);
    }
  }
}

TEST_P(StrategiesPlain, DeliversEveryByteOfEveryMessageAtEveryCall) { expect_delivery(); }

TEST_P(StrategiesPlain, DeliversBetweenNodes) {
  for (const int ranks_per_node : {1, 2, 3, 5}) {
    const PretendedNodes nodes(ranks_per_node);
    if (why_unavailable(m_comm, GetParam()).empty()) expect_delivery();
  }
}

TEST_P(StrategiesPlain, ReadsTheSendBufferAtTheCallNotBefore) {
  // The buffer changes after construction and poisoning. The content at post() counts.
  const Buffer send(m_plan.n_slots()), receive(m_plan.n_slots());
  send.fill(1);
  const auto exchange = GetParam().make(m_comm, m_plan, {send.data(), receive.data(), 1});
  exchange->poison();
  send.fill(2 + m_rank);
  exchange->post();
  exchange->wait();
  exchange->collect();
  send.fill(200);  // the buffer may be reused now
  const auto got = receive.content();
  for (const Neighbour& n : m_plan.neighbours)
    for (int i = 0; i < n.count; ++i) EXPECT_EQ(got[n.offset + i], 2 + n.rank);
}

TEST_P(StrategiesPlain, LivesBesideOthersOfItsKind) {
  // The exchanges of fields with other types or components use the same communicator in turn.
  const Buffer send_a(m_plan.n_slots()), receive_a(m_plan.n_slots());
  const Buffer send_b(8 * m_plan.n_slots()), receive_b(8 * m_plan.n_slots());
  send_a.fill(10 + m_rank);
  send_b.fill(50 + m_rank);
  const auto a = GetParam().make(m_comm, m_plan, {send_a.data(), receive_a.data(), 1});
  {
    const auto b = GetParam().make(m_comm, m_plan, {send_b.data(), receive_b.data(), 8});
    for (Exchange* const exchange : {a.get(), b.get()}) {
      exchange->post();
      exchange->wait();
      exchange->collect();
    }
  }
  a->post();
  a->wait();
  a->collect();
  const auto got_a = receive_a.content(), got_b = receive_b.content();
  for (const Neighbour& n : m_plan.neighbours) {
    for (int i = n.offset; i < n.offset + n.count; ++i) EXPECT_EQ(got_a[i], 10 + n.rank);
    for (int i = 8 * n.offset; i < 8 * (n.offset + n.count); ++i) EXPECT_EQ(got_b[i], 50 + n.rank);
  }
}

// Shares whose sum rounds, so that it depends on the order of addition.
template <class T>
T rounding_share(GlobalId id, int rank, int component, int call) {
  return T(1) / T(3 + (id % 89 * 7 + rank * 13 + component * 5 + call * 29) % 97);
}

// An exchange whose sums must equal those of a loop over the ranks.
template <class T>
class SumsInRankOrder {
 public:
  SumsInRankOrder(const Communicator& comm, const Strategy& strategy, CandidatesOf candidates,
                  int components)
      : m_comm(comm),
        m_plan(std::make_shared<const DeviceHaloPlan>(
            make_halo_plan(comm, candidates(comm.rank(), comm.size())))),
        m_exchange(comm, m_plan, strategy, components) {
    m_ranks_of_shared.resize(n_shared());
    for (int r = 0; r < comm.size(); ++r) {
      auto ids = candidates(r, comm.size());
      std::sort(ids.begin(), ids.end());
      for (LocalIndex s = 0; s < n_shared(); ++s)
        if (std::binary_search(ids.begin(), ids.end(), m_plan->host.ids[s]))
          m_ranks_of_shared[s].push_back(r);
    }
  }

  LocalIndex n_shared() const { return m_plan->host.n_shared(); }

  // Fills the first entries of `field` with the shares of a call. Expects that the exchange sums
  // them and changes nothing else.
  void expect(const DeviceField<T>& field, int call) {
    const auto host = Kokkos::create_mirror_view(field);
    const auto components = static_cast<int>(field.extent(1));
    Kokkos::deep_copy(host, T(-7));
    for (LocalIndex s = 0; s < n_shared(); ++s)
      for (int c = 0; c < components; ++c)
        host(s, c) = rounding_share<T>(m_plan->host.ids[s], m_comm.rank(), c, call);
    Kokkos::deep_copy(field, host);
    m_exchange.poison(std::numeric_limits<T>::quiet_NaN());
    if (call == 1) {
      FieldExchange<T>(m_exchange, field, Reduction::add).run();
    } else {
      m_exchange.pack(field);
      m_exchange.post();
      m_exchange.wait();
      m_exchange.unpack(field, Reduction::add);
    }
    Kokkos::deep_copy(host, field);
    for (int c = 0; c < components; ++c) {
      for (LocalIndex s = 0; s < n_shared(); ++s) {
        const GlobalId id = m_plan->host.ids[s];
        std::optional<T> sum;
        for (const int r : m_ranks_of_shared[s]) {
          const T share = rounding_share<T>(id, r, c, call);
          sum = sum ? *sum + share : share;
        }
        EXPECT_EQ(host(s, c), *sum) << "DOF " << id << ", component " << c << ", call " << call;
      }
      for (std::size_t s = n_shared(); s < host.extent(0); ++s) EXPECT_EQ(host(s, c), T(-7));
    }
  }

 private:
  const Communicator& m_comm;
  std::shared_ptr<const DeviceHaloPlan> m_plan;
  HaloExchange<T> m_exchange;
  std::vector<std::vector<int>> m_ranks_of_shared;  // by shared DOF, ascending
};

// Uses a new field at each call. Every other field has entries after the shared ones.
template <class T>
void expect_sums_of_new_fields(SumsInRankOrder<T> sums, int components) {
  for (int call = 0; call < 4; ++call)
    sums.expect(DeviceField<T>("field", sums.n_shared() + call % 2 * 5, components), call);
}

// Uses two fields repeatedly, with new shares at each call.
void expect_sums_of_two_fields(SumsInRankOrder<double> sums, int components) {
  const DeviceField<double> a("a", sums.n_shared(), components);
  const DeviceField<double> b("b", sums.n_shared(), components);
  int call = 0;
  for (const auto& field : {a, b, a, a, b, b, a}) sums.expect(field, call++);
}

constexpr CandidatesOf all_candidates[] = {candidates_of, candidates_of_slab,
                                           candidates_of_faces_and_edges};

TEST_P(StrategiesEach, AddsSharesInRankOrderWhereverTheFieldLies) {
  for (const CandidatesOf candidates : all_candidates)
    for (const int n : {1, 2, 3}) {
      expect_sums_of_new_fields<double>({m_comm, GetParam(), candidates, n}, n);
      expect_sums_of_new_fields<float>({m_comm, GetParam(), candidates, n}, n);
    }
}

TEST_P(StrategiesEach, AddsSharesInRankOrderOfTwoFieldsInTurn) {
  for (const CandidatesOf candidates : all_candidates)
    for (const int n : {1, 2}) expect_sums_of_two_fields({m_comm, GetParam(), candidates, n}, n);
}

// A plan of n DOFs that all ranks share.
std::shared_ptr<const DeviceHaloPlan> plan_of_all(const Communicator& comm, LocalIndex n) {
  std::vector<GlobalId> ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return std::make_shared<const DeviceHaloPlan>(make_halo_plan(comm, ids));
}

// Small enough that sums of floats are exact.
KOKKOS_FUNCTION int share_at(LocalIndex s, int component, int rank, int call) {
  return s % 1000 + 1000 * rank + 10'000 * call + 100 * component;
}

template <class T>
struct SetShares {
  DeviceField<T> field;
  int rank, call;
  KOKKOS_FUNCTION void operator()(LocalIndex s) const {
    for (int c = 0; c < static_cast<int>(field.extent(1)); ++c)
      field(s, c) = static_cast<T>(share_at(s, c, rank, call));
  }
};

// Counts wrong sums or, at odd calls, wrong maxima.
template <class T>
struct CountWrong {
  DeviceField<T> field;
  int ranks, call;
  DeviceVector<int> wrong;
  KOKKOS_FUNCTION void operator()(LocalIndex s) const {
    for (int c = 0; c < static_cast<int>(field.extent(1)); ++c) {
      int right = share_at(s, c, ranks - 1, call);
      for (int r = 0; call % 2 == 0 && r < ranks - 1; ++r) right += share_at(s, c, r, call);
      if (field(s, c) != static_cast<T>(right)) Kokkos::atomic_inc(&wrong(0));
    }
  }
};

// All ranks share all DOFs, and ranks synchronize only by the exchange.
template <class T>
int count_wrong_calls_in_a_row(const Communicator& comm, const Strategy& strategy,
                               int components = 1) {
  // Kernels of a GPU run at the same time, so that they may overtake each other.
  const LocalIndex n = is_host_device ? 1000 : 3000;
  const int calls = is_host_device ? 12 : 40;
  const auto plan = plan_of_all(comm, n);
  const LocalIndex n_shared = plan->host.n_shared();
  HaloExchange<T> exchange(comm, plan, strategy, components);
  const DeviceField<T> field("field", n, components);
  const DeviceVector<int> wrong("wrong", 1);
  for (int call = 0; call < calls; ++call) {
    const Kokkos::RangePolicy<ExecutionSpace> shared(0, n_shared);
    Kokkos::parallel_for("shares", shared, SetShares<T>{field, comm.rank(), call});
    const Reduction op = call % 2 == 0 ? Reduction::add : Reduction::max;
    if (call / 2 % 3 != 0) {
      FieldExchange<T>(exchange, field, op).run();
    } else {
      exchange.pack(field);
      exchange.post();
      exchange.wait();
      exchange.unpack(field, op);
    }
    Kokkos::parallel_for("wrong", shared, CountWrong<T>{field, comm.size(), call, wrong});
  }
  Kokkos::fence("calls in a row");
  exchange.check();
  return Kokkos::create_mirror_view_and_copy(HostMemory(), wrong)(0);
}

TEST_P(StrategiesEach, ExchangesAtOnceAndInPartsInTurn) {
  EXPECT_EQ(count_wrong_calls_in_a_row<double>(m_comm, GetParam()), 0);
  EXPECT_EQ(count_wrong_calls_in_a_row<double>(m_comm, GetParam(), 3), 0);
  EXPECT_EQ(count_wrong_calls_in_a_row<float>(m_comm, GetParam()), 0);
  EXPECT_EQ(count_wrong_calls_in_a_row<float>(m_comm, GetParam(), 3), 0);
  for (const int ranks_per_node : {1, 2, 3}) {
    const PretendedNodes nodes(ranks_per_node);
    if (!why_unavailable(m_comm, GetParam()).empty()) continue;
    EXPECT_EQ(count_wrong_calls_in_a_row<double>(m_comm, GetParam()), 0)
        << ranks_per_node << " a node";
  }
}

// The order of the ranks determines whether min and max of 0 and -0 give 0 or -0. All ranks must
// agree.
TEST_P(StrategiesEach, LeavesZerosAlikeOnAllRanks) {
  constexpr LocalIndex n = 3000;
  const auto plan = plan_of_all(m_comm, n);
  HaloExchange<double> exchange(m_comm, plan, GetParam());
  const DeviceField<double> field("field", n, 1);
  const auto host = Kokkos::create_mirror_view(field);
  for (const Reduction op : {Reduction::min, Reduction::max}) {
    for (LocalIndex s = 0; s < n; ++s) host(s, 0) = (s + m_comm.rank()) % 2 == 0 ? 0.0 : -0.0;
    Kokkos::deep_copy(field, host);
    FieldExchange(exchange, field, op).run();
    Kokkos::deep_copy(host, field);
    std::string signs(n, ' ');
    for (LocalIndex s = 0; s < n; ++s) signs[s] = std::signbit(host(s, 0)) ? '-' : '+';
    EXPECT_EQ(signs, m_comm.broadcast(signs));
  }
}

// Counts sums that are not NaN although a share is. The NaN is the one that marks a missing word;
// the exchange must still deliver it.
template <class T, class Word>
int count_numbers_among_nans(const Communicator& comm, const Strategy& strategy, Reduction op) {
  constexpr LocalIndex n = 1000;
  const auto plan = plan_of_all(comm, n);
  HaloExchange<T> exchange(comm, plan, strategy);
  const DeviceField<T> field("field", n, 1);
  const auto host = Kokkos::create_mirror_view(field);
  int numbers = 0;
  for (int call = 0; call < 4; ++call) {
    for (LocalIndex s = 0; s < n; ++s)
      host(s, 0) = comm.rank() == 0 ? Kokkos::bit_cast<T>(not_come<Word>) : T(s);
    Kokkos::deep_copy(field, host);
    FieldExchange<T>(exchange, field, op).run();
    Kokkos::deep_copy(host, field);
    for (LocalIndex s = 0; s < plan->host.n_shared(); ++s) numbers += !std::isnan(host(s, 0));
  }
  return numbers;
}
TEST_P(StrategiesEach, HandsOnEveryNaN) {
  for (const Reduction op : {Reduction::add, Reduction::max}) {
    EXPECT_EQ((count_numbers_among_nans<double, std::uint64_t>(m_comm, GetParam(), op)), 0);
    EXPECT_EQ((count_numbers_among_nans<float, std::uint32_t>(m_comm, GetParam(), op)), 0);
  }
}

// Messages beyond MPI's eager limit, long enough that teams of kernels write more slots each.
// Lengths differ by neighbour, and DOFs of all ranks are among those of two.
TEST_P(StrategiesEach, CombinesLongMessages) {
  const bool by_kernels = !is_host_device && GetParam().cost.carrier == Carrier::peer_memory;
  const GlobalId n_ring = by_kernels ? 1'200'000 : 20'000;
  constexpr GlobalId every = 1009;
  const int ranks = m_comm.size();
  const auto length = [&](int ring) { return n_ring - ring * (n_ring / 50); };
  std::vector<GlobalId> ids;
  std::set<int> rings{m_comm.rank(), (m_comm.rank() + 1) % ranks};
  for (int ring = 0; ring < ranks; ++ring)
    for (GlobalId i = 0; i < length(ring); ++i)
      if (rings.contains(ring) || i % every == 0) ids.push_back(ring * n_ring + i);
  const auto plan = std::make_shared<const DeviceHaloPlan>(make_halo_plan(m_comm, ids));
  const LocalIndex n_shared = plan->host.n_shared();
  HaloExchange<double> exchange(m_comm, plan, GetParam());
  const DeviceField<double> field("field", std::max(n_shared, 1), 1);
  const auto host = Kokkos::create_mirror_view(field);
  const auto share = [](GlobalId id, int rank, int call) {
    return static_cast<double>(id % 1000 + 1000 * rank + 100'000 * call);
  };
  for (int call = 0; call < 4; ++call) {
    for (LocalIndex s = 0; s < n_shared; ++s)
      host(s, 0) = share(plan->host.ids[s], m_comm.rank(), call);
    Kokkos::deep_copy(field, host);
    exchange.poison(std::numeric_limits<double>::quiet_NaN());
    FieldExchange(exchange, field, Reduction::add).run();
    Kokkos::deep_copy(host, field);
    LocalIndex wrong = 0;
    for (LocalIndex s = 0; s < n_shared; ++s) {
      const GlobalId id = plan->host.ids[s];
      const auto ring = static_cast<int>(id / n_ring);
      double sum = 0;
      for (int r = 0; r < ranks; ++r)
        if (r == ring || (r + 1) % ranks == ring || id % n_ring % every == 0)
          sum += share(id, r, call);
      wrong += host(s, 0) != sum;
    }
    EXPECT_EQ(wrong, 0) << "of " << n_shared << " at call " << call;
  }
}

std::vector<Strategy> plain_strategies() {
  std::vector<Strategy> plain;
  for (const Strategy& strategy : all_strategies())
    if (!strategy.overlapped) plain.push_back(strategy);
  return plain;
}

INSTANTIATE_TEST_SUITE_P(Table, StrategiesPlain, testing::ValuesIn(plain_strategies()), test_name);
INSTANTIATE_TEST_SUITE_P(Table, StrategiesEach,
                         testing::ValuesIn(all_strategies().begin(), all_strategies().end()),
                         test_name);

// ---- Poison ------------------------------------------------------------------------------------

// Delivers only at its first call.
class DeliversOnce final : public Exchange {
 public:
  explicit DeliversOnce(std::unique_ptr<Exchange> inner) : m_inner(std::move(inner)) {}
  void post() override {
    if (m_calls == 0) m_inner->post();
  }
  Arrival wait() override { return m_calls++ == 0 ? m_inner->wait() : Arrival(); }

 private:
  std::unique_ptr<Exchange> m_inner;
  int m_calls = 0;
};

std::unique_ptr<Exchange> make_delivers_once(const Communicator& comm, const HaloPlan& plan,
                                             const MessageBuffers& buffers) {
  return std::make_unique<DeliversOnce>(make_pairwise(comm, plan, buffers));
}

class StrategiesPoison : public testing::TestWithParam<bool> {
 protected:
  const Communicator m_comm{MPI_COMM_WORLD};
};

// Without poison in the staging buffers, data of the previous call would pass for a delivery.
TEST_P(StrategiesPoison, ShowsInEveryBufferWhatWasNotDelivered) {
  const bool staged = GetParam();
  Strategy strategy;
  strategy.make = staged ? host_staged<make_delivers_once> : make_delivers_once;
  const auto plan = std::make_shared<const DeviceHaloPlan>(
      make_halo_plan(m_comm, candidates_of(m_comm.rank(), m_comm.size())));
  const LocalIndex n_shared = plan->host.n_shared();
  constexpr int components = 2;
  HaloExchange<double> exchange(m_comm, plan, strategy, components);

  const DeviceField<double> field("field", n_shared, components);
  for (int call = 0; call < 2; ++call) {
    Kokkos::deep_copy(field, 1.0);
    exchange.poison(std::numeric_limits<double>::quiet_NaN());
    exchange.pack(field);
    exchange.post();
    exchange.wait();
    exchange.unpack(field, Reduction::add);
    const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), field);
    for (LocalIndex s = 0; s < n_shared; ++s)
      for (int c = 0; c < components; ++c) {
        const int sharers = plan->host.share_offsets[s + 1] - plan->host.share_offsets[s];
        if (call == 0) {
          EXPECT_EQ(host(s, c), sharers);
        } else {
          EXPECT_TRUE(std::isnan(host(s, c))) << host(s, c);
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, StrategiesPoison, testing::Bool(),
                         [](const auto& test) { return test.param ? "staged" : "direct"; });

// ---- Unavailable strategies --------------------------------------------------------------------

TEST(StrategiesOfNodes, AreNotHereWhereThereIsNothingToGather) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<int> nodes = nodes_of_ranks(comm);
  const bool one_node = std::set<int>(nodes.begin(), nodes.end()).size() == 1;
  for (const char* const name :
       {"device-node-aware", "host-node-aware", "host-node-aware+overlap"}) {
    const Strategy& strategy = *find_strategy(name);
    if (one_node) {
      EXPECT_EQ(why_unavailable(comm, strategy),
                "all ranks are on one node: nothing goes to another");
    }
    if (comm.size() == 1) continue;
    const PretendedNodes alone(1);
    EXPECT_EQ(why_unavailable(comm, strategy),
              "each rank is alone on its node: there is nothing to gather");
    if (comm.size() == 2) continue;
    const PretendedNodes pairs(2);
    EXPECT_EQ(why_unavailable(comm, strategy), "");
  }
}

}  // namespace
}  // namespace nekbone_k
