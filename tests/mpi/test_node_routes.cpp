// SPDX-License-Identifier: BSD-3-Clause
// The routes between nodes against brute force, for which every rank gets all plans and routes.
#include "gs/node_routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

using Integers = std::vector<std::int64_t>;
using Message = NodeRoutes::Message;

// Every rank's list, on every rank.
std::vector<Integers> of_all_ranks(const Communicator& comm, const Integers& list) {
  return comm.exchange(std::vector<Integers>(comm.size(), list));
}

Integers flat(const std::vector<Message>& messages) {
  Integers list;
  for (const Message& m : messages) list.insert(list.end(), {m.rank, m.begin, m.count});
  return list;
}

std::vector<Message> messages(const Integers& list) {
  std::vector<Message> made;
  for (std::size_t at = 0; at < list.size(); at += 3)
    made.push_back({static_cast<int>(list[at]), static_cast<LocalIndex>(list[at + 1]),
                    static_cast<LocalIndex>(list[at + 2])});
  return made;
}

// Ranks a < b share (a + 2 b) % 4 DOFs, and all ranks except rank 1 share one more.
std::vector<GlobalId> ids_of(int rank, int size) {
  std::vector<GlobalId> ids;
  if (rank != 1) ids.push_back(1000000);
  for (int other = 0; other < size; ++other) {
    const int low = std::min(rank, other), high = std::max(rank, other);
    for (int i = 0; low < high && i < (low + 2 * high) % 4; ++i)
      ids.push_back(1000 * low + 10 * high + i);
  }
  return ids;
}

// The node of each rank, with a name for test output.
struct Layout {
  std::string name;
  int (*node)(int rank, int size);
};

void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

const std::vector<Layout> layouts{
    {"pairs", [](int rank, int) { return rank / 2 * 2; }},
    {"threes", [](int rank, int) { return rank / 3 * 3; }},
    {"dealt_out_to_two", [](int rank, int) { return rank % 2; }},
    {"dealt_out_to_three", [](int rank, int) { return rank % 3; }},
    {"one_alone", [](int rank, int) { return rank == 0 ? 0 : 1; }},
    {"last_alone_and_two_in_the_midst",
     [](int rank, int size) { return rank == size - 1         ? rank
                                     : rank == 2 || rank == 3 ? 2
                                                              : 0; }},
    {"one_node", [](int, int) { return 0; }},
    {"each_alone", [](int rank, int) { return rank; }},
};

class NodeRoutesOf : public testing::TestWithParam<Layout> {
 protected:
  std::vector<int> nodes() const {
    std::vector<int> of_rank;
    for (int r = 0; r < m_comm.size(); ++r) of_rank.push_back(GetParam().node(r, m_comm.size()));
    return of_rank;
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank();
  const std::vector<int> m_nodes = nodes();
  const HaloPlan m_plan = make_halo_plan(m_comm, ids_of(m_comm.rank(), m_comm.size()));
  const NodeRoutes m_routes = find_node_routes(m_comm, m_plan, m_nodes);
};

TEST_P(NodeRoutesOf, EachMessageSlotGoesOneWay) {
  std::vector<int> ways(m_plan.n_slots(), 0);
  const auto mark = [&](LocalIndex begin, LocalIndex count) {
    for (LocalIndex i = begin; i < begin + count; ++i) ++ways[i];
  };
  std::vector<Message> near;
  for (const Neighbour& n : m_plan.neighbours)
    if (m_nodes[n.rank] == m_nodes[m_rank]) near.push_back({n.rank, n.offset, n.count});
  EXPECT_EQ(m_routes.near, near);
  for (const Message& m : m_routes.near) mark(m.begin, m.count);
  for (const Message& m : m_routes.carried) {
    EXPECT_NE(m.rank, m_rank);
    EXPECT_EQ(m_nodes[m.rank], m_nodes[m_rank]);
    mark(m.begin, m.count);
  }
  for (const NodeRoutes::Own& own : m_routes.own) mark(own.slot, own.count);
  EXPECT_EQ(ways, std::vector<int>(m_plan.n_slots(), 1));
}

TEST_P(NodeRoutesOf, EachPassingItemHasOneSenderOneNodeAndOnePlace) {
  std::vector<int> senders(m_routes.n_passing(), 0), of_nodes = senders;
  const auto mark = [](std::vector<int>& marks, LocalIndex begin, LocalIndex count) {
    for (LocalIndex i = begin; i < begin + count; ++i) ++marks.at(i);
  };
  for (const Message& m : m_routes.members) {
    EXPECT_NE(m.rank, m_rank);
    EXPECT_EQ(m_nodes[m.rank], m_nodes[m_rank]);
    mark(senders, m.begin, m.count);
  }
  for (const NodeRoutes::Own& own : m_routes.own) mark(senders, own.begin, own.count);
  for (const Message& m : m_routes.nodes) {
    EXPECT_NE(m_nodes[m.rank], m_nodes[m_rank]);
    mark(of_nodes, m.begin, m.count);
  }
  const std::vector<int> once(m_routes.n_passing(), 1);
  EXPECT_EQ(senders, once);
  EXPECT_EQ(of_nodes, once);
  std::vector<LocalIndex> sorted = m_routes.turned, all(m_routes.n_passing());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
}

TEST_P(NodeRoutesOf, MembersAndTheirCarriersAgreeMessageByMessage) {
  const auto carried = of_all_ranks(m_comm, flat(m_routes.carried));
  for (int r = 0; r < m_comm.size(); ++r) {
    std::vector<LocalIndex> sent, expected;
    for (const Message& m : messages(carried[r]))
      if (m.rank == m_rank) sent.push_back(m.count);
    for (const Message& m : m_routes.members)
      if (m.rank == r) expected.push_back(m.count);
    EXPECT_EQ(sent, expected) << "of rank " << r;
  }
}

TEST_P(NodeRoutesOf, OneMessageTravelsBetweenTwoNodes) {
  Integers own_plan;
  for (const Neighbour& n : m_plan.neighbours) own_plan.insert(own_plan.end(), {n.rank, n.count});
  const auto plans = of_all_ranks(m_comm, own_plan);
  const auto routes = of_all_ranks(m_comm, flat(m_routes.nodes));

  using Pair = std::pair<int, int>;  // nodes: from, to
  std::map<Pair, std::int64_t> expected;
  for (int r = 0; r < m_comm.size(); ++r)
    for (std::size_t at = 0; at < plans[r].size(); at += 2)
      if (const int to = m_nodes[plans[r][at]]; to != m_nodes[r])
        expected[{m_nodes[r], to}] += plans[r][at + 1];
  std::map<Pair, std::int64_t> found;
  std::map<Pair, std::set<int>> carriers;
  for (int r = 0; r < m_comm.size(); ++r)
    for (const Message& m : messages(routes[r])) {
      const Pair pair{m_nodes[r], m_nodes[m.rank]};
      EXPECT_TRUE(found.insert({pair, m.count}).second) << "two messages";
      carriers[pair].insert(r);
      carriers[{pair.second, pair.first}].insert(m.rank);
    }
  EXPECT_EQ(found, expected);
  // The same rank carries both directions, at either end.
  for (const auto& [pair, ranks] : carriers) EXPECT_EQ(ranks.size(), 1u);
}

TEST_P(NodeRoutesOf, CarriersOfANodeShareItsPairsEvenly) {
  const auto n_pairs = of_all_ranks(m_comm, {static_cast<std::int64_t>(m_routes.nodes.size())});
  std::int64_t least = m_comm.size(), most = 0;
  for (int r = 0; r < m_comm.size(); ++r)
    if (m_nodes[r] == m_nodes[m_rank]) {
      least = std::min(least, n_pairs[r].front());
      most = std::max(most, n_pairs[r].front());
    }
  EXPECT_LE(most - least, 1);
}

INSTANTIATE_TEST_SUITE_P(Layouts, NodeRoutesOf, testing::ValuesIn(layouts),
                         [](const auto& test) { return test.param.name; });

TEST(NodeRoutes, AreCarriedByWhoHasMostToSend) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 4) GTEST_SKIP() << "needs two nodes of two ranks";
  // Ranks 0 and 1 are on one node, 2 and 3 on another. Rank 1 shares five DOFs with rank 2, and
  // rank 0 shares one with rank 3.
  std::vector<GlobalId> ids;
  if (comm.rank() == 1 || comm.rank() == 2) ids = {1, 2, 3, 4, 5};
  if (comm.rank() == 0 || comm.rank() == 3) ids = {6};
  std::vector<int> nodes(comm.size(), 4);
  nodes[0] = nodes[1] = 0;
  nodes[2] = nodes[3] = 2;
  const NodeRoutes routes = find_node_routes(comm, make_halo_plan(comm, ids), nodes);
  switch (comm.rank()) {
    case 0:
      EXPECT_EQ(routes.carried, (std::vector<Message>{{1, 0, 1}}));
      break;
    case 1:  // 0's item, then its own
      EXPECT_EQ(routes.members, (std::vector<Message>{{0, 0, 1}}));
      EXPECT_EQ(routes.own, (std::vector<NodeRoutes::Own>{{0, 1, 5}}));
      EXPECT_EQ(routes.nodes, (std::vector<Message>{{2, 0, 6}}));
      // Received in another order: from rank 2 to 1, then from rank 3 to 0.
      EXPECT_EQ(routes.turned, (std::vector<LocalIndex>{5, 0, 1, 2, 3, 4}));
      break;
    case 2:
      EXPECT_EQ(routes.members, (std::vector<Message>{{3, 5, 1}}));
      EXPECT_EQ(routes.own, (std::vector<NodeRoutes::Own>{{0, 0, 5}}));
      EXPECT_EQ(routes.nodes, (std::vector<Message>{{1, 0, 6}}));
      EXPECT_EQ(routes.turned, (std::vector<LocalIndex>{1, 2, 3, 4, 5, 0}));
      break;
    case 3:
      EXPECT_EQ(routes.carried, (std::vector<Message>{{2, 0, 1}}));
      break;
    default:
      EXPECT_EQ(routes.n_passing(), 0);
  }
}

}  // namespace
}  // namespace nekbone_k
