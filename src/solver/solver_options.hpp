// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Options of CG.
#pragma once

namespace nekbone_k {

enum class Preconditioner { none, jacobi };

/// Implementation of CG's vector operations: this project's fused kernels, or Kokkos Kernels.
enum class VectorOps { fused, kokkos_kernels };

/// The name in the input and the report.
inline const char* name(Preconditioner preconditioner) {
  return preconditioner == Preconditioner::jacobi ? "jacobi" : "none";
}

inline const char* name(VectorOps vector_ops) {
  return vector_ops == VectorOps::kokkos_kernels ? "kokkos-kernels" : "fused";
}

}  // namespace nekbone_k
