// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Times exchanges alone, and with the work that overlapped exchanges hide behind.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/communicator.hpp"
#include "core/give_up.hpp"
#include "core/statistics.hpp"
#include "core/waiting.hpp"
#include "gs/gather_scatter.hpp"
#include "gs/run_overlapped.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// Runs and times exchanges of fields of T, on a field of its own, as GatherScatter and
/// EllipticOperator run them. Everything except field() and renew_field() is collective.
template <class T>
class ExchangeTimer {
 public:
  /// `gs` and `work` outlive the object.
  ExchangeTimer(const GatherScatter& gs, int components, const OverlapWork& work)
      : m_comm(gs.communicator()), m_gs(gs), m_components(components), m_work(work) {
    make_field();
  }

  /// The field that is packed, in device memory. It has all rows, so that callers can check entries
  /// that no other rank shares.
  const DeviceField<T>& field() const { return m_field; }
  /// Makes a new field and leaks the old one, because messages may still be sent from it.
  void renew_field() {
    give_up(m_field);
    make_field();
  }

  /// Runs one exchange, like GatherScatter::exchange().
  void exchange(HaloExchange<T>& exchange) const { steps_of(exchange).run(); }
  /// Runs an overlapped exchange during a portion of the work, as EllipticOperator::apply() does.
  /// The all-reduce of the work starts and ends even if something throws, because other ranks wait
  /// for it; then throws the first exception.
  void exchange_amid_work(double portion, HaloExchange<T>& exchange) const {
    and_wait_for_sum([&] {
      run_overlapped([&](const ExecutionSpace& stream) { work_before(portion, stream); },
                     steps_of(exchange),
                     [&] { and_start_sum([&] { m_work.meanwhile(portion); }); });
    });
  }
  /// Runs a plain exchange after a portion of the work, and before the host waits for the
  /// all-reduce. Throws like exchange_amid_work().
  void exchange_after_work(double portion, HaloExchange<T>& exchange) const {
    and_wait_for_sum([&] {
      begin_work(portion);
      this->exchange(exchange);
    });
  }
  /// Runs a portion of the work and its all-reduce, without an exchange.
  void do_work(double portion) const {
    begin_work(portion);
    wait_for_sum();
  }

  /// The time of `action` on this rank, in s. All ranks begin together.
  template <class Action>
  double seconds_of(const Action& action) const {
    m_comm.barrier();
    const double begin = wall_seconds();
    action();
    Kokkos::fence("nekbone_k: timed");
    return wall_seconds() - begin;
  }

  /// The time of the part of that portion of the work that hides exchanges, in s, on the slowest
  /// rank.
  double time_meanwhile(double portion) const {
    double work = for_ever;
    for (int i = 0; i < 2; ++i)  // the shorter of two: one may be the first, or meet a busy moment
      work = std::min(work, m_comm.max(seconds_of([&] { m_work.meanwhile(portion); })));
    return work;
  }

  /// The parts of the time of an exchange, in s. seconds_of(part) times part(exchange) as
  /// seconds_of() does.
  template <class SecondsOf>
  ExchangeBreakdown break_down(int rounds, const SecondsOf& seconds_of) const {
    std::array<std::vector<double>, 3> parts;
    for (int round = 0; round < rounds; ++round) {
      std::array<double, 3> seconds{
          seconds_of([&](HaloExchange<T>& exchange) { steps_of(exchange).pack(); }),
          seconds_of([&](HaloExchange<T>& exchange) {
            exchange.post();
            exchange.wait();
          }),
          seconds_of([&](HaloExchange<T>& exchange) { steps_of(exchange).unpack(); })};
      m_comm.max(seconds);
      for (std::size_t p = 0; p < parts.size(); ++p) parts[p].push_back(seconds[p]);
    }
    return {median(parts[0]), median(parts[1]), median(parts[2])};
  }

  /// The time of the on-rank QQᵀ, in s. Stops after `rounds` rounds, or after the first one that
  /// ends later than `seconds` in total.
  Summary time_on_rank(int rounds, double seconds) const {
    const Assembly& assembly = m_gs.assembly();
    const DeviceField<T> points("nekbone_k: points", assembly.n_points(), m_components);
    const DeviceField<T> rows("nekbone_k: rows", assembly.n_rows(), m_components);
    std::vector<double> samples;
    double used = 0;
    for (int round = 0; round < 1 + rounds; ++round) {
      const double sample = m_comm.max(seconds_of([&] {
        assembly.gather(points, rows, Reduction::add, 0, assembly.n_rows());
        assembly.scatter(rows, points, 0, assembly.n_rows());
      }));
      if (round > 0) samples.push_back(sample);
      used += sample;
      if (round > 0 && used > seconds) break;
    }
    return summarize(samples);
  }

 private:
  FieldExchange<T> steps_of(HaloExchange<T>& exchange) const {
    return m_gs.exchange_by(exchange, m_field, m_sums, Reduction::add);
  }
  void make_field() {
    const LocalIndex n_packed = m_gs.message_plan()->host.n_shared();
    m_field =
        DeviceField<T>("nekbone_k: tuned field", std::max(n_packed, m_gs.n_rows()), m_components);
    m_sums = m_gs.is_deterministic()
                 ? DeviceField<T>("nekbone_k: tuned sums", m_gs.plan().n_shared(), m_components)
                 : m_field;
    // Repeated additions may overflow to infinity, which takes no longer.
    Kokkos::deep_copy(m_field, T(1));
  }
  void work_before(double portion, const ExecutionSpace& stream = {}) const {
    if (m_work.before) m_work.before(portion, stream);
  }
  void begin_work(double portion) const {
    and_start_sum([&] {
      if (m_work.all) {
        m_work.all(portion);
      } else {
        work_before(portion);
        m_work.meanwhile(portion);
      }
    });
  }
  template <class Action>
  void and_start_sum(const Action& action) const {
    run_both(action, [&] {
      if (m_work.sum) m_work.sum->start();
    });
  }
  void wait_for_sum() const {
    if (m_work.sum) m_work.sum->wait();
  }
  template <class Action>
  void and_wait_for_sum(const Action& action) const {
    run_both(action, [&] { wait_for_sum(); });
  }

  const Communicator& m_comm;
  const GatherScatter& m_gs;
  int m_components;
  const OverlapWork& m_work;
  DeviceField<T> m_field;  ///< packed from
  DeviceField<T> m_sums;   ///< unpacked into: m_field itself, or a field of its own if
                           ///< deterministic
};

}  // namespace nekbone_k
