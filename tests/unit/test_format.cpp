// SPDX-License-Identifier: BSD-3-Clause
#include "core/format.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace nekbone_k {
namespace {

TEST(FormatNumber, RoundsToSignificantDigits) {
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(12.3456), "12.35");
  EXPECT_EQ(significant(-0.0123456), "-0.01235");
  EXPECT_EQ(significant(9.99996), "10.00");
  EXPECT_EQ(significant(123456), "123456");
  EXPECT_EQ(significant(1234567), "1.235e+06");
  EXPECT_EQ(significant(1e-9, 2), "1.0e-09");
  EXPECT_EQ(significant(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(FormatNumber, HasUnits) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(125.31), "125.3 s");
  EXPECT_EQ(seconds_text(0.01234), "12.34 ms");
  EXPECT_EQ(seconds_text(-3.5e-6), "-3.500 µs");
  EXPECT_EQ(seconds_text(2e-9), "2.000 ns");
  EXPECT_EQ(seconds_text(std::numeric_limits<double>::infinity()), "inf s");
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.500 KiB");
  EXPECT_EQ(bytes_text(17.5 * 1024 * 1024 * 1024), "17.50 GiB");
  EXPECT_EQ(count_text(999999), "999999");
  EXPECT_EQ(count_text(1.5), "1.5");
  EXPECT_EQ(count_text(134217728), "134.2 M");
  EXPECT_EQ(count_text(1.2e9), "1.200 G");
  EXPECT_EQ(giga_text(2.306e12, "FLOP/s"), "2306 GFLOP/s");
}

TEST(FormatNumber, IsSingularForOne) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(12000, "DOF"), "12000 DOFs");
  EXPECT_EQ(counted(134217728, "local point"), "134.2 M local points");
}

TEST(FormatNumber, DurationsOfATableShareAUnit) {
  const DurationFormat duration(18.4e-6);
  EXPECT_EQ(duration.unit(), "µs");
  EXPECT_EQ(duration.text(18.4e-6), "18.4");
  EXPECT_EQ(duration.text(1.3e-3), "1300.0");
  EXPECT_EQ(duration.text(-2e-6), "-2.0");
  EXPECT_EQ(duration.text(7), "7.00e+06");
  EXPECT_EQ(DurationFormat(0).unit(), "s");
}

TEST(FormatRanks, DrawsRunsTogether) {
  EXPECT_EQ(ranges_text(std::vector<int>{}), "");
  EXPECT_EQ(ranges_text(std::vector<int>{5}), "5");
  EXPECT_EQ(ranges_text(std::vector<int>{0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
  const auto groups = group_equal(std::vector<std::string>{"b", "a", "b"});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].first, "b");
  EXPECT_EQ(groups[0].second, (std::vector<int>{0, 2}));
}

TEST(FormatWrap, BreaksAtBlanksAndCutsLongWords) {
  EXPECT_EQ(text_width("µ²×"), 3u);
  EXPECT_EQ(wrap("  x: ", " a\tb\nc "), "  x: a b c\n");
  EXPECT_EQ(wrap("  x: ", ""), "  x:\n");
  const std::string a(49, 'a'), b(50, 'b');
  EXPECT_EQ(wrap("", a + ' ' + b), a + ' ' + b + '\n');
  EXPECT_EQ(wrap("", b + ' ' + b), b + '\n' + b + '\n');
  EXPECT_EQ(wrap("- ", a + ' ' + b), "- " + a + "\n  " + b + '\n');
  EXPECT_EQ(wrap("- ", std::string(150, 'w')),
            "- " + std::string(98, 'w') + "\n  " + std::string(52, 'w') + "\n");
}

TEST(FormatTable, AlignsAndNarrowsColumns) {
  Table table({{"name", false}, {"n"}});
  table.add({"µs", "1"});
  table.add_text("  ", "between");
  table.add({"longer", "12345"});
  EXPECT_EQ(table.text(),
            "  name        n\n"
            "  µs          1\n"
            "  between\n"
            "  longer  12345\n");
}

TEST(FormatTable, CutsCellsAndGivesLongFirstCellsALineOfTheirOwn) {
  Table table({{"name", false}, {"memory", false, 8}, {"n"}});
  table.add({std::string(95, 'a'), std::string(20, 'm'), "1"});
  table.add({"b", "short", "22"});
  const auto blanks = [](int n) { return std::string(n, ' '); };
  EXPECT_EQ(table.text(), "  name" + blanks(83) + "memory    n\n" +  //
                              "  " + std::string(95, 'a') + "\n" +   //
                              blanks(89) + "mmmmmmm~  1\n" +         //
                              "  b" + blanks(86) + "short    22\n");
}

}  // namespace
}  // namespace nekbone_k
