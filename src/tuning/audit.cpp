// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/audit.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "core/errors.hpp"
#include "core/region.hpp"
#include "core/statistics.hpp"

namespace nekbone_k {

std::size_t Audit::best() const {
  // Among those that ran in all rounds. For the others, relative_to_best refers to their own
  // rounds.
  std::size_t best = 0;
  for (std::size_t s = 0; s < strategies.size(); ++s) {
    const StageResult& one = strategies[s].timing;
    const StageResult& other = strategies[best].timing;
    if (one.stopped) continue;
    if (other.stopped || one.cost.median < other.cost.median) best = s;
  }
  return best;
}

double Audit::regret() const { return strategies.front().timing.relative_to_best - 1; }

bool Audit::is_beaten() const {
  constexpr std::size_t least_rounds = 6;
  const std::vector<double>& choice = strategies.front().timing.samples;
  const std::vector<double>& other = strategies[best()].timing.samples;
  return best() != 0 && std::min(choice.size(), other.size()) >= least_rounds &&
         is_slower(choice, other);
}

Audit audit_choice(const Communicator& comm, std::span<const AuditedChoice> choices,
                   double iteration_seconds, const AuditedWork& work, const AuditOptions& options,
                   TuningGuard& guard) {
  const Region region("audit");
  const double begin = wall_seconds();
  const int others = static_cast<int>(choices.size()) - 1;
  // The budget as iterations per strategy and round. Preparing a sample takes about one more
  // iteration.
  const double room =
      options.budget_seconds /
      std::max(comm.broadcast(iteration_seconds) * (options.least_rounds + Rounds::warm_ups), 1e-9);
  const auto others_at = [&](int iterations) {
    return static_cast<int>(std::min(room / (iterations + 1), 1e6)) - 1;
  };
  const int wanted = std::min(options.least_others, others);
  int iterations = options.most_iterations;
  while (iterations > 1 && others_at(iterations) < wanted) --iterations;
  const auto tried = choices.first(1 + std::clamp(others_at(iterations), wanted, others));

  Audit audit;
  audit.others = others;
  audit.iterations = iterations;
  for (const AuditedChoice& choice : tried) audit.strategies.push_back({choice.name, {}});
  std::vector<StageResult*> stages;
  for (AuditedStrategy& audited : audit.strategies) stages.push_back(&audited.timing);
  std::string selected = choices.front().guarded_as;
  const auto select = [&](const AuditedChoice& choice) {
    const std::array names{selected, choice.guarded_as};  // frees the resources of the first
    guarded(guard, std::span<const std::string>(names), [&] { choice.select(); });
    selected = choice.guarded_as;
  };
  try {
    audit.rounds = Rounds(comm).run(
        stages, nullptr,
        {.seconds = options.budget_seconds, .least = options.least_rounds, .most = 50},
        [&](std::size_t c) {
          const Region candidate(tried[c].name);
          select(tried[c]);
          return guarded(guard, tried[c].guarded_as, [&] {
            work.prepare();
            comm.barrier();
            const double start = wall_seconds();
            work.iterate(iterations);
            return (wall_seconds() - start) / iterations;
          });
        });
  } catch (const UnavailableError&) {  // on every rank
    select(choices.front());
    throw;
  }
  judge(stages, {});
  select(choices.front());
  audit.seconds = comm.max(wall_seconds() - begin);
  return audit;
}

}  // namespace nekbone_k
