// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The gather–scatter QQᵀ over all ranks.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/communicator.hpp"
#include "gs/assembly.hpp"
#include "gs/field_exchange.hpp"
#include "gs/field_kind.hpp"
#include "gs/halo_plan.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {

/// QQᵀ: every local point gets the combination of all local points, on all ranks, that have its
/// global id. Q copies assembled DOFs to local points; Qᵀ combines local points into assembled DOFs
/// (Deville, Fischer and Mund, High-Order Methods for Incompressible Fluid Flow, 2002, section
/// 4.5).
///
/// A row is an assembled DOF that several local points or several ranks share. Rows are numbered in
/// this order:
///
/// 1. shared DOFs owned by a lower rank, in the order of the HaloPlan;
/// 2. shared DOFs owned by this rank, in the order of the HaloPlan;
/// 3. all other rows.
///
/// Ranks exchange sums of their points. A deterministic gather–scatter exchanges the values of the
/// points instead; see ContributionPlan.
class GatherScatter {
 public:
  /// Numbers the rows from plain ids: `point_ids[p]` is the global id of local point p; a negative
  /// id joins nothing. Collective; `comm` outlives the object. Throws InputError on every rank if a
  /// rank has too many points to number. Begins with first_strategy().
  GatherScatter(const Communicator& comm, std::span<const GlobalId> point_ids);

  /// Uses a numbering of the caller: shared DOF s is row s of `assembly`. It is deterministic if
  /// `contributions`, made for `plan`, are given. Not collective.
  GatherScatter(const Communicator& comm, HaloPlan plan, Assembly assembly,
                std::optional<ContributionPlan> contributions = {});

  /// The shared DOFs and the ranks that have them.
  const HaloPlan& plan() const {
    return m_contributions ? m_contributions->dofs : m_messages->host;
  }
  /// The plan that strategies exchange: plan(), or the plan of contributions if deterministic.
  std::shared_ptr<const DeviceHaloPlan> message_plan() const { return m_messages; }
  bool is_deterministic() const { return m_contributions.has_value(); }
  const Communicator& communicator() const { return m_comm; }
  const Assembly& assembly() const { return m_assembly; }
  LocalIndex n_rows() const { return m_assembly.n_rows(); }

  /// Uses `strategy` for fields of all kinds from now on; it must be the same on every rank.
  /// Collective once something has been exchanged, and so is destruction.
  void select(const Strategy& strategy);
  /// The same for fields of one kind. Other kinds keep their strategies and their resources.
  void select(const FieldKind& kind, const Strategy& strategy);
  const Strategy& strategy(const FieldKind& kind = {}) const;
  /// Whether exchanges of one component launch kernels alone: by one kernel, or there is one rank.
  /// The host then never waits. The same on every rank. Collective at the first call after
  /// select().
  template <class T>
  bool is_queued() {
    return m_comm.size() == 1 || exchange_in_use<T>().is_one_kernel();
  }
  /// The number of calls of select(), after which kernels that a KernelGraph recorded are stale.
  int n_selections() const { return m_n_selections; }

  /// points = QQᵀ points with `op`, in place. Shape (n_points, components), in device memory.
  /// Collective.
  template <class T>
  void gs_op(const DeviceField<T>& points, Reduction op) {
    const DeviceField<T>& rows = resources<T>(static_cast<int>(points.extent(1))).rows;
    const LocalIndex n_shared = plan().n_shared();
    gather_shared(points, rows, op);
    if (m_comm.size() > 1) {
      const FieldExchange<T> exchange = exchange_of(rows, op);
      // One kernel for the exchange, if the strategy has one, is faster than what overlaps.
      const bool is_done = exchange.run_in_one_kernel();
      if (!is_done) {
        exchange.pack();
        exchange.post();
      }
      m_assembly.gather_scatter(points, op, n_shared, n_rows());
      if (!is_done) {
        exchange.wait();
        exchange.unpack();
      }
    } else {
      m_assembly.gather_scatter(points, op, n_shared, n_rows());
    }
    m_assembly.scatter(rows, points, 0, n_shared);
  }

  /// Forms the shares of this rank in the shared DOFs from its points, shape (n_points,
  /// components), in device memory. They go to the first n_shared entries of `field`, an assembled
  /// field that exchange_of() packs; if deterministic, to memory of this object. Runs in `stream`.
  /// Collective at the first call after select().
  template <class T>
  void gather_shared(const DeviceField<T>& points, const DeviceField<T>& field, Reduction op,
                     const ExecutionSpace& stream = {}) {
    if (m_contributions) {
      take_contributions(m_contributions->place_points, points,
                         resources<T>(static_cast<int>(points.extent(1))).places, stream);
    } else {
      m_assembly.gather(points, field, op, 0, plan().n_shared(), stream);
    }
  }

  /// The exchange of an assembled `field`, whose first n_shared entries are the shared DOFs, as
  /// gather_shared() left them. The caller may change the other entries between its steps.
  /// Collective at the first call after select(), which ends the use of earlier ones.
  template <class T>
  FieldExchange<T> exchange_of(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    Resources<T>& used = resources<T>(static_cast<int>(field.extent(1)));
    return exchange_by(used.exchange, m_contributions ? used.places : field, field, op, log);
  }
  /// Runs exchange_of(), unless this rank is alone. Collective.
  template <class T>
  void exchange(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    if (m_comm.size() > 1) exchange_of(field, op, log).run();
  }

  /// exchange_of() by another `exchange`, made on message_plan(). `packed` holds the values to
  /// send: `field` itself, or contributions if deterministic. Not collective.
  template <class T>
  FieldExchange<T> exchange_by(HaloExchange<T>& exchange, const DeviceField<T>& packed,
                               const DeviceField<T>& field, Reduction op,
                               EventLog* log = nullptr) const {
    return {exchange, m_contributions ? &*m_contributions : nullptr, packed, field, op, log};
  }

  /// Throws InternalError if a message of a field did not come; see Exchange::check().
  void check() const {
    const auto check_all = [](const auto& resources) {
      for (const auto& [components, made] : resources) made->exchange.check();
    };
    std::apply([&](const auto&... of_type) { (check_all(of_type), ...); }, m_resources);
  }

  /// The exchange of fields of one component, on message_plan(), for verification. Collective at
  /// the first call after select().
  template <class T>
  HaloExchange<T>& exchange_in_use() {
    return resources<T>(1).exchange;
  }

 private:
  /// Resources for fields of one type and number of components: the exchange, shared rows for
  /// gs_op() and, if deterministic, contributions.
  template <class T>
  struct Resources {
    HaloExchange<T> exchange;
    DeviceField<T> rows, places;
  };
  template <class T>
  using ByComponents = std::map<int, std::unique_ptr<Resources<T>>>;

  template <class T>
  Resources<T>& resources(int components) {
    auto& made = std::get<ByComponents<T>>(m_resources);
    auto found = made.find(components);
    if (found == made.end()) {
      const auto field = [&](const std::string& label, LocalIndex entries) {
        return DeviceField<T>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), entries,
                              components);
      };
      auto resources = std::make_unique<Resources<T>>(
          HaloExchange<T>(m_comm, m_messages, strategy({components, precision_of<T>}), components),
          field("nekbone_k: rows", plan().n_shared()),
          field("nekbone_k: contributions", m_contributions ? m_messages->host.n_shared() : 0));
      found = made.emplace(components, std::move(resources)).first;
    }
    return *found->second;
  }

  const Communicator& m_comm;
  std::optional<DeviceContributions> m_contributions;
  std::shared_ptr<const DeviceHaloPlan> m_messages;
  Assembly m_assembly;
  int m_n_selections = 0;
  Strategy m_strategy = first_strategy();
  std::vector<std::pair<FieldKind, Strategy>> m_kind_strategies;  // in place of m_strategy
  // By number of components; made at first use.
  std::tuple<ByComponents<double>, ByComponents<float>> m_resources;
};

}  // namespace nekbone_k
