// SPDX-License-Identifier: BSD-3-Clause
#include "machine/placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>

#include "core/device.hpp"
#include "core/format.hpp"
#include "core/topology.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

std::string crowded_node(const Placement& p) {
  const std::int64_t threads = std::int64_t{p.node_ranks} * p.threads;
  if (threads <= p.usable_cores) return "";
  const bool has_more = p.usable_cores < p.online_cores;
  return fmt::format(
      "{} runs {} threads on {}{}; {}{}use fewer ranks, otherwise timings are unreliable", p.host,
      threads, counted(p.usable_cores, "core"),
      has_more ? fmt::format(", those of its {} that they may use", p.online_cores) : "",
      has_more ? "see the launcher's --bind-to and what the job was given, " : "",
      p.threads > 1 ? "set OMP_NUM_THREADS or " : "");
}

/// The number of cores that all ranks of `host` together may use.
int count_usable_cores(const std::string& host, const std::vector<std::string>& hosts,
                       const std::vector<std::string>& binding) {
  std::set<int> cores;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    if (hosts[r] == host)
      for (const int core : cores_in(binding[r])) cores.insert(core);
  return static_cast<int>(cores.size());
}

std::string narrow_binding(const Placement& p) {
  // Silent on a node with too few cores: crowded_node() reports that, and its remedy helps here,
  // too.
  if (p.allowed_cores >= p.threads || !crowded_node(p).empty()) return "";
  return fmt::format(
      "rank {} is bound to {}, fewer than its {} threads; see the launcher's --bind-to or "
      "--cpus-per-task",
      p.rank, counted(p.allowed_cores, "core"), p.threads);
}

std::string short_quota(const Placement& p) {
  const std::int64_t threads = std::int64_t{p.quota_ranks} * p.threads;
  constexpr double rounding = 1.01;
  if (static_cast<double>(threads) <= rounding * p.quota) return "";
  const bool is_alone = p.quota_ranks == 1;
  return fmt::format(
      "{} on {} {} a quota of {} (control group), but {} {}; timings will be unreliable; "
      "{}{}give the job or the container more CPUs",
      counted(p.quota_ranks, "rank"), p.host, is_alone ? "has" : "share", cpu_time_text(p.quota),
      is_alone ? "runs" : "run", counted(threads, "thread"),
      p.threads > 1 ? "set OMP_NUM_THREADS or " : "", is_alone ? "" : "use fewer ranks, or ");
}

std::string shared_device(const Placement& p) {
  if (p.ranks_on_device <= 1) return "";
  return fmt::format(
      "{} ranks share {}; start one rank per GPU, or show each rank its own (CUDA_VISIBLE_DEVICES, "
      "ROCR_VISIBLE_DEVICES), otherwise timings are unreliable",
      p.ranks_on_device, p.device);
}

std::string pretended_nodes(const Placement& p) {
  if (p.pretended_ranks_per_node == 0) return "";
  return fmt::format(
      "NEKBONE_K_RANKS_PER_NODE is {}: the ranks of a node exchange as if it were nodes of {}; "
      "unset it for timings that count",
      p.pretended_ranks_per_node, counted(p.pretended_ranks_per_node, "rank"));
}

}  // namespace

SharedQuota shortest_quota(int rank, std::span<const int> ranks_of_node,
                           const std::vector<std::vector<CpuQuota>>& quotas) {
  SharedQuota shortest;
  for (const CpuQuota& quota : quotas[rank]) {
    const auto sharers =
        static_cast<int>(std::count_if(ranks_of_node.begin(), ranks_of_node.end(), [&](int other) {
          return std::any_of(quotas[other].begin(), quotas[other].end(),
                             [&](const CpuQuota& its) { return its.group == quota.group; });
        }));
    if (shortest.ranks == 0 || quota.cores / sharers < shortest.cores / shortest.ranks)
      shortest = {quota.cores, sharers};
  }
  return shortest;
}

Placement find_placement(const Communicator& comm, const NodeLayout& layout,
                         const std::vector<std::string>& hosts,
                         const std::vector<std::string>& binding,
                         const std::vector<std::vector<CpuQuota>>& quotas) {
  const int online = online_core_count();
  const auto known = [&](int cores) { return cores > 0 ? cores : online; };
  const SharedQuota quota = shortest_quota(comm.rank(), layout.ranks, quotas);
  return {.rank = comm.rank(),
          .host = host_name(),
          .node_ranks = layout.node_ranks(),
          .threads = is_host_device ? ExecutionSpace().concurrency() : 1,
          .online_cores = online,
          .usable_cores = known(count_usable_cores(host_name(), hosts, binding)),
          .allowed_cores = known(allowed_core_count()),
          .quota = quota.cores,
          .quota_ranks = quota.ranks,
          .device = device_name(),
          .ranks_on_device = ranks_on_device(comm),
          .pretended_ranks_per_node = pretended_ranks_per_node()};
}

std::string unknown_variables(const char* const* environment) {
  // NEKBONE_K_TEST_ is for the tests, whose MPI library reads it.
  constexpr std::array<std::string_view, 6> known{"NEKBONE_K_CACHE",
                                                  "NEKBONE_K_GSLIB_OPTIONS",
                                                  "NEKBONE_K_MPI_TRIAL",
                                                  "NEKBONE_K_MPI_TRIAL_SECONDS",
                                                  "NEKBONE_K_PEER_MEMORY_ON_SHARED_GPU",
                                                  "NEKBONE_K_RANKS_PER_NODE"};
  std::vector<std::string_view> unknown;
  for (; *environment != nullptr; ++environment) {
    const std::string_view setting = *environment, name = setting.substr(0, setting.find('='));
    if (name.starts_with("NEKBONE_K_") && !name.starts_with("NEKBONE_K_TEST_") &&
        std::find(known.begin(), known.end(), name) == known.end())
      unknown.push_back(name);
  }
  if (unknown.empty()) return "";
  return fmt::format("the environment sets {}, which nekbone-k does not read; it reads {}",
                     fmt::join(unknown, ", "), fmt::join(known, ", "));
}

std::vector<std::string> placement_warnings(const Placement& placement) {
  return {crowded_node(placement), narrow_binding(placement), short_quota(placement),
          shared_device(placement), pretended_nodes(placement)};
}

}  // namespace nekbone_k
