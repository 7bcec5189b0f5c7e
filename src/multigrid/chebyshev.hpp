// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Coefficients of Chebyshev smoothers.
#pragma once

#include <vector>

namespace nekbone_k {

/// The polynomial of a Chebyshev smoother.
enum class ChebyshevKind {
  first,            ///< smallest on [λmax / first_kind_ratio, λmax]
  fourth,           ///< needs no lower end: for the worst case of a V-cycle
  optimized_fourth  ///< the same with weights that minimise that worst case
};

/// The upper end of the first kind's interval divided by its lower end.
inline constexpr double first_kind_ratio = 10;

/// Highest degree of a smoother.
inline constexpr int most_chebyshev_degree = 6;

/// One step of a smoother for A with a preconditioner S:
///
///     z = direction z + residual S r;   x = x + solution z;   r = r - A z
struct ChebyshevStep {
  double direction = 0, residual = 0, solution = 1;
};

/// The steps of a smoother of `degree` (1 to most_chebyshev_degree) if the eigenvalues of S A are
/// in (0, λmax]. Its error propagation is a polynomial in S A of that degree. The first kind is in
/// Saad, Iterative Methods for Sparse Linear Systems (2003), section 12.3; the fourth kind and its
/// optimal weights are by Lottes, Optimal polynomial smoothers for multigrid V-cycles (2022).
/// Throws InternalError at another degree.
std::vector<ChebyshevStep> chebyshev_steps(ChebyshevKind kind, int degree, double lambda_max);

/// The name in the input and the report.
inline const char* name(ChebyshevKind kind) {
  switch (kind) {
    case ChebyshevKind::first:
      return "chebyshev-1";
    case ChebyshevKind::fourth:
      return "chebyshev-4";
    default:
      return "chebyshev-4-opt";
  }
}

}  // namespace nekbone_k
