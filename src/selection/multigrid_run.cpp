// SPDX-License-Identifier: BSD-3-Clause
#include "selection/multigrid_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/errors.hpp"
#include "core/statistics.hpp"
#include "core/system.hpp"
#include "operators/overlap_work.hpp"
#include "tuning/tuner.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

/// Iterations of a sample: fewer if they take long, or once the residual has fallen by
/// sample_tolerance.
constexpr int most_sample_iterations = 16, least_sample_iterations = 4;
constexpr double sample_tolerance = 1e-8;
/// The share of the budget that a sample should take at most.
constexpr double sample_share = 1.0 / 16;
/// Decimal digits per iteration below which a V-cycle is no help.
constexpr double least_digits = 0.01;
/// A V-cycle that needs this many times as long as the best for a digit is not timed in rounds.
constexpr double worth_timing = 1.5;
/// Rounds of the comparison, at least.
constexpr int least_rounds = 3;
/// Rounds of the comparison with one strategy for all levels, at least.
constexpr int least_uniform_rounds = 5;
/// Levels of a usual hierarchy, which share the budget of their exchanges.
constexpr int usual_levels = 8;
/// Samples of a V-cycle, whose median counts.
constexpr int cycle_samples = 5;

std::vector<Strategy> allowed_strategies(const Case& input) {
  std::vector<Strategy> allowed;
  for (const std::string& name : input.strategies) allowed.push_back(*find_strategy(name));
  return allowed;
}

/// Whether two V-cycles can share their levels.
bool has_levels_of(const MultigridMethod& one, const MultigridMethod& other) {
  return one.orders == other.orders && one.precision == other.precision &&
         one.smoother == other.smoother;
}

/// Decimal digits of the residual per iteration, over the second half of the first `iterations`:
/// the first ones remove what any smoother removes. 0 if there are none.
double digits_of(const CgResult& result, int iterations) {
  const int end = std::min(iterations, result.iterations), begin = end / 2;
  const double first = result.history.front();
  if (result.broke_down || end == 0 || !(first > 0)) return 0;
  constexpr double rounding = 1e-16;  // a residual of 0 has no logarithm
  const auto residual = [&](int i) { return std::max(result.history[i], rounding * first); };
  return std::log10(residual(begin) / residual(end)) / (end - begin);
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
    : m_problem(problem), m_guard(guard), m_z(problem.space.make_vector("z")) {
  m_selected = multigrid_choices(problem.input).first();
}

void MultigridRun::communicating(const std::vector<Strategy>& exchanges,
                                 const std::function<void()>& action) const {
  std::function<void()> nested = action;
  const auto guard_as = [&](const std::string& strategy) {
    nested = [this, inner = std::move(nested), strategy] { guarded(m_guard, strategy, inner); };
  };
  for (const Strategy& strategy : exchanges) guard_as(strategy.name);
  for (const std::string& strategy : m_problem.guarded_as) guard_as(strategy);
  nested();
}

MultigridRun::~MultigridRun() {
  for (Hierarchy& made : m_hierarchies) give_up(made);
}

void MultigridRun::give_up(Hierarchy& made) const {
  communicating(made.strategies, [&] { made.multigrid = {}; });
}

double MultigridRun::slowest_seconds(const std::function<void()>& action) const {
  m_problem.comm.barrier();
  const double begin = wall_seconds();
  action();
  Kokkos::fence("nekbone_k: multigrid timed");
  return m_problem.comm.max(wall_seconds() - begin);
}

// ---- Hierarchies and their exchanges ------------------------------------------------------------

MultigridRun::Hierarchy* MultigridRun::find(const MultigridMethod& method) {
  for (Hierarchy& made : m_hierarchies)
    if (has_levels_of(made.method, method)) return &made;
  return nullptr;
}

MultigridRun::Hierarchy& MultigridRun::hierarchy_of(const MultigridMethod& method) {
  if (Hierarchy* const made = find(method)) return *made;
  Hierarchy& hierarchy = m_hierarchies.emplace_back();
  hierarchy.method = method;
  with_value_type(method.precision, [&]<class T>(T) {
    std::unique_ptr<Multigrid<T>> made;
    communicating({}, [&] {
      hierarchy.setup_seconds = slowest_seconds([&] {
        made = std::make_unique<Multigrid<T>>(m_problem.comm, m_problem.space, m_problem.geometry,
                                              m_problem.input.lambda,
                                              options_of(method, m_problem.input));
      });
    });
    tune_exchanges(*made, hierarchy);
    hierarchy.multigrid = std::move(made);
  });
  return hierarchy;
}

template <class T>
MultigridRun::LevelChoice MultigridRun::choose_exchange(typename Multigrid<T>::Level& level) {
  GatherScatter& gs = level.space->gs();
  const FieldKind kind{1, precision_of<T>};
  LevelChoice choice{level.plan.order, level.plan.mesh.elements, precision_of<T>, {}, {}, {}};
  for (const LevelChoice& made : m_choices)
    if (made.order == choice.order && made.elements == choice.elements &&
        made.precision == choice.precision) {
      gs.select(kind, made.strategy);
      return made;
    }
  if (level.space == &m_problem.space && precision_of<T> == Precision::double_) {
    choice.strategy = gs.strategy(kind);  // CG selected it
    choice.verified = {choice.strategy.name};
    return choice;
  }
  TunerOptions options = m_problem.input.tuning;
  options.budget_seconds = m_budget / usual_levels;
  const TuningResult tuned =
      tune(gs, kind, allowed_strategies(m_problem.input),
           overlap_work(*level.a, level.v.z, level.v.az), options, m_guard, m_paths);
  if (tuned.selected < 0)
    throw InternalError(fmt::format(
        "no exchange strategy is right at the multigrid level of order {}", level.plan.order));
  const CandidateResult& selected = tuned.candidates[tuned.selected];
  choice.strategy = selected.strategy;
  for (const CandidateResult& candidate : tuned.candidates)
    if (candidate.verified) choice.verified.push_back(candidate.strategy.name);
  if (selected.own_stage()) choice.seconds = selected.own_stage()->cost.median;
  m_choices.push_back(choice);
  return choice;
}

template <class T>
void MultigridRun::choose_transfer(GatherScatter& gs, const Strategy& of_level) {
  const FieldKind kind{1, precision_of<T>};
  Verifier verifier(m_problem.comm, gs.message_plan());
  const Verdict verdict =
      verify_candidate(of_level.name, m_guard.why_excluded(of_level.name), m_guard,
                       [&] { return verifier.verify(of_level, m_guard.patience(), kind); });
  gs.select(kind, verdict.verified ? of_level : first_strategy());
}

template <class T>
void MultigridRun::tune_exchanges(Multigrid<T>& multigrid, Hierarchy& hierarchy) {
  const bool exchanges = m_problem.comm.size() > 1;
  const auto describe = [](const LevelPlan& plan) {
    return MultigridLevel{
        .order = plan.order, .elements = plan.mesh.elements, .total_dofs = plan.total_dofs()};
  };
  std::set<std::string> names;
  for (auto& level : multigrid.levels()) {
    MultigridLevel& described = hierarchy.levels.emplace_back(describe(level.plan));
    described.eigenvalue_bound = level.lambda_max;
    if (!exchanges) continue;
    const LevelChoice choice = choose_exchange<T>(level);
    described.strategy = choice.strategy.name;
    described.exchange_seconds = choice.seconds;
    hierarchy.exchanges.push_back(choice.strategy);
    hierarchy.verified.push_back(choice.verified);
    if (names.insert(choice.strategy.name).second) hierarchy.strategies.push_back(choice.strategy);
    if (AdditiveSchwarz<T>* const schwarz = level.smoother->schwarz())
      choose_transfer<T>(schwarz->gs(), choice.strategy);
    if (level.mesh_transfer) {
      choose_transfer<T>(level.mesh_transfer->fine_gs(), choice.strategy);
      choose_transfer<T>(level.mesh_transfer->coarse_gs(), choice.strategy);
    }
  }
  hierarchy.levels.emplace_back(describe(multigrid.coarsest())).is_direct = true;
}

// ---- The selection ------------------------------------------------------------------------------

CgResult MultigridRun::run(const MultigridMethod& method, const CgOptions& options,
                           const std::function<void(int)>& progress) {
  Hierarchy& hierarchy = hierarchy_of(method);
  std::visit([&](const auto& m) { m->set_polynomial(method.polynomial, method.degree); },
             hierarchy.multigrid);
  Kokkos::deep_copy(ExecutionSpace(), m_problem.vectors.r, m_problem.b);
  CgResult result;
  communicating(hierarchy.strategies, [&] {
    AsInverse<AnyMultigrid> inverse{hierarchy.multigrid};
    const double seconds = slowest_seconds([&] {
      result = flexible_conjugate_gradients(
          m_problem.a, inverse, m_problem.ops, FlexibleCgVectors{m_problem.vectors, m_z},
          {.iterations = options.iterations, .tolerance = options.tolerance}, [&](int iteration) {
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

MultigridCandidate MultigridRun::try_once(const MultigridMethod& method) {
  MultigridCandidate candidate;
  candidate.method = method;
  candidate.tried = true;
  const bool is_default = m_sample_iterations == 0;
  const int most = is_default ? most_sample_iterations : m_sample_iterations;
  CgResult result;
  try {
    // The first run touches new memory.
    result = run(method, {most, sample_tolerance});
    const bool is_long = result.seconds > 4 * sample_share * m_budget;
    if (!result.broke_down && !is_long) result = run(method, {most, sample_tolerance});
  } catch (const UnavailableError& error) {  // on every rank
    candidate.available = false;
    candidate.failure = error.what();
    return candidate;
  }
  candidate.iteration_seconds = result.seconds / std::max(1, result.iterations);
  if (is_default)  // its time tells how many iterations the others can have
    m_sample_iterations = static_cast<int>(
        std::clamp<double>(sample_share * m_budget / std::max(candidate.iteration_seconds, 1e-9),
                           least_sample_iterations, most_sample_iterations));
  candidate.digits = digits_of(result, m_sample_iterations);
  candidate.verified = candidate.digits >= least_digits;
  if (candidate.verified)
    candidate.once = candidate.iteration_seconds / candidate.digits;
  else
    candidate.failure = result.broke_down ? "CG broke down with it"
                                          : fmt::format("it gains only {:.2g} digits per iteration",
                                                        candidate.digits);
  return candidate;
}

std::size_t MultigridRun::time_in_rounds(MultigridRecord& record, std::size_t best) {
  record.iterations = m_sample_iterations;
  std::vector<MultigridCandidate>& candidates = record.candidates;
  std::vector<std::size_t> members;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (candidates[c].verified && candidates[c].once <= worth_timing * candidates[best].once)
      members.push_back(c);
  std::stable_sort(members.begin(), members.end(), [&](std::size_t one, std::size_t other) {
    return candidates[one].once < candidates[other].once;
  });
  // Drop the slowest until the rounds fit into twice the budget.
  double round = 0;
  std::size_t affordable = 0;
  while (affordable < members.size()) {
    const MultigridCandidate& next = candidates[members[affordable]];
    round += next.iteration_seconds * m_sample_iterations;
    if ((least_rounds + Rounds::warm_ups) * round > 2 * m_budget) break;
    ++affordable;
  }
  if (candidates.size() == 1)
    record.why = "the input allows no other";
  else if (members.size() < 2)
    record.why = "no other V-cycle came within 1.5 times its time";
  else if (affordable < 2)
    record.why = "measured once, because rounds would exceed twice the tuning budget";
  if (!record.why.empty()) return best;

  members.resize(affordable);
  std::sort(members.begin(), members.end());  // the order of preference
  std::vector<StageResult*> stages;
  for (const std::size_t c : members) stages.push_back(&candidates[c].timing.emplace());
  record.rounds =
      Rounds(m_problem.comm)
          .run(stages, nullptr, {.seconds = m_budget, .least = least_rounds, .most = 20},
               [&](std::size_t s) {
                 const MultigridCandidate& candidate = candidates[members[s]];
                 const CgResult result =
                     run(candidate.method, {m_sample_iterations, sample_tolerance});
                 return result.seconds / (candidate.digits * result.iterations);
               });
  return members[judge(stages, {})];
}

MultigridRecord MultigridRun::select(double budget_seconds, const MachinePaths* paths,
                                     const MemoryBudget& memory) {
  const Communicator& comm = m_problem.comm;
  const double begin = wall_seconds();
  const auto used = [&] { return comm.max(wall_seconds() - begin); };
  m_paths = paths;
  m_budget = budget_seconds;
  MultigridRecord record;

  double held = memory.solve / memory.sharers;  // B of this rank; includes the first hierarchy
  const auto fits = [&](const MultigridMethod& method) {
    if (m_hierarchies.empty() || find(method) != nullptr) return true;
    const double bytes = with_value_type(method.precision, [&]<class T>(T) {
      return Multigrid<T>::estimated_bytes(m_problem.space.mesh(),
                                           options_of(method, m_problem.input));
    });
    if (!memory.fits(comm, held + bytes)) return false;
    held += bytes;
    return true;
  };
  std::size_t best = 0;
  double tried_since = 0;
  const auto consider = [&](const MultigridMethod& method) {
    for (const MultigridCandidate& candidate : record.candidates)
      if (candidate.method == method) return;
    const bool is_first = record.candidates.empty();
    MultigridCandidate& candidate = record.candidates.emplace_back();
    candidate.method = method;
    if (!is_first && used() - tried_since > budget_seconds) {
      candidate.failure = "not tried: the time for tuning was used up";
    } else if (!fits(method)) {
      candidate.available = false;
      candidate.failure = "not tried: it does not fit in memory";
    } else {
      candidate = try_once(method);
      const MultigridCandidate& so_far = record.candidates[best];
      if (candidate.verified && (!so_far.verified || candidate.once < so_far.once))
        best = record.candidates.size() - 1;
    }
    if (is_first) tried_since = used();  // the budget starts after the default
  };
  const MultigridChoices choices = multigrid_choices(m_problem.input);
  consider(choices.first());
  // Changes one choice of the best so far to each of its values.
  const auto vary = [&]<class Value>(Value MultigridMethod::*choice,
                                     const std::vector<Value>& values) {
    MultigridMethod method = record.candidates[best].method;
    for (const Value& value : values) {
      method.*choice = value;
      consider(method);
    }
  };
  vary(&MultigridMethod::precision, choices.precisions);
  vary(&MultigridMethod::smoother, choices.smoothers);
  vary(&MultigridMethod::polynomial, choices.polynomials);
  vary(&MultigridMethod::degree, choices.degrees);
  vary(&MultigridMethod::orders, choices.orders);

  if (record.candidates[best].verified) {
    MultigridCandidate& selected = record.candidates[time_in_rounds(record, best)];
    selected.selected = true;
    m_selected = selected.method;
  }
  // Free the hierarchies that are not selected.
  for (auto made = m_hierarchies.begin(); made != m_hierarchies.end();) {
    if (&*made == find(m_selected)) {
      ++made;
      continue;
    }
    give_up(*made);
    made = m_hierarchies.erase(made);
  }
  if (record.selected() != nullptr) time_levels(record);
  record.tune_seconds = used();
  return record;
}

// ---- Measurements of the selected V-cycle -------------------------------------------------------

void MultigridRun::time_levels(MultigridRecord& record) {
  Hierarchy& hierarchy = hierarchy_of(m_selected);
  record.setup_seconds = hierarchy.setup_seconds;
  record.levels = hierarchy.levels;
  std::visit([&](const auto& m) { m->set_polynomial(m_selected.polynomial, m_selected.degree); },
             hierarchy.multigrid);
  communicating(hierarchy.strategies, [&] {
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
  });
  record.uniform = time_uniform(record.cycle_seconds);
}

std::optional<UniformStrategy> MultigridRun::time_uniform(double cycle_seconds) {
  Hierarchy& hierarchy = hierarchy_of(m_selected);
  // Null: those of the levels. Others must be verified at every level.
  std::vector<const Strategy*> compared{nullptr};
  for (const Strategy& strategy : hierarchy.strategies)
    if (std::all_of(hierarchy.verified.begin(), hierarchy.verified.end(), [&](const auto& names) {
          return std::find(names.begin(), names.end(), strategy.name) != names.end();
        }))
      compared.push_back(&strategy);
  const double budget = m_budget / 4;
  const double rounds = 2.0 * (least_uniform_rounds + Rounds::warm_ups);
  if (hierarchy.strategies.size() < 2 || compared.size() < 2 ||
      rounds * static_cast<double>(compared.size()) * cycle_seconds > 4 * budget)
    return {};

  const FieldKind kind{1, hierarchy.method.precision};
  const auto select = [&](const Strategy* for_all) {
    std::visit(
        [&](const auto& m) {
          for (std::size_t l = 0; l < m->levels().size(); ++l)
            m->levels()[l].space->gs().select(kind, for_all ? *for_all : hierarchy.exchanges[l]);
        },
        hierarchy.multigrid);
  };
  const auto cycle = [&] { std::visit([](const auto& m) { m->cycle(0); }, hierarchy.multigrid); };
  std::vector<StageResult> results(compared.size());
  std::vector<StageResult*> stages;
  for (StageResult& result : results) stages.push_back(&result);
  std::optional<UniformStrategy> uniform;
  communicating(hierarchy.strategies, [&] {
    try {
      Rounds(m_problem.comm)
          .run(stages, nullptr,
               {.seconds = budget, .least = least_uniform_rounds, .most = 50, .early_stop = false},
               [&](std::size_t s) {
                 select(compared[s]);
                 slowest_seconds(cycle);  // makes the resources of the strategies
                 m_guard.go_on();
                 return slowest_seconds(cycle);
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
  });
  return uniform;
}

void MultigridRun::with_selected(const std::function<void(const Inverse&)>& use) {
  Hierarchy& hierarchy = hierarchy_of(m_selected);
  std::visit([&](const auto& m) { m->set_polynomial(m_selected.polynomial, m_selected.degree); },
             hierarchy.multigrid);
  AsInverse<AnyMultigrid> inverse{hierarchy.multigrid};
  communicating(hierarchy.strategies, [&] {
    use([&](const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
      inverse.apply(r, z, norm);
    });
    std::visit([](const auto& m) { m->check(); }, hierarchy.multigrid);
  });
}

CgResult MultigridRun::solve(const CgOptions& options, const std::function<void(int)>& progress) {
  return run(m_selected, options, progress);
}

JacobiComparison MultigridRun::compare_with_jacobi(double tolerance, double seconds,
                                                   const FusedVectorOps& ops) {
  const auto solve = [&](const CgOptions& options) {
    Kokkos::deep_copy(ExecutionSpace(), m_problem.vectors.r, m_problem.b);
    return conjugate_gradients(m_problem.comm, m_problem.a, ops, m_problem.vectors, options,
                               [&](int) { m_guard.go_on(); });
  };
  constexpr int few = 5;
  solve({few, 0});
  const double once = m_problem.comm.max(solve({few, 0}).seconds) / few;
  const double most = std::clamp(seconds / std::max(once, 1e-9), 1.0, 1e6);
  constexpr double attainable = 1e-15;
  const CgResult result = solve({static_cast<int>(most), std::max(tolerance, attainable)});
  return {result.iterations, m_problem.comm.max(result.seconds), result.converged};
}

double MultigridRun::least_bytes() const {
  for (const Hierarchy& made : m_hierarchies)
    if (has_levels_of(made.method, m_selected))
      return std::visit([](const auto& m) { return m->least_bytes(); }, made.multigrid);
  return 0;
}

}  // namespace nekbone_k
