// SPDX-License-Identifier: BSD-3-Clause
#include "report/flow_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/errors.hpp"
#include "support/contains.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(FlowSeries, HasARowAtOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.path("series.csv");
  SeriesFile series(path);
  FlowRow row;
  row.step = 3;
  row.time = 0.25;
  row.energy = 0.125;
  row.pressure_iterations = 7;
  series.add(row);
  row.reference = 0.5;
  series.add(row);
  // The file is complete while the series is open.
  const std::string text = text_of(path);
  EXPECT_TRUE(contains(text, "step,time,dt,energy,enstrophy,reference_enstrophy,")) << text;
  EXPECT_TRUE(contains(text, "\n3,0.25,0,1.250000000000000e-01,0.000000000000000e+00,,")) << text;
  EXPECT_TRUE(contains(text, "e+00,5.0000000000e-01,")) << text;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto columns = std::count(line.begin(), line.end(), ',');
  int rows = 0;
  for (; std::getline(lines, line); ++rows)
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns) << line;
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(series.complaint(), "");
}

TEST(FlowSeries, IsRefusedWhereNoFileCanBe) {
  const TemporaryFolder folder;
  EXPECT_THROW(SeriesFile(folder.path("missing/series.csv")), InputError);
}

TEST(FlowSeries, KeepsAFailureToWrite) {
  if (!std::ifstream("/dev/full")) GTEST_SKIP() << "no /dev/full";
  // The header fits into no file that is full.
  EXPECT_THROW(SeriesFile("/dev/full"), InputError);
}

// time, energy, dissipation and enstrophy t³ - 2t at times 0 to 1.
std::string cubic(const std::string& separator) {
  std::string text = "# a comment\n\n";
  for (const double t : {0.0, 0.1, 0.25, 0.5, 0.7, 1.0})
    text += std::to_string(t) + separator + "1" + separator + "2" + separator +
            std::to_string(t * t * t - 2 * t) + "  # row\r\n";
  return text;
}

TEST(FlowSeriesReference, InterpolatesACubicExactly) {
  for (const char* const separator : {" ", ", ", "\t"}) {
    const FlowReference reference(cubic(separator), "x.dat");
    for (const double t : {0.0, 0.05, 0.1, 0.3, 0.66, 0.9, 1.0})
      EXPECT_NEAR(reference.enstrophy(t).value(), t * t * t - 2 * t, 2e-6) << t;
  }
}

TEST(FlowSeriesReference, HasNothingBeyondItsTimes) {
  const FlowReference reference(cubic(" "), "x.dat");
  EXPECT_FALSE(reference.enstrophy(-0.01));
  EXPECT_FALSE(reference.enstrophy(1.01));
  EXPECT_TRUE(reference.enstrophy(1 + 1e-12));
}

TEST(FlowSeriesReference, NamesTheLineThatIsWrong) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      FlowReference(text, "x.dat");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string good = "0 1 1 1\n1 1 1 1\n2 1 1 1\n";
  EXPECT_TRUE(contains(complaint(good + "3 1 1\n"), "x.dat:4: needs four numbers"));
  EXPECT_TRUE(contains(complaint(good + "2 1 1 1\n"), "x.dat:4: ")) << "times do not rise";
  EXPECT_TRUE(contains(complaint(good + "3 1 1 nan\n"), "x.dat:4: "));
  EXPECT_TRUE(contains(complaint(good + "time energy x y\n"), "x.dat:4: "));
  EXPECT_TRUE(contains(complaint(good), "x.dat: has 3 lines"));
  EXPECT_TRUE(contains(complaint(""), "x.dat: has 0 lines"));
  EXPECT_EQ(complaint(good + "3 1 1 1\n"), "");
}

}  // namespace
}  // namespace nekbone_k
