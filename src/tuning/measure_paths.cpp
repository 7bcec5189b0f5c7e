// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/measure_paths.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "core/give_up.hpp"
#include "core/message_memory.hpp"
#include "core/system.hpp"
#include "gs/strategies/nccl.hpp"
#include "gs/strategies/nvshmem.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/strategies/peer_memory.hpp"
#include "tuning/path_meter.hpp"

namespace nekbone_k {
namespace {

constexpr int burst = 8;  // messages at once, to measure the cost of a further one

// ---- On a rank ---------------------------------------------------------------------------------

struct DoNothing {
  KOKKOS_FUNCTION void operator()(LocalIndex) const {}
};

struct PackDoubles {
  DeviceVector<LocalIndex> index;
  DeviceVector<double> from, to;
  KOKKOS_FUNCTION void operator()(LocalIndex i) const { to(i) = from(index(i)); }
};

void launch_nothing() {
  Kokkos::parallel_for("nekbone_k: nothing", Kokkos::RangePolicy<ExecutionSpace>(0, 1),
                       DoNothing{});
}

/// The path, or the exception of its measurement as a failure. Collective.
PathCost path_or_failure(const PathMeter& meter, std::span<const std::size_t> sizes,
                         std::span<const double> medians) {
  PathCost path;
  path.failure = meter.failure();
  return path.failure.empty() ? path_of(sizes, medians) : path;
}

/// Measures launches, waits and the packing kernel.
void measure_kernels(const Communicator& comm, const PathOptions& options, MachinePaths& paths) {
  const auto most = static_cast<LocalIndex>(
      *std::max_element(options.sizes.begin(), options.sizes.end()) / sizeof(double));
  std::vector<LocalIndex> numbers(most);
  for (LocalIndex i = 0; i < most; ++i) numbers[i] = i;
  const PackDoubles pack{to_device("nekbone_k: numbers", numbers),
                         DeviceVector<double>("nekbone_k: packed from", most),
                         DeviceVector<double>("nekbone_k: packed to", most)};
  std::vector<PathMeter::Operation> operations{[] { launch_nothing(); },
                                               [] {
                                                 launch_nothing();
                                                 Kokkos::fence("nekbone_k: nothing done");
                                               }};
  for (const std::size_t bytes : options.sizes)
    operations.push_back([&pack, n = bytes / sizeof(double)] {
      Kokkos::parallel_for("nekbone_k: pack alone", Kokkos::RangePolicy<ExecutionSpace>(0, n),
                           pack);
      Kokkos::fence("nekbone_k: packed alone");
    });
  PathMeter meter(comm, options);
  const std::vector<double> times = meter.medians(operations);
  constexpr double grain = 1e-9;  // s; a clock cannot resolve less
  paths.launch = std::max(times[0], grain);
  paths.sync = std::max(times[1] - times[0], 0.0);
  paths.pack = path_or_failure(meter, options.sizes, std::span(times).subspan(2));
}

using MovedBytes = Kokkos::View<std::byte*, DeviceMemory>;
using StagedBytes = Kokkos::View<std::byte*, StagingMemory>;

/// Measures the copies of host_staged() in both directions.
void measure_copies(const Communicator& comm, const PathOptions& options, MachinePaths& paths) {
  const std::size_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
  const DeviceMessageMemory device_memory(most);
  const HostMessageMemory host_memory(most);
  const auto device = device_memory.as_vector<std::byte>(most);
  const auto host = host_memory.as_vector<std::byte>(most);
  Kokkos::deep_copy(device, std::byte{1});
  std::vector<PathMeter::Operation> operations;
  for (const bool to_host : {true, false})
    for (const std::size_t bytes : options.sizes)
      operations.push_back([=] {
        const MovedBytes there(device.data(), bytes);
        const StagedBytes here(host.data(), bytes);
        if (to_host)
          Kokkos::deep_copy(ExecutionSpace(), here, there);
        else
          Kokkos::deep_copy(ExecutionSpace(), there, here);
        Kokkos::fence("nekbone_k: copied");
      });
  PathMeter meter(comm, options);
  const std::vector<double> times = meter.medians(operations);
  const std::span<const double> all(times);
  paths.copy_to_host = path_or_failure(meter, options.sizes, all.first(options.sizes.size()));
  paths.copy_to_device = path_or_failure(meter, options.sizes, all.subspan(options.sizes.size()));
}

// ---- Between ranks -----------------------------------------------------------------------------

ExchangeFactory factory_of(Carrier carrier) {
  switch (carrier) {
    case Carrier::nccl:
      return make_nccl;
    case Carrier::nvshmem:
      return make_nvshmem;
    case Carrier::peer_memory:
      return make_peer_memory;
    default:
      return make_pairwise;
  }
}

/// A plan of `messages` messages with `items` doubles to `partner`, and the same number from it;
/// empty for -1.
HaloPlan pair_plan(int partner, int messages, LocalIndex items) {
  HaloPlan plan;
  for (int m = 0; m < messages && partner >= 0; ++m)
    plan.neighbours.push_back({partner, m * items, items});
  plan.message_dofs.resize(plan.neighbours.size() * items);
  for (std::size_t slot = 0; slot < plan.message_dofs.size(); ++slot)
    plan.message_dofs[slot] = static_cast<LocalIndex>(slot);
  return plan;
}

/// Everything that measuring messages needs. It must live as long as messages may be under way.
struct PathMessages {
  PathMessages(const Communicator& parent, std::size_t most_bytes, bool on_host)
      : comm(parent.get()),
        device_memory(on_host ? 0 : 2 * most_bytes),
        host_memory(on_host ? 2 * most_bytes : 0) {
    send = static_cast<std::byte*>(on_host ? host_memory.data() : device_memory.data());
    receive = send + most_bytes;
  }

  void add(Carrier carrier, HaloPlan plan, double patience) {
    plans.push_back(std::make_unique<HaloPlan>(std::move(plan)));
    exchanges.push_back(factory_of(carrier)(
        comm, *plans.back(), {send, receive, sizeof(double), ExecutionSpace(), patience}));
  }

  Communicator comm;  // its own, so that late messages reach nothing else
  DeviceMessageMemory device_memory;
  HostMessageMemory host_memory;
  std::byte *send = nullptr, *receive = nullptr;
  std::vector<std::unique_ptr<HaloPlan>> plans;
  std::vector<std::unique_ptr<Exchange>> exchanges;
};

/// Throws UnavailableError on every rank if the carrier is unavailable.
PathCost measure_messages(const Communicator& comm, std::span<const int> nodes, Carrier carrier,
                          ProbePlace place, double patience, const PathOptions& options) {
  const std::size_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
  const int partner = path_partners(nodes, place)[comm.rank()];
  auto all = std::make_unique<PathMessages>(comm, std::max(most, burst * sizeof(double)),
                                            carrier == Carrier::host_messages);
  // No burst for two carriers. A kernel of peer memory writes to all neighbours at once. NVSHMEM
  // has one signal per neighbour, so one rank cannot be several neighbours.
  const bool has_burst = carrier != Carrier::peer_memory && carrier != Carrier::nvshmem;
  PathMeter meter(comm, options);
  std::vector<HaloPlan> plans;
  for (const std::size_t bytes : options.sizes)
    plans.push_back(pair_plan(partner, 1, static_cast<LocalIndex>(bytes / sizeof(double))));
  if (has_burst) plans.push_back(pair_plan(partner, burst, 1));
  PathCost path;
  for (HaloPlan& plan : plans) {
    if (!path.failure.empty()) break;
    meter.attempt([&] { all->add(carrier, std::move(plan), patience); });
    path.failure = meter.failure();
  }
  std::vector<double> times;
  if (path.failure.empty()) {
    std::vector<PathMeter::Operation> operations;
    for (const auto& exchange : all->exchanges)
      operations.push_back([&exchange, partner] {
        if (partner < 0) return;
        exchange->post();
        exchange->wait();
        exchange->collect();
      });
    times = meter.medians(operations);
    path.failure = meter.failure();
  }
  if (!path.failure.empty()) {
    // Messages may still be under way: leak their memory.
    give_up(std::move(all));
    return path;
  }
  path = path_of(options.sizes, std::span(times).first(options.sizes.size()));
  if (has_burst)
    path.further_message =
        std::clamp((times.back() - times.front()) / (burst - 1), 0.0, path.cost.latency);
  return path;
}

std::set<Carrier> carriers_of(std::span<const Strategy> strategies, const TuningGuard& guard,
                              bool between_nodes) {
  std::set<Carrier> carriers;
  for (const Strategy& strategy : strategies) {
    if (strategy.cost.carrier == Carrier::none || !guard.why_excluded(strategy.name).empty())
      continue;
    carriers.insert(strategy.cost.carrier);
    if (strategy.cost.carrier == Carrier::peer_memory && between_nodes)
      carriers.insert(direct_messages);
  }
  return carriers;
}

}  // namespace

std::vector<int> path_partners(std::span<const int> nodes, ProbePlace place) {
  std::map<int, int> ranks_so_far;
  std::map<int, std::vector<int>> groups;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const int place_on_node = ranks_so_far[nodes[rank]]++;
    groups[place == ProbePlace::within_node ? nodes[rank] : place_on_node].push_back(
        static_cast<int>(rank));
  }
  std::vector<int> partners(nodes.size(), -1);
  for (const auto& [key, ranks] : groups)
    for (std::size_t i = 0, half = ranks.size() / 2; i < half; ++i) {
      partners[ranks[i]] = ranks[i + half];
      partners[ranks[i + half]] = ranks[i];
    }
  return partners;
}

MachinePaths measure_paths(const Communicator& comm, std::span<const Strategy> strategies,
                           TuningGuard& guard, const PathOptions& options) {
  const double begin = wall_seconds();
  MachinePaths paths;
  measure_kernels(comm, options, paths);
  measure_copies(comm, options, paths);
  const std::vector<int> nodes = nodes_of_ranks(comm);
  const auto has_pairs = [&](ProbePlace place) {
    const std::vector<int> partners = path_partners(nodes, place);
    return std::any_of(partners.begin(), partners.end(), [](int partner) { return partner >= 0; });
  };
  for (const Carrier carrier : carriers_of(strategies, guard, has_pairs(ProbePlace::between_nodes)))
    for (const ProbePlace place : {ProbePlace::within_node, ProbePlace::between_nodes}) {
      if (!has_pairs(place)) continue;
      if (carrier == Carrier::peer_memory && place == ProbePlace::between_nodes) continue;
      MessagePath message{carrier, place, {}};
      message.path.failure = guard.why_excluded(guarded_name(carrier));
      if (message.path.failure.empty()) {
        try {
          message.path = tried(guard, guarded_name(carrier), [&] {
            return measure_messages(comm, nodes, carrier, place, guard.patience(), options);
          });
        } catch (const UnavailableError&) {  // the strategies that need it say so
          continue;
        }
      }
      paths.messages.push_back(std::move(message));
    }
  paths.seconds = comm.max(wall_seconds() - begin);
  return paths;
}

}  // namespace nekbone_k
