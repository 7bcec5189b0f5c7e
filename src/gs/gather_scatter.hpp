/// @file
/// The gather-scatter QQᵀ over all ranks.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "core/communicator.hpp"
#include "gs/assembly.hpp"
#include "gs/contribution_exchange.hpp"
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
///
/// Ranks exchange sums of their points or, deterministic, the points' values themselves: see
/// ContributionPlan.
class GatherScatter {
 public:
  /// From plain ids: `point_ids[p]` is the global id of local point p; a negative one joins
  /// nothing. Collective; `comm` outlives the object. Throws InputError on every rank if one has
  /// more points than can be numbered. Begins with first_strategy().
  GatherScatter(const Communicator& comm, std::span<const GlobalId> point_ids);

  /// From a numbering made by the caller, whose shared DOF s is row s of `assembly`. With
  /// `contributions`, made for `plan`, deterministic. Not collective.
  GatherScatter(const Communicator& comm, HaloPlan plan, Assembly assembly,
                std::optional<ContributionPlan> contributions = {});

  /// The shared DOFs and who has them.
  const HaloPlan& plan() const {
    return m_contributions ? m_contributions->dofs : m_messages->host;
  }
  /// What strategies exchange: that plan or, deterministic, the one of contributions.
  std::shared_ptr<const DeviceHaloPlan> message_plan() const { return m_messages; }
  bool is_deterministic() const { return m_contributions.has_value(); }
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
    gather_shared(points, rows, op);
    start(rows);
    m_assembly.gather_scatter(points, op, n_shared, n_rows());
    finish(rows, op);
    m_assembly.scatter(rows, points, 0, n_shared);
  }

  /// Forms what this rank has of the shared DOFs from its points, shape (n_points, components): in
  /// the first n_shared entries of an assembled field, for start() to read or, deterministic, apart
  /// from it. In the order of the kernels of `stream`. Collective the first time after select().
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

  /// start() and finish() at once, by one kernel where there is such a way. Collective.
  template <class T>
  void exchange(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    Resources<T>& used = resources<T>(static_cast<int>(field.extent(1)));
    exchange_by(used.exchange, packed(used, field), field, op, log);
  }

  /// exchange() by another `exchange`, made on message_plan(), of what `packed` has: `field` itself
  /// or, deterministic, contributions. Collective.
  template <class T>
  void exchange_by(HaloExchange<T>& exchange, const DeviceField<T>& packed,
                   const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) const {
    if (exchange.exchange_by_kernel(field, op)) return record(log, "exchanged by a kernel");
    exchange.pack(packed);
    record(log, "exchange packed");
    exchange.post();
    record(log, "exchange posted");
    exchange.wait(log);
    unpack(exchange, packed, field, op, log);
  }
  /// The last part of that: combines what came with what was `packed`. Not collective.
  template <class T>
  void unpack(HaloExchange<T>& exchange, const DeviceField<T>& packed, const DeviceField<T>& field,
              Reduction op, EventLog* log = nullptr) const {
    if (m_contributions) {
      with_reduction(op, [&](auto reduction) {
        exchange.unpack_by(
            "nekbone_k: combine contributions",
            CombineContributions<T, decltype(reduction)::value>{
                field, packed, m_contributions->source_offsets, m_contributions->sources},
            m_contributions->runs);
      });
    } else {
      exchange.unpack(field, op);
    }
    record(log, "exchange unpacked");
  }

  /// Begins to combine the ranks' shares of an assembled field, whose first n_shared entries are
  /// the shared DOFs, as gather_shared() left them; between start and finish the other entries may
  /// be worked on. Collective.
  template <class T>
  void start(const DeviceField<T>& field, EventLog* log = nullptr) {
    pack(field, log);
    post(field, log);
  }
  /// start() in two parts: pack() waits for no kernel, post() may. Where kernels run beside the
  /// host, work launched in between fills the time that post() waits.
  template <class T>
  void pack(const DeviceField<T>& field, EventLog* log = nullptr) {
    Resources<T>& used = resources<T>(static_cast<int>(field.extent(1)));
    used.exchange.pack(packed(used, field));
    record(log, "exchange packed");
  }
  template <class T>
  void post(const DeviceField<T>& field, EventLog* log = nullptr) {
    resources<T>(static_cast<int>(field.extent(1))).exchange.post();
    record(log, "exchange posted");
  }
  /// Waits for the messages and combines them into the shared DOFs of `field`. Collective.
  template <class T>
  void finish(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    Resources<T>& used = resources<T>(static_cast<int>(field.extent(1)));
    used.exchange.wait(log);
    unpack(used.exchange, packed(used, field), field, op, log);
  }
  /// Throws InternalError if a message of a field of doubles did not come; see Exchange::check().
  void check() const {
    for (const auto& [components, made] : std::get<ByComponents<double>>(m_resources))
      made->exchange.check();
  }

  /// What fields of one component are exchanged by, on message_plan(), for it to be verified.
  /// Collective the first time after select().
  template <class T>
  HaloExchange<T>& exchange_in_use() {
    return resources<T>(1).exchange;
  }

 private:
  /// What fields of one type and number of components need: the exchange, shared rows for gs_op()
  /// and, deterministic, contributions.
  template <class T>
  struct Resources {
    HaloExchange<T> exchange;
    DeviceField<T> rows, places;
  };
  template <class T>
  const DeviceField<T>& packed(const Resources<T>& used, const DeviceField<T>& field) const {
    return m_contributions ? used.places : field;
  }
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
          HaloExchange<T>(m_comm, m_messages, m_strategy, components),
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
  Strategy m_strategy = first_strategy();
  // Made when first used, by number of components.
  std::tuple<ByComponents<double>, ByComponents<float>> m_resources;
};

}  // namespace nekbone_k
