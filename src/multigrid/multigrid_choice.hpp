// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Choices of a V-cycle, and what the input says about them.
#pragma once

#include <optional>
#include <vector>

#include "core/types.hpp"
#include "gs/field_kind.hpp"
#include "multigrid/chebyshev.hpp"

namespace nekbone_k {

/// The preconditioner that a Chebyshev smoother accelerates.
enum class SmootherKind {
  jacobi,  ///< the inverse diagonal
  schwarz  ///< AdditiveSchwarz on divided levels of order >= least_schwarz_order; others use Jacobi
};

/// The name in the input and the report.
inline const char* name(SmootherKind smoother) {
  return smoother == SmootherKind::schwarz ? "schwarz" : "jacobi";
}

/// Maximum number of DOFs of the coarse solve. Its set-up takes about their cube.
inline constexpr int most_direct_dofs = 4000;

/// The largest replicated_dofs that the input may give.
inline constexpr int most_replicated_dofs = 1'000'000;

/// Maximum number of DOFs of replicated levels, unless the input gives one. On a GPU, kernels on
/// that few DOFs take no longer on one rank than on several, but each exchange takes time.
inline constexpr int default_replicated_dofs = is_host_device ? 0 : 40000;

/// Choices of a V-cycle.
struct MultigridOptions {
  std::vector<int> orders;  ///< falling, from the solver's; empty: halved_orders()
  SmootherKind smoother = SmootherKind::jacobi;
  ChebyshevKind polynomial = ChebyshevKind::optimized_fourth;
  int degree = 3;          ///< of the smoother, before and after the coarser levels
  int coarse_dofs = 1000;  ///< most DOFs of the level that is solved directly
  /// Most DOFs of levels that every rank has whole; see plan_levels(). Not if deterministic.
  int replicated_dofs = default_replicated_dofs;
  bool records = true;          ///< records the kernels of a V-cycle where possible
  std::size_t first_level = 0;  ///< number of the finest level in names of regions
};

/// The choices of a V-cycle that the input pins. The run selects the others.
struct MultigridChoice {
  std::optional<std::vector<int>> orders;  ///< falling, from the solver's
  std::optional<SmootherKind> smoother;
  std::optional<ChebyshevKind> polynomial;
  std::optional<int> degree;
  std::optional<Precision> precision;
  int coarse_dofs = 1000;
  std::optional<int> replicated_dofs;  ///< see default_replicated_dofs
};

}  // namespace nekbone_k
