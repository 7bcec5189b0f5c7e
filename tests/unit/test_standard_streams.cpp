// SPDX-License-Identifier: BSD-3-Clause
// Output on terminals that show only ASCII.
#include "core/standard_streams.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nekbone_k {
namespace {

TEST(StandardStreams, AsciiStaysAsItIs) {
  const std::string text = "nekbone-k: 100 % of \"a\\b\"\n\t~";
  EXPECT_EQ(to_ascii(text), text);
  EXPECT_EQ(to_ascii(""), "");
}

TEST(StandardStreams, WhatTheProgramPrintsHasALikeness) {
  EXPECT_EQ(to_ascii("1.5 µs"), "1.5 us");
  EXPECT_EQ(to_ascii("3 × 2 × 1 elements"), "3 x 2 x 1 elements");
  EXPECT_EQ(to_ascii("u·Au"), "u*Au");
  EXPECT_EQ(to_ascii("‖b‖"), "|b|");
}

TEST(StandardStreams, ColumnsStayAsTheyAre) {
  for (const auto& [text, width] : {std::pair<std::string, std::size_t>{"1.5 ± 0.2 µs", 12},
                                    {"mean ± standard deviation", 25},
                                    {"a ± b ± c", 9},
                                    {"größe/日本.json", 13},
                                    {"±1", 2},
                                    {"😀!", 2}})
    EXPECT_EQ(to_ascii(text).size(), width) << text;
  EXPECT_EQ(to_ascii("1.5 ± 0.2"), "1.5+/-0.2");
  EXPECT_EQ(to_ascii("größe"), "gr??e");
}

TEST(StandardStreams, NoByteIsBeyondAscii) {
  // Incomplete characters, stray continuation bytes, and invalid first bytes.
  for (const std::string text : {"\xc2", "\xe2\x80", "\x80\x80", "\xff\xfe",
                                 "a\xc2"
                                 "b",
                                 "\xf0\x9f\x98"})
    for (const char c : to_ascii(text))
      EXPECT_LT(static_cast<unsigned char>(c), 0x80) << testing::PrintToString(text);
  EXPECT_EQ(to_ascii("a\xc2"
                     "b"),
            "a?b");
}

}  // namespace
}  // namespace nekbone_k
