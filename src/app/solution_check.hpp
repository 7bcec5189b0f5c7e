// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The verdict on a solution of CG.
#pragma once

#include "core/communicator.hpp"
#include "input/case.hpp"
#include "operators/elliptic_operator.hpp"
#include "report/run_record.hpp"
#include "solver/conjugate_gradients.hpp"

namespace nekbone_k {

/// ‖b - A x‖ and ‖(b - A x) - r‖, over owned DOFs.
struct ResidualCheck {
  double true_residual = 0, difference = 0;
};

/// Recomputes the residual of CG's vectors. `b` must be free of the null space. Overwrites ap with
/// A x. Throws like GatherScatter::check(). Collective.
ResidualCheck check_residual(const Communicator& comm, const EllipticOperator& a,
                             const DeviceVector<double>& b, const CgVectors& v);

/// Sets `passed` and `verdict` of a record whose other results are known: the first fault, or what
/// was verified. Not collective.
void judge(const Case& input, const ResidualCheck& check, SolveRecord& record);

}  // namespace nekbone_k
