// SPDX-License-Identifier: BSD-3-Clause
// The terminal report's table of means, for comparison with benchmarks that report means.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/format.hpp"
#include "report/report.hpp"

namespace nekbone_k {
namespace {

constexpr std::size_t orders_in_a_table = 4;

const StageResult* timing_of(const OrderRecord& order, const Strategy& strategy) {
  for (const CandidateResult& c : order.tuning.candidates)
    if (c.strategy.name == strategy.name && c.own_stage()) return &*c.own_stage();
  return nullptr;
}

/// Every strategy that was timed at any order, without repeats.
std::vector<Strategy> timed_strategies(std::span<const OrderRecord> orders) {
  std::vector<Strategy> timed;
  for (const OrderRecord& order : orders)
    for (const CandidateResult& c : order.tuning.candidates) {
      const bool known = std::any_of(timed.begin(), timed.end(), [&](const Strategy& strategy) {
        return strategy.name == c.strategy.name;
      });
      if (c.own_stage() && !known) timed.push_back(c.strategy);
    }
  return timed;
}

/// The column of one order. Each order has its own unit, because times differ by orders of
/// magnitude.
class MeanColumn {
 public:
  explicit MeanColumn(const OrderRecord& order) : m_order(order), m_duration(shortest(order)) {}

  std::string header() const { return fmt::format("N = {} [{}]", m_order.order, unit()); }
  std::string cell(const Summary& s) const {
    const std::string mean = m_duration.text(s.mean);
    return s.deviation > 0 ? mean + " ± " + m_duration.text(s.deviation) : mean;  // one sample
  }
  /// Mean of the stage that the strategy was made for; "-" if this order did not time it.
  std::string cell(const Strategy& strategy) const {
    const StageResult* const timing = timing_of(m_order, strategy);
    return timing != nullptr ? cell(timing->cost) : "-";
  }
  const TuningResult& tuning() const { return m_order.tuning; }

 private:
  static double shortest(const OrderRecord& order) {
    double seconds = std::numeric_limits<double>::infinity();
    for (const CandidateResult& c : order.tuning.candidates)
      if (c.alone) seconds = std::min(seconds, c.alone->cost.mean);
    return std::isfinite(seconds) ? seconds : order.tuning.on_rank.mean;
  }
  const std::string& unit() const { return m_duration.unit(); }

  const OrderRecord& m_order;
  DurationFormat m_duration;
};

std::string table_of(std::span<const OrderRecord> orders) {
  std::vector<MeanColumn> columns;
  for (const OrderRecord& order : orders) columns.emplace_back(order);
  std::vector<Table::Column> headers{{"mean ± standard deviation", false}};
  for (const MeanColumn& column : columns) headers.push_back({column.header()});
  Table table(headers);
  const auto add = [&](const std::string& name, const auto& cell) {
    std::vector<std::string> cells{name};
    for (const MeanColumn& column : columns) cells.push_back(cell(column));
    table.add(std::move(cells));
  };

  const std::vector<Strategy> strategies = timed_strategies(orders);
  for (const bool overlapped : {false, true}) {
    bool first = true;
    for (const Strategy& strategy : strategies) {
      if (strategy.overlapped != overlapped) continue;
      if (first)
        table.add_text("  ", overlapped ? "with work meanwhile: cost beyond the work alone"
                                        : "the exchange alone");
      first = false;
      add(strategy.name, [&](const MeanColumn& column) { return column.cell(strategy); });
    }
  }
  table.add_text("  ", "the same for every strategy");
  add("on-rank QQ^T", [](const MeanColumn& column) {
    return column.tuning().selected < 0 ? "-" : column.cell(column.tuning().on_rank);
  });
  return table.text();
}

}  // namespace

std::string means_text(const std::vector<OrderRecord>& orders) {
  std::string text = fmt::format("\n{}", heading("Means and standard deviations"));
  for (std::size_t at = 0; at < orders.size(); at += orders_in_a_table)
    text +=
        table_of(std::span(orders).subspan(at, std::min(orders_in_a_table, orders.size() - at)));
  return text;
}

}  // namespace nekbone_k
