// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The methods of CG that a run can use, and the selection of one.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "input/case.hpp"
#include "operators/elliptic_operator.hpp"
#include "report/run_record.hpp"
#include "selection/host_cg.hpp"
#include "selection/memory.hpp"
#include "solver/queued_cg.hpp"
#include "tuning/all_reduce_tuner.hpp"

namespace nekbone_k {

/// The strategies of CG.
struct SolveStrategies {
  Strategy exchange;
  std::vector<Strategy> other_exchanges;  ///< verified, not selected, the fastest first
  AllReduceStrategy all_reduce;
  std::vector<AllReduceStrategy> other_all_reduces;  ///< verified, not selected, the fastest first
};

/// Whether the exchange in use gives wrong sums of CG's operands: the failure, or empty. Throws
/// InternalError if it fails otherwise, because messages may still be in flight. Collective.
std::string wrong_sums(GatherScatter& gs);

/// The first of the selected and the other strategies for which `is_queued` holds; null if none.
template <class T, class IsQueued>
const T* first_queued(const T& selected, const std::vector<T>& others, const IsQueued& is_queued) {
  if (is_queued(selected)) return &selected;
  const auto found = std::find_if(others.begin(), others.end(), is_queued);
  return found == others.end() ? nullptr : &*found;
}

/// The methods of CG that the case allows, on the vectors of one problem. Construction, members and
/// destruction are collective.
///
/// A method that launches ahead needs an exchange and an all-reduce without the host. If the
/// selected ones need the host, it takes the fastest verified others that do not, or else those
/// that the case allows and the guard does not exclude.
class CgMethods {
 public:
  /// `host` runs the methods whose scalars are on the host, and outlives the object.
  CgMethods(const CgProblem& problem, const SolveStrategies& strategies, HostCg& host,
            TuningGuard& guard);

  /// Selects a method:
  ///
  /// 1. It compares the residuals of some iterations with those of classic CG with scalars on the
  ///    host.
  /// 2. It times iterations of all methods in interleaved rounds, for about `budget_seconds`.
  /// 3. It selects the fastest. Of methods that tie with it, it selects the first in the order of
  ///    the input's table.
  ///
  /// Tries only the first method if its launches, waits and all-reduces, which others could save,
  /// take less than 3 % of an iteration. They are estimated from `machine`, and `sum_seconds` for
  /// one all-reduce. Excludes a method whose vectors do not fit into `memory`. Throws InputError on
  /// every rank if the first method is unavailable, and InternalError if no method is right.
  CgTuning tune(double budget_seconds, const MachineRecord& machine, double sum_seconds,
                const MemoryBudget& memory);

  /// Solves the problem by the selected method.
  CgResult solve(const CgOptions& options, const std::function<void(int)>& progress);

  /// Doubles that vector operations read and write per DOF and iteration.
  int traffic() const;
  /// What the host does per iteration of the selected method.
  HostWork host_work() const { return host_work(m_methods[m_selected]); }
  const CgMethod& method() const { return m_methods[m_selected].method; }
  const Strategy& exchange() const { return m_methods[m_selected].exchange; }
  const AllReduceStrategy& all_reduce() const { return m_methods[m_selected].all_reduce; }
  /// The strategies that the selected method uses, for the guard.
  std::vector<std::string> in_use() const { return in_use(m_methods[m_selected]); }

 private:
  struct Method {
    CgMethod method;
    Strategy exchange;
    AllReduceStrategy all_reduce;
    std::unique_ptr<QueuedCg<EllipticOperator>> queued;  // null: on the host, or not made
  };

  /// Its exchange and the one that it replaces, its all-reduce and that of the operator.
  std::vector<std::string> in_use(const Method& method) const;
  /// Selects the exchange of a method in the gather-scatter, and gives it its resources.
  void use_exchange(const Method& method);
  void make(Method& method);
  /// Solves by a method, whose exchange becomes the one in use.
  CgResult run(Method& method, const CgOptions& options,
               const std::function<void(int)>& progress = {});
  /// Some iterations of classic CG with scalars on the host.
  CgResult reference();
  /// Makes a method, if its vectors fit into `memory`, and compares it. Collective, and the result
  /// is the same on every rank.
  Verdict verify(Method& method, const std::vector<double>& history, const MemoryBudget& memory);
  /// Whether a method gives the residuals of `history`.
  Verdict compare(Method& method, const std::vector<double>& history);
  HostWork host_work(const Method& method) const;
  /// The seconds per iteration that the host and the all-reduces take with the first method.
  double most_gain(const MachinePaths& paths, double sum_seconds) const;

  CgProblem m_problem;
  AllReduceStrategy m_operator_sum;
  HostCg& m_host;
  TuningGuard& m_guard;
  CgExtraVectors m_extra;
  std::vector<Method> m_methods;
  std::size_t m_selected = 0;
};

}  // namespace nekbone_k
