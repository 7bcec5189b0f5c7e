// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/partition_model.hpp"

#include <algorithm>
#include <span>
#include <tuple>

namespace nekbone_k {
namespace {

/// Number of lattice points that two boxes share in direction d, without Dirichlet points.
std::int64_t common_points(const MeshSpec& spec, int order, int d, const ElementBox& a,
                           const ElementBox& b) {
  const std::int64_t elements = spec.elements[d], n = order;
  if (!spec.periodic[d]) {
    const std::int64_t first = std::max(a.begin[d], b.begin[d]),
                       last = std::min(a.end[d], b.end[d]);
    if (first > last) return 0;
    return (last - first) * n + 1 - (first == 0 ? 1 : 0) - (last == elements ? 1 : 0);
  }
  const auto points = [&](const ElementBox& box) {
    return box.length(d) * n + (box.length(d) == elements ? 0 : 1);
  };
  if (a.length(d) == elements) return points(b);
  if (b.length(d) == elements) return points(a);
  // Neither box wraps, so no point is counted for two images of b.
  std::int64_t count = 0;
  for (const std::int64_t shift : {-elements, std::int64_t{0}, elements}) {
    const std::int64_t first = std::max<std::int64_t>(a.begin[d], b.begin[d] + shift);
    const std::int64_t last = std::min<std::int64_t>(a.end[d], b.end[d] + shift);
    if (first <= last) count += (last - first) * n + 1;
  }
  return count;
}

std::int64_t common_points(const MeshSpec& spec, int order, const ElementBox& a,
                           const ElementBox& b) {
  std::int64_t count = 1;
  for (int d = 0; d < 3 && count > 0; ++d) count *= common_points(spec, order, d, a, b);
  return count;
}

/// The ranks of a process grid whose blocks touch that of `rank`, including itself.
std::vector<int> grid_ranks_around(const MeshSpec& spec, int rank) {
  const auto& blocks = spec.partition.blocks;
  std::vector<int> ranks{0};
  for (int d = 0, stride = 1; d < 3; stride *= blocks[d], ++d) {
    const int own = rank / stride % blocks[d];
    std::vector<int> next;
    for (int block : {own - 1, own, own + 1}) {
      if (spec.periodic[d]) block = (block + blocks[d]) % blocks[d];
      if (block < 0 || block >= blocks[d]) continue;
      for (const int r : ranks) next.push_back(r + block * stride);
    }
    ranks = std::move(next);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// This rank's contribution to the models of some partitions, then their maxima. Collective.
std::vector<PartitionModel> model_all(const Communicator& comm, MeshSpec spec, int order,
                                      double dof_bytes, std::span<const Partition> partitions) {
  std::vector<double> busiest;
  for (const Partition& partition : partitions) {
    spec.partition = partition;
    const ElementBox box =
        partition_box({{0, 0, 0}, spec.elements}, comm.size(), comm.rank(), partition);
    const HaloSize halo = halo_size(spec, order, comm.size(), comm.rank());
    busiest.push_back(static_cast<double>(box.volume()));
    busiest.push_back(halo.neighbours);
    busiest.push_back(static_cast<double>(halo.sent) * dof_bytes);
  }
  comm.max(busiest);
  std::vector<PartitionModel> models;
  for (std::size_t p = 0; p < partitions.size(); ++p)
    models.push_back({partitions[p], static_cast<std::int64_t>(busiest[3 * p]),
                      static_cast<int>(busiest[3 * p + 1]), busiest[3 * p + 2]});
  return models;
}

}  // namespace

HaloSize halo_size(const MeshSpec& spec, int order, int ranks, int rank) {
  const ElementBox whole{{0, 0, 0}, spec.elements};
  const ElementBox own = partition_box(whole, ranks, rank, spec.partition);
  const auto touches = [&](const ElementBox& box) {
    return common_points(spec, order, own, box) > 0;
  };
  HaloSize halo;
  for (const int other : spec.partition.is_grid() ? grid_ranks_around(spec, rank)
                                                  : bisection_ranks(whole, ranks, touches)) {
    if (other == rank) continue;
    const std::int64_t shared =
        common_points(spec, order, own, partition_box(whole, ranks, other, spec.partition));
    halo.sent += shared;
    if (shared > 0) ++halo.neighbours;
  }
  return halo;
}

std::vector<Partition> possible_partitions(const std::array<int, 3>& elements, int ranks) {
  std::vector<Partition> partitions{Partition{}};
  for (int x = 1; x <= std::min(ranks, elements[0]); ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= std::min(ranks / x, elements[1]); ++y)
      if (const Partition grid{{x, y, ranks / x / y}};
          ranks / x % y == 0 && grid.fits(elements, ranks))
        partitions.push_back(grid);
  }
  return partitions;
}

std::vector<PartitionModel> model_partitions(const Communicator& comm, const MeshSpec& spec,
                                             int order, double dof_bytes) {
  std::vector<Partition> partitions = possible_partitions(spec.elements, comm.size());
  const auto own_box = [&](const Partition& partition) {
    return partition_box({{0, 0, 0}, spec.elements}, comm.size(), comm.rank(), partition);
  };
  // All ranks agree on the process grid that equals the bisection, if any: the one in which no box
  // differs.
  const ElementBox bisected = own_box({});
  std::vector<double> differs;
  for (const Partition& partition : partitions)
    differs.push_back(own_box(partition) == bisected ? 0 : 1);
  comm.max(differs);
  if (std::count(differs.begin() + 1, differs.end(), 0.0) > 0) partitions.erase(partitions.begin());

  std::vector<PartitionModel> models = model_all(comm, spec, order, dof_bytes, partitions);
  std::stable_sort(models.begin(), models.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.elements, a.cost_bytes()) < std::tuple(b.elements, b.cost_bytes());
  });
  return models;
}

PartitionModel model_partition(const Communicator& comm, const MeshSpec& spec, int order,
                               double dof_bytes) {
  return model_all(comm, spec, order, dof_bytes, std::array{spec.partition}).front();
}

}  // namespace nekbone_k
