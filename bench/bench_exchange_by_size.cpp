// SPDX-License-Identifier: BSD-3-Clause
// One exchange between pairs of ranks against the size of the message, by every plain strategy; and
// what the paths take that the messages go.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/peer_memory.hpp"
#include "core/system.hpp"
#include "support/distributed_main.hpp"
#include "support/operator_case.hpp"
#include "tuning/measure_paths.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

constexpr std::size_t smallest_message = 8, largest_message = 16 << 20;  // bytes
/// Up to this size strategies are verified before they are timed: beyond what MPI libraries send
/// eagerly, and soon done.
constexpr std::size_t largest_verified = 256 << 10;

/// Ascending.
std::vector<std::size_t> message_sizes(const Bench& bench) {
  if (bench.options().quick) return {8, 4096};
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = smallest_message; bytes <= largest_message; bytes *= 2)
    sizes.push_back(bytes);
  return sizes;
}

/// Within nodes where any has two ranks.
ProbePlace place_of_pairs(std::span<const int> nodes) {
  const std::vector<int> near = path_partners(nodes, ProbePlace::within_node);
  const bool any = std::any_of(near.begin(), near.end(), [](int rank) { return rank >= 0; });
  return any ? ProbePlace::within_node : ProbePlace::between_nodes;
}

/// DOFs that each rank shares with its partner alone, one message of `bytes` of doubles.
HaloPlan plan_of_pairs(const Communicator& comm, std::size_t bytes) {
  const std::vector<int> nodes = nodes_of_ranks(comm);
  const int partner = path_partners(nodes, place_of_pairs(nodes))[comm.rank()];
  const auto n = static_cast<GlobalId>(bytes / sizeof(double));
  std::vector<GlobalId> ids;
  for (GlobalId i = 0; i < n && partner >= 0; ++i)
    ids.push_back(std::min(comm.rank(), partner) * n + i);
  return make_halo_plan(comm, ids);
}

/// All plain strategies at one size, timed beside each other.
struct SizeCase {
  SizeCase(const Bench& bench, std::size_t bytes)
      : plan(std::make_shared<DeviceHaloPlan>(plan_of_pairs(bench.comm(), bytes))),
        field("nekbone_k: exchanged", plan->host.n_shared(), 1) {
    const Communicator& comm = bench.comm();
    Kokkos::deep_copy(field, 1.0);
    std::vector<std::string> names;
    std::vector<std::unique_ptr<HaloExchange<double>>> exchanges;
    std::vector<Bench::Sample> samples;
    Verifier verifier(comm, plan);
    for (const Strategy& strategy : all_strategies()) {
      if (strategy.overlapped) continue;
      std::string& reason = wrong[strategy.name] = why_unavailable(comm, strategy);
      if (reason.empty() && bytes <= largest_verified) reason = verifier.verify(strategy);
      if (!reason.empty()) continue;
      names.push_back(strategy.name);
      exchanges.push_back(std::make_unique<HaloExchange<double>>(comm, plan, strategy));
      samples.push_back(bench.sample_of([this, exchange = exchanges.back().get()] {
        FieldExchange(*exchange, field, Reduction::add).run();
      }));
    }
    const std::vector<Timing> all = bench.measure(samples);
    for (std::size_t s = 0; s < all.size(); ++s) timings[names[s]] = all[s];
  }

  std::shared_ptr<const DeviceHaloPlan> plan;
  DeviceField<double> field;
  std::map<std::string, std::string> wrong;  ///< by strategy: why it was not timed, or nothing
  std::map<std::string, Timing> timings;
};

/// Copies into the memory of the partner and back at the same time, by Kokkos::deep_copy. They show
/// the rate of the link without an exchange.
struct PeerCopies {
  PeerCopies(const Bench& bench, std::size_t bytes) : from("nekbone_k: copied", bytes) {
    const Communicator& comm = bench.comm();
    const std::vector<int> nodes = nodes_of_ranks(comm);
    const int partner = path_partners(nodes, ProbePlace::within_node)[comm.rank()];
    std::vector<int> peers;
    if (partner >= 0) peers.push_back(partner);
    try {
      memory = std::make_unique<PeerMemory>(comm, bytes, peers, 0);
    } catch (const UnavailableError& error) {
      wrong = error.what();
      return;
    }
    timing = bench.measure({bench.sample_of([&] {
      if (peers.empty()) return;
      Kokkos::deep_copy(ExecutionSpace(), Bytes(memory->of_peer(0), bytes), from);
      Kokkos::fence("nekbone_k: copied to a peer");
    })})[0];
  }

  using Bytes = Kokkos::View<std::byte*, DeviceMemory>;
  Bytes from;
  std::unique_ptr<PeerMemory> memory;
  std::string wrong;
  Timing timing;
};

void set_rate(benchmark::State& state, std::size_t bytes, double seconds) {
  state.counters["message_B"] = static_cast<double>(bytes);
  state.counters["GB/s"] = static_cast<double>(bytes) / seconds / 1e9;
}

void exchange(benchmark::State& state, const std::string& strategy, std::size_t bytes,
              const SizeCase& c) {
  if (const std::string& reason = c.wrong.at(strategy); !reason.empty())
    return state.SkipWithError(reason.c_str());
  const Timing& timing = c.timings.at(strategy);
  Bench::report(state, timing);
  set_rate(state, bytes, timing.seconds.median);
}

void peer_copy(benchmark::State& state, std::size_t bytes, const PeerCopies& c) {
  if (!c.wrong.empty()) return state.SkipWithError(c.wrong.c_str());
  Bench::report(state, c.timing);
  set_rate(state, bytes, c.timing.seconds.median);
}

/// A path of the machine, by its points.
void path(benchmark::State& state, const PathCost* measured, std::size_t bytes) {
  if (measured == nullptr) return state.SkipWithError("not available here");
  const auto at =
      std::find_if(measured->points.begin(), measured->points.end(),
                   [&](const auto& point) { return point.bytes == static_cast<double>(bytes); });
  while (state.KeepRunningBatch(1)) state.SetIterationTime(at->seconds);
  set_rate(state, bytes, at->seconds);
  state.counters["fitted_latency_s"] = measured->cost.latency;
  state.counters["fitted_GB/s"] = measured->cost.bandwidth / 1e9;
}

using FindPath = const PathCost* (*)(const MachinePaths&, ProbePlace);

template <Carrier carrier>
const PathCost* find_messages(const MachinePaths& paths, ProbePlace place) {
  return paths.find(carrier, place);
}

struct NamedPath {
  const char* name;
  FindPath find;
};

const std::vector<NamedPath>& named_paths() {
  static const std::vector<NamedPath> all{
      {"pack", [](const MachinePaths& paths, ProbePlace) { return &paths.pack; }},
      {"copy-to-host", [](const MachinePaths& paths, ProbePlace) { return &paths.copy_to_host; }},
      {"copy-to-device",
       [](const MachinePaths& paths, ProbePlace) { return &paths.copy_to_device; }},
      {"host-messages", find_messages<Carrier::host_messages>},
      {"device-messages", find_messages<Carrier::device_messages>},
      {"nccl", find_messages<Carrier::nccl>},
      {"nvshmem", find_messages<Carrier::nvshmem>},
      {"peer-memory", find_messages<Carrier::peer_memory>},
  };
  return all;
}

MachinePaths measure_all_paths(const Bench& bench) {
  PathOptions options;
  options.sizes = message_sizes(bench);
  options.seconds = bench.options().quick ? 0 : bench.options().seconds;
  if (bench.options().quick) options.least_rounds = 1;
  NoGuard guard;
  return measure_paths(bench.comm(), all_strategies(), guard, options);
}

}  // namespace

void register_benchmarks(const Bench& bench) {
  std::vector<std::size_t> sizes = message_sizes(bench);
  std::reverse(sizes.begin(), sizes.end());  // so that smaller messages find memory to use again
  const auto cases = std::make_shared<LastCase<SizeCase>>();
  for (const std::size_t bytes : sizes) {
    if (bench.comm().size() == 1) break;  // nobody to exchange with
    for (const Strategy& strategy : all_strategies()) {
      if (strategy.overlapped) continue;
      bench.add(fmt::format("exchange/{}/bytes:{}", strategy.name, bytes),
                [=, name = strategy.name, &bench](benchmark::State& state) {
                  exchange(state, name, bytes, cases->get(std::to_string(bytes), [&] {
                    return std::make_unique<SizeCase>(bench, bytes);
                  }));
                });
    }
  }
  const auto copies = std::make_shared<LastCase<PeerCopies>>();
  for (const std::size_t bytes : sizes) {
    if (bench.comm().size() == 1) break;
    bench.add(fmt::format("path/peer-copy/bytes:{}", bytes), [=, &bench](benchmark::State& state) {
      peer_copy(state, bytes, copies->get(std::to_string(bytes), [&] {
        return std::make_unique<PeerCopies>(bench, bytes);
      }));
    });
  }
  const auto paths = std::make_shared<LastCase<MachinePaths>>();
  for (const NamedPath& named : named_paths())
    for (const std::size_t bytes : sizes)
      bench.add(fmt::format("path/{}/bytes:{}", named.name, bytes),
                [=, find = named.find, &bench](benchmark::State& state) {
                  const MachinePaths& all = paths->get("all", [&] {
                    return std::make_unique<MachinePaths>(measure_all_paths(bench));
                  });
                  path(state, find(all, place_of_pairs(nodes_of_ranks(bench.comm()))), bytes);
                });
}

}  // namespace nekbone_k
