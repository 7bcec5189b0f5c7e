// SPDX-License-Identifier: BSD-3-Clause
#include "gs/index_lists.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

using Lists = std::vector<std::vector<LocalIndex>>;

IndexLists to_device(const Lists& lists) {
  IndexListsBuilder builder(static_cast<LocalIndex>(lists.size()));
  for (const auto& list : lists) builder.add(list.data(), static_cast<LocalIndex>(list.size()));
  return builder.to_device("lists");
}

/// The lists as kernels read them.
Lists read_back(const IndexLists& lists, std::size_t n_lists, std::size_t longest) {
  const DeviceVector<LocalIndex> counts("counts", n_lists);
  const Kokkos::View<LocalIndex**, Kokkos::LayoutRight, DeviceMemory> entries("entries", n_lists,
                                                                              longest);
  const IndexLists::Reader reader = lists.reader();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(n_lists)),
      KOKKOS_LAMBDA(const LocalIndex l) {
        const IndexList list = reader(l);
        counts(l) = list.count();
        for (LocalIndex i = 0; i < list.count(); ++i) entries(l, i) = list[i];
      });
  const auto host_counts = Kokkos::create_mirror_view_and_copy(HostMemory(), counts);
  const auto host_entries = Kokkos::create_mirror_view_and_copy(HostMemory(), entries);
  Lists found(n_lists);
  for (std::size_t l = 0; l < n_lists; ++l)
    for (LocalIndex i = 0; i < host_counts(l); ++i) found[l].push_back(host_entries(l, i));
  return found;
}

TEST(IndexLists, AreReadAsTheyWere) {
  const Lists lists{{5}, {5, 6, 7}, {1, 2, 3}, {3, 2, 1}, {0, 0}, {2'000'000'000, 0}, {7, 5, 100}};
  EXPECT_EQ(read_back(to_device(lists), lists.size(), 3), lists);
}

// More patterns than the builder remembers. Each occurs twice, and some are equal.
TEST(IndexLists, AreReadAsTheyWereWhereManyDiffer) {
  std::mt19937 random(1);
  Lists lists;
  for (int l = 0; l < 100'000; ++l) {
    lists.emplace_back();
    for (LocalIndex i = 0, n = 1 + static_cast<LocalIndex>(random() % 4); i < n; ++i)
      lists.back().push_back(static_cast<LocalIndex>(random() % (l % 3 == 0 ? 4 : 1'000'000'000)));
  }
  const Lists again = lists;
  lists.insert(lists.end(), again.begin(), again.end());
  EXPECT_EQ(read_back(to_device(lists), lists.size(), 4), lists);
}

TEST(IndexLists, ShareWhatTheyHaveInCommon) {
  Lists lists, same(1000, {3, 1, 4, 1, 5, 9, 2, 6});
  for (LocalIndex l = 0; l < 1000; ++l) lists.push_back({10 * l, 10 * l + 3, 10 * l - 4});
  // One base and one position per list, and one pattern with its length.
  EXPECT_EQ(to_device(lists).least_bytes(), 4 * (2 * 1000 + 4));
  EXPECT_EQ(to_device(same).least_bytes(), 4 * (2 * 1000 + 9));
}

using Runs = std::vector<IndexLists::Run>;

Runs runs_of(const Lists& lists) {
  const auto runs = Kokkos::create_mirror_view_and_copy(HostMemory(), to_device(lists).runs());
  return {runs.data(), runs.data() + runs.extent(0)};
}

TEST(IndexLists, RunOnWhileTheyAreAlike) {
  const Lists lists{{5, 7},      {6, 8},   {7, 9}, {11, 13}, {2, 4},  // one pattern, any base
                    {13, 13},    {14, 14},                            // another
                    {14, 14, 14}};                                    // and another
  EXPECT_EQ(runs_of(lists), (Runs{{0, 5, 0}, {5, 7, 0}, {7, 8, 0}}));
  EXPECT_EQ(runs_of({}), Runs{});
  EXPECT_EQ(runs_of({{4}}), (Runs{{0, 1, 0}}));
}

// Adds `n` lists of one pattern whose bases are `stride` apart.
void add_even(LocalIndex base, LocalIndex stride, LocalIndex n, Lists& lists) {
  for (LocalIndex l = 0; l < n; ++l) lists.push_back({base + l * stride, base + l * stride + 3});
}

TEST(IndexLists, OfEvenDistancesAreRunsOfTheirOwn) {
  constexpr LocalIndex even = IndexLists::shortest_even_run;
  Lists lists{{5, 8}, {6, 9}};  // not part of the next run
  add_even(100, 7, even, lists);
  lists.push_back({3, 6});
  add_even(200, 1, even - 1, lists);  // too few
  lists.push_back({1, 2});            // another pattern
  add_even(300, -2, even + 4, lists);
  const LocalIndex second = 2 + even + 1 + even - 1, third = second + 1;
  EXPECT_EQ(runs_of(lists), (Runs{{0, 2, 0},
                                  {2, 2 + even, 7},
                                  {2 + even, second, 0},
                                  {second, third, 0},
                                  {third, third + even + 4, -2}}));
}

TEST(IndexLists, AreCutWhereRunsAreLong) {
  constexpr LocalIndex most = IndexLists::longest_run;
  Lists even, uneven;
  add_even(0, 4, most + 3, even);
  for (LocalIndex l = 0; l < 2 * most; ++l) uneven.push_back({l * l, l * l + 1});
  EXPECT_EQ(runs_of(even), (Runs{{0, most, 4}, {most, most + 3, 4}}));
  EXPECT_EQ(runs_of(uneven), (Runs{{0, most, 0}, {most, 2 * most, 0}}));
}

TEST(IndexLists, HaveEntries) { EXPECT_THROW(to_device({{}}), InternalError); }

TEST(IndexLists, MayBeNone) { EXPECT_EQ(to_device({}).least_bytes(), 0); }

}  // namespace
}  // namespace nekbone_k
