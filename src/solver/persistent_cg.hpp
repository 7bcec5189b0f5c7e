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

/// What the kernel works on, in device memory: see QueuedCg.
struct PersistentCgData {
  VectorRange range;
  CgScalars scalars;
  ConstDeviceVector<double> inverse_diagonal;  ///< empty: M = I
  CgVectors vectors;
  CgExtraVectors extra;
};

/// Iterations of the pipelined variant on one GPU by one kernel, all of whose teams run at once.
/// Two barriers of all teams per iteration replace three kernels, and vectors that only one thread
/// uses stay in shared memory from iteration to iteration. On small meshes, where kernels begin and
/// end most of the time, that is faster. On large meshes the vectors do not fit, and many small
/// teams hide more latency.
class PersistentCg {
 public:
  /// Keeps λ, and references to the vectors. Throws UnavailableError if kernels run on the host, if
  /// there are several ranks, if the order is not compiled, or if the vectors do not fit in the
  /// shared memory of the GPU: 227 KB per multiprocessor on an H100. Not collective.
  PersistentCg(const EllipticOperator& a, const PersistentCgData& data);

  /// Launches iterations, which end early if the solve ends. Does not wait.
  void run(int iterations) const { m_run(iterations); }

 private:
  std::function<void(int)> m_run;
};

/// The launch at one compiled order (persistent_kernel.hpp), for GPUs.
template <int order>
std::function<void(int)> persistent_compiled(const AxhelmArguments& elements,
                                             const PersistentCgData& data);

}  // namespace nekbone_k
