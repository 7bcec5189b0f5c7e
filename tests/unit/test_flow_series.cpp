// SPDX-License-Identifier: BSD-3-Clause
// The CSV file of a flow's time series, and a reference to compare with.
#include "report/flow_series.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "support/contains.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

using Cells = std::vector<std::string>;

std::vector<Cells> cells_in(const std::string& csv) {
  std::vector<Cells> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    Cells& cells = rows.emplace_back();
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
      end = line.find(',', begin);
      cells.push_back(line.substr(begin, end - begin));
    }
  }
  return rows;
}

FlowRow row_of_series() {
  FlowRow row;
  row.step = 29;
  row.time = 0.1 + 1e-9;
  row.dt = 1.0 / 3;
  row.energy = 0.12345678901234567;
  row.enstrophy = 3.75e-1;
  row.energy_loss = 4.6875e-4;
  row.dissipation = 4.6878e-4;
  row.divergence = 1.4e-5;
  row.cfl = 0.386;
  row.momentum = {1, -0.5, 1e-20};
  row.pressure_iterations = 7;
  row.velocity_iterations = 3;
  row.step_seconds = 0.25;
  return row;
}

// ---- The file -----------------------------------------------------------------------------------

TEST(FlowSeriesFile, HasAValuePerColumn) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.csv");
  SeriesFile file(path);
  FlowRow compared = row_of_series();
  compared.reference = 0.374;
  file.add(row_of_series());
  file.add(compared);
  const auto rows = cells_in(content(path));  // while the file is open
  ASSERT_EQ(rows.size(), 3u);
  const Cells& names = rows[0];
  const auto value = [&](int row, const std::string& name) {
    for (std::size_t c = 0; c < names.size(); ++c)
      if (names[c] == name) return rows[row].at(c);
    ADD_FAILURE() << "no column " << name;
    return std::string();
  };
  for (const Cells& row : rows) EXPECT_EQ(row.size(), names.size());
  EXPECT_EQ(value(1, "step"), "29");
  EXPECT_EQ(value(1, "time"), "0.100000001");
  EXPECT_NEAR(std::stod(value(1, "dt")), 1.0 / 3, 1e-10);
  EXPECT_NEAR(std::stod(value(1, "energy")), row_of_series().energy, 1e-16);
  EXPECT_EQ(std::stod(value(1, "enstrophy")), 0.375);
  EXPECT_EQ(value(1, "reference_enstrophy"), "");
  EXPECT_EQ(std::stod(value(2, "reference_enstrophy")), 0.374);
  EXPECT_EQ(std::stod(value(1, "energy_loss")), 4.6875e-4);
  EXPECT_EQ(std::stod(value(1, "dissipation")), 4.6878e-4);
  EXPECT_EQ(std::stod(value(1, "max_divergence")), 1.4e-5);
  EXPECT_EQ(std::stod(value(1, "cfl")), 0.386);
  EXPECT_EQ(std::stod(value(1, "mean_u")), 1);
  EXPECT_EQ(std::stod(value(1, "mean_v")), -0.5);
  EXPECT_EQ(std::stod(value(1, "mean_w")), 1e-20);
  EXPECT_EQ(value(1, "pressure_iterations"), "7");
  EXPECT_EQ(value(1, "velocity_iterations"), "3");
  EXPECT_EQ(std::stod(value(1, "step_s")), 0.25);
  EXPECT_EQ(file.complaint(), "");
}

TEST(FlowSeriesFile, ReplacesAnEarlierOne) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.csv");
  {
    SeriesFile file(path);
    for (int i = 0; i < 5; ++i) file.add(row_of_series());
  }
  SeriesFile file(path);
  EXPECT_EQ(cells_in(content(path)).size(), 1u);
}

TEST(FlowSeriesFile, SaysWhyItCannotBeWritten) {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing/a.csv");
  const std::string why =
      fmt::format("'{}' cannot be written: No such file or directory; name another file", missing);
  EXPECT_EQ(refusal_of([&] { SeriesFile file(missing); }), why);
  EXPECT_EQ(SeriesFile::why_not(missing), why);
  const std::string is_folder = refusal_of([&] { SeriesFile file(folder.path()); });
  EXPECT_TRUE(contains(is_folder, "cannot be written: Is a directory")) << is_folder;
  EXPECT_EQ(SeriesFile::why_not(folder.path()), is_folder);
}

TEST(FlowSeriesFile, IsLeftAloneByTheQuestionWhetherItCouldBeWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.csv");
  EXPECT_EQ(SeriesFile::why_not(path), "");
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "rows of an earlier run\n";
  EXPECT_EQ(SeriesFile::why_not(path), "");
  EXPECT_EQ(content(path), "rows of an earlier run\n");
}

TEST(FlowSeriesFile, OnAFullDiskRefusesTheRun) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(refusal_of([] { SeriesFile file("/dev/full"); }),
            "'/dev/full' cannot be written; name another file");
}

// ---- The reference ------------------------------------------------------------------------------

// A cubic that is positive at the times of the tests.
double some_cubic(double t) { return 4 + t * (0.5 + t * (-1.25 + 0.5 * t)); }

std::string lines_of_some_cubic(const std::vector<double>& times) {
  std::string text;
  for (const double t : times) text += fmt::format("{:.17g} 0.1 0.2 {:.17g}\n", t, some_cubic(t));
  return text;
}

TEST(FlowSeriesReference, InterpolatesCubicsExactly) {
  const std::vector<double> times{0, 0.3, 0.5, 1.1, 1.6, 2.0};
  const FlowReference reference(lines_of_some_cubic(times), "a.txt");
  for (const double t : {0.0, 0.1, 0.3, 0.4, 0.5, 0.9, 1.1, 1.5, 1.6, 1.9, 2.0}) {
    ASSERT_TRUE(reference.enstrophy(t)) << t;
    EXPECT_NEAR(*reference.enstrophy(t), some_cubic(t), 1e-13) << t;
  }
}

TEST(FlowSeriesReference, HasNothingOutsideItsTimes) {
  const FlowReference reference(lines_of_some_cubic({1, 2, 3, 4}), "a.txt");
  for (const double t : {-1.0, 0.0, 0.999999, 4.000001, 10.0})
    EXPECT_FALSE(reference.enstrophy(t)) << t;
  // Steps add up to the last time only up to rounding.
  EXPECT_TRUE(reference.enstrophy(4 + 1e-12));
  EXPECT_NEAR(*reference.enstrophy(4 + 1e-12), some_cubic(4), 1e-9);
}

TEST(FlowSeriesReference, ReadsCommentsCommasBlankLinesAndWindowsLineEnds) {
  const std::vector<std::string> texts{
      "1 0 0 10\n2 0 0 20\n3 0 0 30\n4 0 0 40",
      "1,0,0,10\n2,0,0,20\n3, 0, 0, 30\n4 ,0 ,0 ,40\n",
      "# t E eps Z\n\n1 0 0 10 # the first\n   \n2 0 0 20\n\t\n#\n3\t0\t0\t30\n4 0 0 40 5 6\n\n",
      "# t\r\n1 0 0 10\r\n\r\n2 0 0 20\r\n3 0 0 30\r\n4 0 0 40\r\n",
      "1e0 0 0 1e1\n+2 0 0 2.0E+01\n3. -1 -2 30\n  4 0 0 40\n",
  };
  for (const std::string& text : texts) {
    const FlowReference reference(text, "a.txt");
    ASSERT_TRUE(reference.enstrophy(2.5)) << text;
    EXPECT_NEAR(*reference.enstrophy(2.5), 25, 1e-12) << text;
    EXPECT_FALSE(reference.enstrophy(0.5)) << text;
    EXPECT_FALSE(reference.enstrophy(4.5)) << text;
  }
}

TEST(FlowSeriesReference, NamesTheLineThatItCannotUse) {
  const std::string good = "# t E eps Z\n1 0 0 10\n2 0 0 20\n3 0 0 30\n";
  const auto message = [&](const std::string& text) {
    return refusal_of([&] { FlowReference reference(text, "a.txt"); });
  };
  const std::string four = "a.txt:5: needs four numbers: time, energy, dissipation and enstrophy";
  for (const char* const line :
       {"4 0 0", "4 0 0 x", "time energy dissipation enstrophy", "4;0;0;40", "4 0 0 nan",
        "nan 0 0 40", "4 0 0 inf", "4 0 0 1e999", "step,time,dt,energy"})
    EXPECT_EQ(message(good + line + "\n5 0 0 50\n"), four) << line;
  EXPECT_EQ(message(good + "2.5 0 0 40\n"), "a.txt:5: time 2.5 follows time 3; times must rise");
  EXPECT_EQ(message(good + "3 0 0 40\n"), "a.txt:5: time 3 follows time 3; times must rise");
  EXPECT_EQ(message(good + "4 0 0 0\n"),
            "a.txt:5: the enstrophy, the fourth number, is 0; it must be positive");
  EXPECT_EQ(message(good + "4 0 0 -1\n"),
            "a.txt:5: the enstrophy, the fourth number, is -1; it must be positive");
}

TEST(FlowSeriesReference, NeedsFourLines) {
  const auto message = [&](const std::string& text) {
    return refusal_of([&] { FlowReference reference(text, "a.txt"); });
  };
  const std::string needs = " of time, energy, dissipation and enstrophy; needs at least 4";
  EXPECT_EQ(message(""), "a.txt: has 0 lines" + needs);
  EXPECT_EQ(message("# only a comment\n\n"), "a.txt: has 0 lines" + needs);
  EXPECT_EQ(message("1 0 0 10"), "a.txt: has 1 line" + needs);
  EXPECT_EQ(message("1 0 0 10\n2 0 0 20\n3 0 0 30\n"), "a.txt: has 3 lines" + needs);
}

}  // namespace
}  // namespace nekbone_k
