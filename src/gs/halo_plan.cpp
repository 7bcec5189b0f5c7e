// SPDX-License-Identifier: BSD-3-Clause
#include "gs/halo_plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

int directory_rank(GlobalId id, int ranks) {
  // Mixing spreads ids that are regular in the mesh evenly (Steele et al. 2014, SplitMix64).
  std::uint64_t z = static_cast<std::uint64_t>(id) + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<int>((z ^ (z >> 31)) % static_cast<std::uint64_t>(ranks));
}

struct Holder {
  GlobalId id;
  int rank;
  auto operator<=>(const Holder&) const = default;
};

/// The answers of the directory to each rank, per shared id: the id, the number of ranks that have
/// it, and these ranks in ascending order.
std::vector<std::vector<std::int64_t>> directory_answers(
    const std::vector<std::vector<std::int64_t>>& ids_of_rank) {
  std::vector<Holder> holders;
  for (int r = 0; r < static_cast<int>(ids_of_rank.size()); ++r)
    for (const GlobalId id : ids_of_rank[r]) holders.push_back({id, r});
  std::sort(holders.begin(), holders.end());

  std::vector<std::vector<std::int64_t>> answers(ids_of_rank.size());
  for (auto first = holders.begin(); first != holders.end();) {
    const auto last =
        std::find_if(first, holders.end(), [&](const Holder& h) { return h.id != first->id; });
    if (last - first > 1) {
      for (auto to = first; to != last; ++to) {
        auto& answer = answers[to->rank];
        answer.push_back(first->id);
        answer.push_back(last - first);
        for (auto holder = first; holder != last; ++holder) answer.push_back(holder->rank);
      }
    }
    first = last;
  }
  return answers;
}

struct SharedDof {
  LocalIndex candidate;
  std::vector<int> ranks;  // ascending, this rank among them
};

std::vector<SharedDof> find_shared(const Communicator& comm, std::span<const GlobalId> candidates) {
  std::vector<std::vector<std::int64_t>> questions(comm.size());
  for (const GlobalId id : candidates) {
    require(id >= 0, "a negative global id cannot be shared");
    questions[directory_rank(id, comm.size())].push_back(id);
  }
  const auto answers = comm.exchange(directory_answers(comm.exchange(questions)));

  std::vector<std::pair<GlobalId, LocalIndex>> by_id(candidates.size());
  for (std::size_t c = 0; c < candidates.size(); ++c)
    by_id[c] = {candidates[c], static_cast<LocalIndex>(c)};
  std::sort(by_id.begin(), by_id.end());

  std::vector<SharedDof> shared;
  for (const auto& answer : answers) {
    for (std::size_t at = 0; at < answer.size();) {
      const GlobalId id = answer[at];
      const std::size_t count = answer[at + 1];
      const auto found = std::lower_bound(by_id.begin(), by_id.end(), std::pair{id, LocalIndex{0}});
      shared.push_back({found->second, {answer.begin() + at + 2, answer.begin() + at + 2 + count}});
      at += 2 + count;
    }
  }
  return shared;
}

}  // namespace

HaloPlan make_halo_plan(const Communicator& comm, std::span<const GlobalId> candidates) {
  std::vector<SharedDof> shared = find_shared(comm, candidates);
  // Sort by ranks first. Then DOFs of lower owners come first, and a message is a few pieces of the
  // shared DOFs: one per set of ranks, often only one. In the order of the candidates, two ranks
  // would see the first and the last plane of a periodic box in opposite orders.
  std::sort(shared.begin(), shared.end(), [&](const SharedDof& a, const SharedDof& b) {
    return std::tie(a.ranks, candidates[a.candidate]) < std::tie(b.ranks, candidates[b.candidate]);
  });

  HaloPlan plan;
  std::map<int, std::vector<LocalIndex>> dofs_of_rank;
  for (const SharedDof& dof : shared) {
    const auto s = static_cast<LocalIndex>(plan.ids.size());
    plan.candidate.push_back(dof.candidate);
    plan.ids.push_back(candidates[dof.candidate]);
    if (dof.ranks.front() != comm.rank()) ++plan.n_not_owned;
    for (const int rank : dof.ranks)
      if (rank != comm.rank()) dofs_of_rank[rank].push_back(s);
  }

  // Both ends list a message in the order of the shared DOFs, so the slots agree without
  // negotiation.
  std::vector<std::vector<std::pair<int, LocalIndex>>> slots_of_dof(shared.size());
  for (const auto& [rank, dofs] : dofs_of_rank) {
    plan.neighbours.push_back({rank, plan.n_slots(), static_cast<LocalIndex>(dofs.size())});
    for (const LocalIndex s : dofs) {
      slots_of_dof[s].push_back({rank, plan.n_slots()});
      plan.message_dofs.push_back(s);
    }
  }

  plan.share_offsets.push_back(0);
  for (std::size_t s = 0; s < shared.size(); ++s) {
    auto& slots = slots_of_dof[s];
    slots.push_back({comm.rank(), HaloPlan::own_share});
    std::sort(slots.begin(), slots.end());
    for (const auto& [rank, slot] : slots) {
      plan.share_ranks.push_back(rank);
      plan.share_slots.push_back(slot);
    }
    plan.share_offsets.push_back(static_cast<LocalIndex>(plan.share_slots.size()));
  }
  return plan;
}

std::vector<LocalIndex> HaloPlan::only_slots() const {
  std::vector<LocalIndex> slots(ids.size(), several_shares);
  for (LocalIndex s = 0; s < n_shared(); ++s) {
    const LocalIndex first = share_offsets[s];
    if (share_offsets[s + 1] - first == 2)
      slots[s] = share_slots[share_slots[first] == own_share ? first + 1 : first];
  }
  return slots;
}

}  // namespace nekbone_k
