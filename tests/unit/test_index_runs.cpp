// SPDX-License-Identifier: BSD-3-Clause
// Lists of indices cut into runs, and the indices that kernels read from them.
#include "gs/index_runs.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <utility>
#include <vector>

namespace nekbone_k {

void PrintTo(const IndexRun& run, std::ostream* out) {
  *out << run.begin << " +" << run.count << ": " << run.first << " by " << run.stride;
}

namespace {

using Indices = std::vector<LocalIndex>;
using Pieces = std::vector<IndexRun>;

Pieces runs_of(const Indices& indices, LocalIndex shortest, LocalIndex longest) {
  return find_runs(indices, 0, static_cast<LocalIndex>(indices.size()), shortest, longest);
}

TEST(IndexRuns, AreFoundAmongOthers) {
  EXPECT_EQ(runs_of({}, 3, 10), Pieces{});
  EXPECT_EQ(runs_of({5}, 3, 10), (Pieces{{0, 1, 0, 0}}));
  EXPECT_EQ(runs_of({5, 6, 7}, 3, 10), (Pieces{{0, 3, 5, 1}}));
  EXPECT_EQ(runs_of({5, 6, 8}, 3, 10), (Pieces{{0, 3, 0, 0}}));
  // The 4 could end the irregular piece or begin the run. The greedy rule gives it to the run.
  EXPECT_EQ(runs_of({9, 4, 6, 8, 10, 3}, 3, 10),
            (Pieces{{0, 1, 0, 0}, {1, 4, 4, 2}, {5, 1, 0, 0}}));
  EXPECT_EQ(runs_of({3, 2, 1, 0}, 3, 10), (Pieces{{0, 4, 3, -1}}));
  // The 2 could belong to either run.
  EXPECT_EQ(runs_of({0, 1, 2, 4, 6}, 3, 10), (Pieces{{0, 3, 0, 1}, {3, 2, 0, 0}}));
}

TEST(IndexRuns, LeaveNegativeAndEqualIndicesToTheList) {
  EXPECT_EQ(runs_of({-1, -1, -1, -1}, 2, 10), (Pieces{{0, 4, 0, 0}}));
  EXPECT_EQ(runs_of({7, 7, 7}, 2, 10), (Pieces{{0, 3, 0, 0}}));
  EXPECT_EQ(runs_of({1, 0, -1, -2}, 2, 10), (Pieces{{0, 2, 1, -1}, {2, 2, 0, 0}}));
}

TEST(IndexRuns, AreCutWhereTheyAreTooLong) {
  EXPECT_EQ(runs_of({4, 7, 10, 13, 16}, 2, 2),
            (Pieces{{0, 2, 4, 3}, {2, 2, 10, 3}, {4, 1, 16, 3}}));
  EXPECT_EQ(runs_of({-1, -1, -1}, 2, 2), (Pieces{{0, 2, 0, 0}, {2, 1, 0, 0}}));
}

TEST(IndexRuns, BelongToTheRangeAskedFor) {
  const Indices indices{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(find_runs(indices, 2, 5, 2, 10), (Pieces{{2, 3, 2, 1}}));
  EXPECT_EQ(find_runs(indices, 4, 4, 2, 10), Pieces{});
}

// Random runs in sequence, with random indices in between.
Indices pieces(unsigned seed) {
  std::mt19937 random(seed);
  Indices indices;
  while (indices.size() < 5000) {
    LocalIndex at = static_cast<LocalIndex>(random() % 1000);
    const int stride = static_cast<int>(random() % 4), n = static_cast<int>(random() % 300);
    for (int i = 0; i < n; ++i, at += stride)
      indices.push_back(random() % 50 == 0 ? static_cast<LocalIndex>(random() % 1000) : at);
  }
  return indices;
}

TEST(IndexRuns, HaveEveryPositionOnceWithItsIndex) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Indices indices = pieces(seed);
    for (const auto& [shortest, longest] : {std::pair{2, 7}, {16, 1024}, {256, 256}}) {
      std::vector<std::pair<LocalIndex, LocalIndex>> found;
      for (const IndexRun& run : runs_of(indices, shortest, longest)) {
        EXPECT_GT(run.count, 0);
        EXPECT_LE(run.count, longest);
        for_positions<1>(run, indices.data(), 0, [&](LocalIndex position, LocalIndex index) {
          found.emplace_back(position, index);
        });
      }
      ASSERT_EQ(found.size(), indices.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(found[i], std::pair(LocalIndex(i), indices[i]));
    }
  }
}

TEST(IndexRuns, PackWhatTheListSays) {
  const Indices indices = pieces(4);
  constexpr int components = 3;
  const LocalIndex n_entries = 3000, n_slots = static_cast<LocalIndex>(indices.size());
  const DeviceField<double> field("field", n_entries, components);
  const auto host = Kokkos::create_mirror_view(field);
  for (LocalIndex a = 0; a < n_entries; ++a)
    for (int c = 0; c < components; ++c) host(a, c) = a + 0.1 * c;
  Kokkos::deep_copy(field, host);
  const auto dofs = nekbone_k::to_device("dofs", indices);
  // Pieces with one position per thread, a few positions per thread, and many.
  for (const LocalIndex longest : {RunShape::team_size, 3 * RunShape::team_size, n_slots}) {
    const DeviceRuns runs =
        nekbone_k::to_device("runs", find_runs(indices, 0, n_slots, RunShape::shortest, longest));
    for (const int sent : {1, components}) {
      const DeviceVector<double> to("packed", std::size_t(n_slots) * sent);
      for_index_runs("pack", ExecutionSpace(), runs,
                     PackRun<double>{field.data(), field.stride(1), sent, dofs.data(), to.data()});
      const auto packed = Kokkos::create_mirror_view_and_copy(HostMemory(), to);
      for (LocalIndex slot = 0; slot < n_slots; ++slot)
        for (int c = 0; c < sent; ++c)
          ASSERT_EQ(packed(std::size_t(slot) * sent + c), indices[slot] + 0.1 * c) << longest;
    }
  }
}

}  // namespace
}  // namespace nekbone_k
