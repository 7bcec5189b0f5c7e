#include "app/placement.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "core/device.hpp"
#include "core/topology.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

std::string crowded_node(const Placement& p) {
  const std::int64_t threads = std::int64_t{p.node_ranks} * p.threads;
  if (threads <= p.online_cores) return "";
  return fmt::format("{} runs {} threads on {} cores; {}use fewer ranks, or timings mean little",
                     p.host, threads, p.online_cores,
                     p.threads > 1 ? "set OMP_NUM_THREADS or " : "");
}

std::string narrow_binding(const Placement& p) {
  if (p.allowed_cores >= p.threads) return "";
  return fmt::format(
      "rank {} is bound to {} core{}, fewer than its {} threads; see the launcher's --bind-to or "
      "--cpus-per-task",
      p.rank, p.allowed_cores, p.allowed_cores == 1 ? "" : "s", p.threads);
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
      "NEKBONE_K_RANKS_PER_NODE is {}: each {} ranks of a node exchange as if they were a node; "
      "unset it for timings that count",
      p.pretended_ranks_per_node, p.pretended_ranks_per_node);
}

}  // namespace

Placement find_placement(const Communicator& comm, const NodeLayout& layout) {
  return {.rank = comm.rank(),
          .host = host_name(),
          .node_ranks = layout.node_ranks,
          .threads = is_host_device ? ExecutionSpace().concurrency() : 1,
          .online_cores = online_core_count(),
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
