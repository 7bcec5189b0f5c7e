// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The halo exchange of assembled shared DOFs: pack, messages, unpack.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "core/message_memory.hpp"
#include "core/region.hpp"
#include "core/streams.hpp"
#include "core/types.hpp"
#include "gs/exchange.hpp"
#include "gs/exchange_by_kernel.hpp"
#include "gs/index_runs.hpp"
#include "gs/strategy_table.hpp"
#include "reduce/reduction.hpp"

namespace nekbone_k {

/// A HaloPlan with the index arrays of its kernels in device memory.
struct DeviceHaloPlan {
  /// `shares_combined` is `combines_shares`.
  explicit DeviceHaloPlan(HaloPlan plan, bool shares_combined = true)
      : host(std::move(plan)), combines_shares(shares_combined) {
    message_dofs = to_device("nekbone_k: message DOFs", host.message_dofs);
    message_runs = to_device("nekbone_k: message runs", find_runs(host.message_dofs));
    share_offsets = to_device("nekbone_k: share offsets", host.share_offsets);
    share_slots = to_device("nekbone_k: share slots", host.share_slots);
    const std::vector<LocalIndex> only = host.only_slots();
    only_slots = to_device("nekbone_k: only slots", only);
    only_slot_runs = to_device("nekbone_k: runs of only slots", find_runs(only));
  }

  HaloPlan host;
  bool combines_shares;  ///< whether unpack() combines the shares; otherwise the caller combines
  DeviceVector<LocalIndex> message_dofs, share_offsets, share_slots, only_slots;
  DeviceRuns message_runs, only_slot_runs;  ///< slots and DOFs; DOFs and only slots
};

/// A vector as a field of one component. It neither copies the memory nor keeps it alive.
template <class T>
DeviceField<T> as_field(const DeviceVector<T>& vector) {
  return DeviceField<T>(vector.data(), vector.extent(0), 1);
}

/// Combines the shares of DOFs in ascending rank. Most DOFs, those inside a face of the box of
/// elements, have two shares. If their order does not matter, the kernel reads fewer indices.
template <class T, Reduction op>
struct CombineShares {
  static constexpr Reduction operation = op;
  static constexpr int step = RunShape::team_size;

  DeviceField<T> field;
  DeviceVector<LocalIndex> only_slots, offsets, slots;

  /// For unpack_by(), with the runs of DOFs and only_slots.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const IndexRun& run, int from,
                                              const T* received) const {
    if (is_simple() && run.stride != 0) {
      T* const own = field.data();
      return for_positions_apart<step>(
          run, nullptr, from,
          [&](LocalIndex s, LocalIndex only) { return combine<op>(own[s], received[only]); },
          [&](LocalIndex s, LocalIndex, T value) { own[s] = value; });
    }
    for_positions<step>(run, only_slots.data(), from, [&](LocalIndex s, LocalIndex only) {
      if (only != HaloPlan::several_shares)
        combine_two(s, only, received);
      else
        combine_all(s, received);
    });
  }

  // For ExchangeByKernel.

  /// Whether shares are single numbers that commute.
  KOKKOS_FORCEINLINE_FUNCTION bool is_simple() const {
    return commutes(op) && field.extent(1) == 1;
  }
  /// Combines DOF s, which one other rank shares and whose share is in `slot`. Reads each word
  /// once.
  template <class Received>
  KOKKOS_FORCEINLINE_FUNCTION void combine_two(LocalIndex s, LocalIndex slot,
                                               const Received& received) const {
    if (!commutes(op)) return combine_all(s, received);
    const int components = static_cast<int>(field.extent(1));
    for (int c = 0; c < components; ++c)
      field(s, c) = combine<op>(field(s, c), received[std::size_t(slot) * components + c]);
  }
  /// Combines DOF s for any number of ranks. Reads each word once.
  template <class Received>
  KOKKOS_FORCEINLINE_FUNCTION void combine_all(LocalIndex s, const Received& received) const {
    const int components = static_cast<int>(field.extent(1));
    for (int c = 0; c < components; ++c) {
      const auto share = [&](LocalIndex at) {
        const LocalIndex slot = slots(at);
        return slot == HaloPlan::own_share ? field(s, c)
                                           : received[std::size_t(slot) * components + c];
      };
      T value = share(offsets(s));
      for (LocalIndex at = offsets(s) + 1; at < offsets(s + 1); ++at)
        value = combine<op>(value, share(at));
      field(s, c) = value;
    }
  }
};

/// Calls combine(run, from, messages) with the address of the messages.
template <class T, class Combine>
struct Unpack {
  Combine combine;
  const T* messages;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const IndexRun& run, int from) const {
    combine(run, from, messages);
  }
};

/// Combines the shares of all ranks in the first n_shared entries of an assembled field, by one
/// strategy. Every rank combines the shares of a DOF in ascending rank, so copies of the DOF are
/// bitwise equal, whatever the strategy.
///
/// An exchange has the steps pack(), post(), wait() and unpack(), in this order and with the same
/// field; the first three are those of Exchange. FieldExchange::run() does them all. All are
/// collective except unpack(). Kernels may still run when a step returns.
///
/// One fused kernel packs for all neighbours and one unpacks, unless one kernel does the whole
/// exchange. Kernels run in the default stream. If the strategy is overlapped, they run in a second
/// stream beside the kernels launched between pack() and unpack().
template <class T>
class HaloExchange {
 public:
  /// Makes the exchange for fields of `components` components. `comm` outlives the object. For
  /// `patience` see MessageBuffers. Collective; throws UnavailableError if the strategy is
  /// unavailable.
  HaloExchange(const Communicator& comm, std::shared_ptr<const DeviceHaloPlan> plan,
               const Strategy& strategy, int components = 1, double patience = for_ever)
      : m_stream(strategy.overlapped ? side_stream() : ExecutionSpace()),
        m_plan(std::move(plan)),
        m_may_be_one_kernel(!strategy.overlapped && m_plan->combines_shares &&
                            std::is_floating_point_v<T>),
        m_components(components),
        m_send_memory(buffer_bytes()),
        m_receive_memory(buffer_bytes()),
        m_send(m_send_memory.as_vector<T>(buffer_bytes() / sizeof(T))),
        m_receive(m_receive_memory.as_vector<T>(buffer_bytes() / sizeof(T))),
        m_exchange(strategy.make(
            comm, m_plan->host,
            {m_send.data(), m_receive.data(), components * sizeof(T), m_stream, patience})) {}

  /// Whether one kernel can do the whole exchange, on all ranks or on none. It cannot if the
  /// strategy has no such kernel or is overlapped, or if the plan does not combine shares. It
  /// cannot move integers: one with the bits of `not_come` would change.
  bool is_one_kernel() const { return m_may_be_one_kernel && m_exchange->by_kernel() != nullptr; }
  /// Does the whole exchange of `field`, shape (>= n_shared, components), in device memory, by one
  /// kernel. Returns false and does nothing unless is_one_kernel(). Does not wait for the device.
  bool exchange_by_kernel(const DeviceField<T>& field, Reduction op) {
    if (!is_one_kernel()) return false;
    m_exchange->check();
    run_after(m_stream, ExecutionSpace());
    with_reduction(op, [&](auto reduction) {
      launch_exchange<T>(m_stream, *m_exchange->by_kernel(),
                         shares<decltype(reduction)::value>(field));
    });
    run_after(ExecutionSpace(), m_stream);
    return true;
  }

  /// Packs the shared entries of `field`, shape (>= n_shared, components). Does not wait for the
  /// device, so the caller can launch work between it and post(). If kernels of the strategy pack
  /// and send at once, it also sends.
  void pack(const DeviceField<T>& field) {
    const Region region("exchange pack");
    run_after(m_stream, ExecutionSpace());
    const bool packed = m_exchange->pack(
        {field.data(), field.stride(1), sizeof(T), static_cast<int>(field.extent(1))});
    if (packed) return;
    for_index_runs("nekbone_k: pack", m_stream, m_plan->message_runs,
                   PackRun<T>{field.data(), field.stride(1), m_components,
                              m_plan->message_dofs.data(), m_send.data()});
  }
  void post() {
    const Region region("exchange post");
    m_exchange->post();
  }
  void wait() {
    const Region region("exchange wait");
    m_arrival = m_exchange->wait();
    if (m_arrival.messages == nullptr) m_arrival.messages = m_receive.data();
  }
  /// Combines the messages with the shared entries of `field`, which have not changed since pack()
  /// read them. If kernels of the strategy wait for messages, this one does.
  void unpack(const DeviceField<T>& field, Reduction op) {
    with_reduction(op, [&](auto reduction) {
      unpack_by("nekbone_k: unpack", shares<decltype(reduction)::value>(field),
                m_plan->only_slot_runs);
    });
  }
  /// unpack() of the shared DOFs in `runs` by combine(run, from, messages), in a kernel of that
  /// name.
  template <class Combine>
  void unpack_by(const std::string& kernel, const Combine& combine, const DeviceRuns& runs) {
    const Region region("exchange unpack");
    if (runs.extent(0) == 0) return;
    const auto* const messages = static_cast<const T*>(m_arrival.messages);
    for_index_runs(kernel, m_stream, runs, Unpack<T, Combine>{combine, messages}, m_arrival);
    run_after(ExecutionSpace(), m_stream);
  }

  /// See Exchange::check().
  void check() const { m_exchange->check(); }

  /// Fills every buffer that messages arrive in with `value`. Collective; call it between two
  /// exchanges.
  void poison(T value) {
    Kokkos::deep_copy(m_receive, value);
    m_exchange->poison();
  }

 private:
  template <Reduction op>
  CombineShares<T, op> shares(const DeviceField<T>& field) const {
    return {field, m_plan->only_slots, m_plan->share_offsets, m_plan->share_slots};
  }
  std::size_t buffer_bytes() const { return sizeof(T) * m_plan->host.n_slots() * m_components; }

  ExecutionSpace m_stream;
  std::shared_ptr<const DeviceHaloPlan> m_plan;
  bool m_may_be_one_kernel;
  int m_components;
  DeviceMessageMemory m_send_memory, m_receive_memory;
  DeviceVector<T> m_send, m_receive;
  std::unique_ptr<Exchange> m_exchange;
  Arrival m_arrival;
};

}  // namespace nekbone_k
