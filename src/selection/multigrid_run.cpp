// SPDX-License-Identifier: BSD-3-Clause
#include "selection/multigrid_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "core/region.hpp"
#include "core/statistics.hpp"
#include "core/system.hpp"
#include "report/report.hpp"
#include "selection/replay.hpp"

namespace nekbone_k {
namespace {

/// Iterations of a sample of a round: fewer if they take more than sample_share.
constexpr int most_sample_iterations = 16, least_sample_iterations = 4;
/// Rounds of the comparison, at least.
constexpr int least_rounds = 3;
/// Rounds of the comparison with one strategy for all levels, at least.
constexpr int least_uniform_rounds = 5;
/// Levels of a usual hierarchy, which share the budget of their exchanges.
constexpr int usual_levels = 8;
/// Samples of a V-cycle, whose median counts.
constexpr int cycle_samples = 5;

/// Whether two V-cycles can share their levels.
bool has_levels_of(const MultigridMethod& one, const MultigridMethod& other) {
  return one.orders == other.orders && one.precision == other.precision &&
         one.smoother == other.smoother;
}

/// Why the V-cycle of an earlier run cannot be taken, or nothing. It took `earlier_seconds` per
/// digit.
std::string objection(const MultigridCandidate& candidate, double earlier_seconds) {
  const std::string which = name(candidate.method);
  if (!candidate.available) return which + " is not available now: " + candidate.failure;
  if (!candidate.verified) return which + " does not help now: " + candidate.failure;
  if (candidate.trial != TrialEnd::measured)
    return which + " converges so slowly now that the budget ended before its rate was known";
  if (candidate.once <= 1.5 * std::max(earlier_seconds, 0.0)) return {};
  return fmt::format("{} now takes {} per digit, and {} when it was chosen", which,
                     seconds_text(candidate.once), seconds_text(earlier_seconds));
}

/// A V-cycle of either precision as the preconditioner of flexible CG.
template <class AnyMultigrid>
struct AsInverse {
  AnyMultigrid& multigrid;
  void apply(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
    std::visit([&](const auto& m) { m->apply(r, z, norm); }, multigrid);
  }
};

}  // namespace

MultigridRun::MultigridRun(const MultigridProblem& problem, TuningGuard& guard)
    : m_problem(problem),
      m_guard(guard),
      m_z(problem.space.make_vector("z")),
      m_level_tuner(problem.comm, problem.input, problem.space, problem.machine, guard) {
  m_selected = multigrid_choices(problem.input).first();
}

std::vector<std::string> MultigridRun::in_use(const Hierarchy* made) const {
  // As the gather–scatters say, because an audit selects other strategies.
  std::vector<std::string> names{m_problem.sum_guarded_as, m_problem.space.gs().strategy().name};
  const auto add = [&](const GatherScatter& gs, Precision precision) {
    const std::string& strategy = gs.strategy({1, precision}).name;
    if (std::find(names.begin(), names.end(), strategy) == names.end()) names.push_back(strategy);
  };
  if (made != nullptr && !made->tuned.exchanges.empty())
    std::visit(
        [&](const auto& m) {
          for (const auto& level : m->levels()) {
            add(level.space->gs(), made->method.precision);
            for (const GatherScatter* const gs : level.other_gs()) add(*gs, made->method.precision);
          }
        },
        made->multigrid);
  return names;
}

MultigridRun::~MultigridRun() {
  for (Hierarchy& made : m_hierarchies) give_up(made);
}

void MultigridRun::give_up(Hierarchy& made) const {
  guarded(m_guard, in_use(&made), [&] { made.multigrid = {}; });
}

double MultigridRun::slowest_seconds(const std::function<void()>& action) const {
  m_problem.comm.barrier();
  const double begin = wall_seconds();
  action();
  Kokkos::fence("nekbone_k: multigrid timed");
  return m_problem.comm.max(wall_seconds() - begin);
}

// ---- Hierarchies --------------------------------------------------------------------------------

MultigridRun::Hierarchy* MultigridRun::find(const MultigridMethod& method) {
  for (Hierarchy& made : m_hierarchies)
    if (has_levels_of(made.method, method)) return &made;
  return nullptr;
}

MultigridRun::Hierarchy& MultigridRun::hierarchy_of(const MultigridMethod& method) {
  if (Hierarchy* const made = find(method)) return *made;
  Hierarchy hierarchy;
  hierarchy.method = method;
  with_value_type(method.precision, [&]<class T>(T) {
    std::unique_ptr<Multigrid<T>> made;
    guarded(m_guard, in_use(nullptr), [&] {
      hierarchy.setup_seconds = slowest_seconds([&] {
        made = std::make_unique<Multigrid<T>>(m_problem.comm, m_problem.space, m_problem.geometry,
                                              m_problem.input.lambda,
                                              options_of(method, m_problem.input));
      });
    });
    hierarchy.tuned = m_level_tuner.tune(*made, m_budget / usual_levels);
    hierarchy.multigrid = std::move(made);
  });
  return m_hierarchies.emplace_back(std::move(hierarchy));
}

double MultigridRun::bytes_of(const MultigridMethod& method) const {
  return with_value_type(method.precision, [&]<class T>(T) {
    return Multigrid<T>::estimated_bytes(m_problem.space.mesh(),
                                         options_of(method, m_problem.input));
  });
}

// ---- The selection ------------------------------------------------------------------------------

CgResult MultigridRun::run(const MultigridMethod& method, const FlexibleCgOptions& options,
                           const std::function<void(int)>& progress) {
  Hierarchy& hierarchy = hierarchy_of(method);
  std::visit([&](const auto& m) { m->set_polynomial(method.polynomial, method.degree); },
             hierarchy.multigrid);
  Kokkos::deep_copy(ExecutionSpace(), m_problem.vectors.r, m_problem.b);
  CgResult result;
  guarded(m_guard, in_use(&hierarchy), [&] {
    AsInverse<AnyMultigrid> inverse{hierarchy.multigrid};
    const double seconds = slowest_seconds([&] {
      result = flexible_conjugate_gradients(m_problem.a, inverse, m_problem.ops,
                                            FlexibleCgVectors{m_problem.vectors, m_z}, options,
                                            [&](int iteration) {
                                              if (progress) progress(iteration);
                                              m_guard.go_on();
                                            });
    });
    result.seconds = seconds;
    m_problem.space.gs().check();
    std::visit([](const auto& m) { m->check(); }, hierarchy.multigrid);
  });
  return result;
}

MultigridCandidate MultigridRun::try_out(const MultigridMethod& method, const TrialLimits& limits) {
  constexpr int first_iterations = 2;
  MultigridCandidate candidate;
  candidate.method = method;
  std::optional<TrialEnd> end;
  CgResult result;
  try {
    // The first iterations touch new memory. They tell how long one takes at most.
    result = run(method, {.iterations = first_iterations, .tolerance = sample_tolerance});
    const double once = result.seconds / std::max(1, result.iterations);
    if (!result.broke_down && result.iterations == first_iterations)
      result = run(method, {.iterations = most_trial_iterations,
                            .tolerance = sample_tolerance,
                            .enough = [&](const CgResult& so_far) {
                              end = end_of_trial(so_far.history, limits, once);
                              return end.has_value();
                            }});
  } catch (const BeyondSingle& error) {
    const auto allowed = multigrid_choices(m_problem.input).precisions;
    if (std::find(allowed.begin(), allowed.end(), Precision::double_) == allowed.end())
      throw InputError(fmt::format("{}: operator.{}; use solver.multigrid.precision: double",
                                   m_problem.input.source, error.what()));
    candidate.available = false;
    candidate.failure = std::string("not tried: ") + error.what();
    return candidate;
  } catch (const UnavailableError& error) {  // on every rank
    candidate.available = false;
    candidate.failure = std::string("unavailable: ") + error.what();
    return candidate;
  }
  const Convergence found(result.history);
  candidate.trial = result.broke_down ? TrialEnd::failed : end.value_or(TrialEnd::measured);
  candidate.iteration_seconds = result.seconds / std::max(1, result.iterations);
  candidate.digits = found.digits;
  if (candidate.trial == TrialEnd::measured && found.digits < least_digits)
    candidate.trial = TrialEnd::failed;
  candidate.verified = candidate.trial == TrialEnd::measured ||
                       (candidate.trial != TrialEnd::failed && found.fall > 0);
  if (candidate.trial == TrialEnd::measured)
    candidate.once = candidate.iteration_seconds / candidate.digits;
  if (!candidate.verified)
    candidate.failure =
        result.broke_down ? "CG broke down with it"
        : found.fall <= 0 ? fmt::format("the residual is {:.2g} times as large after {} iterations",
                                        std::pow(10, -found.fall), found.iterations)
                          : fmt::format("it gains only {:.2g} digits per iteration", found.digits);
  return candidate;
}

std::size_t MultigridRun::time_in_rounds(MultigridRecord& record, std::size_t best) {
  std::vector<MultigridCandidate>& candidates = record.candidates;
  const int iterations = static_cast<int>(std::clamp<double>(
      sample_share * m_budget / std::max(candidates[best].iteration_seconds, 1e-9),
      least_sample_iterations, most_sample_iterations));
  std::vector<std::size_t> members;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (candidates[c].trial == TrialEnd::measured &&
        candidates[c].once <= worth_timing * candidates[best].once)
      members.push_back(c);
  std::stable_sort(members.begin(), members.end(), [&](std::size_t one, std::size_t other) {
    return candidates[one].once < candidates[other].once;
  });
  // Drop the slowest until the rounds fit into twice the budget.
  double round = 0;
  std::size_t affordable = 0;
  while (affordable < members.size()) {
    const MultigridCandidate& next = candidates[members[affordable]];
    round += next.iteration_seconds * iterations;
    if ((least_rounds + Rounds::warm_ups) * round > 2 * m_budget) break;
    ++affordable;
  }
  const auto n_tried = std::count_if(candidates.begin(), candidates.end(),
                                     [](const MultigridCandidate& c) { return c.tried(); });
  if (candidates.size() == 1)
    record.why = "the input, or the checkpoint of a restart, allows no other";
  else if (candidates[best].trial != TrialEnd::measured)
    record.why =
        "the tuning budget ended before the rate of convergence of any V-cycle was known; this is "
        "the "
        "most robust one that the input allows";
  else if (n_tried < 2)
    record.why = "the tuning budget ended before another V-cycle was tried";
  else if (members.size() < 2)
    record.why = "no other V-cycle came within 1.5 times its time";
  else if (affordable < 2)
    record.why = "measured once, because rounds would exceed twice the tuning budget";
  if (!record.why.empty()) return best;

  record.iterations = iterations;
  members.resize(affordable);
  std::sort(members.begin(), members.end());  // the order of preference
  std::vector<StageResult*> stages;
  for (const std::size_t c : members) stages.push_back(&candidates[c].timing.emplace());
  record.rounds =
      Rounds(m_problem.comm)
          .run(stages, nullptr, {.seconds = m_budget, .least = least_rounds, .most = 20},
               [&](std::size_t s) {
                 const MultigridCandidate& candidate = candidates[members[s]];
                 const CgResult result = run(
                     candidate.method, {.iterations = iterations, .tolerance = sample_tolerance});
                 return result.seconds / (candidate.digits * result.iterations);
               });
  return members[judge(stages, {})];
}

void MultigridRun::replay(const DecisionKey& key, const MemoryBudget& memory,
                          MultigridRecord& record) {
  ChoiceOrigin& origin = record.origin;
  const KeptChoice kept = find_kept_choice(m_problem.comm, m_problem.input, key);
  std::string why_not = kept.note;
  if (!kept.name.empty()) {
    const MultigridChoices choices = multigrid_choices(m_problem.input);
    const std::optional<MultigridMethod> method = choices.find(kept.name);
    const double held = memory.solve / memory.sharers - bytes_of(choices.first());
    if (!method) {
      why_not = fmt::format("{} names {}, which the input does not allow", kept.note, kept.name);
    } else if (!memory.fits(m_problem.comm, held + bytes_of(*method))) {
      why_not = kept.name + " does not fit in memory now";
    } else {
      MultigridCandidate candidate =
          try_out(*method, {.seconds = 2 * m_first_budget, .share = sample_share * m_budget});
      why_not = objection(candidate, kept.cost_seconds);
      if (why_not.empty()) {
        origin.replayed = candidate.selected = true;
        origin.cache_note = "the choice of " + kept.note;
        record.candidates.push_back(std::move(candidate));
        return;
      }
      free_others(choices.first());
    }
  }
  origin.cache_note = "measured anew, as " + why_not;
  if (kept.agreed) origin.made = {key, {}};
}

std::size_t MultigridRun::search(const MemoryBudget& memory, MultigridRecord& record) {
  const double begin = wall_seconds();
  double held = memory.solve / memory.sharers;  // B of this rank; includes the first hierarchy
  const auto fits = [&](const MultigridMethod& method) {
    if (m_hierarchies.empty() || find(method) != nullptr) return true;
    const double bytes = bytes_of(method);
    if (!memory.fits(m_problem.comm, held + bytes)) return false;
    held += bytes;
    return true;
  };
  const MultigridChoices choices = multigrid_choices(m_problem.input);
  const VCycleSearch found(
      choices, {.seconds = m_budget, .first_seconds = m_first_budget},
      [&](const MultigridMethod& method, const TrialLimits& limits) {
        if (fits(method)) return try_out(method, limits);
        MultigridCandidate candidate;
        candidate.available = false;
        candidate.failure = "not tried: it does not fit in memory";
        return candidate;
      },
      [&] { return m_problem.comm.max(wall_seconds() - begin); });
  record.candidates = found.candidates();
  record.budget_ended = found.budget_ended();
  return found.best();
}

void MultigridRun::free_others(const MultigridMethod& method) {
  const Hierarchy* const kept = find(method);
  for (auto made = m_hierarchies.begin(); made != m_hierarchies.end();) {
    if (&*made == kept) {
      ++made;
      continue;
    }
    give_up(*made);
    made = m_hierarchies.erase(made);
  }
}

MultigridRecord MultigridRun::select(double budget_seconds, const MemoryBudget& memory) {
  const Region region("tune V-cycle");
  const double begin = wall_seconds();
  m_budget = budget_seconds;
  m_first_budget = std::max(budget_seconds, m_problem.input.tuning.budget_seconds);
  MultigridRecord record;
  if (m_problem.input.tuning_mode == TuningMode::cached)
    replay(make_v_cycle_key(m_problem.input, m_problem.space.mesh().spec(), m_problem.machine),
           memory, record);
  if (!record.origin.replayed) {
    const std::size_t best = search(memory, record);
    if (record.candidates[best].verified)
      record.candidates[time_in_rounds(record, best)].selected = true;
  }
  if (const MultigridCandidate* const selected = record.selected()) {
    m_selected = selected->method;
    if (record.origin.made && selected->trial == TrialEnd::measured) {
      record.origin.made->decision = {name(m_selected), selected->seconds_per_digit(),
                                      m_problem.machine.started};
    } else if (record.origin.made) {
      record.origin.made.reset();
      record.origin.cache_note +=
          "; not kept, as the tuning budget ended before its rate of convergence was known";
    }
  } else {
    record.origin.made.reset();
  }
  free_others(m_selected);
  if (record.selected() != nullptr) time_levels(record);
  record.tune_seconds = m_problem.comm.max(wall_seconds() - begin);
  return record;
}

// ---- Measurements of the selected V-cycle -------------------------------------------------------

void MultigridRun::time_levels(MultigridRecord& record) {
  Hierarchy& hierarchy = hierarchy_of(m_selected);
  record.setup_seconds = hierarchy.setup_seconds;
  record.levels = hierarchy.tuned.levels;
  std::visit([&](const auto& m) { m->set_polynomial(m_selected.polynomial, m_selected.degree); },
             hierarchy.multigrid);
  guarded(m_guard, in_use(&hierarchy), [&] {
    const auto usual_seconds = [&](const std::function<void()>& action) {
      std::vector<double> samples;
      for (int sample = 0; sample <= cycle_samples; ++sample) {
        const double seconds = slowest_seconds(action);
        m_guard.go_on();
        if (sample > 0) samples.push_back(seconds);  // the first touches new memory
      }
      return median(samples);
    };
    record.operator_seconds =
        usual_seconds([&] { m_problem.a.apply(m_problem.b, m_problem.vectors.ap); });
    double below = 0;
    for (std::size_t l = record.levels.size(); l-- > 0;) {
      const double seconds = usual_seconds(
          [&] { std::visit([&](const auto& m) { m->cycle(l); }, hierarchy.multigrid); });
      record.levels[l].seconds = std::max(0.0, seconds - below);
      below = std::max(seconds, below);
    }
    record.cycle_seconds = below;
    std::visit(
        [&](const auto& m) {
          bool any = false;  // the finest levels may need the host
          for (std::size_t l = 0; l < m->levels().size(); ++l) any = m->is_recorded(l) || any;
          if (!any) return;
          m->set_recording(false);
          record.launched_cycle_seconds = usual_seconds([&] { m->cycle(0); });
          m->set_recording(true);
        },
        hierarchy.multigrid);
  });
  record.uniform = time_uniform(record.cycle_seconds);
}

std::optional<UniformStrategy> MultigridRun::time_uniform(double cycle_seconds) {
  Hierarchy& hierarchy = hierarchy_of(m_selected);
  const TunedLevels& tuned = hierarchy.tuned;
  const auto is_right_everywhere = [&](const std::string& strategy) {
    return std::all_of(tuned.verified.begin(), tuned.verified.end(), [&](const auto& names) {
      return std::find(names.begin(), names.end(), strategy) != names.end();
    });
  };
  // Null: those of the levels. Others must be verified at every level.
  std::vector<const Strategy*> compared{nullptr};
  std::set<std::string> names;
  for (const Strategy& strategy : tuned.exchanges)
    if (names.insert(strategy.name).second && is_right_everywhere(strategy.name))
      compared.push_back(&strategy);
  const double budget = m_budget / 4;
  const double rounds = 2.0 * (least_uniform_rounds + Rounds::warm_ups);
  if (names.size() < 2 || compared.size() < 2 ||
      rounds * static_cast<double>(compared.size()) * cycle_seconds > 4 * budget)
    return {};

  const FieldKind kind{1, hierarchy.method.precision};
  const auto select = [&](const Strategy* for_all) {
    guarded(m_guard, in_use(&hierarchy), [&] {  // ends the use of the strategies so far
      std::visit(
          [&](const auto& m) {
            for (std::size_t l = 0; l < m->levels().size(); ++l)
              m->levels()[l].space->gs().select(kind, for_all ? *for_all : tuned.exchanges[l]);
          },
          hierarchy.multigrid);
    });
  };
  const auto cycle = [&] { std::visit([](const auto& m) { m->cycle(0); }, hierarchy.multigrid); };
  std::vector<StageResult> results(compared.size());
  std::vector<StageResult*> stages;
  for (StageResult& result : results) stages.push_back(&result);
  std::optional<UniformStrategy> uniform;
  try {
    Rounds(m_problem.comm)
        .run(stages, nullptr,
             {.seconds = budget, .least = least_uniform_rounds, .most = 50, .early_stop = false},
             [&](std::size_t s) {
               select(compared[s]);
               double seconds = 0;
               guarded(m_guard, in_use(&hierarchy), [&] {
                 slowest_seconds(cycle);  // makes the resources of the strategies
                 slowest_seconds(cycle);  // a GPU may record it
                 m_guard.go_on();
                 seconds = slowest_seconds(cycle);
               });
               return seconds;
             });
    judge(stages, {});
    uniform.emplace();
    uniform->selected_seconds = results[0].cost.median;
    for (std::size_t s = 1; s < compared.size(); ++s)
      if (s == 1 || results[s].cost.median < uniform->seconds) {
        uniform->strategy = compared[s]->name;
        uniform->seconds = results[s].cost.median;
      }
  } catch (const UnavailableError&) {
    // On every rank: a strategy cannot be made once more.
  }
  select(nullptr);
  return uniform;
}

void MultigridRun::with_selected(const std::function<void(const Inverse&)>& use) {
  Hierarchy& hierarchy = hierarchy_of(m_selected);
  std::visit([&](const auto& m) { m->set_polynomial(m_selected.polynomial, m_selected.degree); },
             hierarchy.multigrid);
  AsInverse<AnyMultigrid> inverse{hierarchy.multigrid};
  guarded(m_guard, in_use(&hierarchy), [&] {
    use([&](const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
      inverse.apply(r, z, norm);
    });
    std::visit([](const auto& m) { m->check(); }, hierarchy.multigrid);
  });
}

CgResult MultigridRun::solve(const CgOptions& options, const std::function<void(int)>& progress) {
  return run(m_selected, {.iterations = options.iterations, .tolerance = options.tolerance},
             progress);
}

double MultigridRun::least_bytes() const {
  for (const Hierarchy& made : m_hierarchies)
    if (has_levels_of(made.method, m_selected))
      return std::visit([](const auto& m) { return m->least_bytes(); }, made.multigrid);
  return 0;
}

}  // namespace nekbone_k
