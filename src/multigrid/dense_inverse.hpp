// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The inverse of a small symmetric matrix.
#pragma once

#include <vector>

namespace nekbone_k {

/// Replaces a symmetric positive definite matrix (n, n), row-major, in host memory, by its inverse,
/// by a Cholesky factorisation. Returns false if the matrix is not positive definite; its contents
/// are then undefined. Takes about n³ multiplications.
bool invert_by_cholesky(std::vector<double>& matrix, int n);

}  // namespace nekbone_k
