/// @file
/// Where messages belong at the other end.
#pragma once

#include <vector>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// The slot of each neighbour's receive buffer at which its message from this rank begins, in the
/// order of the plan. Collective.
inline std::vector<std::int64_t> slots_there(const Communicator& comm, const HaloPlan& plan) {
  std::vector<std::vector<std::int64_t>> to_rank(comm.size());
  for (const Neighbour& n : plan.neighbours) to_rank[n.rank] = {n.offset};
  const auto from_rank = comm.exchange(to_rank);
  std::vector<std::int64_t> slots;
  for (const Neighbour& n : plan.neighbours) slots.push_back(from_rank[n.rank].front());
  return slots;
}

}  // namespace nekbone_k
