// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A level of the V-cycle.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "multigrid/coarse_solver.hpp"
#include "multigrid/multigrid_choice.hpp"
#include "multigrid/smoother.hpp"
#include "multigrid/transfer.hpp"

namespace nekbone_k {

/// Factor by which the eigenvalue bound of a smoother exceeds the estimate.
inline constexpr double eigenvalue_margin = 1.1;
/// Steps of Lanczos' method for that estimate.
inline constexpr int eigenvalue_steps = 15;

/// Single precision cannot hold the operator. All ranks raise it with the same text.
class BeyondSingle : public UnavailableError {
 public:
  using UnavailableError::UnavailableError;
};

/// A level of a V-cycle, which ranks divide: its mesh, operator, smoother and vectors, and the ways
/// to the next level. With T = float, all of it is in single precision.
template <class T>
struct CycleLevel {
  LevelPlan plan;
  std::unique_ptr<AssembledSpace> own_space;  ///< null at the finest level
  std::unique_ptr<FactorsOf<T>> own_factors;  ///< null at the finest level in double
  AssembledSpace* space = nullptr;
  std::unique_ptr<EllipticOperatorOf<T>> a;
  double scale = 1;       ///< the level solves with scale A, whose entries are about 1
  double lambda_max = 0;  ///< bound of the eigenvalues of the preconditioned operator S A
  std::unique_ptr<Smoother<T>> smoother;
  LevelVectors<T> v;
  std::unique_ptr<Transfer<T>> to_next;  ///< to the next level; null before the last
  /// Of the last of them, to the levels that are replicated. Otherwise null.
  std::unique_ptr<CoarseSolver<T>> coarse_solver;
  /// If the replicated levels have the mesh of this one, but another order: this mesh at that
  /// order, to which an order transfer leads first. No smoothing.
  struct Landing {
    std::unique_ptr<AssembledSpace> space;
    std::unique_ptr<Transfer<T>> transfer;
    DeviceVector<T> b, x;
  };
  std::optional<Landing> landing;

  /// Sets up the operator, the smoother and the vectors, but no way to another level. `plan`
  /// and `space` must be set, and `scale` unless the level is the finest. The finest level gets the
  /// factors of the problem, which must remain valid; others get null. Throws BeyondSingle.
  /// Collective.
  void set_up(const Communicator& comm, const GeometricFactors* finest, double lambda,
              const MultigridOptions& options);

  /// The parts before and after the sum of the CoarseSolver: from v.r, and to v.z. Only on the
  /// level that has one. Collective.
  void begin_coarse_solve() const;
  void end_coarse_solve() const;

  /// Its gather–scatters beside that of `space`: of Schwarz patches, transfers, and the step to
  /// the replicated levels.
  std::vector<GatherScatter*> other_gs() const;
  /// Whether its part of a cycle launches kernels alone, but for the sum of the CoarseSolver. See
  /// GatherScatter::is_queued().
  bool is_queued() const;
};

}  // namespace nekbone_k
