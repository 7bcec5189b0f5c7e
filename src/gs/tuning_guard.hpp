/// @file
/// What stands between a run and strategies that crash, hang or throw.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "core/waiting.hpp"

namespace nekbone_k {

/// Callbacks around each use of a strategy that may crash or hang, so that it costs one run at
/// most. All members are called by all ranks, but for fail(), and for leave() and take_back() where
/// memory is short on some, which ends the job.
struct TuningGuard {
  double patience = for_ever;  ///< seconds that a message may take; see MessageBuffers
  /// A strategy is used from enter() to leave(), and may not come back. One may be entered within
  /// another: then either may be why.
  std::function<void(const std::string& strategy)> enter = [](const std::string&) {};
  std::function<void()> leave = [] {};
  /// A strategy is tried for the first time from begin() to end(): in whatever way the job ends
  /// between them, the next run leaves it out, but for take_back(). Not one within another.
  std::function<void(const std::string& strategy)> begin = [](const std::string&) {};
  std::function<void()> end = [] {};
  /// What was begun is not why the job ends, as memory is short, on this rank at least.
  std::function<void(const std::string& strategy)> take_back = [](const std::string&) {};
  /// What was entered has come so far, and has as long again.
  std::function<void()> go_on = [] {};
  /// What was entered threw, on this rank at least, and the job ends.
  std::function<void()> fail = [] {};
  /// Why a strategy is not even tried, or nothing; the same on every rank.
  std::function<std::string(const std::string& strategy)> why_excluded = [](const std::string&) {
    return std::string();
  };
};

/// Runs `action`, which uses `strategy`, between enter() and leave(), and returns its result. What
/// it throws ends the job, so that the guard is told by fail() first, but for an UnavailableError,
/// and where memory is short, which is not the strategy's fault.
template <class Action>
std::invoke_result_t<Action> guarded(const TuningGuard& guard, const std::string& strategy,
                                     const Action& action) {
  guard.enter(strategy);
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Action>>) {
      action();
      guard.leave();
    } else {
      auto result = action();
      guard.leave();
      return result;
    }
  } catch (const UnavailableError&) {
    guard.leave();
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error))
      guard.leave();
    else
      guard.fail();
    throw;
  } catch (...) {
    guard.fail();
    throw;
  }
}

/// From enter() to leave(), however that ends: what is thrown meanwhile is not for it to tell.
class Entered {
 public:
  Entered(const TuningGuard& guard, const std::string& strategy) : m_guard(guard) {
    m_guard.enter(strategy);
  }
  ~Entered() { m_guard.leave(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const TuningGuard& m_guard;
};

/// What `make` returns, whose making and end use `strategy`, and are watched like that.
template <class T>
class Guarded {
 public:
  template <class Make>
  Guarded(const TuningGuard& guard, const std::string& strategy, const Make& make)
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
  const TuningGuard& m_guard;
  std::string m_strategy;
  std::unique_ptr<T> m_value;
};
template <class Make>
Guarded(const TuningGuard&, const std::string&, const Make&) -> Guarded<std::invoke_result_t<Make>>;

/// What `action` throws on this rank, for people; empty if nothing. Passed on are an
/// UnavailableError, which all ranks throw, and what says that memory is short: that is no fault of
/// what is tried, and the other ranks may wait for this one, so that it has to end the job.
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

/// What `action`, which uses `strategy` and may not come back from it, throws on any rank, for
/// people; empty if nothing. No rank leaves before the last, so that one that is waited for is not
/// waited for by the name of what is tried next. Collective; an UnavailableError is passed on.
template <class Action>
std::string guarded_failure(const Communicator& comm, const TuningGuard& guard,
                            const std::string& strategy, const Action& action) {
  return guarded(guard, strategy, [&] {
    const std::string here = thrown_by(comm.rank(), action);
    // Texts are gathered only where there is one, as this comes after every sample.
    return comm.all(here.empty()) ? here : comm.first_text(here);
  });
}

/// guarded() where `strategy` is tried for the first time; `action` returns something.
template <class Action>
std::invoke_result_t<Action> tried(const TuningGuard& guard, const std::string& strategy,
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

/// Whether a candidate may be timed.
struct Verdict {
  /// Whether this build and this machine have what it needs. One that has not is no failure.
  bool available = true;
  bool verified = false;
  std::string failure;  ///< why it was excluded: missing, wrong, or what it threw
};

/// Tries a candidate for the first time, called `name`, unless it is `excluded` for a reason, by
/// what `verify` returns or throws: what is wrong with it, or nothing. Collective.
template <class Verify>
Verdict verify_candidate(const std::string& name, const std::string& excluded,
                         const TuningGuard& guard, const Verify& verify) {
  if (!excluded.empty()) return {.available = false, .failure = excluded};
  try {
    const std::string failure = tried(guard, name, verify);
    return {.verified = failure.empty(), .failure = failure};
  } catch (const UnavailableError& error) {
    return {.available = false, .failure = error.what()};
  }
}

/// Makes a candidate, which had been verified, once more, to time it, by `make`, and gives up by
/// `give_up` what that leaves behind where it throws: where only some ranks could make it, its end
/// would wait for the others. Returns whether it is there, as `verdict` says from now on.
/// Collective.
template <class Make, class GiveUp>
bool made_to_be_timed(const Communicator& comm, const TuningGuard& guard, const std::string& name,
                      Verdict& verdict, const Make& make, const GiveUp& give_up) {
  try {
    verdict.failure = guarded_failure(comm, guard, name, make);
    if (!verdict.failure.empty()) give_up();
  } catch (const UnavailableError& error) {  // as all candidates are there now
    verdict.available = false;
    verdict.failure = error.what();
  }
  verdict.verified = verdict.failure.empty();
  return verdict.verified;
}

/// What a candidate that had been verified did wrong later; thrown on every rank.
template <class Candidate>
struct LateFailure {
  Candidate candidate;
  std::string why;

  static LateFailure while_timed(const Candidate& candidate, const std::string& failure) {
    return {candidate, failure + "; found while it was timed"};
  }
  static LateFailure of_winner(const Candidate& candidate, const std::string& failure) {
    return {candidate, failure + "; found when it had been timed and won"};
  }
};

}  // namespace nekbone_k
