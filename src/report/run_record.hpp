// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The results of a run, from which the reports are made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "core/system.hpp"
#include "gs/message_layout.hpp"
#include "input/case.hpp"
#include "machine/energy.hpp"
#include "machine/machine_record.hpp"
#include "mesh/partition_model.hpp"
#include "report/flow_record.hpp"
#include "report/multigrid_record.hpp"
#include "tuning/all_reduce_tuner.hpp"
#include "tuning/audit.hpp"
#include "tuning/candidate.hpp"
#include "tuning/decision_cache.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// A process grid that the run may select.
struct GridCandidate {
  PartitionModel model;
  /// Whether the largest number of elements per rank is the smallest possible. Other grids are not
  /// selected even if their exchange is faster, because their Ax costs more.
  bool balanced = true;
  bool tried = false;                   ///< the run measures it
  std::optional<StageResult> timing{};  ///< of one exchange, if measured
};

/// The process grid and how it was selected.
struct GridRecord {
  int order = 0;                          ///< polynomial order of the exchanges
  std::vector<GridCandidate> candidates;  ///< by predicted time; only one if the input fixes it
  int selected = 0;                       ///< index in candidates
  std::string why;                        ///< how it was selected, in words
  bool replayed = false;                  ///< taken from an earlier run
  std::optional<MadeChoice> made{};       ///< to cache for later runs
  std::string strategy;                   ///< exchange strategy of the measurements, if any
  int rounds = 0, repeats = 1;            ///< repeats: exchanges per sample
  double plan_seconds = 0, verify_seconds = 0, tune_seconds = 0;

  const Partition& partition() const { return candidates[selected].model.partition; }
};

/// One polynomial order: its mesh, halo exchange and tuning.
struct OrderRecord {
  int order = 0;
  bool compiled = true;  ///< false: the slower kernel with a run-time order
  std::int64_t total_dofs = 0, total_local_points = 0;
  Spread elements, owned_dofs, boundary_elements, interior_elements;  ///< per rank
  Spread shared_dofs, neighbours;                                     ///< per rank
  Spread message_bytes;      ///< per message, for the field kind that the tuner exchanges
  Spread sent_bytes;         ///< per rank and exchange of one such field
  MessageLayouts layouts;    ///< of the messages of all ranks
  double setup_seconds = 0;  ///< numbering, halo plan and, if used, geometric factors
  TuningResult tuning;
  std::string on_rank_failure;  ///< fault of the on-rank QQᵀ; empty if there is none
  /// With tuning mode cached: whether the run took a cached choice. The note says which, or why
  /// not.
  bool replayed = false;
  std::string cache_note;
  std::optional<MadeChoice> made{};  ///< to cache for later runs
};

/// How the all-reduce was selected. See OrderRecord for the members.
struct AllReduceRecord : AllReduceTuning {
  bool replayed = false;
  std::string cache_note;
  std::optional<MadeChoice> made{};
};

/// The cost of deterministic sums: time per CG iteration with deterministic and with ordinary sums.
/// Medians of interleaved rounds.
struct SummationCost {
  double deterministic_seconds = 0, ordinary_seconds = 0;
  int rounds = 0, iterations = 0;  ///< iterations per round

  double ratio() const { return deterministic_seconds / ordinary_seconds; }
};

/// A selected strategy that CG did not use because it was wrong with CG's operands.
struct ExcludedInCg {
  std::string strategy, failure;
};

/// The result of one method of CG, with the strategies that it can use.
struct CgMethodResult : Verdict {
  CgMethod method;
  std::string exchange, all_reduce;
  std::optional<StageResult> timing{};  ///< s per iteration
  bool selected = false;
};

/// How the method of CG was selected.
struct CgTuning {
  std::vector<CgMethodResult> candidates;  ///< from the simplest to the most complex
  std::string why;  ///< why only the simplest was tried, as a sentence; empty if others were
  int rounds = 0, iterations = 0;  ///< iterations of a sample
  double seconds = 0;

  const CgMethodResult* selected() const {
    for (const CgMethodResult& candidate : candidates)
      if (candidate.selected) return &candidate;
    return nullptr;
  }
};

/// What the host does in an iteration of CG.
struct HostWork {
  double launches =
      0;  ///< of kernels; a graph, or a persistent kernel, counts as one for all its iterations
  int waits = 0;  ///< for kernels
};

/// The CG run.
struct SolveRecord {
  int order = 0;
  std::string strategy, all_reduce;
  CgMethod method;
  CgTuning methods;
  HostWork host_work;
  std::optional<MultigridRecord> multigrid;  ///< if it is the preconditioner
  bool kernels_sum = false;  ///< Kokkos Kernels' products use MPI_Allreduce; p·Ap uses all_reduce
  std::vector<ExcludedInCg> excluded;
  int iterations = 0;
  double tolerance = 0;            ///< from the input; 0: a fixed number of iterations
  bool converged = false;          ///< reached the tolerance, if there is one
  bool broke_down = false;         ///< NaN, infinity, or an operator that is not positive
  double rhs_norm = 0;             ///< ‖b‖
  double residual = 0;             ///< recursive ‖r‖ at the end
  double true_residual = 0;        ///< ‖b - A x‖, recomputed
  std::optional<double> error;     ///< largest error, relative to the largest exact value
  std::optional<double> error_l2;  ///< mass-weighted L2 error, relative
  std::vector<double> history;     ///< ‖b‖, then ‖r‖ after each iteration
  double setup_seconds = 0, solve_seconds = 0;
  std::int64_t total_dofs = 0, total_local_points = 0, elements = 0;
  double flops = 0;            ///< FLOP/s, Nekbone's count: E Np (12 Nq + 34) iterations / time
  double dofs_per_second = 0;  ///< unique unmasked DOFs · iterations / time
  double bytes_per_dof = 0;    ///< minimum traffic of all kernels per iteration and unique DOF, B
  double bandwidth = 0;        ///< B/s, from bytes_per_dof
  EnergyRecord energy;         ///< of solve_seconds
  double peak_memory = 0;      ///< B, largest resident set, summed over the ranks
  std::optional<Audit> audit;  ///< of the exchange, if there were other candidates
  std::string why_no_audit;    ///< empty unless users would expect an audit
  std::optional<Audit> sum_audit;  ///< of the all-reduce
  /// Only with deterministic sums. See checksum().
  std::optional<std::uint64_t> checksum;
  std::optional<SummationCost> summation_cost;
  bool passed = false;
  std::string verdict;  ///< why it passed or failed, as a sentence
};

struct RunRecord {
  std::shared_ptr<const Case> input = std::make_shared<const Case>();
  MachineRecord machine;
  GridRecord grid;
  std::vector<OrderRecord> orders;
  std::optional<AllReduceRecord> all_reduce;  ///< if the run solves a problem
  std::optional<SolveRecord> solve;
  std::optional<FlowRecord> flow;
  std::vector<std::string> warnings;  ///< why the timings are unreliable; see warnings.hpp
  /// Adds a warning, unless it is empty.
  void warn(const std::string& warning) {
    if (!warning.empty()) warnings.push_back(warning);
  }
  std::string choices_kept;  ///< whether the cache took this run's choices, in words
  double total_seconds = 0;
  bool passed = false;
  bool complete = false;  ///< the run did everything that the input asks for
};

}  // namespace nekbone_k
