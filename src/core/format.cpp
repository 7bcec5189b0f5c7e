// SPDX-License-Identifier: BSD-3-Clause
#include "core/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <unordered_map>

namespace nekbone_k {
namespace {

constexpr std::size_t table_indent = 2;

struct Unit {
  double size;
  const char* name;
};

/// The largest unit not larger than the value; the last unit if there is none.
const Unit& fitting_unit(std::span<const Unit> units, double value) {
  for (const Unit& unit : units)
    if (std::abs(value) >= unit.size) return unit;
  return units.back();
}

constexpr std::array<Unit, 4> time_units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};

/// The unit for a duration; seconds for zero, infinities and NaN.
const Unit& time_unit(double seconds) {
  const bool usual = std::isfinite(seconds) && seconds != 0;
  return usual ? fitting_unit(time_units, seconds) : time_units.front();
}

/// The leading `columns` code points.
std::string_view head(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins_code_point = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins_code_point && columns-- == 0) break;
  }
  return text.substr(0, end);
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return words;
}

}  // namespace

std::size_t text_width(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  // The exponent after rounding: 9.9996 to four digits is 10.00.
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -3 || exponent >= 6) return scientific;
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

std::string seconds_text(double seconds) {
  const Unit& unit = time_unit(seconds);
  return fmt::format("{} {}", significant(seconds / unit.size), unit.name);
}

std::string bytes_text(double bytes) {
  constexpr double ki = 1024;
  static constexpr std::array<Unit, 5> units{
      {{ki * ki * ki * ki, "TiB"}, {ki * ki * ki, "GiB"}, {ki * ki, "MiB"}, {ki, "KiB"}, {1, "B"}}};
  const Unit& unit = fitting_unit(units, bytes);
  const double value = bytes / unit.size;
  const bool exact = unit.size == 1 && value == std::floor(value);
  return fmt::format("{} {}", exact ? fmt::format("{:.0f}", value) : significant(value), unit.name);
}

std::string count_text(double count) {
  static constexpr std::array<Unit, 3> units{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}}};
  if (!std::isfinite(count)) return fmt::format("{}", count);
  if (std::abs(count) < 1e6)
    return fmt::format("{:.{}f}", count, count == std::floor(count) ? 0 : 1);
  const Unit& unit = fitting_unit(units, count);
  return fmt::format("{} {}", significant(count / unit.size), unit.name);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(static_cast<double>(count)), noun,
                     count == 1 ? "" : "s");
}

std::string cpu_time_text(double cores) {
  return fmt::format("{:g} {} worth of time", std::round(100 * cores) / 100,
                     cores == 1 ? "CPU's" : "CPUs'");
}

std::string giga_text(double rate, std::string_view unit) {
  return fmt::format("{} G{}", significant(rate / 1e9), unit);
}

std::string ranges_text(std::span<const int> numbers) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    if (begin > 0) text += ", ";
    text += fmt::format("{}", numbers[begin]);
    if (end - begin > 1) text += fmt::format("-{}", numbers[end - 1]);
  }
  return text;
}

std::vector<std::pair<std::string, std::vector<int>>> group_equal(
    std::span<const std::string> values) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  std::unordered_map<std::string, std::size_t> group_of;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [known, is_new] = group_of.try_emplace(values[i], groups.size());
    if (is_new) groups.push_back({values[i], {}});
    groups[known->second].second.push_back(static_cast<int>(i));
  }
  return groups;
}

std::string wrap(std::string_view first, std::string_view text) {
  const std::size_t indent = text_width(first);
  std::string result;
  std::string line(first);
  bool line_has_words = false;
  const auto end_line = [&] {
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
    line.assign(indent, ' ');
    line_has_words = false;
  };
  for (std::string_view word : words_of(text)) {
    if (line_has_words && text_width(line) + 1 + text_width(word) > report_width) end_line();
    if (line_has_words) line += ' ';
    for (; text_width(line) + text_width(word) > report_width; end_line()) {
      const std::string_view part = head(word, report_width - text_width(line));
      line += part;
      word.remove_prefix(part.size());
    }
    line += word;
    line_has_words = true;
  }
  end_line();
  return result;
}

std::string labelled_line(const std::string& label, const std::string& text) {
  return wrap(fmt::format("  {:<13} ", label), text);
}

std::string heading(const std::string& title) {
  std::string line = "-- " + title + ' ';
  const std::size_t width = text_width(line);
  if (width < report_width) line.append(report_width - width, '-');
  return wrap("", line);
}

DurationFormat::DurationFormat(double smallest) {
  const Unit& unit = time_unit(smallest);
  m_factor = 1 / unit.size;
  m_unit = unit.name;
  m_decimals = std::abs(smallest) * m_factor < 10 ? 2 : 1;
}

std::string DurationFormat::text(double seconds) const {
  const double value = seconds * m_factor;
  if (std::abs(value) >= 1e5) return fmt::format("{:.2e}", value);
  return fmt::format("{:.{}f}", value, m_decimals);
}

Table::Table(std::vector<Column> columns) : m_columns(std::move(columns)) {
  std::vector<std::string> headers;
  for (const Column& column : m_columns) headers.push_back(column.header);
  add(std::move(headers));
}

void Table::add(std::vector<std::string> cells) { m_lines.push_back({std::move(cells), {}, {}}); }

void Table::add_text(std::string first, std::string text) {
  m_lines.push_back({{}, std::move(first), std::move(text)});
}

std::size_t Table::Layout::total() const {
  return table_indent + std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
         gap * (widths.size() - 1);
}

Table::Layout Table::layout() const {
  Layout layout{std::vector<std::size_t>(m_columns.size(), 0)};
  for (const Line& line : m_lines)
    for (std::size_t c = 0; c < line.cells.size(); ++c)
      layout.widths[c] = std::max(layout.widths[c], text_width(line.cells[c]));

  if (layout.total() > report_width) layout.gap = 1;
  for (std::size_t c = 0; c < m_columns.size() && layout.total() > report_width; ++c) {
    const std::size_t least = m_columns[c].least_width;
    if (least == 0 || layout.widths[c] <= least) continue;
    const std::size_t excess = layout.total() - report_width;
    layout.widths[c] -= std::min(excess, layout.widths[c] - least);
  }
  if (layout.total() > report_width) {
    const std::size_t excess = layout.total() - report_width;
    layout.widths[0] -= std::min(excess, layout.widths[0] - 1);
  }
  return layout;
}

std::string Table::row(const std::vector<std::string>& cells, const Layout& layout) const {
  std::string result;
  std::string line(table_indent, ' ');
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::string cell = cells[c];
    if (c == 0 && text_width(cell) > layout.widths[c]) {
      result = wrap(line, cell);
      cell.clear();
    } else if (text_width(cell) > layout.widths[c]) {
      cell = std::string(head(cell, layout.widths[c] - 1)) + '~';
    }
    const std::string blanks(layout.widths[c] - text_width(cell), ' ');
    line += m_columns[c].right ? blanks + cell : cell + blanks;
    line.append(layout.gap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return result + line + '\n';
}

std::string Table::text() const {
  const Layout common = layout();
  std::string result;
  for (const Line& line : m_lines)
    result += line.cells.empty() ? wrap(line.first, line.text) : row(line.cells, common);
  return result;
}

}  // namespace nekbone_k
