// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The exchange of one field of a gather–scatter.
#pragma once

#include "core/event_log.hpp"
#include "core/region.hpp"
#include "gs/contribution_exchange.hpp"
#include "gs/halo_exchange.hpp"

namespace nekbone_k {

/// Combines the shares of all ranks in the shared DOFs of one assembled field, once. Call run(), or
/// pack(), post(), wait() and unpack() in this order; HaloExchange says what they do. All are
/// collective except unpack().
template <class T>
class FieldExchange {
 public:
  /// Combines into the first entries of `field`. `packed` holds the values to send: `field` itself,
  /// or the contributions of this rank if `contributions` is not null. `exchange`, `contributions`
  /// and `log` outlive the object.
  FieldExchange(HaloExchange<T>& exchange, const DeviceContributions* contributions,
                const DeviceField<T>& packed, const DeviceField<T>& field, Reduction op,
                EventLog* log)
      : m_exchange(exchange),
        m_contributions(contributions),
        m_packed(packed),
        m_field(field),
        m_op(op),
        m_log(log) {}
  /// Combines into `field` what it packs, without contributions.
  FieldExchange(HaloExchange<T>& exchange, const DeviceField<T>& field, Reduction op)
      : FieldExchange(exchange, nullptr, field, field, op, nullptr) {}

  /// All steps, or one kernel if the strategy has one.
  void run() const {
    const Region region("exchange");
    if (run_in_one_kernel()) return;
    pack();
    post();
    wait();
    unpack();
  }

  /// All steps in one kernel. Returns false and does nothing if the strategy has none.
  bool run_in_one_kernel() const {
    const bool is_done = m_exchange.exchange_by_kernel(m_field, m_op);
    if (is_done) record(m_log, "exchanged by a kernel");
    return is_done;
  }

  void pack() const {
    m_exchange.pack(m_packed);
    record(m_log, "exchange packed");
  }
  void post() const {
    m_exchange.post();
    record(m_log, "exchange posted");
  }
  void wait() const {
    m_exchange.wait();
    record(m_log, "exchange waited for");
  }
  void unpack() const {
    if (m_contributions != nullptr) {
      with_reduction(m_op, [&](auto reduction) {
        m_exchange.unpack_by(
            "nekbone_k: combine contributions",
            CombineContributions<T, decltype(reduction)::value>{
                m_field, m_packed, m_contributions->source_offsets, m_contributions->sources},
            m_contributions->runs);
      });
    } else {
      m_exchange.unpack(m_field, m_op);
    }
    record(m_log, "exchange unpacked");
  }

 private:
  HaloExchange<T>& m_exchange;
  const DeviceContributions* m_contributions;
  DeviceField<T> m_packed, m_field;
  Reduction m_op;
  EventLog* m_log;
};

}  // namespace nekbone_k
