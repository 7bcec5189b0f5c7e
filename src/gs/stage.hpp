/// @file
/// How candidates are timed beside each other, and which of them wins.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/communicator.hpp"
#include "gs/statistics.hpp"

namespace nekbone_k {

/// How one candidate did in one stage of timing.
struct StageResult {
  std::vector<double> samples;  ///< of each round, the maximum over the ranks, s
  Summary cost;                 ///< s; under work: the samples less the work's own
  /// The cost, and with it the usual time of the work, over that of the best of the stage.
  double relative_to_best = 1;
  bool tie = false;      ///< another cannot be told from it, and one of the two is the best
  bool stopped = false;  ///< left out of later rounds, as it could not win any more
  std::optional<double> predicted = {};  ///< s, what the cost should be, where there is a model
};

/// Runs candidates in interleaved rounds: in each every candidate once, in an order drawn anew, so
/// that none always follows the same other; the draws are the same on every rank. From the fifth
/// round on candidates that cannot win are left out, if the limits say so: those that were slower
/// than the one with the least median by a tenth in every round so far, and by a quarter in the
/// median.
class Rounds {
 public:
  struct Limits {
    double seconds = 1;  ///< no further round is begun after so long, …
    int least = 1;       ///< … once so many are done
    int most = 2000;
    bool early_stop = true;  ///< candidates that cannot win are left out of later rounds
  };
  static constexpr int warm_ups = 2;  ///< rounds before those that count

  explicit Rounds(const Communicator& comm) : m_comm(comm) {}

  /// `run(c)` does candidate c once and returns the seconds that it took on this rank. Their maxima
  /// over the ranks become the samples of `members`. A `reference`, which may be null, is run as
  /// number members.size(): it is no candidate, and is never left out. Ends early when one
  /// candidate is left. Returns the number of rounds. Collective.
  int run(std::span<StageResult* const> members, std::vector<double>* reference,
          const Limits& limits, const std::function<double(std::size_t)>& run);

 private:
  const Communicator& m_comm;
  std::mt19937_64 m_random{20220101};
};

/// How often to do what takes `shortest` seconds for one sample, that it lasts 200 µs and the
/// clock's grain does not matter; but where it is done beside slower things, and all of them take
/// `round`, so that so many `rounds` and the warm-ups have room in `seconds`. In [1, 1000].
int repeats_for_sample(double shortest, double round, double seconds, int rounds);

/// Fills in the rest from the samples of a stage, less those of the `work` (or nothing) in the same
/// rounds, and returns the position of the winner: the lowest cost, or the first among those that
/// tie with it. `members`, one at least, are in the order in which they are preferred. But where it
/// is known how the winner and others did `alone` (null where not), one that ties with the best, or
/// is within 1 % of it, takes the place of another that is_slower alone: under work that hides both
/// it is left longer before anybody waits for it.
std::size_t judge(std::span<StageResult* const> members, const std::vector<double>& work,
                  std::span<const StageResult* const> alone = {});

}  // namespace nekbone_k
