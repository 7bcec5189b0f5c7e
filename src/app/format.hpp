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

/// Columns that no line of the terminal report goes beyond.
inline constexpr std::size_t report_width = 100;

/// Columns that UTF-8 text takes: its number of code points.
std::size_t text_width(std::string_view text);

/// `value` rounded to `digits` significant digits; exponents only below 0.001 and from 1e6 on.
std::string significant(double value, int digits = 4);

/// A duration in s, ms, µs or ns.
std::string seconds_text(double seconds);
/// A memory size in B, KiB, MiB, GiB or TiB.
std::string bytes_text(double bytes);
/// A count: exact below a million, else as "134.2 M", "1.208 G" or "1.208 T".
std::string count_text(double count);
/// So many of what `noun` is, with that count: "1 rank", "12000 DOFs".
std::string counted(std::int64_t count, std::string_view noun);
/// A rate in units of 1e9, such as "12.34 GFLOP/s" for the unit "FLOP/s".
std::string giga_text(double rate, std::string_view unit);

/// Ascending numbers with runs drawn together: "0-3, 8".
std::string ranges_text(std::span<const int> numbers);

/// The distinct values in the order of their first appearance, each with the positions it stands
/// at.
std::vector<std::pair<std::string, std::vector<int>>> group_equal(
    std::span<const std::string> values);

/// `text` broken at white space into lines of at most report_width columns, each ending in a
/// newline: the first after `first` (far narrower than a line), the others after as many blanks as
/// that is wide. A word too long for a line is cut.
std::string wrap(std::string_view first, std::string_view text);

/// A line "  label         text", wrapped under the text.
std::string labelled_line(const std::string& label, const std::string& text);

/// A line as wide as the report that begins with `title`.
std::string heading(const std::string& title);

/// One unit and number of decimals for all durations of a table.
class DurationFormat {
 public:
  /// Chooses them so that `smallest` (s) shows at least three significant digits.
  explicit DurationFormat(double smallest);
  const std::string& unit() const { return m_unit; }
  /// `seconds` as a number of units; with an exponent where it would be too wide.
  std::string text(double seconds) const;

 private:
  double m_factor = 1;
  int m_decimals = 2;
  std::string m_unit = "s";
};

/// Lines of cells in aligned columns, with full-width lines between them where wanted.
class Table {
 public:
  struct Column {
    std::string header;
    bool right = true;            ///< numbers to the right, words to the left
    std::size_t least_width = 0;  ///< if not 0, cells may be cut to this where lines are too long
  };

  explicit Table(std::vector<Column> columns);
  /// Adds a line; as many cells as columns.
  void add(std::vector<std::string> cells);
  /// Adds wrapped text after `first` that takes part in no column.
  void add_text(std::string first, std::string text);

  /// All lines, indented by two, at most report_width wide. Columns move closer where that is
  /// needed, then cells are cut as their column allows; a first cell that is still too wide stands
  /// on a line of its own.
  std::string text() const;

 private:
  struct Line {
    std::vector<std::string> cells;  // empty: a line of text
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
