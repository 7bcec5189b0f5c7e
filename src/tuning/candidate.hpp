// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What is verified and timed of a strategy, under the guard of the run.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "core/give_up.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// Whether a candidate may be timed.
struct Verdict {
  /// Whether this build and this machine have what it needs. An unavailable candidate is no
  /// failure.
  bool available = true;
  bool verified = false;
  std::string failure;  ///< why it was excluded: unavailable, wrong, or its exception
};

/// Verifies the candidate `name`, unless `excluded` has a reason to skip it. `verify` returns the
/// error of the candidate, or empty, or throws. Collective.
template <class Verify>
Verdict verify_candidate(const std::string& name, const std::string& excluded, TuningGuard& guard,
                         const Verify& verify) {
  if (!excluded.empty()) return {.available = false, .verified = false, .failure = excluded};
  try {
    const std::string failure = tried(guard, name, verify);
    return {.available = true, .verified = failure.empty(), .failure = failure};
  } catch (const UnavailableError& error) {
    return {.available = false, .verified = false, .failure = error.what()};
  }
}

/// A failure of a candidate after its verification; thrown on every rank.
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

/// An exchange or an all-reduce by a strategy, of type T, that can be used under the guard only.
/// Its communicator is its own, so that its late messages reach nothing else. All ranks call all
/// members.
template <class T>
class GuardedCandidate {
 public:
  /// Holds nothing before make().
  GuardedCandidate(const Communicator& comm, TuningGuard& guard, std::string strategy)
      : m_comm(comm),
        m_guard(guard),
        m_strategy(std::move(strategy)),
        m_own(std::make_unique<Communicator>(comm.get())) {}
  ~GuardedCandidate() {
    if (m_value) guarded(m_guard, m_strategy, [&] { m_value.reset(); });
  }
  GuardedCandidate(const GuardedCandidate&) = delete;
  GuardedCandidate& operator=(const GuardedCandidate&) = delete;

  /// Makes the T by make(communicator, patience), and returns why it could not, as failure_of()
  /// does. Throws UnavailableError.
  template <class Make>
  std::string make(const Make& make) {
    return guarded_failure(m_comm, m_guard, m_strategy, [&] {
      m_value.reset(new T(make(std::as_const(*m_own), m_guard.patience())));
    });
  }
  /// Makes the T of a candidate that was verified, and returns whether it exists. If it does not,
  /// `verdict` says why; it may be unavailable by now, because all candidates hold their buffers.
  template <class Make>
  bool make_verified(Verdict& verdict, const Make& make) {
    try {
      verdict.failure = this->make(make);
      // If only some ranks could make it, destruction would wait for the others.
      if (!verdict.failure.empty()) abandon();
    } catch (const UnavailableError& error) {
      verdict.available = false;
      verdict.failure = error.what();
    }
    verdict.verified = verdict.failure.empty();
    return verdict.verified;
  }

  /// The result of action(T&). An exception ends the job.
  template <class Action>
  auto use(const Action& action) {
    return guarded(m_guard, m_strategy, [&] { return action(*m_value); });
  }
  /// Runs action(T&), and returns what was thrown on any rank, for people, or empty. Only the start
  /// of `action` may be collective, because a rank that threw does not reach later calls.
  template <class Action>
  std::string failure_of(const Action& action) {
    return guarded_failure(m_comm, m_guard, m_strategy, [&] { action(*m_value); });
  }
  /// Leaks the T and its communicator, because its messages may still be under way.
  void abandon() {
    give_up(std::move(m_value));
    give_up(std::move(m_own));
  }

 private:
  const Communicator& m_comm;
  TuningGuard& m_guard;
  std::string m_strategy;
  std::unique_ptr<Communicator> m_own;
  std::unique_ptr<T> m_value;
};

}  // namespace nekbone_k
