// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Eigenvalues and eigenvectors of a small symmetric matrix.
#pragma once

#include <vector>

namespace nekbone_k {

/// A = V Λ Vᵀ with orthonormal eigenvectors.
struct SymmetricEigen {
  std::vector<double> values;   ///< (n), ascending
  std::vector<double> vectors;  ///< (n, n) row-major; column m belongs to values[m]
};

/// Diagonalises the symmetric matrix (n, n), row-major, in host memory, by Jacobi's cyclic
/// rotations (Golub and Van Loan, Matrix Computations, 2013, section 8.5). Not collective. Throws
/// InternalError if the rotations do not converge, i.e. if an entry is not finite.
SymmetricEigen symmetric_eigen(std::vector<double> matrix, int n);

}  // namespace nekbone_k
