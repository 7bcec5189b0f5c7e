/// @file
/// The order in which contributions to a DOF are added.
#pragma once

namespace nekbone_k {

/// ordinary: those of a rank first, then the ranks' sums. deterministic: by element of the whole
/// mesh, so that no bit depends on the division among ranks.
enum class Summation { ordinary, deterministic };

}  // namespace nekbone_k
