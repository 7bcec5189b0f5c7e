// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Multigrid in a run: the selection of a V-cycle, and the solve.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "machine/machine_record.hpp"
#include "report/multigrid_record.hpp"
#include "selection/level_tuner.hpp"
#include "selection/memory.hpp"
#include "selection/multigrid_candidates.hpp"
#include "selection/v_cycle_search.hpp"
#include "solver/flexible_cg.hpp"

namespace nekbone_k {

/// The problem to solve. MultigridRun overwrites the vectors of CG.
struct MultigridProblem {
  const Communicator& comm;
  const Case& input;
  AssembledSpace& space;
  const GeometricFactors& geometry;
  const EllipticOperator& a;
  const FusedVectorOps& ops;  ///< without a preconditioner
  DeviceVector<double> b;
  CgVectors vectors;
  const MachineRecord& machine;
  std::string sum_guarded_as;  ///< the all-reduce of CG, to a guard
};

/// Flexible CG with the V-cycles that a case allows. Construction, members and destruction are
/// collective.
class MultigridRun {
 public:
  /// Keeps a reference to what `problem` refers to.
  MultigridRun(const MultigridProblem& problem, TuningGuard& guard);
  ~MultigridRun();
  MultigridRun(const MultigridRun&) = delete;
  MultigridRun& operator=(const MultigridRun&) = delete;

  /// Selects a V-cycle. In tuning mode cached, takes that of an earlier run for the same case on
  /// the same machine if it still helps and takes at most 1.5 times as long as then. Otherwise:
  ///
  /// 1. It sets up the hierarchy of the default, and selects an exchange strategy for each level.
  /// 2. It tries V-cycles for `budget_seconds`, as VCycleSearch does; first trials may take the
  ///    budget of the input if that is longer. It skips hierarchies that do not fit into `memory`.
  /// 3. It times the fastest in interleaved rounds, and selects the one that takes the shortest
  ///    time per decimal digit of the residual. If rounds would take more than twice the budget,
  ///    the measurement of step 2 counts.
  ///
  /// Then it times the levels of the selected V-cycle, and one strategy for all levels.
  MultigridRecord select(double budget_seconds, const MemoryBudget& memory);

  /// z = M r, given ‖r‖.
  using Inverse = std::function<void(const DeviceVector<double>& r, const DeviceVector<double>& z,
                                     double norm)>;
  /// Calls `use` with the selected V-cycle, under the guard of its strategies.
  void with_selected(const std::function<void(const Inverse&)>& use);

  /// Solves the problem with the selected V-cycle.
  CgResult solve(const CgOptions& options, const std::function<void(int)>& progress);

  /// Minimum traffic of one V-cycle on this rank, in bytes.
  double least_bytes() const;

 private:
  using AnyMultigrid =
      std::variant<std::unique_ptr<Multigrid<float>>, std::unique_ptr<Multigrid<double>>>;
  struct Hierarchy {
    MultigridMethod method;  ///< its polynomial may change
    AnyMultigrid multigrid;
    double setup_seconds = 0;
    TunedLevels tuned;
  };

  /// The hierarchy of a method, made at first use.
  Hierarchy& hierarchy_of(const MultigridMethod& method);
  Hierarchy* find(const MultigridMethod& method);
  /// Bytes of the levels of a method on this rank, an estimate.
  double bytes_of(const MultigridMethod& method) const;
  /// The V-cycle of an earlier run, or why it cannot be taken.
  void replay(const DecisionKey& key, const MemoryBudget& memory, MultigridRecord& record);
  /// Tries V-cycles. Returns the index of the best candidate.
  std::size_t search(const MemoryBudget& memory, MultigridRecord& record);
  /// Solves by a method and measures the time.
  CgResult run(const MultigridMethod& method, const FlexibleCgOptions& options,
               const std::function<void(int)>& progress = {});
  /// Runs some iterations with a method.
  MultigridCandidate try_out(const MultigridMethod& method, const TrialLimits& limits);
  /// Times the best candidates in rounds if the budget allows it. Returns the index of the fastest.
  std::size_t time_in_rounds(MultigridRecord& record, std::size_t best);
  /// Frees all hierarchies but that of `method`.
  void free_others(const MultigridMethod& method);
  void time_levels(MultigridRecord& record);
  /// Nothing if it would take much longer than the budget, or if there is nothing to compare.
  std::optional<UniformStrategy> time_uniform(double cycle_seconds);
  /// The time of `action` on the slowest rank, in s.
  double slowest_seconds(const std::function<void()>& action) const;
  /// Frees the levels of a hierarchy.
  void give_up(Hierarchy& made) const;
  /// The strategies that CG and `made` use, for the guard. `made` may be null.
  std::vector<std::string> in_use(const Hierarchy* made) const;

  MultigridProblem m_problem;
  TuningGuard& m_guard;
  double m_budget = 0;        ///< s
  double m_first_budget = 0;  ///< s, of a trial without which nothing can be selected
  DeviceVector<double> m_z;
  std::list<Hierarchy> m_hierarchies;  // a list, so that addresses stay valid
  LevelTuner m_level_tuner;
  MultigridMethod m_selected;
};

}  // namespace nekbone_k
