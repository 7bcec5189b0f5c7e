// SPDX-License-Identifier: BSD-3-Clause
// The placement of values in the tiles of the element kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "operators/axhelm/axhelm_tiles.hpp"

namespace nekbone_k {
namespace {

/// Maximum number of places in the same of 16 banks, over groups of 16 consecutive threads.
template <class Place>
int most_in_a_bank(int n, const Place& place) {
  int most = 0;
  for (int first = 0; first < n; first += 16) {
    std::array<int, 16> found{};
    for (int t = first; t < std::min(first + 16, n); ++t) ++found[place(t) % 16];
    most = std::max(most, *std::max_element(found.begin(), found.end()));
  }
  return most;
}

template <int nq, int layers, int banks, bool padded>
void expect_places() {
  SCOPED_TRACE(testing::Message() << nq << " layers " << layers << " banks " << banks << " padded "
                                  << padded);
  using Tiles = AxhelmTiles<nq, layers, banks, padded>;
  std::set<int> places_r, places_s, lines_r, lines_s, begins_r, begins_s;
  for (int l = 0; l < layers; ++l)
    for (int j = 0; j < nq; ++j)
      for (int i = 0; i < nq; ++i) {
        places_r.insert(Tiles::at_r(l, i, j));
        places_s.insert(Tiles::at_s(l, i, j));
        // Values of a line along r are consecutive; those of a line along s are one row apart.
        EXPECT_EQ(Tiles::at_r(l, i, j), Tiles::at_r(l, 0, j) + i);
        EXPECT_EQ(Tiles::at_s(l, i, j), Tiles::at_s(l, i, 0) + j * nq);
        if (i == 0) begins_r.insert(Tiles::at_r(l, i, j));
        if (j == 0) begins_s.insert(Tiles::at_s(l, i, j));
      }
  for (int n = 0; n < layers * nq; ++n) {
    lines_r.insert(Tiles::template line_r<layers>(n));
    lines_s.insert(Tiles::line_s(n));
  }
  EXPECT_EQ(places_r.size(), layers * nq * nq);
  EXPECT_EQ(places_s.size(), layers * nq * nq);
  EXPECT_EQ(*places_r.begin(), 0);
  EXPECT_EQ(*places_s.begin(), 0);
  EXPECT_LT(*places_r.rbegin(), Tiles::size_r);
  EXPECT_LT(*places_s.rbegin(), Tiles::size_s);
  EXPECT_EQ(lines_r, begins_r);
  EXPECT_EQ(lines_s, begins_s);
}

template <int nq, int layers>
void expect_few_meet() {
  SCOPED_TRACE(testing::Message() << nq << " layers " << layers);
  using Padded = AxhelmTiles<nq, layers, 16, true>;
  using Dense = AxhelmTiles<nq, layers, 16, false>;
  const auto point_r = [](int p) { return Dense::at_r(0, p % nq, p / nq); };
  const auto point_s = [](int p) { return Dense::at_s(0, p % nq, p / nq); };
  EXPECT_EQ(most_in_a_bank(nq * nq, point_r), 1);
  EXPECT_EQ(most_in_a_bank(nq * nq, point_s), 1);
  EXPECT_EQ(most_in_a_bank(layers * nq, [](int n) { return Dense::line_s(n); }), 1);
  EXPECT_LE(most_in_a_bank(layers * nq, [](int n) { return Dense::template line_r<layers>(n); }),
            2);
  EXPECT_EQ(most_in_a_bank(layers * nq, [](int n) { return Padded::template line_r<layers>(n); }),
            1);
}

template <int nq>
void expect_all() {
  // All layers at once, and numbers of layers that do not divide them.
  expect_places<nq, nq, 1, false>();
  expect_places<nq, nq, 16, false>();
  expect_places<nq, nq, 16, true>();
  expect_places<nq, (nq + 1) / 2, 16, false>();
  expect_places<nq, (nq + 1) / 2, 16, true>();
  expect_few_meet<nq, nq>();
}

TEST(AxhelmTiles, HaveAPlaceForEachValueAndFewMeetInABank) {
  [&]<int... nq>(std::integer_sequence<int, nq...>) { (expect_all<nq + 2>(), ...); }
  (std::make_integer_sequence<int, 15>{});
}

}  // namespace
}  // namespace nekbone_k
