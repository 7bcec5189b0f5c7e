// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Transfers between two levels.
#pragma once

#include <vector>

#include "gs/gather_scatter.hpp"

namespace nekbone_k {

/// Interpolation P from a coarse to a fine level, and its transpose. Vectors are assembled, in
/// device memory.
template <class T>
class Transfer {
 public:
  Transfer() = default;
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// coarse = Pᵀ fine. Collective.
  virtual void restrict_to(const DeviceVector<T>& fine, const DeviceVector<T>& coarse) = 0;
  /// fine = P coarse. Collective.
  virtual void prolong_to(const DeviceVector<T>& coarse, const DeviceVector<T>& fine) = 0;
  /// Its gather–scatters beside those of the levels. Not collective.
  virtual std::vector<GatherScatter*> own_gs() { return {}; }

 protected:
  Transfer(Transfer&&) noexcept = default;  // clang moves what a delegating constructor makes
};

}  // namespace nekbone_k
