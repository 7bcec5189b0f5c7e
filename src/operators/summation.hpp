// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The order of adding the contributions to a DOF.
#pragma once

namespace nekbone_k {

/// ordinary: the contributions of each rank first, then the sums of the ranks. deterministic: by
/// element of the whole mesh, so that no bit depends on the division among ranks.
enum class Summation { ordinary, deterministic };

}  // namespace nekbone_k
