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
  /// nothing. Collective. Begins with the first strategy of the table.
  GatherScatter(const Communicator& comm, std::span<const GlobalId> point_ids);

  /// From a numbering made by the caller, whose shared DOF s is row s of `assembly`. Not
  /// collective.
  GatherScatter(const Communicator& comm, HaloPlan plan, Assembly assembly);

  const HaloPlan& plan() const { return m_plan->host; }
  std::shared_ptr<const DeviceHaloPlan> device_plan() const { return m_plan; }
  const Communicator& communicator() const { return m_comm; }
  const Assembly& assembly() const { return m_assembly; }
  LocalIndex n_rows() const { return m_assembly.n_rows(); }

  /// Exchanges by `strategy` from now on. Every rank must choose the same; not collective.
  void select(const Strategy& strategy);
  const Strategy& strategy() const { return m_strategy; }

  /// points = QQᵀ points with `op`, in place, shape (n_points, components). Collective.
  template <class T>
  void gs_op(const DeviceField<T>& points, Reduction op) {
    const DeviceField<T> rows(Kokkos::view_alloc("nekbone_k: rows", Kokkos::WithoutInitializing),
                              n_rows(), points.extent(1));
    const LocalIndex n_shared = plan().n_shared();
    m_assembly.gather(points, rows, op, 0, n_shared);
    start(rows);
    m_assembly.gather(points, rows, op, n_shared, n_rows());
    finish(rows, op);
    m_assembly.scatter(rows, points);
  }

  /// Begins to combine the ranks' shares of an assembled field, whose first n_shared entries are
  /// the shared DOFs; between start and finish the other entries may be worked on. Collective.
  template <class T>
  void start(const DeviceField<T>& field, EventLog* log = nullptr) {
    exchange<T>(static_cast<int>(field.extent(1))).start(field, log);
  }
  template <class T>
  void finish(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    exchange<T>(static_cast<int>(field.extent(1))).finish(field, op, log);
  }

 private:
  template <class T>
  HaloExchange<T>& exchange(int components) {
    auto& slot = exchanges<T>()[components];
    if (!slot) slot = std::make_unique<HaloExchange<T>>(m_comm, m_plan, m_strategy, components);
    return *slot;
  }
  template <class T>
  auto& exchanges() {
    return std::get<std::map<int, std::unique_ptr<HaloExchange<T>>>>(m_exchanges);
  }

  const Communicator& m_comm;
  std::shared_ptr<const DeviceHaloPlan> m_plan;
  Assembly m_assembly;
  Strategy m_strategy = all_strategies().front();
  // Made when first used, by number of components.
  std::tuple<std::map<int, std::unique_ptr<HaloExchange<double>>>,
             std::map<int, std::unique_ptr<HaloExchange<float>>>>
      m_exchanges;
};

}  // namespace nekbone_k
