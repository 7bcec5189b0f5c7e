/// @file
/// What stands between a run and strategies that crash, hang or throw.
#pragma once

#include <exception>
#include <functional>
#include <new>
#include <string>
#include <type_traits>

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "core/waiting.hpp"

namespace nekbone_k {

/// How a run is kept from what ends it more than once. All members are called by all ranks, but
/// for fail().
struct TuningGuard {
  double patience = for_ever;  ///< seconds that a message may take; see MessageBuffers
  /// A strategy is used from enter() to leave(), and may not come back. One may be entered within
  /// another: then either may be why.
  std::function<void(const std::string& strategy)> enter = [](const std::string&) {};
  std::function<void()> leave = [] {};
  /// What was entered has come so far, and has as long again.
  std::function<void()> go_on = [] {};
  /// What was entered threw, on this rank at least, and the job ends.
  std::function<void()> fail = [] {};
  /// Why a strategy is not even tried, or nothing; the same on every rank.
  std::function<std::string(const std::string& strategy)> why_excluded = [](const std::string&) {
    return std::string();
  };
};

/// What `action` returns, which uses `strategy`. What it throws ends the job, so that the guard is
/// told, but for an UnavailableError, and where memory is short that is not the strategy's fault.
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
  } catch (const std::bad_alloc&) {
    guard.leave();
    throw;
  } catch (...) {
    guard.fail();
    throw;
  }
}

/// What `action` throws on this rank, for people; empty if nothing. An UnavailableError, which all
/// ranks throw, is passed on.
template <class Action>
std::string thrown_by(int rank, const Action& action) {
  std::string what;
  try {
    action();
    return what;
  } catch (const UnavailableError&) {
    throw;
  } catch (const std::exception& error) {
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

}  // namespace nekbone_k
