/// @file
/// Which ranks the messages between nodes pass through.
#pragma once

#include <span>
#include <vector>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// The schedule of messages that are gathered within a node: of all that goes from one node to
/// another one message is made, which travels from a *carrier* on the one to a carrier on the
/// other. Each pair of nodes has one carrier at either end, for both directions.
///
/// As a rank receives from each neighbour as many items as it sends, one list serves for both
/// directions. Lists name consecutive items of a buffer, and who they go to and come from; several
/// of one rank are in the order in which both ends send and receive them.
///
/// Items that pass through a carrier are numbered 0 … n_passing() - 1, in each direction: pair of
/// nodes after pair, by the other node, within it by the rank of this node and by the other rank.
struct NodeRoutes {
  struct Message {
    int rank = 0;
    LocalIndex begin = 0, count = 0;
    bool operator==(const Message&) const = default;
  };
  /// Items that this rank sends to other nodes and carries itself.
  struct Own {
    LocalIndex slot = 0, begin = 0, count = 0;
    bool operator==(const Own&) const = default;
  };

  std::vector<Message> near;     ///< message slots of neighbours on this node
  std::vector<Message> carried;  ///< message slots that other carriers of this node see to
  std::vector<Own> own;          ///< message slots that this rank does, as passing items
  std::vector<Message> members;  ///< passing items of other ranks of this node
  std::vector<Message> nodes;    ///< passing items of each other node, and its carrier
  /// (n_passing) Passing item i to a rank of this node is the turned[i]-th that comes from other
  /// nodes, where the other rank counts before that of this node.
  std::vector<LocalIndex> turned;

  LocalIndex n_passing() const { return static_cast<LocalIndex>(turned.size()); }
};

/// Finds the routes of a plan's messages; `nodes` names the node of each rank. A node's carriers
/// are taken in turn, so that those of different nodes are different ranks while there are enough,
/// and among ranks with equally many nodes it is the one that has most to send there. Ranks learn
/// of the messages of their node and who carries at the other end, no rank of all messages.
/// Collective.
NodeRoutes find_node_routes(const Communicator& comm, const HaloPlan& plan,
                            std::span<const int> nodes);

}  // namespace nekbone_k
