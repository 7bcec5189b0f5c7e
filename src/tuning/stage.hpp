// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Stages of timing: interleaved rounds of candidates, and the selection of a winner.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/communicator.hpp"
#include "core/statistics.hpp"

namespace nekbone_k {

/// The result of one candidate in one stage.
struct StageResult {
  std::vector<double> samples;  ///< by round: maximum over the ranks, in s
  Summary cost;                 ///< s; with work: the samples minus the time of the work
  /// Cost plus the median time of the work, relative to the best candidate of the stage.
  double relative_to_best = 1;
  bool tie = false;      ///< another candidate ties with it, and one of the two is the best
  bool stopped = false;  ///< dropped from later rounds, because it cannot win
  std::optional<double> predicted = {};  ///< predicted cost in s, if there is a model
};

/// Runs candidates in interleaved rounds. Each round runs every candidate once, in a random order,
/// so that no candidate always follows the same other. The order is the same on every rank.
///
/// From the fifth round on, if the limits allow it, candidates that cannot win are dropped. Such a
/// candidate was slower than that of the smallest median, by 10 % in every round so far and by 25 %
/// in the median.
class Rounds {
 public:
  struct Limits {
    double seconds = 1;  ///< no new round begins after this time, …
    int least = 1;       ///< … once this number of rounds is done
    int most = 2000;
    bool early_stop = true;  ///< drop candidates that cannot win
  };
  static constexpr int warm_ups = 2;  ///< uncounted rounds at the start

  explicit Rounds(const Communicator& comm) : m_comm(comm) {}

  /// Runs the rounds. `run(c)` runs candidate c once and returns its time on this rank, in s. The
  /// maxima over the ranks become the samples of `members`. If `reference` is not null, it gets the
  /// samples of number members.size(), which is no candidate and never drops out. Ends early when
  /// one candidate is left. Returns the number of rounds. Collective.
  int run(std::span<StageResult* const> members, std::vector<double>* reference,
          const Limits& limits, const std::function<double(std::size_t)>& run);

 private:
  const Communicator& m_comm;
  std::mt19937_64 m_random{20220101};
};

/// The number of repeats within a sample, for an operation of `shortest` seconds. A sample then
/// lasts 200 µs, so that the resolution of the clock does not matter. The number is smaller if
/// `rounds` rounds and the warm-ups would not fit into `seconds`; `round` is the time of all
/// operations of a round. The result is in [1, 1000].
int repeats_for_sample(double shortest, double round, double seconds, int rounds);

/// Fills in the results of a stage from its samples, and returns the index of the winner. It
/// subtracts `work`, the times of the work in the same rounds (empty if there is none). `members`,
/// at least one, are in the order of preference. Rules:
///
/// 1. The candidate with the lowest cost is the best.
/// 2. The first candidate that ties with the best wins.
/// 3. `alone` has the results of the exchanges alone (null if unknown). A candidate that ties with
///    the best, or is within 1 % of it, replaces a winner that is_slower alone. Work hides both
///    exchanges, but the faster one has more time left if a message is late.
std::size_t judge(std::span<StageResult* const> members, const std::vector<double>& work,
                  std::span<const StageResult* const> alone = {});

}  // namespace nekbone_k
