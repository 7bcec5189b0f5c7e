#include "app/placement.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>

#include "app/format.hpp"
#include "core/device.hpp"
#include "core/topology.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

std::string crowded_node(const Placement& p) {
  const std::int64_t threads = std::int64_t{p.node_ranks} * p.threads;
  if (threads <= p.usable_cores) return "";
  const bool has_more = p.usable_cores < p.online_cores;
  return fmt::format(
      "{} runs {} threads on {}{}; {}{}use fewer ranks, or timings mean little", p.host, threads,
      counted(p.usable_cores, "core"),
      has_more ? fmt::format(", those of its {} that they may use", p.online_cores) : "",
      has_more ? "see the launcher's --bind-to and what the job was given, " : "",
      p.threads > 1 ? "set OMP_NUM_THREADS or " : "");
}

/// Cores that the ranks of `host` may use, all together.
int count_usable_cores(const std::string& host, const std::vector<std::string>& hosts,
                       const std::vector<std::string>& binding) {
  std::set<int> cores;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    if (hosts[r] == host)
      for (const int core : cores_in(binding[r])) cores.insert(core);
  return static_cast<int>(cores.size());
}

std::string narrow_binding(const Placement& p) {
  // Where the node has not cores enough that has been said, and what mends it mends this.
  if (p.allowed_cores >= p.threads || !crowded_node(p).empty()) return "";
  return fmt::format(
      "rank {} is bound to {}, fewer than its {} threads; see the launcher's --bind-to or "
      "--cpus-per-task",
      p.rank, counted(p.allowed_cores, "core"), p.threads);
}

std::string shared_device(const Placement& p) {
  if (p.ranks_on_device <= 1) return "";
  return fmt::format(
      "{} ranks share {}; run one rank a GPU, or show each rank its own (CUDA_VISIBLE_DEVICES, "
      "ROCR_VISIBLE_DEVICES), or timings mean little",
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

Placement find_placement(const Communicator& comm, const NodeLayout& layout,
                         const std::vector<std::string>& hosts,
                         const std::vector<std::string>& binding) {
  return {.rank = comm.rank(),
          .host = host_name(),
          .node_ranks = layout.node_ranks(),
          .threads = is_host_device ? ExecutionSpace().concurrency() : 1,
          .online_cores = online_core_count(),
          .usable_cores = count_usable_cores(host_name(), hosts, binding),
          .allowed_cores = allowed_core_count(),
          .device = device_name(),
          .ranks_on_device = ranks_on_device(comm),
          .pretended_ranks_per_node = pretended_ranks_per_node()};
}

std::vector<std::string> placement_warnings(const Placement& placement) {
  return {crowded_node(placement), narrow_binding(placement), shared_device(placement),
          pretended_nodes(placement)};
}

}  // namespace nekbone_k
