// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Routes of the messages between nodes.
#pragma once

#include <span>
#include <vector>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// The schedule of messages that ranks gather within a node. All messages from one node to another
/// travel as one, from a *carrier* of the first node to a carrier of the second. Each pair of nodes
/// has one carrier at either end, for both directions.
///
/// A rank receives as many items from each neighbour as it sends, so one list serves both
/// directions. A list entry names consecutive items of a buffer and the other rank. Entries with
/// the same rank are in the order in which both ends send and receive them.
///
/// Items that pass through a carrier are numbered 0 … n_passing() - 1 in each direction: by the
/// other node, then by the rank of this node, then by the other rank.
struct NodeRoutes {
  struct Message {
    int rank = 0;
    LocalIndex begin = 0, count = 0;
    bool operator==(const Message&) const = default;
  };
  /// Items that this rank sends to other nodes as its own carrier.
  struct Own {
    LocalIndex slot = 0, begin = 0, count = 0;
    bool operator==(const Own&) const = default;
  };

  std::vector<Message> near;     ///< message slots of neighbours on this node
  std::vector<Message> carried;  ///< message slots that other carriers of this node forward
  std::vector<Own> own;          ///< message slots that this rank forwards, as passing items
  std::vector<Message> members;  ///< passing items of other ranks of this node
  std::vector<Message> nodes;    ///< passing items of each other node, and the carrier there
  /// (n_passing) Passing item i, for a rank of this node, is item turned[i] in the order of arrival
  /// from other nodes. That order is by the other rank before the rank of this node.
  std::vector<LocalIndex> turned;

  LocalIndex n_passing() const { return static_cast<LocalIndex>(turned.size()); }
};

/// Finds the routes of the messages of a plan; nodes[r] is the node of rank r. It chooses the
/// carrier of each pair of nodes in this order:
///
/// 1. the rank of the node that carries the fewest pairs so far;
/// 2. the rank with the most items to send to the other node;
/// 3. the lowest rank.
///
/// So different pairs have different carriers while there are enough ranks. A rank learns the
/// messages of its node and the carriers at the other end, never the messages of all ranks.
/// Collective.
NodeRoutes find_node_routes(const Communicator& comm, const HaloPlan& plan,
                            std::span<const int> nodes);

}  // namespace nekbone_k
