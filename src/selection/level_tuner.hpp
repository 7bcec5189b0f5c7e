// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The selection of an exchange strategy for each level of multigrid.
#pragma once

#include <string>
#include <vector>

#include "input/case.hpp"
#include "machine/machine_record.hpp"
#include "multigrid/multigrid.hpp"
#include "report/multigrid_record.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// The levels of a hierarchy, and the exchanges of all but the last. On one rank nothing is
/// exchanged, and the vectors of exchanges are empty.
struct TunedLevels {
  std::vector<MultigridLevel> levels;
  std::vector<Strategy> exchanges;                 ///< by level
  std::vector<std::vector<std::string>> verified;  ///< by level: strategies that are right there
};

/// Selects exchange strategies. Hierarchies share the choices for levels that they have in common:
/// those of the same order, mesh and precision.
class LevelTuner {
 public:
  /// `finest` is the space of the problem; the exchange of its doubles is that of CG. Keeps
  /// references. Not collective.
  LevelTuner(const Communicator& comm, const Case& input, const AssembledSpace& finest,
             const MachineRecord& machine, TuningGuard& guard)
      : m_comm(comm), m_input(input), m_finest(finest), m_machine(machine), m_guard(guard) {}

  /// Selects the fastest verified strategy for each level or, in tuning mode cached, that of an
  /// earlier run. Makes the level and the transfers beside it use it. A new choice takes at most
  /// `budget_seconds`, without verification. Throws InternalError if no strategy is right.
  /// Collective.
  template <class T>
  TunedLevels tune(Multigrid<T>& multigrid, double budget_seconds);

 private:
  struct Choice {
    MultigridLevel level;  ///< its exchange, without its DOFs and times
    Precision precision;
    Strategy strategy;
    std::vector<std::string> verified;
  };
  template <class T>
  Choice choose(typename Multigrid<T>::Level& level, double budget_seconds);
  /// Selects the strategy of a level for a gather–scatter beside it, if it is right there.
  void choose_transfer(GatherScatter& gs, Precision precision, const Strategy& of_level);

  const Communicator& m_comm;
  const Case& m_input;
  const AssembledSpace& m_finest;
  const MachineRecord& m_machine;
  TuningGuard& m_guard;
  std::vector<Choice> m_choices;
};

}  // namespace nekbone_k
