#include "gs/audit.hpp"

#include <algorithm>

namespace nekbone_k {

std::size_t Audit::best() const {
  // Of those in all rounds; of the others relative_to_best is by the rounds that they were in.
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

Audit audit_choice(GatherScatter& gs, std::span<const Strategy> others, double iteration_seconds,
                   const AuditedWork& work, const AuditOptions& options) {
  const Communicator& comm = gs.communicator();
  const double begin = wall_seconds();
  const Strategy choice = gs.strategy();
  // Preparing a sample takes about an iteration more.
  const double of_each = comm.broadcast(iteration_seconds) * (options.iterations + 1) *
                         (options.least_rounds + Rounds::warm_ups);
  const double room = options.budget_seconds / std::max(of_each, 1e-9) - 1;
  const auto tried = std::min(others.size(), static_cast<std::size_t>(std::max<double>(
                                                 options.least_others, std::min(room, 1e6))));
  std::vector<Strategy> strategies{choice};
  strategies.insert(strategies.end(), others.begin(), others.begin() + tried);

  Audit audit;
  audit.others = static_cast<int>(others.size());
  audit.iterations = options.iterations;
  for (const Strategy& strategy : strategies) audit.strategies.push_back({strategy.name, {}});
  std::vector<StageResult*> stages;
  for (AuditedStrategy& audited : audit.strategies) stages.push_back(&audited.timing);
  audit.rounds = Rounds(comm).run(
      stages, nullptr,
      {.seconds = options.budget_seconds, .least = options.least_rounds, .most = 50},
      [&](std::size_t c) {
        gs.select(strategies[c]);
        work.prepare();
        comm.barrier();
        const double start = wall_seconds();
        work.iterate(options.iterations);
        return (wall_seconds() - start) / options.iterations;
      });
  judge(stages, {});
  gs.select(choice);
  audit.seconds = comm.max(wall_seconds() - begin);
  return audit;
}

}  // namespace nekbone_k
