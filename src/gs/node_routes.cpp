// SPDX-License-Identifier: BSD-3-Clause
#include "gs/node_routes.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace nekbone_k {
namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

/// A message from `member`, a rank of this node, to `far`, a rank of another node.
struct FarMessage {
  int member, far;
  LocalIndex slot, count;  ///< in the message buffers of `member`
};

/// All messages from this node to one other node.
struct NodePair {
  std::vector<FarMessage> messages;  ///< by member, then by `far`
  int carrier = 0;
};

/// Consecutive slots of a member whose items are also consecutive at its carrier.
struct Run {
  int member;
  LocalIndex slot;
  int carrier;
  LocalIndex begin, count;  ///< passing items of the carrier
};

/// The messages of this node by destination node. The result is the same on every rank of the node.
std::map<int, NodePair> find_node_pairs(const Communicator& comm, const HaloPlan& plan,
                                        std::span<const int> nodes) {
  const int here = nodes[comm.rank()];
  Lists to_rank(comm.size());
  for (int r = 0; r < comm.size(); ++r)
    if (nodes[r] == here)
      for (const Neighbour& n : plan.neighbours)
        to_rank[r].insert(to_rank[r].end(), {n.rank, n.count});

  std::map<int, NodePair> pairs;
  const Lists of_member = comm.exchange(to_rank);
  for (int member = 0; member < comm.size(); ++member) {
    LocalIndex slot = 0;
    for (std::size_t at = 0; at < of_member[member].size(); at += 2) {
      const int far = static_cast<int>(of_member[member][at]);
      const auto count = static_cast<LocalIndex>(of_member[member][at + 1]);
      if (nodes[far] != here) pairs[nodes[far]].messages.push_back({member, far, slot, count});
      slot += count;
    }
  }
  return pairs;
}

/// Chooses the carrier of each pair of nodes among `members`.
void choose_carriers(std::map<int, NodePair>& pairs, const std::vector<int>& members) {
  std::map<int, int> pairs_of;
  for (auto& [node, pair] : pairs) {
    std::map<int, std::int64_t> items_of;
    for (const FarMessage& m : pair.messages) items_of[m.member] += m.count;
    pair.carrier = *std::min_element(members.begin(), members.end(), [&](int a, int b) {
      return std::tuple(pairs_of[a], -items_of[a], a) < std::tuple(pairs_of[b], -items_of[b], b);
    });
    ++pairs_of[pair.carrier];
  }
}

/// By node: the carrier at the other end of each pair that this rank carries. Ranks of the other
/// node tell their neighbours here; these tell their carrier.
std::map<int, int> carriers_there(const Communicator& comm, const HaloPlan& plan,
                                  std::span<const int> nodes,
                                  const std::map<int, NodePair>& pairs) {
  const int here = nodes[comm.rank()];
  Lists to_neighbours(comm.size()), to_carriers(comm.size());
  for (const Neighbour& n : plan.neighbours)
    if (nodes[n.rank] != here) to_neighbours[n.rank] = {pairs.at(nodes[n.rank]).carrier};
  const Lists told = comm.exchange(to_neighbours);
  for (const Neighbour& n : plan.neighbours) {
    if (nodes[n.rank] == here) continue;
    auto& to = to_carriers[pairs.at(nodes[n.rank]).carrier];
    to.insert(to.end(), {nodes[n.rank], told[n.rank].front()});
  }
  std::map<int, int> carriers;
  for (const auto& passed_on : comm.exchange(to_carriers))
    for (std::size_t at = 0; at < passed_on.size(); at += 2)
      carriers[static_cast<int>(passed_on[at])] = static_cast<int>(passed_on[at + 1]);
  return carriers;
}

/// The runs by member and slot: the order in which a member sends to its carriers.
std::vector<Run> find_runs(const std::map<int, NodePair>& pairs) {
  std::vector<Run> runs;
  std::map<int, LocalIndex> passing;  // items so far, by carrier
  for (const auto& [node, pair] : pairs) {
    const std::size_t first = runs.size();
    LocalIndex& begin = passing[pair.carrier];
    for (const FarMessage& m : pair.messages) {
      const bool follows = runs.size() > first && runs.back().member == m.member &&
                           runs.back().slot + runs.back().count == m.slot;
      if (follows) {
        runs.back().count += m.count;
      } else {
        runs.push_back({m.member, m.slot, pair.carrier, begin, m.count});
      }
      begin += m.count;
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::pair(a.member, a.slot) < std::pair(b.member, b.slot);
  });
  return runs;
}

/// Appends the positions of the items of a pair as they arrive from the other node. That node
/// orders them by its own ranks first.
void append_turned(const std::vector<FarMessage>& messages, std::vector<LocalIndex>& turned) {
  std::map<std::pair<int, int>, LocalIndex> begins;  // by far rank, then by member
  for (const FarMessage& m : messages) begins[{m.far, m.member}] = m.count;
  auto end = static_cast<LocalIndex>(turned.size());
  for (auto& [ranks, begin] : begins) end += std::exchange(begin, end);
  for (const FarMessage& m : messages)
    for (LocalIndex i = 0; i < m.count; ++i) turned.push_back(begins.at({m.far, m.member}) + i);
}

}  // namespace

NodeRoutes find_node_routes(const Communicator& comm, const HaloPlan& plan,
                            std::span<const int> nodes) {
  const int rank = comm.rank();
  std::vector<int> members;
  for (int r = 0; r < comm.size(); ++r)
    if (nodes[r] == nodes[rank]) members.push_back(r);
  std::map<int, NodePair> pairs = find_node_pairs(comm, plan, nodes);
  choose_carriers(pairs, members);
  const std::map<int, int> there = carriers_there(comm, plan, nodes, pairs);

  NodeRoutes routes;
  for (const Neighbour& n : plan.neighbours)
    if (nodes[n.rank] == nodes[rank]) routes.near.push_back({n.rank, n.offset, n.count});
  for (const Run& run : find_runs(pairs)) {
    if (run.carrier == rank && run.member == rank) {
      routes.own.push_back({run.slot, run.begin, run.count});
    } else if (run.carrier == rank) {
      routes.members.push_back({run.member, run.begin, run.count});
    } else if (run.member == rank) {
      routes.carried.push_back({run.carrier, run.slot, run.count});
    }
  }
  for (const auto& [node, pair] : pairs) {
    if (pair.carrier != rank) continue;
    const LocalIndex begin = routes.n_passing();
    append_turned(pair.messages, routes.turned);
    routes.nodes.push_back({there.at(node), begin, routes.n_passing() - begin});
  }
  return routes;
}

}  // namespace nekbone_k
