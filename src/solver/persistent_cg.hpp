// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Iterations of conjugate gradients by one kernel.
#pragma once

#include <functional>

#include "operators/elliptic_operator.hpp"
#include "solver/cg_extra_vectors.hpp"
#include "solver/cg_state.hpp"
#include "solver/conjugate_gradients.hpp"

namespace nekbone_k {

/// The data of the kernel in device memory, named as in QueuedCg. Vectors have as many entries as
/// the assembled vectors of the operator's space.
struct PersistentCgData {
  VectorRange range;
  CgScalars scalars;
  ConstDeviceVector<double> inverse_diagonal;  ///< empty: M = I
  CgVectors vectors;
  CgExtraVectors extra;
};

/// Runs iterations of the pipelined variant (Ghysels and Vanroose 2014) on one GPU in one
/// cooperative kernel. Two barriers of all teams per iteration replace three kernels, and vectors
/// that only one thread uses stay in shared memory. This is faster on small meshes, where launch
/// latency dominates. On large meshes the vectors do not fit, and kernels of many small teams hide
/// more latency.
class PersistentCg {
 public:
  /// Vectors that stay in shared memory: x, r, p, s and t.
  static constexpr int n_kept = 5;

  /// Keeps λ, references to the vectors, and what the operator refers to: `a` and its space must
  /// outlive the object. Throws UnavailableError if kernels run on the host, if there are several
  /// ranks, if the order is not compiled, or if the vectors do not fit in the shared memory of the
  /// GPU: 227 KB per multiprocessor on an H100. Not collective.
  PersistentCg(const EllipticOperator& a, const PersistentCgData& data);

  /// Launches iterations, which end early if the solve ends. Does not wait. Throws InternalError if
  /// the launch fails.
  void run(int iterations) const;

 private:
  std::function<void(int)> m_run;
};

/// The launch at one compiled order (persistent_kernel.hpp), for GPUs.
template <int order>
std::function<void(int)> persistent_launch(const AxhelmArguments& elements,
                                           const PersistentCgData& data);

}  // namespace nekbone_k
