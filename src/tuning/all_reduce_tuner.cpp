// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/all_reduce_tuner.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "core/entry_reduction.hpp"
#include "core/errors.hpp"
#include "core/give_up.hpp"
#include "core/region.hpp"
#include "core/system.hpp"
#include "reduce/rank_sum.hpp"
#include "tuning/candidate.hpp"
#include "tuning/predict.hpp"

namespace nekbone_k {
namespace {

/// The larger all-reduce of a CG iteration has two values.
using Pair = EntryValues<2>;

constexpr int n_parts = 1000;
constexpr int sums_verified = 40;
constexpr int sums_a_sample = 20;

/// All-reduce number `call`, of vectors with known entries.
Pair sum_of_call(const RankSum<Pair>& sum, const DeviceVector<Pair>& parts, int rank, int call) {
  Kokkos::parallel_for(
      "nekbone_k: parts to sum", Kokkos::RangePolicy<ExecutionSpace>(0, n_parts),
      KOKKOS_LAMBDA(const LocalIndex p) {
        parts(p) = {{1.0 * rank + call + p, 1 / (1.0 + rank + call + p)}};
      });
  sum.start(parts);
  return sum.wait();
}

/// The error in a result of sum_of_call(), as far as one rank can tell; empty if there is none.
std::string complaint_about(const Communicator& comm, const Pair& total, int call) {
  const double ranks = comm.size();
  const double expected = ranks * n_parts * (call + (n_parts - 1) / 2.0) +
                          n_parts * ranks * (ranks - 1) / 2;  // whole numbers: exact
  if (total.values[0] == expected) return {};
  return fmt::format("WRONG: sum {} is {} instead of {} (rank {})", call, total.values[0], expected,
                     comm.rank());
}

double time_sums(const Communicator& comm, const RankSum<Pair>& sum,
                 const DeviceVector<Pair>& parts) {
  comm.barrier();
  const double begin = wall_seconds();
  for (int s = 0; s < sums_a_sample; ++s) {
    sum.start(parts);
    sum.wait();
  }
  return (wall_seconds() - begin) / sums_a_sample;
}

using Sum = RankSum<Pair>;

/// A member: an all-reduce that is timed.
struct TimedSum {
  AllReduceResult& result;
  GuardedCandidate<Sum> sum;
};

using LateSum = LateFailure<TimedSum*>;

/// The error of all-reduce number `call` on any rank, or empty. An exception counts as an error,
/// except UnavailableError.
std::string try_sum(const Communicator& comm, const std::function<Pair()>& sum, int call) {
  Pair total;
  std::string complaint = thrown_by(comm.rank(), [&] { total = sum(); });
  if (complaint.empty()) complaint = complaint_about(comm, total, call);
  // Rounded sums must be rounded in the same way on every rank.
  const auto bits = fmt::format("{:a}", total.values[1]);
  if (comm.broadcast(bits) != bits && complaint.empty())
    complaint = fmt::format("WRONG: sum {} differs between ranks 0 and {}", call, comm.rank());
  return comm.first_text(complaint);
}

/// Times `members`, verifies the winner once more, and returns it. Throws a LateSum for a member
/// that is wrong then, or that threw while it was timed.
const TimedSum& time_members(const Communicator& comm,
                             const std::vector<std::unique_ptr<TimedSum>>& members,
                             const DeviceVector<Pair>& parts, const TunerOptions& options,
                             AllReduceTuning& tuning) {
  std::vector<StageResult*> stages;
  for (const auto& member : members) stages.push_back(&member->result.timing.emplace());
  tuning.repeats = sums_a_sample;
  tuning.rounds =
      Rounds(comm).run(stages, nullptr,
                       {.seconds = options.budget_seconds / 10,
                        .least = options.minimum_rounds,
                        .most = 200,
                        .early_stop = options.early_stop},
                       [&](std::size_t m) {
                         const Region region(members[m]->result.strategy.name);
                         double sample = 0;
                         const std::string failure = members[m]->sum.failure_of(
                             [&](const Sum& sum) { sample = time_sums(comm, sum, parts); });
                         if (!failure.empty())
                           throw LateSum::while_timed(members[m].get(), failure);
                         return sample;
                       });
  TimedSum& winner = *members[judge(stages, {})];
  const std::string failure = winner.sum.use([&](const Sum& sum) {
    return try_sum(
        comm, [&] { return sum_of_call(sum, parts, comm.rank(), sums_verified); }, sums_verified);
  });
  if (!failure.empty()) throw LateSum::of_winner(&winner, failure);
  return winner;
}

/// The result of the member that wins, or of the first one if there is nothing to time; null if
/// none is left. Excludes members that fail meanwhile.
const AllReduceResult* time_until_right(const Communicator& comm,
                                        std::vector<std::unique_ptr<TimedSum>>& members,
                                        const TunerOptions& options, AllReduceTuning& tuning) {
  const DeviceVector<Pair> parts("nekbone_k: parts to sum", n_parts);
  while (!members.empty()) {
    if (comm.size() == 1) return &members.front()->result;
    try {
      return &time_members(comm, members, parts, options, tuning).result;
    } catch (const LateSum& failure) {
      AllReduceResult& result = failure.candidate->result;
      result.failure = failure.why;
      result.verified = false;
      for (const auto& member : members) member->result.timing.reset();
      failure.candidate->sum.abandon();
      std::erase_if(members, [&](const auto& m) { return m.get() == failure.candidate; });
    }
  }
  return nullptr;
}

/// Predicts the times of candidates that were timed.
void predict_timed(const Communicator& comm, const MachinePaths* paths, AllReduceTuning& tuning) {
  if (paths == nullptr || comm.size() == 1) return;
  const std::vector<int> nodes = nodes_of_ranks(comm);
  for (AllReduceResult& candidate : tuning.candidates)
    if (candidate.timing)
      candidate.timing->predicted = predict_sum(candidate.strategy.cost, nodes, *paths);
}

}  // namespace

std::string verify_all_reduce(const Communicator& comm, const AllReduceStrategy& strategy,
                              double patience) {
  // A communicator of its own, so that late messages reach no other candidate.
  auto own = std::make_unique<Communicator>(comm.get());
  std::unique_ptr<RankSum<Pair>> sum;
  const DeviceVector<Pair> parts("nekbone_k: parts to sum", n_parts);
  std::string failure;
  for (int call = 0; call < sums_verified && failure.empty(); ++call) {
    const auto one_sum = [&] {
      if (!sum) sum = std::make_unique<RankSum<Pair>>(*own, strategy, patience);
      return sum_of_call(*sum, parts, comm.rank(), call);
    };
    failure = try_sum(comm, one_sum, call);
  }
  if (!failure.empty()) {
    // Values of other ranks may still arrive here: leak the memory.
    give_up(std::move(sum));
    give_up(std::move(own));
  }
  return failure;
}

std::string guarded_name(const AllReduceStrategy& strategy) { return "sum " + strategy.name; }

std::string why_excluded(const TuningGuard& guard, const AllReduceStrategy& strategy) {
  const std::string why = guard.why_excluded(guarded_name(strategy));
  return why.empty() ? guard.why_excluded(strategy.name) : why;
}

AllReduceTuning tune_all_reduce(const Communicator& comm,
                                std::span<const AllReduceStrategy> strategies,
                                const TunerOptions& options, TuningGuard& guard,
                                const MachinePaths* paths) {
  const Region region("tune all-reduce");
  AllReduceTuning tuning;
  const double begin = wall_seconds();
  for (const AllReduceStrategy& strategy : strategies) {
    const Region candidate(strategy.name);
    const auto verify = [&] { return verify_all_reduce(comm, strategy, guard.patience()); };
    tuning.candidates.push_back(
        {verify_candidate(guarded_name(strategy), why_excluded(guard, strategy), guard, verify),
         strategy});
  }
  tuning.verify_seconds = comm.max(wall_seconds() - begin);

  std::vector<std::unique_ptr<TimedSum>> members;
  for (AllReduceResult& result : tuning.candidates) {
    if (!result.verified) continue;
    std::unique_ptr<TimedSum> member(
        new TimedSum{result, {comm, guard, guarded_name(result.strategy)}});
    const auto make = [&](const Communicator& own, double patience) {
      return Sum(own, result.strategy, patience);
    };
    if (member->sum.make_verified(result, make)) members.push_back(std::move(member));
  }
  const AllReduceResult* winner = time_until_right(comm, members, options, tuning);
  if (winner != nullptr) {
    tuning.selected = static_cast<int>(winner - tuning.candidates.data());
    tuning.candidates[tuning.selected].selected = true;
    predict_timed(comm, paths, tuning);
  }
  members.clear();
  tuning.tune_seconds = comm.max(wall_seconds() - begin) - tuning.verify_seconds;
  return tuning;
}

}  // namespace nekbone_k
