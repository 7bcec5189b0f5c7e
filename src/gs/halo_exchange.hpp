/// @file
/// The exchange of assembled shared DOFs: pack, messages, unpack.
#pragma once

#include <memory>

#include "core/event_log.hpp"
#include "core/streams.hpp"
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

/// Combines what belongs to each shared DOF by combine(dof, messages), once the messages are there.
template <class T, class Combine>
struct Unpack {
  static constexpr int team_size = is_host_device ? 1 : 256;
  static constexpr LocalIndex chunk = is_host_device ? 1024 : team_size;  ///< DOFs of a team
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;
  using Team = typename Policy::member_type;

  Combine combine;
  Arrival arrival;
  LocalIndex n_shared;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (arrival.n_flags > 0) {
      for (int f = team.team_rank(); f < arrival.n_flags; f += team_size)
        await(arrival.flags + f, arrival.call, arrival.late);
      team.team_barrier();
    }
    const LocalIndex first = team.league_rank() * chunk;
    const LocalIndex end = first + chunk < n_shared ? first + chunk : n_shared;
    const auto* const messages = static_cast<const T*>(arrival.messages);
    for (LocalIndex s = first + team.team_rank(); s < end; s += team_size) combine(s, messages);
  }
};

/// The shares of a DOF in ascending rank.
template <class T, Reduction op>
struct CombineShares {
  DeviceField<T> field;
  DeviceVector<LocalIndex> offsets, slots;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex s, const T* received) const {
    const int components = static_cast<int>(field.extent(1));
    for (int c = 0; c < components; ++c) {
      const T own = field(s, c);
      const auto share = [&](LocalIndex at) {
        const LocalIndex slot = slots(at);
        return slot == HaloPlan::own_share ? own : received[std::size_t(slot) * components + c];
      };
      T value = share(offsets(s));
      for (LocalIndex at = offsets(s) + 1; at < offsets(s + 1); ++at)
        value = combine<op>(value, share(at));
      field(s, c) = value;
    }
  }
};

/// Combines the shares of all ranks in the first n_shared entries of an assembled field, by one
/// strategy. The shares of a DOF are combined in ascending rank on every rank, so its copies stay
/// bitwise equal, whatever the strategy. One fused kernel packs for all neighbours and one unpacks:
/// in the order of the default instance's kernels or, where the strategy is overlapped, beside
/// those that are launched between start and finish.
template <class T>
class HaloExchange {
 public:
  /// Makes the exchange for fields of `components` components. `comm` outlives the object. For
  /// `patience` see MessageBuffers.
  HaloExchange(const Communicator& comm, std::shared_ptr<const DeviceHaloPlan> plan,
               const Strategy& strategy, int components = 1, double patience = for_ever)
      : m_stream(strategy.overlapped ? side_stream() : ExecutionSpace()),
        m_plan(std::move(plan)),
        m_components(components),
        m_send_memory(buffer_bytes()),
        m_receive_memory(buffer_bytes()),
        m_send(m_send_memory.as_vector<T>(buffer_bytes() / sizeof(T))),
        m_receive(m_receive_memory.as_vector<T>(buffer_bytes() / sizeof(T))),
        m_exchange(strategy.make(
            comm, m_plan->host,
            {m_send.data(), m_receive.data(), components * sizeof(T), m_stream, patience})) {}

  /// Packs the shared entries of `field`, shape (>= n_shared, components), and posts the messages.
  /// Collective, with finish().
  void start(const DeviceField<T>& field) {
    pack(field);
    post();
  }

  /// Waits for the messages and combines them into `field`, which must hold in its shared entries
  /// what start() saw.
  void finish(const DeviceField<T>& field, Reduction op, EventLog* log = nullptr) {
    wait();
    record(log, "exchange waited for");
    unpack(field, op);
  }

  /// The parts of start() and finish(), each in turn. pack() does not wait for the device, so that
  /// work can be launched between it and post(). Kernels may still run when they return. Where a
  /// strategy packs by itself, pack() sends too; where its messages are waited for by kernels,
  /// unpack() does.
  void pack(const DeviceField<T>& field) {
    order(ExecutionSpace(), m_stream);
    const bool packed = m_exchange->pack(
        {field.data(), field.stride(1), sizeof(T), static_cast<int>(field.extent(1))});
    if (packed) return;
    const auto send = m_send;
    const auto dofs = m_plan->message_dofs;
    const int components = m_components;
    Kokkos::parallel_for(
        "nekbone_k: pack", Kokkos::RangePolicy<ExecutionSpace>(m_stream, 0, m_plan->host.n_slots()),
        KOKKOS_LAMBDA(const LocalIndex slot) {
          for (int c = 0; c < components; ++c)
            send(std::size_t(slot) * components + c) = field(dofs(slot), c);
        });
  }
  void post() { m_exchange->start(); }
  void wait() { m_arrival = m_exchange->arrive(m_receive.data()); }
  void unpack(const DeviceField<T>& field, Reduction op) {
    with_reduction(op, [&](auto reduction) {
      unpack_by(CombineShares<T, decltype(reduction)::value>{field, m_plan->share_offsets,
                                                             m_plan->share_slots},
                m_plan->host.n_shared());
    });
  }
  /// unpack() of `n_shared` DOFs that the messages say something of, by combine(dof, messages).
  template <class Combine>
  void unpack_by(const Combine& combine, LocalIndex n_shared) {
    if (n_shared == 0) return;
    using Kernel = Unpack<T, Combine>;
    Kokkos::parallel_for(
        "nekbone_k: unpack",
        typename Kernel::Policy(m_stream, (n_shared + Kernel::chunk - 1) / Kernel::chunk,
                                Kernel::team_size),
        Kernel{combine, m_arrival, n_shared});
    order(m_stream, ExecutionSpace());
  }

  /// See Exchange::check().
  void check() const { m_exchange->check(); }

  /// Fills every buffer that messages arrive in with `value`. Collective, between two exchanges.
  void poison(T value) {
    Kokkos::deep_copy(m_receive, value);
    m_exchange->poison();
  }

 private:
  std::size_t buffer_bytes() const { return sizeof(T) * m_plan->host.n_slots() * m_components; }

  ExecutionSpace m_stream;
  std::shared_ptr<const DeviceHaloPlan> m_plan;
  int m_components;
  DeviceMessageMemory m_send_memory, m_receive_memory;
  DeviceVector<T> m_send, m_receive;
  std::unique_ptr<Exchange> m_exchange;
  Arrival m_arrival;
};

}  // namespace nekbone_k
