/// @file
/// The gather-scatter QQᵀ over all ranks.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "core/communicator.hpp"
#include "gs/assembly.hpp"
#include "gs/halo_exchange.hpp"
#include "gs/halo_plan.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {

/// QQᵀ: every local point gets the combination of all local points, on all ranks, with its global
/// id. Q copies assembled DOFs to local points; its transpose combines local points into assembled
/// DOFs (Deville, Fischer and Mund, High-Order Methods for Incompressible Fluid Flow, 2002,
/// section 4.5).
///
/// Assembled DOFs that matter here are called rows: those that several local points or several
/// ranks share. Row numbers begin with the shared DOFs in the order of the HaloPlan, so that those
/// owned by a lower rank come first, then those shared and owned, then the rest.
class GatherScatter {
 public:
  /// From plain ids: `point_ids[p]` is the global id of local point p; a negative one joins
  /// nothing. Collective; `comm` outlives the object. Throws InputError on every rank if one has
  /// more points than can be numbered. Begins with the first strategy of the table.
  GatherScatter(const Communicator& comm, std::span<const GlobalId> point_ids);

  /// From a numbering made by the caller, whose shared DOF s is row s of `assembly`. Not
  /// collective.
  GatherScatter(const Communicator& comm, HaloPlan plan, Assembly assembly);

  const HaloPlan& plan() const { return m_plan->host; }
  std::shared_ptr<const DeviceHaloPlan> device_plan() const { return m_plan; }
  const Communicator& communicator() const { return m_comm; }
  const Assembly& assembly() const { return m_assembly; }
  LocalIndex n_rows() const { return m_assembly.n_rows(); }

  /// Exchanges by `strategy` from now on. Every rank must choose the same. Collective, as is the
  /// end of the object, once something was exchanged.
  void select(const Strategy& strategy);
  const Strategy& strategy() const { return m_strategy; }

  /// points = QQᵀ points with `op`, in place, shape (n_points, components). Collective.
  template <class T>
  void gs_op(const DeviceField<T>& points, Reduction op) {
    const DeviceField<T>& rows = resources<T>(static_cast<int>(points.extent(1))).rows;
    const LocalIndex n_shared = plan().n_shared();
    m_assembly.gather(points, rows, op, 0, n_shared);
    start(rows);
    m_assembly.gather_scatter(points, op, n_shared, n_rows());
    finish(rows, op);
    m_assembly.scatter(rows, points, 0, n_shared);
  }

  /// Begins to combine the ranks' shares of an assembled field, whose first n_shared entries are
  /// the shared DOFs; between start and finish the other entries may be worked on. Collective.
  template <class T>
  void start(const DeviceField<T>& field, EventLog* log = nullptr) {
    pack(field, log);
    post(field, log);
  }
  /// start() in two parts: pack() waits for no kernel, post() may. Where kernels run beside the
  /// host, work launched in between fills the time that post() waits.
  template <class T>
  void pack(const DeviceField<T>& field, EventLog* log = nullptr) {
    resources<T>(static_cast<int>(field.extent(1))).exchange.pack(field);
    record(log, "exchange packed");
  }
  template <class T>
  void post(const DeviceField<T>& field, EventLog* log = nullptr) {
    resources<T>(static_cast<int>(field.extent(1))).exchange.post();
    record(log, "exchange posted");
  }
  /// Throws InternalError if a message of a field of doubles did not come; see Exchange::check().
  void check() const {
    for (const auto& [components, made] : std::get<ByComponents<double>>(m_resources))
      made->exchange.check();
  }

  template <class T>
  void finish(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    resources<T>(static_cast<int>(field.extent(1))).exchange.finish(field, op, log);
  }

 private:
  /// What fields of one type and number of components need: the exchange, and shared rows for
  /// gs_op().
  template <class T>
  struct Resources {
    HaloExchange<T> exchange;
    DeviceField<T> rows;
  };
  template <class T>
  using ByComponents = std::map<int, std::unique_ptr<Resources<T>>>;

  template <class T>
  Resources<T>& resources(int components) {
    auto& slot = std::get<ByComponents<T>>(m_resources)[components];
    if (!slot)
      slot = std::make_unique<Resources<T>>(
          HaloExchange<T>(m_comm, m_plan, m_strategy, components),
          DeviceField<T>(Kokkos::view_alloc("nekbone_k: rows", Kokkos::WithoutInitializing),
                         plan().n_shared(), components));
    return *slot;
  }

  const Communicator& m_comm;
  std::shared_ptr<const DeviceHaloPlan> m_plan;
  Assembly m_assembly;
  Strategy m_strategy = all_strategies().front();
  // Made when first used, by number of components.
  std::tuple<ByComponents<double>, ByComponents<float>> m_resources;
};

}  // namespace nekbone_k
