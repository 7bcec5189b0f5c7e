// SPDX-License-Identifier: BSD-3-Clause
#include "selection/level_tuner.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"
#include "selection/overlap_work.hpp"
#include "selection/replay.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

MultigridLevel describe(const LevelPlan& plan) {
  return {.order = plan.order, .elements = plan.mesh.elements, .total_dofs = plan.total_dofs()};
}

}  // namespace

template <class T>
LevelTuner::Choice LevelTuner::choose(typename Multigrid<T>::Level& level, double budget_seconds) {
  constexpr Precision precision = precision_of<T>;
  const FieldKind kind{1, precision};
  GatherScatter& gs = level.space->gs();
  Choice choice{describe(level.plan), precision, {}, {}};
  for (const Choice& made : m_choices)
    if (made.level.order == choice.level.order && made.level.elements == choice.level.elements &&
        made.precision == precision) {
      gs.select(kind, made.strategy);
      return made;
    }
  if (level.space == &m_finest && precision == Precision::double_) {
    choice.strategy = gs.strategy(kind);  // CG selected it
    choice.level.strategy = choice.strategy.name;
    choice.verified = {choice.strategy.name};
    return choice;
  }
  const TunedField field{level.plan.order, kind, m_input.chosen_strategies()};
  TunerOptions options = m_input.tuning;
  options.budget_seconds = budget_seconds;
  OrderRecord record;
  tune_or_replay(m_input, {"exchanges of levels", level.plan.mesh, field, options}, m_machine, gs,
                 overlap_work(*level.a, level.v.z, level.v.az), m_guard, record);
  if (record.tuning.selected < 0)
    throw InternalError(fmt::format(
        "no exchange strategy is right at the multigrid level of order {}", level.plan.order));
  const CandidateResult& selected = record.tuning.candidates[record.tuning.selected];
  choice.strategy = selected.strategy;
  for (const CandidateResult& candidate : record.tuning.candidates)
    if (candidate.verified) choice.verified.push_back(candidate.strategy.name);
  choice.level.strategy = selected.strategy.name;
  if (selected.own_stage()) choice.level.exchange_seconds = selected.own_stage()->cost.median;
  choice.level.origin = {record.replayed, std::move(record.cache_note), std::move(record.made)};
  m_choices.push_back(choice);
  return choice;
}

void LevelTuner::choose_transfer(GatherScatter& gs, Precision precision, const Strategy& of_level) {
  const FieldKind kind{1, precision};
  Verifier verifier(m_comm, gs.message_plan());
  const Verdict verdict =
      verify_candidate(of_level.name, m_guard.why_excluded(of_level.name), m_guard,
                       [&] { return verifier.verify(of_level, m_guard.patience(), kind); });
  gs.select(kind, verdict.verified ? of_level : first_strategy());
}

template <class T>
TunedLevels LevelTuner::tune(Multigrid<T>& multigrid, double budget_seconds) {
  TunedLevels tuned;
  for (auto& level : multigrid.levels()) {
    MultigridLevel described = describe(level.plan);
    if (m_comm.size() > 1) {
      const Choice choice = choose<T>(level, budget_seconds);
      described.strategy = choice.level.strategy;
      described.exchange_seconds = choice.level.exchange_seconds;
      described.origin = choice.level.origin;
      tuned.exchanges.push_back(choice.strategy);
      tuned.verified.push_back(choice.verified);
      for (GatherScatter* const gs : level.other_gs())
        choose_transfer(*gs, precision_of<T>, choice.strategy);
    }
    described.eigenvalue_bound = level.lambda_max;
    tuned.levels.push_back(std::move(described));
  }
  if (const Multigrid<T>* const replicated = multigrid.replicated())
    for (const auto& level : replicated->levels()) {
      MultigridLevel& described = tuned.levels.emplace_back(describe(level.plan));
      described.is_replicated = true;
      described.eigenvalue_bound = level.lambda_max;
    }
  MultigridLevel& coarsest = tuned.levels.emplace_back(describe(multigrid.coarsest()));
  coarsest.is_direct = coarsest.is_replicated = true;
  return tuned;
}

template TunedLevels LevelTuner::tune(Multigrid<float>&, double);
template TunedLevels LevelTuner::tune(Multigrid<double>&, double);

}  // namespace nekbone_k
