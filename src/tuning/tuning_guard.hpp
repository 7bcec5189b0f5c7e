// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Guards a run against strategies that crash, hang or throw.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "core/waiting.hpp"

namespace nekbone_k {

/// Is told around each use of a strategy that may crash or hang, so that it ends one run at most.
/// All ranks call all members, with one exception: fail(), and leave() and take_back() on ranks
/// without memory, which end the job.
class TuningGuard {
 public:
  virtual ~TuningGuard() = default;

  /// Longest wait for a message, in s; see MessageBuffers.
  virtual double patience() const = 0;
  /// A strategy is in use from enter() to leave(), and may not return. Uses may nest; then either
  /// strategy may be the reason. Not for each exchange: the two take about a microsecond, and the
  /// kernels of a GPU may hang or crash after leave().
  virtual void enter(const std::string& strategy) = 0;
  virtual void leave() = 0;
  /// The strategy in use has made progress; its time starts again.
  virtual void go_on() = 0;
  /// The strategy in use threw on this rank, and the job ends.
  virtual void fail() = 0;
  /// A strategy is tried for the first time from begin() to end(). If the job ends between them,
  /// the next run skips the strategy, unless take_back() was called. Does not nest.
  virtual void begin(const std::string& strategy) = 0;
  virtual void end() = 0;
  /// The job ends because this rank has no memory, not because of the strategy that was begun.
  virtual void take_back(const std::string& strategy) = 0;
  /// The reason not to try a strategy, or empty; the same on every rank.
  virtual std::string why_excluded(const std::string& strategy) const = 0;
};

/// Does nothing, waits for ever and excludes no strategy.
class NoGuard : public TuningGuard {
 public:
  double patience() const override { return for_ever; }
  void enter(const std::string&) override {}
  void leave() override {}
  void go_on() override {}
  void fail() override {}
  void begin(const std::string&) override {}
  void end() override {}
  void take_back(const std::string&) override {}
  std::string why_excluded(const std::string&) const override { return {}; }
};

/// Runs `action` between enter() and leave() of each of `strategies`, and returns its result. If
/// `action` throws, calls fail(), because the job ends. UnavailableError, InputError and lack of
/// memory are not faults of a strategy: then calls leave() instead.
template <class Action>
std::invoke_result_t<Action> guarded(TuningGuard& guard, std::span<const std::string> strategies,
                                     const Action& action) {
  for (const std::string& strategy : strategies) guard.enter(strategy);
  const auto leave = [&] {
    for (std::size_t s = 0; s < strategies.size(); ++s) guard.leave();
  };
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Action>>) {
      action();
      leave();
    } else {
      auto result = action();
      leave();
      return result;
    }
  } catch (const std::exception& error) {
    if (is_out_of_memory(error) || dynamic_cast<const UnavailableError*>(&error) != nullptr ||
        dynamic_cast<const InputError*>(&error) != nullptr)
      leave();
    else
      guard.fail();
    throw;
  } catch (...) {
    guard.fail();
    throw;
  }
}
/// The same for one strategy.
template <class Action>
std::invoke_result_t<Action> guarded(TuningGuard& guard, const std::string& strategy,
                                     const Action& action) {
  return guarded(guard, std::span(&strategy, 1), action);
}

/// Runs a part of guarded() in which the strategies are not in use and which may take long, such as
/// writing a file: leaves the strategies, runs `action`, and enters them again, also if it throws.
/// Kernels that use them must have ended.
template <class Action>
void unguarded(TuningGuard& guard, std::span<const std::string> strategies, const Action& action) {
  const auto enter = [&] {
    for (const std::string& strategy : strategies) guard.enter(strategy);
  };
  for (std::size_t s = 0; s < strategies.size(); ++s) guard.leave();
  try {
    action();
  } catch (...) {
    enter();
    throw;
  }
  enter();
}

/// Calls enter() now and leave() at the end of the scope. Exceptions in between are not reported to
/// the guard.
class Entered {
 public:
  Entered(TuningGuard& guard, const std::string& strategy) : m_guard(guard) {
    m_guard.enter(strategy);
  }
  ~Entered() { m_guard.leave(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  TuningGuard& m_guard;
};

/// Holds the result of `make`. Making and destroying it use `strategy`, and run between enter() and
/// leave().
template <class T>
class Guarded {
 public:
  template <class Make>
  Guarded(TuningGuard& guard, const std::string& strategy, const Make& make)
      : m_guard(guard), m_strategy(strategy) {
    guarded(m_guard, m_strategy, [&] { m_value.reset(new T(make())); });
  }
  ~Guarded() {
    m_guard.enter(m_strategy);
    m_value.reset();
    m_guard.leave();
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  const T& operator*() const { return *m_value; }

 private:
  TuningGuard& m_guard;
  std::string m_strategy;
  std::unique_ptr<T> m_value;
};
template <class Make>
Guarded(TuningGuard&, const std::string&, const Make&) -> Guarded<std::invoke_result_t<Make>>;

/// The exception text of `action` on this rank, for people; empty if it does not throw. Passes on
/// two exceptions: an UnavailableError, which all ranks throw, and lack of memory. The latter is no
/// fault of the strategy and must end the job, because other ranks may wait for this one.
template <class Action>
std::string thrown_by(int rank, const Action& action) {
  std::string what;
  try {
    action();
    return what;
  } catch (const UnavailableError&) {
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;
    what = error.what();
  } catch (...) {
    what = "no std::exception";
  }
  return "threw on rank " + std::to_string(rank) + ": " + what;
}

/// The exception text of `action`, which uses `strategy` and may not return, from any rank, for
/// people; empty if no rank throws. Each rank waits for the last one, so that a hang is recorded
/// under the right name. Collective; passes on an UnavailableError.
template <class Action>
std::string guarded_failure(const Communicator& comm, TuningGuard& guard,
                            const std::string& strategy, const Action& action) {
  return guarded(guard, strategy, [&] {
    const std::string here = thrown_by(comm.rank(), action);
    // Gather texts only if there is one, because this runs after every sample.
    return comm.all(here.empty()) ? here : comm.first_text(here);
  });
}

/// guarded() for the first use of `strategy`; `action` returns a value.
template <class Action>
std::invoke_result_t<Action> tried(TuningGuard& guard, const std::string& strategy,
                                   const Action& action) {
  guard.begin(strategy);
  try {
    auto result = guarded(guard, strategy, action);
    guard.end();
    return result;
  } catch (const UnavailableError&) {
    guard.end();
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) guard.take_back(strategy);
    throw;
  }
}

}  // namespace nekbone_k
