// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Positions of messages in the receive buffers of neighbours.
#pragma once

#include <vector>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// Per neighbour, in the order of the plan: the slot of its receive buffer at which the message
/// from this rank begins. Collective.
inline std::vector<std::int64_t> slots_there(const Communicator& comm, const HaloPlan& plan) {
  std::vector<std::vector<std::int64_t>> to_rank(comm.size());
  for (const Neighbour& n : plan.neighbours) to_rank[n.rank] = {n.offset};
  const auto from_rank = comm.exchange(to_rank);
  std::vector<std::int64_t> slots;
  for (const Neighbour& n : plan.neighbours) slots.push_back(from_rank[n.rank].front());
  return slots;
}

}  // namespace nekbone_k
