// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A problem that every rank solves whole.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace nekbone_k {

/// A x ≈ b on a whole mesh, the same on every rank.
template <class T>
class ReplicatedProblem {
 public:
  virtual ~ReplicatedProblem() = default;
  /// x from b, by kernels in the default stream. Has the same bits on every rank if b has. Not
  /// collective.
  virtual void solve() = 0;

  std::vector<GlobalId> ids;  ///< of the entries of b and x; -1 for padding, which stays zero
  DeviceVector<T> b, x;
};

}  // namespace nekbone_k
