// SPDX-License-Identifier: BSD-3-Clause
#include "gs/gather_scatter.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

struct Numbering {
  HaloPlan plan;
  LocalIndex n_rows = 0;
  std::vector<LocalIndex> point_rows;
};

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
  return numbering;
}

}  // namespace

GatherScatter::GatherScatter(const Communicator& comm, HaloPlan plan, Assembly assembly,
                             std::optional<ContributionPlan> contributions)
    : m_comm(comm), m_assembly(std::move(assembly)) {
  if (contributions) {
    m_contributions.emplace(std::move(plan), *contributions);
    m_messages = std::make_shared<DeviceHaloPlan>(std::move(contributions->messages),
                                                  /*shares_combined=*/false);
  } else {
    m_messages = std::make_shared<DeviceHaloPlan>(std::move(plan), /*shares_combined=*/true);
  }
}

GatherScatter::GatherScatter(const Communicator& comm, std::span<const GlobalId> point_ids)
    : GatherScatter([&] {
        Numbering numbering = number_points(comm, point_ids);
        Assembly assembly(numbering.n_rows, numbering.point_rows, Assembly::ByNumber(),
                          numbering.plan.n_shared());
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
