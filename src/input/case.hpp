// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The input file as types.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "flow/flow_case.hpp"
#include "gs/field_kind.hpp"
#include "input/partition_input.hpp"
#include "mesh/box_mesh.hpp"
#include "multigrid/multigrid_choice.hpp"
#include "operators/summation.hpp"
#include "reduce/all_reduce.hpp"
#include "solver/problem_kind.hpp"
#include "solver/solver_options.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// measure: tunes in every run; cached: tunes only if the cache has no choice of an earlier run.
enum class TuningMode { measure, cached };

/// An exchange that a run tunes.
struct TunedField {
  int order = 0;
  FieldKind kind;
  std::vector<Strategy> strategies;  ///< the candidates
};

/// The input of one run. Default values are the documented defaults of the keys in input_keys.cpp.
struct Case {
  std::string source;  ///< path of the file, as given

  MeshSpec mesh;  ///< partition: from the input; if automatic, bisection until one is selected
  PartitionMode partition_mode = PartitionMode::automatic;
  std::vector<int> orders{1, 3, 7, 11};

  double lambda = 1.0;

  Summation summation = Summation::ordinary;

  ProblemKind problem = ProblemKind::taylor_green;
  double error_bound = 1e-6;  ///< relative to the largest value of the exact solution
  FlowCase flow;              ///< if that is the problem
  CheckpointCase checkpoint;  ///< of the flow
  FieldOutputCase output;     ///< of the flow
  std::string restart;        ///< checkpoint from which the flow continues; empty: none
  std::string reference;      ///< file with the enstrophy of the flow over time; may be empty

  int solver_order = 7;
  Preconditioner preconditioner = Preconditioner::none;
  MultigridChoice multigrid;  ///< if that is the preconditioner
  int iterations = 100;
  double tolerance = 0;  ///< relative to ‖b‖; 0: exactly `iterations`
  VectorOps vector_ops = VectorOps::fused;
  std::vector<std::string> all_reduces;  ///< names of the table, in its order
  CgVariantChoice variant = CgVariantChoice::automatic;
  CgLaunchChoice launch = CgLaunchChoice::automatic;
  /// The methods of CG that the case allows in this build, the simplest first.
  std::vector<CgMethod> cg_methods() const;

  bool solves() const { return problem != ProblemKind::none; }
  bool is_flow() const { return problem == ProblemKind::flow; }
  /// `orders`, then solver_order, so that CG can use the set-up of the last order. A flow has only
  /// the latter.
  std::vector<int> orders_to_tune() const;
  /// The fields whose exchange is tuned, in this sequence. A flow does no work while it exchanges
  /// vectors, so overlapped candidates become plain ones there.
  std::vector<TunedField> fields_to_tune() const;

  FieldKind field_kind;                 ///< of the exchanged field; the default if CG solves
  std::vector<std::string> strategies;  ///< names of the table, in its order
  /// The strategies of these names.
  std::vector<Strategy> chosen_strategies() const;
  /// The all-reduces of all_reduces.
  std::vector<AllReduceStrategy> chosen_all_reduces() const;
  TunerOptions tuning;
  bool budget_given = false;       ///< tuning.budget_seconds is not `auto`
  double grid_budget_seconds = 1;  ///< for timing process grids; 0: select by the cost model
  TuningMode tuning_mode = TuningMode::measure;
  std::string tuning_cache = "nekbone-k-cache.json";
  std::string tuning_journal = "nekbone-k-journal.jsonl";
  double tuning_patience = 30;  ///< time limit of a message, s
  bool audit = true;            ///< compare the selected strategies with others after CG
  int audit_others = 2;         ///< minimum number of others, even beyond the budget

  std::string report_json = "nekbone-k.json";
  bool measure_bandwidth = true;  ///< of memory, for the report
  double memory_limit_gib = 0;    ///< per node; 0: memory of the machine

  /// Where each key was given, for messages of the run: "mesh.deformation" gives
  /// "x.yaml:3: mesh.deformation".
  std::map<std::string, std::string> places;
  /// The place of a key. Throws InternalError if there is no such key.
  const std::string& place(const std::string& key) const;
};

/// Reads and checks a case. Only rank 0 reads `path`; it broadcasts the text, so all ranks raise
/// the same errors. `overrides` are `key.path=value` texts, applied in sequence after the file.
/// Throws InputError with file, line, key, given value, allowed values and nearest known key.
/// Collective.
Case read_case(const Communicator& comm, const std::string& path,
               const std::vector<std::string>& overrides);

/// read_case() for one process, for any number of ranks. Not collective.
Case read_case_alone(const std::string& path, const std::vector<std::string>& overrides);

/// A number of ranks that is not known yet: the partition is not checked.
constexpr int any_ranks = 0;

/// Parses and checks a case from text. `source` is the name of the file in messages. `ranks` is the
/// number of ranks that the mesh is divided among, or any_ranks. Not collective.
Case parse_case(const std::string& text, const std::string& source,
                const std::vector<std::string>& overrides, int ranks);

/// The name that the input uses.
const char* name(TuningMode);

}  // namespace nekbone_k
