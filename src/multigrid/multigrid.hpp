// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The V-cycle.
#pragma once

#include <memory>
#include <vector>

#include "core/errors.hpp"
#include "multigrid/coarse_solver.hpp"
#include "multigrid/multigrid_choice.hpp"
#include "multigrid/smoother.hpp"
#include "multigrid/transfer.hpp"

namespace nekbone_k {

/// Choices of a V-cycle.
struct MultigridOptions {
  std::vector<int> orders;  ///< falling, from the solver's; empty: halved_orders()
  SmootherKind smoother = SmootherKind::jacobi;
  ChebyshevKind polynomial = ChebyshevKind::optimized_fourth;
  int degree = 3;          ///< of the smoother, before and after the coarser levels
  int coarse_dofs = 1000;  ///< most DOFs of the level that is solved directly
};

/// Factor by which the eigenvalue bound of a smoother exceeds the estimate.
inline constexpr double eigenvalue_margin = 1.1;
/// Steps of Lanczos' method for that estimate.
inline constexpr int eigenvalue_steps = 15;

/// Single precision cannot hold the operator. All ranks raise it with the same text.
class BeyondSingle : public UnavailableError {
 public:
  using UnavailableError::UnavailableError;
};

/// M ≈ A⁻¹: one V-cycle with the same number of smoothing steps before and after coarser levels, so
/// M is symmetric. With T = float, all levels are in single precision. Operators and vectors are
/// scaled to about 1 before they are converted, so lengths of any size fit. The operators of
/// coarser levels are rediscretised (Lottes and Fischer, J. Sci. Comput. 24, 2005).
template <class T>
class Multigrid {
 public:
  /// One level but the last.
  struct Level {
    LevelPlan plan;
    std::unique_ptr<AssembledSpace> own_space;  ///< null at the finest level
    std::unique_ptr<FactorsOf<T>> own_factors;  ///< null at the finest level in double
    AssembledSpace* space = nullptr;
    std::unique_ptr<EllipticOperatorOf<T>> a;
    double lambda_max = 0;  ///< bound of the eigenvalues of the preconditioned operator S A
    std::unique_ptr<Smoother<T>> smoother;
    LevelVectors<T> v;
    std::unique_ptr<Transfer<T>> to_next;  ///< to the next level; null before the last

    /// Its gather–scatters beside that of `space`: of Schwarz patches and of the transfer.
    std::vector<GatherScatter*> other_gs() const;
  };

  /// Sets up all levels below `finest`, whose operator has λ = `lambda`. Keeps references.
  /// Collective, and so is destruction. Throws InternalError if the coarsest operator is not
  /// positive definite, and on every rank InputError if it has more than most_direct_dofs, or
  /// BeyondSingle.
  Multigrid(const Communicator& comm, AssembledSpace& finest, const GeometricFactors& factors,
            double lambda, const MultigridOptions& options);

  /// z = M r. `norm` is ‖r‖. Assembled vectors in device memory. Collective.
  void apply(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm);

  /// Changes the polynomial of the smoothers of all levels. Not collective.
  void set_polynomial(ChebyshevKind kind, int degree);

  /// One V-cycle from a level down: its v.x from its v.b. For the number of levels(), the direct
  /// solve alone. Collective.
  void cycle(std::size_t level);

  /// Throws InternalError if a message of a level did not come; see Exchange::check(). Not
  /// collective.
  void check() const;

  std::vector<Level>& levels() { return m_levels; }
  const std::vector<Level>& levels() const { return m_levels; }
  /// The level that is solved directly.
  const LevelPlan& coarsest() const { return m_coarsest; }

  /// Minimum traffic of one V-cycle on this rank, in bytes: operators and vectors of all levels but
  /// the last, without transfers. Not collective.
  double least_bytes() const;
  /// Memory of all levels on a rank, in bytes, an upper bound. Not collective.
  static double estimated_bytes(const BoxMesh& finest, const MultigridOptions& options);

 private:
  void set_up(Level& level, const GeometricFactors* finest, double lambda,
              const MultigridOptions& options);

  const Communicator& m_comm;
  std::vector<Level> m_levels;
  LevelPlan m_coarsest;
  double m_scale = 1;  ///< the levels solve with m_scale A
  std::unique_ptr<CoarseSolver<T>> m_coarse_solver;
};

}  // namespace nekbone_k
