// SPDX-License-Identifier: BSD-3-Clause
// The halo plan against brute force, for which every rank gets all ids of all ranks.
#include "gs/halo_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace nekbone_k {
namespace {

using Ids = std::vector<GlobalId>;

// Every rank's ids, on every rank.
std::vector<Ids> all_ids(MPI_Comm comm, const Ids& ids) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  const int count = static_cast<int>(ids.size());
  std::vector<int> counts(size), offsets(size + 1, 0);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  Ids all(offsets.back());
  MPI_Allgatherv(ids.data(), count, MPI_INT64_T, all.data(), counts.data(), offsets.data(),
                 MPI_INT64_T, comm);
  std::vector<Ids> of_rank(size);
  for (int r = 0; r < size; ++r)
    of_rank[r].assign(all.begin() + offsets[r], all.begin() + offsets[r + 1]);
  return of_rank;
}

// The ranks that have each id, in ascending order.
using Sharers = std::map<GlobalId, std::set<int>>;

Sharers find_sharers(const std::vector<Ids>& ids_of_rank) {
  Sharers sharers;
  for (int r = 0; r < static_cast<int>(ids_of_rank.size()); ++r)
    for (const GlobalId id : ids_of_rank[r]) sharers[id].insert(r);
  return sharers;
}

// The candidates of each rank, with a name for test output.
struct CandidateGraph {
  std::string name;
  Ids (*candidates)(int rank, int size);
};

void PrintTo(const CandidateGraph& graph, std::ostream* out) { *out << graph.name; }

// Distinct ids in random order. Each of the first `ids` occurs with the given probability.
Ids random_ids(int rank, int ids, double probability, GlobalId stride) {
  std::mt19937_64 random(1000 * ids + rank);
  Ids chosen;
  for (GlobalId id = 0; id < ids; ++id)
    if (static_cast<double>(random() >> 11) * 0x1p-53 < probability) chosen.push_back(id * stride);
  for (std::size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[random() % i]);
  return chosen;
}

const std::vector<CandidateGraph> candidate_graphs{
    {"sparse_random", [](int rank, int) { return random_ids(rank, 400, 0.15, 1); }},
    {"dense_random", [](int rank, int) { return random_ids(rank, 100, 0.8, 1); }},
    {"ids_beyond_32_bits",
     [](int rank, int) { return random_ids(rank, 200, 0.4, GlobalId{40000000000000001}); }},
    {"even_ranks_have_nothing",
     [](int rank, int) { return rank % 2 == 0 ? Ids{} : random_ids(rank, 60, 0.5, 3); }},
    {"only_the_last_has_any",
     [](int rank, int size) { return rank < size - 1 ? Ids{} : random_ids(rank, 60, 0.5, 3); }},
    {"nobody_has_any", [](int, int) { return Ids{}; }},
    {"all_have_the_same",
     [](int, int) {
       return Ids{12, 3, 7, 0, 9};
     }},
    {"all_have_the_same_in_other_orders",
     [](int rank, int) {
       Ids ids{12, 3, 7, 0, 9};
       std::rotate(ids.begin(), ids.begin() + rank % 5, ids.end());
       return ids;
     }},
    {"one_id", [](int, int) { return Ids{5}; }},
    {"none_shared",
     [](int rank, int) {
       return Ids{10 * rank + 2, 10 * rank, 10 * rank + 1};
     }},
    {"ring",
     [](int rank, int size) {
       const GlobalId next = 10 * ((rank + 1) % size), own = 10 * rank;
       return size == 1 ? Ids{0, 1} : Ids{next + 1, own, 1000 + rank, own + 1, next};
     }},
    {"star_about_the_last_rank",
     [](int rank, int size) {
       if (rank < size - 1) return Ids{rank};
       Ids ids(size);
       std::iota(ids.rbegin(), ids.rend(), 0);
       return ids;
     }},
};

class HaloPlanOf : public testing::TestWithParam<CandidateGraph> {
 protected:
  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank();
  const Ids m_candidates = GetParam().candidates(m_comm.rank(), m_comm.size());
  const std::vector<Ids> m_ids_of_rank = all_ids(m_comm.get(), m_candidates);
  const Sharers m_sharers = find_sharers(m_ids_of_rank);
  const HaloPlan m_plan = make_halo_plan(m_comm, m_candidates);

  bool owned_here(GlobalId id) const { return *m_sharers.at(id).begin() == m_rank; }
};

TEST_P(HaloPlanOf, SharesWhatSeveralRanksHaveOwnedElsewhereFirst) {
  Ids not_owned, owned;
  for (const GlobalId id : m_candidates)
    if (m_sharers.at(id).size() > 1) (owned_here(id) ? owned : not_owned).push_back(id);
  for (Ids* const ids : {&not_owned, &owned})
    std::sort(ids->begin(), ids->end(), [&](GlobalId a, GlobalId b) {
      return std::pair{m_sharers.at(a), a} < std::pair{m_sharers.at(b), b};
    });
  Ids expected = not_owned;
  expected.insert(expected.end(), owned.begin(), owned.end());

  EXPECT_EQ(m_plan.ids, expected);
  EXPECT_EQ(m_plan.n_not_owned, static_cast<LocalIndex>(not_owned.size()));
  EXPECT_EQ(m_plan.n_shared(), static_cast<LocalIndex>(expected.size()));
  ASSERT_EQ(m_plan.candidate.size(), m_plan.ids.size());
  for (std::size_t s = 0; s < m_plan.ids.size(); ++s)
    EXPECT_EQ(m_candidates.at(m_plan.candidate[s]), m_plan.ids[s]) << s;
}

TEST_P(HaloPlanOf, EveryDofHasOneOwner) {
  const auto owned_here_of = [](const HaloPlan& plan) {
    return Ids(plan.ids.begin() + plan.n_not_owned, plan.ids.end());
  };
  std::map<GlobalId, int> owners;
  for (const Ids& owned : all_ids(m_comm.get(), owned_here_of(m_plan)))
    for (const GlobalId id : owned) ++owners[id];
  for (const auto& [id, ranks] : m_sharers)
    EXPECT_EQ(owners[id], ranks.size() > 1 ? 1 : 0) << "DOF " << id;
}

TEST_P(HaloPlanOf, ListsSharesInAscendingRankOwnOneIncluded) {
  ASSERT_EQ(m_plan.share_offsets.size(), m_plan.ids.size() + 1);
  EXPECT_EQ(m_plan.share_offsets.front(), 0);
  EXPECT_EQ(m_plan.share_offsets.back(), static_cast<LocalIndex>(m_plan.share_slots.size()));
  ASSERT_EQ(m_plan.share_ranks.size(), m_plan.share_slots.size());
  for (LocalIndex s = 0; s < m_plan.n_shared(); ++s) {
    const auto begin = m_plan.share_ranks.begin();
    const std::vector<int> ranks(begin + m_plan.share_offsets[s],
                                 begin + m_plan.share_offsets[s + 1]);
    const std::set<int>& sharers = m_sharers.at(m_plan.ids[s]);
    EXPECT_EQ(ranks, std::vector<int>(sharers.begin(), sharers.end())) << "DOF " << m_plan.ids[s];
  }
}

TEST_P(HaloPlanOf, HasTheNeighboursItSharesWithInAscendingRank) {
  std::map<int, LocalIndex> shared_with;
  for (const auto& [id, ranks] : m_sharers)
    if (ranks.count(m_rank) != 0)
      for (const int r : ranks)
        if (r != m_rank) ++shared_with[r];

  ASSERT_EQ(m_plan.neighbours.size(), shared_with.size());
  auto neighbour = m_plan.neighbours.begin();
  LocalIndex offset = 0;
  for (const auto& [rank, count] : shared_with) {
    EXPECT_EQ(neighbour->rank, rank);
    EXPECT_EQ(neighbour->count, count) << "rank " << rank;
    EXPECT_EQ(neighbour->offset, offset) << "rank " << rank;
    offset += count;
    ++neighbour;
  }
  EXPECT_EQ(m_plan.n_slots(), offset);
}

TEST_P(HaloPlanOf, OrdersBothEndsOfAMessageByItsRanksAndGlobalId) {
  for (const Neighbour& n : m_plan.neighbours) {
    Ids slots;
    for (LocalIndex slot = n.offset; slot < n.offset + n.count; ++slot)
      slots.push_back(m_plan.ids.at(m_plan.message_dofs.at(slot)));
    // The DOFs of both ranks. The neighbour computes the same set.
    std::set<std::pair<std::set<int>, GlobalId>> both;
    for (const auto& [id, ranks] : m_sharers)
      if (ranks.count(m_rank) != 0 && ranks.count(n.rank) != 0) both.insert({ranks, id});
    Ids expected;
    for (const auto& [ranks, id] : both) expected.push_back(id);
    EXPECT_EQ(slots, expected) << "rank " << n.rank;
  }
}

TEST_P(HaloPlanOf, LeadsEveryShareToItsDofInTheMessageOfItsRank) {
  std::vector<int> uses(m_plan.message_dofs.size(), 0);
  for (LocalIndex s = 0; s < m_plan.n_shared(); ++s) {
    for (LocalIndex at = m_plan.share_offsets[s]; at < m_plan.share_offsets[s + 1]; ++at) {
      const int rank = m_plan.share_ranks[at];
      const LocalIndex slot = m_plan.share_slots[at];
      if (rank == m_rank) {
        EXPECT_EQ(slot, HaloPlan::own_share);
        continue;
      }
      ASSERT_GE(slot, 0);
      ASSERT_LT(slot, m_plan.n_slots());
      EXPECT_EQ(m_plan.message_dofs[slot], s);
      ++uses[slot];
      const auto neighbour = std::find_if(
          m_plan.neighbours.begin(), m_plan.neighbours.end(),
          [&](const auto& n) { return n.offset <= slot && slot < n.offset + n.count; });
      ASSERT_NE(neighbour, m_plan.neighbours.end());
      EXPECT_EQ(neighbour->rank, rank);
    }
  }
  EXPECT_EQ(uses, std::vector<int>(uses.size(), 1));
}

INSTANTIATE_TEST_SUITE_P(Graphs, HaloPlanOf, testing::ValuesIn(candidate_graphs),
                         [](const auto& graph) { return graph.param.name; });

// Two cases that are small enough to write down the whole plan.

TEST(HaloPlan, OfTwoOrMoreRanksInALineIsAsWrittenHere) {
  const Communicator comm(MPI_COMM_WORLD);
  const int rank = comm.rank(), last = comm.size() - 1;
  // Rank r has the private DOF 1000 + r, and shares 2r - 1 and 2r - 2 with rank r - 1.
  Ids candidates;
  const GlobalId after = 2 * rank, before = 2 * rank - 2;
  if (rank < last) candidates.insert(candidates.end(), {after + 1, after});
  candidates.push_back(1000 + rank);
  if (rank > 0) candidates.insert(candidates.end(), {before + 1, before});
  const HaloPlan plan = make_halo_plan(comm, candidates);

  Ids ids;
  std::vector<LocalIndex> candidate, message_dofs, share_slots;
  std::vector<int> neighbours, share_ranks;
  if (rank > 0) {
    ids = {before, before + 1};
    candidate = rank < last ? std::vector<LocalIndex>{4, 3} : std::vector<LocalIndex>{2, 1};
    message_dofs = {0, 1};
    share_slots = {0, HaloPlan::own_share, 1, HaloPlan::own_share};
    share_ranks = {rank - 1, rank, rank - 1, rank};
    neighbours = {rank - 1};
  }
  if (rank < last) {
    const auto first = static_cast<LocalIndex>(ids.size());
    ids.insert(ids.end(), {after, after + 1});
    candidate.insert(candidate.end(), {1, 0});
    message_dofs.insert(message_dofs.end(), {first, first + 1});
    share_slots.insert(share_slots.end(),
                       {HaloPlan::own_share, first, HaloPlan::own_share, first + 1});
    share_ranks.insert(share_ranks.end(), {rank, rank + 1, rank, rank + 1});
    neighbours.push_back(rank + 1);
  }
  EXPECT_EQ(plan.ids, ids);
  EXPECT_EQ(plan.n_not_owned, rank > 0 ? 2 : 0);
  EXPECT_EQ(plan.candidate, candidate);
  EXPECT_EQ(plan.message_dofs, message_dofs);
  EXPECT_EQ(plan.share_slots, share_slots);
  EXPECT_EQ(plan.share_ranks, share_ranks);
  ASSERT_EQ(plan.neighbours.size(), neighbours.size());
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    EXPECT_EQ(plan.neighbours[n].rank, neighbours[n]);
    EXPECT_EQ(plan.neighbours[n].offset, static_cast<LocalIndex>(2 * n));
    EXPECT_EQ(plan.neighbours[n].count, 2);
  }
}

TEST(HaloPlan, OfOneRankIsEmpty) {
  const Communicator alone(MPI_COMM_SELF);
  const HaloPlan plan = make_halo_plan(alone, Ids{4, 2, 8});
  EXPECT_EQ(plan.n_shared(), 0);
  EXPECT_EQ(plan.n_slots(), 0);
  EXPECT_EQ(plan.n_not_owned, 0);
  EXPECT_TRUE(plan.neighbours.empty());
  EXPECT_EQ(plan.share_offsets, std::vector<LocalIndex>{0});
}

TEST(HaloPlan, DoesNotDependOnTheOrderOfTheCandidates) {
  const Communicator comm(MPI_COMM_WORLD);
  Ids candidates = random_ids(comm.rank(), 300, 0.3, 7);
  const HaloPlan random = make_halo_plan(comm, candidates);
  std::sort(candidates.begin(), candidates.end());
  const HaloPlan sorted = make_halo_plan(comm, candidates);
  EXPECT_EQ(random.ids, sorted.ids);
  EXPECT_EQ(random.n_not_owned, sorted.n_not_owned);
  EXPECT_EQ(random.message_dofs, sorted.message_dofs);
  EXPECT_EQ(random.share_slots, sorted.share_slots);
}

}  // namespace
}  // namespace nekbone_k
