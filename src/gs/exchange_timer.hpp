/// @file
/// Times exchanges, alone and amid the work that overlapped ones hide behind.
#pragma once

#include <algorithm>
#include <array>
#include <exception>
#include <vector>

#include "core/communicator.hpp"
#include "core/streams.hpp"
#include "core/waiting.hpp"
#include "gs/gather_scatter.hpp"
#include "gs/give_up.hpp"
#include "gs/statistics.hpp"
#include "gs/tuner.hpp"

namespace nekbone_k {

/// Does exchanges of fields of T as GatherScatter and EllipticOperator do them, on a field of its
/// own, and times them. All but field() and renew_field() are collective.
template <class T>
class ExchangeTimer {
 public:
  /// `gs` and `work` outlive the object.
  ExchangeTimer(const GatherScatter& gs, int components, const OverlapWork& work)
      : m_comm(gs.communicator()), m_gs(gs), m_components(components), m_work(work) {
    make_field();
  }

  /// What is packed, with all rows, so that entries that nobody shares can be looked at.
  const DeviceField<T>& field() const { return m_field; }
  /// Takes another field, as messages may still be on their way from this one: given up, not freed.
  void renew_field() {
    give_up(m_field);
    make_field();
  }

  /// One exchange, as GatherScatter::exchange().
  void exchange(HaloExchange<T>& exchange) const {
    m_gs.exchange_by(exchange, m_field, m_sums, Reduction::add);
  }
  /// An overlapped exchange amid a portion of the work, in the order of EllipticOperator::apply().
  /// What it throws is thrown in the end, as other ranks wait for this one's part of the sum.
  void exchange_amid_work(double portion, HaloExchange<T>& exchange) const {
    UntilOneThrows parts;
    parts.run([&] {
      work_before(portion, side_stream());
      exchange.pack(m_field);
      if (is_host_device) exchange.post();
    });
    parts.run_anyway([&] {
      m_work.meanwhile(portion);
      start_sum();
    });
    parts.run([&] {
      if (!is_host_device) exchange.post();
      exchange.wait();
      m_gs.unpack(exchange, m_field, m_sums, Reduction::add);
    });
    parts.run_anyway([&] { wait_for_sum(); });
    parts.rethrow();
  }
  /// A plain exchange, after a portion of the work and before the host waits for its sum. Throws
  /// like that.
  void exchange_after_work(double portion, HaloExchange<T>& exchange) const {
    UntilOneThrows parts;
    parts.run_anyway([&] { begin_work(portion); });
    parts.run([&] { this->exchange(exchange); });
    parts.run_anyway([&] { wait_for_sum(); });
    parts.rethrow();
  }
  /// That portion of the work, and its sum, without an exchange.
  void do_work(double portion) const {
    begin_work(portion);
    wait_for_sum();
  }

  /// Seconds on this rank for `action`, which all ranks begin together.
  template <class Action>
  double seconds_of(const Action& action) const {
    m_comm.barrier();
    const double begin = wall_seconds();
    action();
    Kokkos::fence("nekbone_k: timed");
    return wall_seconds() - begin;
  }

  /// How long exchanges can hide behind that portion of the work, s; the slowest rank.
  double time_meanwhile(double portion) const {
    double work = for_ever;
    for (int i = 0; i < 2; ++i)  // the shorter: one may be the first, or meet a busy moment
      work = std::min(work, m_comm.max(seconds_of([&] { m_work.meanwhile(portion); })));
    return work;
  }

  /// Where the time of an exchange goes; seconds_of(part) as seconds_of().
  template <class SecondsOf>
  ExchangeBreakdown break_down(HaloExchange<T>& exchange, int rounds,
                               const SecondsOf& seconds_of) const {
    std::array<std::vector<double>, 3> parts;
    for (int round = 0; round < rounds; ++round) {
      std::array<double, 3> seconds{
          seconds_of([&] { exchange.pack(m_field); }), seconds_of([&] {
            exchange.post();
            exchange.wait();
          }),
          seconds_of([&] { m_gs.unpack(exchange, m_field, m_sums, Reduction::add); })};
      m_comm.max(seconds);
      for (std::size_t p = 0; p < parts.size(); ++p) parts[p].push_back(seconds[p]);
    }
    return {median(parts[0]), median(parts[1]), median(parts[2])};
  }

  /// The part on one rank: QQᵀ of its points. In so many rounds, but in one alone where that takes
  /// longer than `seconds`.
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
  void make_field() {
    const LocalIndex n_packed = m_gs.message_plan()->host.n_shared();
    m_field =
        DeviceField<T>("nekbone_k: tuned field", std::max(n_packed, m_gs.n_rows()), m_components);
    m_sums = m_gs.is_deterministic()
                 ? DeviceField<T>("nekbone_k: tuned sums", m_gs.plan().n_shared(), m_components)
                 : m_field;
    // Repeated exchanges may add it up until it overflows to infinity, which takes no longer.
    Kokkos::deep_copy(m_field, T(1));
  }
  void work_before(double portion, const ExecutionSpace& stream = {}) const {
    if (m_work.before) m_work.before(portion, stream);
  }
  void begin_work(double portion) const {
    if (m_work.all) {
      m_work.all(portion);
    } else {
      work_before(portion);
      m_work.meanwhile(portion);
    }
    start_sum();
  }
  void start_sum() const {
    if (m_work.sum) m_work.sum->start();
  }
  void wait_for_sum() const {
    if (m_work.sum) m_work.sum->wait();
  }

  /// Does actions until one throws, and keeps what the first one threw.
  class UntilOneThrows {
   public:
    template <class Action>
    void run(const Action& action) {
      if (!m_thrown) run_anyway(action);
    }
    /// Also after one that threw.
    template <class Action>
    void run_anyway(const Action& action) {
      try {
        action();
      } catch (...) {
        if (!m_thrown) m_thrown = std::current_exception();
      }
    }
    void rethrow() const {
      if (m_thrown) std::rethrow_exception(m_thrown);
    }

   private:
    std::exception_ptr m_thrown;
  };

  const Communicator& m_comm;
  const GatherScatter& m_gs;
  int m_components;
  const OverlapWork& m_work;
  DeviceField<T> m_field;  ///< what is packed
  DeviceField<T> m_sums;   ///< what is unpacked into: m_field itself, unless deterministic
};

}  // namespace nekbone_k
