// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Verifies the on-rank part of the gather–scatter before its time is reported.
#pragma once

#include <string>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// Applies the on-rank QQᵀ to nodal values that depend only on the global id. It compares the
/// result with counts that come from the box and not from the numbering:
/// - Every node must hold an integer multiple of its value, so all nodes that were added have its
///   id.
/// - The sum of one over that multiple, over all nodes, must be the rank's number of DOFs, so no
///   node is missing or added twice. Multiplicities in a box are powers of two, so the sum is
///   exact.
///
/// Overwrites the surface values of `space` and temporarily takes a vector of its size. Returns the
/// error of the lowest faulty rank, the same text on every rank; empty if there is none.
/// Collective.
std::string check_on_rank(const Communicator& comm, AssembledSpace& space);

}  // namespace nekbone_k
