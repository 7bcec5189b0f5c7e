// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The operator of the viscous step on all components of the velocity.
#pragma once

#include "flow/velocity.hpp"
#include "operators/elliptic_operator.hpp"
#include "reduce/product_sums.hpp"

namespace nekbone_k {

/// diag(A, A, A) on vector fields, which exchange all components in one message per neighbour. On a
/// deterministic space, each component has its own messages, because their contributions do.
class VelocityOperator {
 public:
  /// Keeps a reference to `a`. Collective, and so is destruction.
  VelocityOperator(const Communicator& comm, const EllipticOperator& a,
                   const AllReduceStrategy& all_reduce = all_reduce_strategies().front());

  /// See SymmetricOperator. Collective.
  template <class Before>
  double apply(const DeviceVector<double>& u, const DeviceVector<double>& au,
               const Before& before) const {
    return apply(u, au, EntryWork(before));
  }
  double apply(const DeviceVector<double>& u, const DeviceVector<double>& au,
               const EntryWork& before = {}) const;
  /// apply() without uᵀ A u, so the host does not wait for a sum. Collective.
  void apply_without_sum(const DeviceVector<double>& u, const DeviceVector<double>& au,
                         const EntryWork& before = {}) const;

 private:
  const EllipticOperator& m_a;
  ProductSums<1> m_product;
};

}  // namespace nekbone_k
