// SPDX-License-Identifier: BSD-3-Clause
#include "selection/cg_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "core/region.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

using Queued = QueuedCg<EllipticOperator>;

/// Iterations of a sample: those of one graph, or of one persistent kernel if they are short.
constexpr int few_iterations = graph_iterations, many_iterations = persistent_iterations;
constexpr double longest_sample = 0.02;  // seconds
/// Two replays of a graph, so that both landings of an exchange by one kernel are used.
constexpr int verified_iterations = 2 * graph_iterations;
/// Iterations whose residuals are compared, and the largest difference relative to ‖b‖.
constexpr int compared_iterations = 10;
constexpr double largest_difference = 1e-9;
/// Share of an iteration that other methods must be able to save.
constexpr double least_gain = 0.03;

bool is_queued(const Strategy& exchange) {
  return exchange.cost.one_kernel && !exchange.overlapped && !is_host_device;
}
bool is_queued(const AllReduceStrategy& sum) { return sum.in_kernel && !is_host_device; }

/// Strategies that the input allows, by name, unless `guard` excludes them.
std::vector<Strategy> allowed_exchanges(const Case& input, const TuningGuard& guard) {
  std::vector<Strategy> allowed;
  for (const std::string& name : input.strategies)
    if (guard.why_excluded(name).empty()) allowed.push_back(*find_strategy(name));
  return allowed;
}
std::vector<AllReduceStrategy> allowed_sums(const Case& input, const TuningGuard& guard) {
  std::vector<AllReduceStrategy> allowed;
  for (const std::string& name : input.all_reduces) {
    const AllReduceStrategy& sum = *find_all_reduce(name);
    if (why_excluded(guard, sum).empty()) allowed.push_back(sum);
  }
  return allowed;
}

/// The first verified strategy that works without the host. If an earlier run selected one and no
/// other is verified, the first allowed strategy. If there is none, the selected strategy.
template <class T>
T choose_queued(const T& selected, const std::vector<T>& verified, const std::vector<T>& allowed) {
  const auto queued = [](const T& strategy) { return is_queued(strategy); };
  const T* const found = first_queued(selected, verified.empty() ? allowed : verified, queued);
  return found == nullptr ? selected : *found;
}

}  // namespace

std::string wrong_sums(GatherScatter& gs) {
  std::string failure = verify_in_use(gs);
  if (!failure.empty() && !failure.starts_with("WRONG"))
    throw InternalError(fmt::format("{}, selected for the exchange of CG, failed: {}",
                                    gs.strategy().name, failure));
  return failure;
}

CgMethods::CgMethods(const CgProblem& problem, const SolveStrategies& strategies, HostCg& host,
                     TuningGuard& guard)
    : m_problem(problem), m_operator_sum(strategies.all_reduce), m_host(host), m_guard(guard) {
  const Strategy exchange = choose_queued(strategies.exchange, strategies.other_exchanges,
                                          allowed_exchanges(problem.input, guard));
  const AllReduceStrategy sum = choose_queued(strategies.all_reduce, strategies.other_all_reduces,
                                              allowed_sums(problem.input, guard));
  // Launching ahead needs both, so take both or neither.
  const bool both = problem.comm.size() > 1 && is_queued(exchange) && is_queued(sum);
  for (const CgMethod& method : problem.input.cg_methods()) {
    const bool ahead = method.launch != CgLaunch::host && both;
    m_methods.push_back({method, ahead ? exchange : strategies.exchange,
                         ahead ? sum : strategies.all_reduce, nullptr});
  }
}

std::vector<std::string> CgMethods::in_use(const Method& method) const {
  std::vector<std::string> names;
  for (const std::string& name : {m_problem.space.gs().strategy().name, method.exchange.name,
                                  guarded_name(method.all_reduce), guarded_name(m_operator_sum)})
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

void CgMethods::use_exchange(const Method& method) {
  GatherScatter& gs = m_problem.space.gs();
  if (gs.strategy().name == method.exchange.name) return;
  guarded(m_guard, in_use(method), [&] {
    gs.select(FieldKind{}, method.exchange);
    // Here, as nothing may be allocated while kernels are recorded or timed.
    m_problem.a.apply(m_problem.b, m_problem.vectors.ap);
    gs.check();
  });
  for (const Method& other : m_methods)
    if (other.queued) other.queued->forget_recording();
}

void CgMethods::make(Method& method) {
  use_exchange(method);
  if (method.method.launch == CgLaunch::host || method.queued) return;
  const CgExtraVectors extra =
      m_extra.provide(method.method.variant, m_problem.inverse_diagonal.extent(0) > 0,
                      [&](const char* label) { return m_problem.space.make_vector(label); });
  method.queued = guarded(m_guard, in_use(method), [&] {
    return std::make_unique<Queued>(
        m_problem.comm, m_problem.a, m_problem.space.range(), m_problem.inverse_diagonal,
        method.all_reduce, method.method.variant, method.method.launch, m_problem.vectors, extra);
  });
}

CgResult CgMethods::run(Method& method, const CgOptions& options,
                        const std::function<void(int)>& progress) {
  use_exchange(method);
  return guarded(m_guard, in_use(method), [&] {
    const auto go_on = [&](int iteration) {
      if (progress) progress(iteration);
      m_guard.go_on();
    };
    CgResult result = method.queued ? method.queued->solve(m_problem.b, options, go_on)
                                    : m_host.solve(options, go_on);
    m_problem.space.gs().check();
    return result;
  });
}

CgResult CgMethods::reference() {
  const Method& first = m_methods.front();
  Method host{{CgVariant::classic, CgLaunch::host}, first.exchange, first.all_reduce, nullptr};
  return run(host, {compared_iterations, 0});
}

Verdict CgMethods::verify(Method& method, const std::vector<double>& history,
                          const MemoryBudget& memory) {
  const Communicator& comm = m_problem.comm;
  try {
    const int vectors =
        CgExtraVectors::count(method.method.variant, m_problem.inverse_diagonal.extent(0) > 0);
    const double bytes = vectors * static_cast<double>(m_problem.space.size()) * sizeof(double);
    if (!memory.fits(comm, memory.solve / memory.sharers + bytes))
      return {.available = false, .failure = "its vectors do not fit in memory"};
    make(method);
    if (method.exchange.name != m_methods.front().exchange.name) {
      const std::string failure =
          guarded(m_guard, method.exchange.name, [&] { return wrong_sums(m_problem.space.gs()); });
      if (!failure.empty()) return {.failure = failure};
    }
    return compare(method, history);
  } catch (const UnavailableError& error) {
    return {.available = false, .failure = error.what()};
  }
}

Verdict CgMethods::compare(Method& method, const std::vector<double>& history) {
  const CgResult result = run(method, {verified_iterations, 0});
  std::string failure;
  // The reference is shorter if CG breaks down, and then ends with what broke it.
  for (std::size_t i = 0; i < history.size() && failure.empty(); ++i) {
    if (!std::isfinite(history[i])) break;
    const double found = i < result.history.size() ? result.history[i] : 0;
    if (!(std::abs(found - history[i]) <= largest_difference * history.front()))
      failure =
          fmt::format("WRONG: residual {} is {:.10g} instead of {:.10g}", i, found, history[i]);
  }
  failure = m_problem.comm.first_text(failure);
  return {.verified = failure.empty(), .failure = failure};
}

double CgMethods::most_gain(const MachinePaths& paths, double sum_seconds) const {
  const Method& first = m_methods.front();
  const HostWork work = host_work(first);
  return work.launches * paths.launch + work.waits * paths.sync +
         cost_of(first.method.variant).all_reduces * sum_seconds;
}

CgTuning CgMethods::tune(double budget_seconds, const MachineRecord& machine, double sum_seconds,
                         const MemoryBudget& memory) {
  const Region region("tune CG");
  const Communicator& comm = m_problem.comm;
  const double begin = wall_seconds();
  CgTuning tuning;
  for (const Method& method : m_methods) {
    CgMethodResult& candidate = tuning.candidates.emplace_back();
    candidate.method = method.method;
    candidate.exchange = method.exchange.name;
    candidate.all_reduce = method.all_reduce.name;
  }
  const auto end = [&] {
    tuning.candidates[m_selected].selected = true;
    tuning.seconds = comm.max(wall_seconds() - begin);
    return tuning;
  };
  Method& first = m_methods.front();
  const bool is_host = first.method.launch == CgLaunch::host;
  try {
    make(first);
    if (first.method.launch == CgLaunch::graph)
      guarded(m_guard, in_use(first), [&] { first.queued->record(); });
  } catch (const UnavailableError& error) {  // on every rank
    const std::string launch =
        fmt::format("{}: solver.launch {}", m_problem.input.source, name(first.method.launch));
    if (first.method.launch == CgLaunch::persistent)
      throw InputError(
          fmt::format("{} cannot be used: {}; use graph or plain", launch, error.what()));
    throw InputError(fmt::format(
        "{} cannot be used with the exchange strategy {} and the all-reduce {}: {}; allow "
        "peer-memory in gather_scatter.strategies and solver.all_reduce, or use plain",
        launch, first.exchange.name, first.all_reduce.name, error.what()));
  }
  std::vector<double> history;
  if (is_host) {
    tuning.candidates.front().verified = true;  // it is the reference
  } else {
    history = reference().history;
    static_cast<Verdict&>(tuning.candidates.front()) = compare(first, history);
  }
  if (m_methods.size() == 1) {
    if (const CgMethodResult& only = tuning.candidates.front(); !only.verified)
      throw InternalError(fmt::format("CG ({}): {}", name(only.method), only.failure));
    tuning.why = "the input allows no other";
    return end();
  }
  // CG does fewer iterations than asked for if it breaks down.
  const auto iteration_s = [](const CgResult& result) {
    return result.seconds / std::max(1, result.iterations);
  };
  double once = iteration_s(run(first, {compared_iterations, 0}));
  if (machine.paths && tuning.candidates.front().verified) {
    const double gain = comm.max(most_gain(*machine.paths, sum_seconds));
    if (gain < least_gain * once) {
      tuning.why = fmt::format("other methods can save at most {} of {} per iteration",
                               seconds_text(gain), seconds_text(once));
      return end();
    }
  }
  if (is_host) {
    const CgResult again = reference();
    history = again.history;
    once = iteration_s(again);
  }
  for (std::size_t m = 1; m < m_methods.size(); ++m)
    static_cast<Verdict&>(tuning.candidates[m]) = verify(m_methods[m], history, memory);

  std::vector<StageResult*> stages;
  std::vector<std::size_t> members;
  for (std::size_t m = 0; m < m_methods.size(); ++m)
    if (tuning.candidates[m].verified) {
      members.push_back(m);
      stages.push_back(&tuning.candidates[m].timing.emplace());
    }
  if (members.empty())
    throw InternalError("every method of CG gives wrong residuals; the first one: " +
                        tuning.candidates.front().failure);
  const bool are_short = comm.max(once) * many_iterations < longest_sample;
  const int timed_iterations = are_short ? many_iterations : few_iterations;
  tuning.iterations = timed_iterations;
  tuning.rounds = Rounds(comm).run(
      stages, nullptr, {.seconds = budget_seconds, .least = 3, .most = 50}, [&](std::size_t s) {
        return iteration_s(run(m_methods[members[s]], {timed_iterations, 0}));
      });
  m_selected = members[judge(stages, {})];
  // Free what only others need.
  for (std::size_t m = 0; m < m_methods.size(); ++m)
    if (m != m_selected && m_methods[m].queued)
      guarded(m_guard, in_use(m_methods[m]), [&] { m_methods[m].queued.reset(); });
  m_extra = {};
  return end();
}

CgResult CgMethods::solve(const CgOptions& options, const std::function<void(int)>& progress) {
  return run(m_methods[m_selected], options, progress);
}

int CgMethods::traffic() const {
  const Method& selected = m_methods[m_selected];
  return selected.queued ? selected.queued->traffic() : m_host.traffic();
}

HostWork CgMethods::host_work(const Method& method) const {
  const bool alone = m_problem.comm.size() == 1, adds = m_problem.a.adds_to_rows();
  const CgCost cost = cost_of(method.method.variant);
  if (method.method.launch == CgLaunch::graph) return {1.0 / graph_iterations, 0};
  if (method.method.launch == CgLaunch::persistent) return {1.0 / persistent_iterations, 0};
  // The elements, and their rows; packing and unpacking, or one kernel.
  const int exchange = alone ? 0 : method.exchange.cost.one_kernel ? 1 : 2;
  const int exchange_waits = !alone && method.exchange.cost.host_waits ? 1 : 0;
  const int apply = (adds ? 1 : 2) + exchange;
  if (method.method.launch == CgLaunch::host)  // clears rows in a kernel of its own
    return {double(cost.kernels + (adds ? 1 : 0) + apply), cost.all_reduces + exchange_waits};
  const int sum_waits = alone || is_queued(method.all_reduce) ? 0 : cost.all_reduces;
  return {double(cost.kernels + apply), sum_waits + exchange_waits};
}

}  // namespace nekbone_k
