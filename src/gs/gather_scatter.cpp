// SPDX-License-Identifier: BSD-3-Clause
#include "gs/gather_scatter.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

struct Numbering {
  HaloPlan plan;
  LocalIndex n_rows = 0;
  std::vector<LocalIndex> point_rows;
};

/// Renumbers the rows that are not shared, in groups of `at_once` rows, so that rows whose points
/// have equal distances follow each other. They form runs, which a CPU handles without a branch per
/// row. Small groups keep rows and points in memory order.
void group_alike_rows(Numbering& numbering) {
  constexpr LocalIndex at_once = 512;
  const LocalIndex n_shared = numbering.plan.n_shared(), n_rows = numbering.n_rows;
  // Per row: its last point so far, and a hash of the distances between its points.
  std::vector<LocalIndex> last_point(n_rows, -1);
  std::vector<std::uint64_t> pattern(n_rows, 0);
  for (std::size_t p = 0; p < numbering.point_rows.size(); ++p) {
    const LocalIndex row = numbering.point_rows[p], point = static_cast<LocalIndex>(p);
    if (row == Assembly::no_row) continue;
    if (last_point[row] >= 0)
      pattern[row] = (pattern[row] + (point - last_point[row])) * 0x9e37'79b9'7f4a'7c15ULL;
    last_point[row] = point;
  }
  std::vector<LocalIndex> old_rows(n_rows), new_rows(n_rows);
  std::iota(old_rows.begin(), old_rows.end(), 0);
  for (LocalIndex begin = n_shared; begin < n_rows; begin += at_once)
    std::stable_sort(old_rows.begin() + begin, old_rows.begin() + std::min(begin + at_once, n_rows),
                     [&](LocalIndex a, LocalIndex b) { return pattern[a] < pattern[b]; });
  for (LocalIndex row = 0; row < n_rows; ++row) new_rows[old_rows[row]] = row;
  for (LocalIndex& row : numbering.point_rows)
    if (row != Assembly::no_row) row = new_rows[row];
}

Numbering number_points(const Communicator& comm, std::span<const GlobalId> ids) {
  if (comm.max(static_cast<std::int64_t>(ids.size())) > std::numeric_limits<LocalIndex>::max())
    throw InputError("a rank has more than 2^31 local points; use more ranks");
  std::vector<std::pair<GlobalId, LocalIndex>> by_id;
  by_id.reserve(ids.size());
  for (std::size_t p = 0; p < ids.size(); ++p)
    if (ids[p] >= 0) by_id.push_back({ids[p], static_cast<LocalIndex>(p)});
  std::sort(by_id.begin(), by_id.end());

  std::vector<GlobalId> distinct;
  std::vector<LocalIndex> group_of_point(ids.size(), Assembly::no_row), multiplicity;
  for (const auto& [id, point] : by_id) {
    if (distinct.empty() || distinct.back() != id) {
      distinct.push_back(id);
      multiplicity.push_back(0);
    }
    group_of_point[point] = static_cast<LocalIndex>(distinct.size()) - 1;
    ++multiplicity.back();
  }

  Numbering numbering;
  numbering.plan = make_halo_plan(comm, distinct);
  std::vector<LocalIndex> row_of_group(distinct.size(), Assembly::no_row);
  for (LocalIndex s = 0; s < numbering.plan.n_shared(); ++s)
    row_of_group[numbering.plan.candidate[s]] = s;
  numbering.n_rows = numbering.plan.n_shared();
  // Number the other rows by first appearance, so that rows and points follow memory order
  // together.
  numbering.point_rows.assign(ids.size(), Assembly::no_row);
  for (std::size_t p = 0; p < ids.size(); ++p) {
    const LocalIndex group = group_of_point[p];
    if (group == Assembly::no_row) continue;
    LocalIndex& row = row_of_group[group];
    if (row == Assembly::no_row && multiplicity[group] > 1) row = numbering.n_rows++;
    numbering.point_rows[p] = row;
  }
  // Not on a GPU: there, threads of neighbouring rows should read neighbouring points.
  if (is_host_device) group_alike_rows(numbering);
  return numbering;
}

}  // namespace

GatherScatter::GatherScatter(const Communicator& comm, HaloPlan plan, Assembly assembly,
                             std::optional<ContributionPlan> contributions)
    : m_comm(comm), m_assembly(std::move(assembly)) {
  if (contributions) m_contributions.emplace(std::move(plan), *contributions);
  m_messages = std::make_shared<DeviceHaloPlan>(
      contributions ? std::move(contributions->messages) : std::move(plan),
      /*shares_combined=*/!contributions);
}

GatherScatter::GatherScatter(const Communicator& comm, std::span<const GlobalId> point_ids)
    : GatherScatter([&] {
        Numbering numbering = number_points(comm, point_ids);
        Assembly assembly(numbering.n_rows, numbering.point_rows);
        return GatherScatter(comm, std::move(numbering.plan), std::move(assembly));
      }()) {}

void GatherScatter::select(const Strategy& strategy) {
  ++m_n_selections;
  m_strategy = strategy;
  m_kind_strategies.clear();
  std::apply([](auto&... by_components) { (by_components.clear(), ...); }, m_resources);
}

void GatherScatter::select(const FieldKind& kind, const Strategy& strategy) {
  ++m_n_selections;
  std::erase_if(m_kind_strategies, [&](const auto& selected) { return selected.first == kind; });
  m_kind_strategies.emplace_back(kind, strategy);
  with_value_type(kind.precision, [&]<class T>(T) {
    std::get<ByComponents<T>>(m_resources).erase(kind.components);
  });
}

const Strategy& GatherScatter::strategy(const FieldKind& kind) const {
  for (const auto& [its_kind, strategy] : m_kind_strategies)
    if (its_kind == kind) return strategy;
  return m_strategy;
}

}  // namespace nekbone_k
