/// @file
/// The exchange of assembled shared DOFs: pack, messages, unpack.
#pragma once

#include <memory>

#include "core/event_log.hpp"
#include "core/types.hpp"
#include "gs/exchange.hpp"
#include "gs/message_memory.hpp"
#include "gs/reduction.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {

/// A HaloPlan with the index arrays of its kernels in device memory.
struct DeviceHaloPlan {
  explicit DeviceHaloPlan(HaloPlan plan)
      : host(std::move(plan)),
        message_dofs(to_device("nekbone_k: message DOFs", host.message_dofs)),
        share_offsets(to_device("nekbone_k: share offsets", host.share_offsets)),
        share_slots(to_device("nekbone_k: share slots", host.share_slots)) {}

  HaloPlan host;
  DeviceVector<LocalIndex> message_dofs, share_offsets, share_slots;
};

/// A vector seen as a field of one component. The memory is not copied or kept alive.
template <class T>
DeviceField<T> as_field(const DeviceVector<T>& vector) {
  return DeviceField<T>(vector.data(), vector.extent(0), 1);
}

/// Combines the shares of all ranks in the first n_shared entries of an assembled field, by one
/// strategy. The shares of a DOF are combined in ascending rank on every rank, so its copies stay
/// bitwise equal, whatever the strategy. One fused kernel packs for all neighbours and one unpacks.
template <class T>
class HaloExchange {
 public:
  /// Makes the exchange for fields of `components` components. `comm` outlives the object.
  HaloExchange(const Communicator& comm, std::shared_ptr<const DeviceHaloPlan> plan,
               const Strategy& strategy, int components = 1)
      : m_plan(std::move(plan)),
        m_components(components),
        m_send_memory(buffer_bytes()),
        m_receive_memory(buffer_bytes()),
        m_send(m_send_memory.as_vector<T>(buffer_bytes() / sizeof(T))),
        m_receive(m_receive_memory.as_vector<T>(buffer_bytes() / sizeof(T))),
        m_exchange(strategy.make(comm, m_plan->host,
                                 {m_send.data(), m_receive.data(), components * sizeof(T)})) {}

  /// Packs the shared entries of `field`, shape (>= n_shared, components), and posts the messages.
  /// Collective, with finish().
  void start(const DeviceField<T>& field, EventLog* log = nullptr) {
    pack(field);
    m_exchange->start();
    record(log, "exchange posted");
  }

  /// Waits for the messages and combines them into `field`, which must hold in its shared entries
  /// what start() saw.
  void finish(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    m_exchange->finish();
    record(log, "exchange waited for");
    unpack(field, op);
  }

  /// The parts of start() and finish() beside the messages, for timing. They return before their
  /// kernels end.
  void pack(const DeviceField<T>& field) {
    const auto send = m_send;
    const auto dofs = m_plan->message_dofs;
    const int components = m_components;
    Kokkos::parallel_for(
        "nekbone_k: pack", Kokkos::RangePolicy<ExecutionSpace>(0, m_plan->host.n_slots()),
        KOKKOS_LAMBDA(const LocalIndex slot) {
          for (int c = 0; c < components; ++c)
            send(std::size_t(slot) * components + c) = field(dofs(slot), c);
        });
  }

  void unpack(const DeviceField<T>& field, Reduction op) {
    with_reduction(op, [&](auto reduction) { unpack_with<decltype(reduction)::value>(field); });
  }

  /// Fills every buffer that messages arrive in with `value`. Call it between exchanges.
  void poison(T value) {
    Kokkos::deep_copy(m_receive, value);
    m_exchange->poison();
  }

  /// The exchange alone, for timing its parts.
  Exchange& messages() { return *m_exchange; }

  /// unpack() with the operation as a type. Public because nvcc allows no kernel in a private
  /// member.
  template <Reduction op>
  void unpack_with(const DeviceField<T>& field) {
    const auto receive = m_receive;
    const auto offsets = m_plan->share_offsets;
    const auto slots = m_plan->share_slots;
    const int components = m_components;
    Kokkos::parallel_for(
        "nekbone_k: unpack", Kokkos::RangePolicy<ExecutionSpace>(0, m_plan->host.n_shared()),
        KOKKOS_LAMBDA(const LocalIndex s) {
          for (int c = 0; c < components; ++c) {
            const T own = field(s, c);
            const auto share = [&](LocalIndex at) {
              const LocalIndex slot = slots(at);
              return slot == HaloPlan::own_share ? own
                                                 : receive(std::size_t(slot) * components + c);
            };
            T value = share(offsets(s));
            for (LocalIndex at = offsets(s) + 1; at < offsets(s + 1); ++at)
              value = combine<op>(value, share(at));
            field(s, c) = value;
          }
        });
  }

 private:
  std::size_t buffer_bytes() const { return sizeof(T) * m_plan->host.n_slots() * m_components; }

  std::shared_ptr<const DeviceHaloPlan> m_plan;
  int m_components;
  DeviceMessageMemory m_send_memory, m_receive_memory;
  DeviceVector<T> m_send, m_receive;
  std::unique_ptr<Exchange> m_exchange;
};

}  // namespace nekbone_k
