// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Numbers, units and tables as people read them on a terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nekbone_k {

/// Width of the terminal report, in columns; no line exceeds it.
inline constexpr std::size_t report_width = 100;

/// Width of UTF-8 text in columns: its number of code points.
std::size_t text_width(std::string_view text);

/// `value` rounded to `digits` significant digits; exponents only below 0.001 and from 1e6 on.
std::string significant(double value, int digits = 4);

/// A duration in s, ms, µs or ns.
std::string seconds_text(double seconds);
/// A memory size in B, KiB, MiB, GiB or TiB.
std::string bytes_text(double bytes);
/// A count: whole numbers below a million exactly, larger ones as "134.2 M", "1.208 G" or "1.208
/// T".
std::string count_text(double count);
/// A count with its noun: "1 rank", "12000 DOFs".
std::string counted(std::int64_t count, std::string_view noun);
/// Processor time as a number of CPUs: "1 CPU's worth of time", "1.5 CPUs' worth of time".
std::string cpu_time_text(double cores);
/// A rate in units of 1e9, e.g. "12.34 GFLOP/s" for the unit "FLOP/s".
std::string giga_text(double rate, std::string_view unit);

/// Ascending numbers with consecutive ones joined: "0-3, 8".
std::string ranges_text(std::span<const int> numbers);

/// The distinct values in order of first appearance, each with its positions.
std::vector<std::pair<std::string, std::vector<int>>> group_equal(
    std::span<const std::string> values);

/// `text` broken at white space into lines of at most report_width columns, each with a newline.
/// The first line begins with `first`, which must be far narrower than a line. The other lines are
/// indented by the width of `first`. A word longer than a line continues on the next line.
std::string wrap(std::string_view first, std::string_view text);

/// A line "  label         text", wrapped under the text.
std::string labelled_line(const std::string& label, const std::string& text);

/// A line that begins with `title` and fills the width of the report.
std::string heading(const std::string& title);

/// A common unit and number of decimals for all durations of a table.
class DurationFormat {
 public:
  /// Chooses both so that `smallest` (s) shows at least three significant digits.
  explicit DurationFormat(double smallest);
  const std::string& unit() const { return m_unit; }
  /// `seconds` as a number in that unit; in scientific notation if the number is too wide.
  std::string text(double seconds) const;
  /// "low..high", both as by text().
  std::string interval(double low, double high) const { return text(low) + ".." + text(high); }

 private:
  double m_factor = 1;
  int m_decimals = 2;
  std::string m_unit = "s";
};

/// Rows of cells in aligned columns, with optional full-width text between them.
class Table {
 public:
  struct Column {
    std::string header;
    bool right = true;            ///< numbers to the right, words to the left
    std::size_t least_width = 0;  ///< if not 0, cells may be cut to this where rows are too long
  };

  explicit Table(std::vector<Column> columns);
  /// Adds a row. It must have one cell per column.
  void add(std::vector<std::string> cells);
  /// Adds wrapped text that begins with `first` and spans all columns.
  void add_text(std::string first, std::string text);

  /// All rows and texts, indented by two, at most report_width wide. If rows are too wide, columns
  /// first move closer, then cells are cut as their column allows. A first cell that is still too
  /// wide gets a line of its own.
  std::string text() const;

 private:
  struct Line {
    std::vector<std::string> cells;  // empty: a full-width text
    std::string first, text;
  };
  struct Layout {
    std::vector<std::size_t> widths;
    std::size_t gap = 2;
    std::size_t total() const;
  };
  Layout layout() const;
  std::string row(const std::vector<std::string>& cells, const Layout& layout) const;

  std::vector<Column> m_columns;
  std::vector<Line> m_lines;
};

}  // namespace nekbone_k
