// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the input says about multigrid.
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
  schwarz  ///< AdditiveSchwarz on levels of order >= least_schwarz_order; others use Jacobi
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
