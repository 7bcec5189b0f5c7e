// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/predict.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <vector>

#include "gs/strategies/crystal_router.hpp"

namespace nekbone_k {
namespace {

constexpr double several_times = 4;

/// Messages that a rank sends at once, indexed by ProbePlace.
struct MessageLoad {
  std::array<double, 2> messages{}, bytes{};
  void add(ProbePlace place, double n_messages, double n_bytes) {
    messages[static_cast<int>(place)] += n_messages;
    bytes[static_cast<int>(place)] += n_bytes;
  }
};

/// Costs by the paths of one strategy.
class Prices {
 public:
  Prices(const CostModel& model, const MachinePaths& paths, std::span<const int> nodes)
      : m_paths(paths),
        m_nodes(nodes),
        m_messages{
            paths.find(model.carrier, ProbePlace::within_node),
            paths.find(model.carrier == Carrier::peer_memory ? direct_messages : model.carrier,
                       ProbePlace::between_nodes)} {}

  ProbePlace place(int one, int other) const {
    return m_nodes[one] == m_nodes[other] ? ProbePlace::within_node : ProbePlace::between_nodes;
  }
  bool is_known(ProbePlace place) const { return m_messages[static_cast<int>(place)] != nullptr; }

  double kernel(double bytes) const { return m_paths.launch + bytes / m_paths.pack.cost.bandwidth; }

  double messages(const MessageLoad& load) const {
    double first = 0, seconds = 0;
    for (int p = 0; p < 2; ++p) {
      if (load.messages[p] == 0) continue;
      const PathCost& path = *m_messages[p];
      first = std::max(first, path.cost.latency - path.further_message);
      seconds += load.messages[p] * path.further_message + load.bytes[p] / path.cost.bandwidth;
    }
    return first + seconds;
  }

 private:
  const MachinePaths& m_paths;
  std::span<const int> m_nodes;
  std::array<const PathCost*, 2> m_messages;
};

/// The messages of a rank at each step of the crystal router. The rank does not know which items it
/// passes on for others. The model assumes as many as others pass on for it.
std::vector<MessageLoad> routed_loads(const HaloPlan& plan, const Prices& prices, int rank,
                                      int ranks, double item_bytes) {
  std::vector<MessageLoad> loads;
  for (const Neighbour& n : plan.neighbours) {
    const std::vector<int> route = crystal_route(rank, n.rank, ranks);
    loads.resize(std::max(loads.size(), route.size()));
    int at = rank;
    for (std::size_t step = 0; step < route.size(); at = route[step++])
      if (route[step] != at)
        loads[step].add(prices.place(at, route[step]), 0, n.count * item_bytes);
  }
  for (MessageLoad& load : loads)
    for (int p = 0; p < 2; ++p) load.messages[p] = load.bytes[p] > 0 ? 1 : 0;
  return loads;
}

/// The messages of a rank at each of the three steps of gathered messages.
std::vector<MessageLoad> gathered_loads(const NodeRoutes& routes, double item_bytes) {
  std::vector<MessageLoad> loads(3);
  const auto add = [&](int step, ProbePlace place, const std::vector<NodeRoutes::Message>& sent) {
    for (const NodeRoutes::Message& message : sent)
      loads[step].add(place, 1, message.count * item_bytes);
  };
  add(0, ProbePlace::within_node, routes.near);
  add(0, ProbePlace::within_node, routes.carried);
  add(1, ProbePlace::between_nodes, routes.nodes);
  add(2, ProbePlace::within_node, routes.members);
  return loads;
}

}  // namespace

std::optional<PredictedCost> predict_on_rank(const CostModel& model, const HaloPlan& plan,
                                             std::span<const int> nodes, int rank,
                                             const MachinePaths& paths, double item_bytes,
                                             const NodeRoutes* routes) {
  if (model.carrier == Carrier::none || !paths.pack.is_known()) return {};
  if (model.staged && !(paths.copy_to_host.is_known() && paths.copy_to_device.is_known()))
    return {};
  const Prices prices(model, paths, nodes);
  const int ranks = static_cast<int>(nodes.size());
  std::vector<MessageLoad> loads(1);
  for (const Neighbour& n : plan.neighbours)
    loads[0].add(prices.place(rank, n.rank), 1, n.count * item_bytes);
  const MessageLoad direct = loads[0];
  if (model.routed) loads = routed_loads(plan, prices, rank, ranks, item_bytes);
  if (model.gathered) loads = gathered_loads(*routes, item_bytes);
  for (const MessageLoad& load : loads)
    for (const ProbePlace place : {ProbePlace::within_node, ProbePlace::between_nodes})
      if (load.messages[static_cast<int>(place)] > 0 && !prices.is_known(place)) return {};

  PredictedCost cost;
  // A rank without neighbours may still forward items of others.
  const LocalIndex n_passing = model.gathered ? routes->n_passing() : 0;
  if (plan.neighbours.empty() && n_passing == 0) return cost;
  const double sent = item_bytes * plan.n_slots();
  cost.pack = prices.kernel(sent);
  cost.unpack = prices.kernel(sent + item_bytes * plan.n_shared());
  const bool by_messages = direct.messages[static_cast<int>(ProbePlace::between_nodes)] > 0;
  if (model.staged) {
    cost.sync = paths.copy_to_host.cost.seconds(sent);
    cost.unpack += paths.copy_to_device.cost.seconds(sent);
  } else if (model.host_waits || (model.packs_itself && by_messages)) {
    cost.sync = paths.sync;
  }
  for (const MessageLoad& load : loads) {
    cost.messages += prices.messages(load);
    if (model.routed) cost.messages += prices.kernel(load.bytes[0] + load.bytes[1]) + paths.sync;
  }
  if (model.routed) cost.messages += prices.kernel(sent);
  if (n_passing > 0) cost.messages += prices.kernel(n_passing * item_bytes) + paths.sync;
  cost.messages += model.empty_exchanges * prices.messages({direct.messages, {}});
  if (model.packs_itself) {
    if (model.one_kernel && !by_messages) cost.unpack -= paths.launch;
    const double near = direct.bytes[static_cast<int>(ProbePlace::within_node)];
    cost.messages -= std::min(cost.messages, near > 0 ? 2 * prices.kernel(near) : 0);
  }
  return cost;
}

std::optional<PredictedCost> predict(const Communicator& comm, const CostModel& model,
                                     const HaloPlan& plan, std::span<const int> nodes,
                                     const MachinePaths& paths, double item_bytes) {
  std::optional<NodeRoutes> routes;
  if (model.gathered) routes = find_node_routes(comm, plan, nodes);
  const auto here = predict_on_rank(model, plan, nodes, comm.rank(), paths, item_bytes,
                                    routes ? &*routes : nullptr);
  if (!comm.all(here.has_value())) return {};
  std::array parts{here->pack, here->sync, here->messages, here->unpack};
  comm.max(parts);
  return PredictedCost{parts[0], parts[1], parts[2], parts[3]};
}

std::optional<double> predict_sum(const SumCostModel& model, std::span<const int> nodes,
                                  const MachinePaths& paths) {
  if (model.carrier == Carrier::none || !paths.pack.is_known()) return {};
  std::map<int, std::size_t> ranks_of;
  for (const int node : nodes) ++ranks_of[node];
  std::size_t most = 0;
  for (const auto& [node, ranks] : ranks_of) most = std::max(most, ranks);
  const auto steps_among = [](std::size_t n, bool at_once) {
    const int halvings = std::bit_width(n - 1);
    return at_once ? std::min(halvings, 1) : halvings;
  };
  int near = steps_among(most, model.by_kernels || model.meets_in_memory);
  const int far = steps_among(ranks_of.size(), model.by_kernels);
  if (model.meets_in_memory && far > 0) near *= 2;

  double seconds = paths.launch + (model.by_kernels ? 0 : paths.sync);
  for (const auto& [place, steps] :
       {std::pair{ProbePlace::within_node, near}, std::pair{ProbePlace::between_nodes, far}}) {
    if (steps == 0) continue;
    const PathCost* const path = paths.find(model.carrier, place);
    if (path == nullptr) return {};
    seconds += steps * path->cost.latency;
  }
  return seconds;
}

std::optional<double> off_its_model(double measured, double predicted) {
  if (!(measured > 0) || !(predicted > 0)) return {};
  const double ratio = measured / predicted;
  if (ratio <= several_times && ratio >= 1 / several_times) return {};
  return ratio;
}

}  // namespace nekbone_k
