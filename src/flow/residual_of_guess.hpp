// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The residual of an initial guess, and its products.
#pragma once

#include <optional>
#include <utility>

#include "solver/vector_ops.hpp"

namespace nekbone_k {

/// Computes what a solve of A x = b needs before its first iteration, in one kernel and one
/// all-reduce, or two of each with reproducible sums.
class ResidualOfGuess {
 public:
  struct Products {
    double b_dot_b = 0;
    ResidualProducts residual;
    double sum = 0;  ///< of all entries of the residual
  };

  /// As for FusedVectorOps. Collective, and so is destruction.
  ResidualOfGuess(const Communicator& comm, VectorRange range,
                  ConstDeviceVector<double> inverse_diagonal, const AllReduceStrategy& all_reduce,
                  std::optional<double> reproducible_terms)
      : m_inverse_diagonal(std::move(inverse_diagonal)),
        m_sums(comm, range, all_reduce, reproducible_terms) {}

  /// b = r = b - A x, given `ax` = A x. Returns the product b·b of the b before, and those of r.
  /// Device memory. Collective.
  Products operator()(const DeviceVector<double>& ax, const DeviceVector<double>& b,
                      const DeviceVector<double>& r) const;

 private:
  ConstDeviceVector<double> m_inverse_diagonal;
  ProductSums<4> m_sums;
};

}  // namespace nekbone_k
