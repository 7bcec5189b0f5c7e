/// @file
/// What a run does: the input file as types.
#pragma once

#include <string>
#include <vector>

#include "app/partition_input.hpp"
#include "core/communicator.hpp"
#include "gs/field_kind.hpp"
#include "gs/tuner.hpp"
#include "mesh/box_mesh.hpp"
#include "operators/summation.hpp"

namespace nekbone_k {

/// none: nothing is solved, only the gather-scatter is measured.
enum class ProblemKind { taylor_green, manufactured, nekbone, none };
enum class Preconditioner { none, jacobi };
enum class VectorOps { fused, kokkos_kernels };
/// measure: in every run; cached: only where no earlier run has.
enum class TuningMode { measure, cached };

/// One run. The defaults here are the documented defaults of the keys.
struct Case {
  std::string input;  ///< path of the file, as given

  MeshSpec mesh;  ///< its partition is the pinned one; where none is, bisection until one is chosen
  PartitionMode partition_mode = PartitionMode::automatic;
  std::vector<int> orders{1, 3, 7, 11};

  double lambda = 1.0;

  Summation summation = Summation::ordinary;

  ProblemKind problem = ProblemKind::taylor_green;
  double error_bound = 1e-6;  ///< relative to the largest value of the exact solution

  int solver_order = 7;
  Preconditioner preconditioner = Preconditioner::none;
  int iterations = 100;
  double tolerance = 0;  ///< relative to ‖b‖; 0: exactly `iterations`
  VectorOps vector_ops = VectorOps::fused;
  std::vector<std::string> all_reduces;  ///< names of the table, in its order

  bool solves() const { return problem != ProblemKind::none; }

  FieldKind field_kind;                 ///< of what is exchanged; the default where CG solves
  std::vector<std::string> strategies;  ///< names of the table, in its order
  TunerOptions tuning;
  double grid_budget_seconds = 1;  ///< of timing process grids; 0: the model chooses alone
  TuningMode tuning_mode = TuningMode::measure;
  std::string tuning_cache = "nekbone-k-cache.json";
  std::string tuning_journal = "nekbone-k-journal.jsonl";
  double tuning_patience = 30;  ///< s, for a message
  bool audit = true;            ///< the choice is tried against others after CG
  int audit_others = 2;         ///< so many at least, whatever they take

  std::string report_json = "nekbone-k.json";
  double memory_limit_gib = 0;  ///< a node; 0: what the machine has

  /// Where keys stand that only a run finds wrong, for its messages: "x.yaml:3: mesh.deformation".
  std::string deformation_place, report_place, cache_place, journal_place;
};

inline constexpr int max_order = 31;

/// Reads and checks a case. Rank 0 alone reads `path`; the text and so any complaint is the same on
/// every rank. `overrides` are `key.path=value` texts, applied in turn after the file. Throws
/// InputError with file, line, key, what was given, what is allowed and the nearest known key.
/// Collective.
Case read_case(const Communicator& comm, const std::string& path,
               const std::vector<std::string>& overrides);

/// The same from text in memory; `source` stands for the file in messages. Not collective.
/// `ranks` is what the mesh must have elements for.
Case parse_case(const std::string& text, const std::string& source,
                const std::vector<std::string>& overrides, int ranks);

/// The names that the input uses.
const char* name(ProblemKind);
const char* name(Preconditioner);
const char* name(VectorOps);
const char* name(TuningMode);
const char* name(Geometry);
const char* name(Deformation);

}  // namespace nekbone_k
