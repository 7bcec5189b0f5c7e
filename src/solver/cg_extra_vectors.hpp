// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The vectors of the variants of conjugate gradients.
#pragma once

#include "core/types.hpp"
#include "solver/solver_options.hpp"

namespace nekbone_k {

/// What an iteration of a variant costs, without Ax.
struct CgCost {
  int all_reduces;
  int kernels;  ///< with those that sum
  int doubles;  ///< read and written per DOF by the vector kernels; two more with Jacobi
  int vectors;  ///< beside x, r, p and Ap; one more with Jacobi unless classic
};
constexpr CgCost cost_of(CgVariant variant) {
  switch (variant) {
    case CgVariant::classic:
      return {2, 4, 8, 0};
    case CgVariant::single_reduction:
      return {1, 2, 9, 1};
    default:
      return {1, 2, 13, 3};
  }
}

/// Vectors of some variants beside CgVectors. In the formulas, w = A z is CgVectors::ap.
struct CgExtraVectors {
  DeviceVector<double> s;  ///< A p
  DeviceVector<double> z;  ///< M r, or m = M w if pipelined; only with a preconditioner
  DeviceVector<double> t;  ///< A M s
  DeviceVector<double> n;  ///< A m

  /// The number of vectors that a variant needs.
  static int count(CgVariant variant, bool preconditioned) {
    return cost_of(variant).vectors + (preconditioned && variant != CgVariant::classic ? 1 : 0);
  }
  /// The vectors of a variant. Makes those that are missing: `make(label)` makes a vector of zeros.
  template <class Make>
  CgExtraVectors provide(CgVariant variant, bool preconditioned, const Make& make) {
    CgExtraVectors of_variant;
    const auto take = [&](DeviceVector<double> CgExtraVectors::*vector, const char* label) {
      if ((this->*vector).extent(0) == 0) this->*vector = make(label);
      of_variant.*vector = this->*vector;
    };
    if (variant == CgVariant::classic) return of_variant;
    take(&CgExtraVectors::s, "A p");
    if (preconditioned) take(&CgExtraVectors::z, "M r");
    if (variant == CgVariant::single_reduction) return of_variant;
    take(&CgExtraVectors::t, "A M s");
    take(&CgExtraVectors::n, "A m");
    return of_variant;
  }
};

}  // namespace nekbone_k
