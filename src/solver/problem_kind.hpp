// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The problem to solve.
#pragma once

namespace nekbone_k {

/// none: the run solves nothing and only measures the gather–scatter. flow: time steps of
/// incompressible Navier–Stokes (NavierStokes). For the others see Problem.
enum class ProblemKind { taylor_green, manufactured, nekbone, flow, none };

/// The name in the input and the report.
inline const char* name(ProblemKind problem) {
  switch (problem) {
    case ProblemKind::taylor_green:
      return "taylor-green";
    case ProblemKind::manufactured:
      return "manufactured";
    case ProblemKind::nekbone:
      return "nekbone";
    case ProblemKind::flow:
      return "flow";
    case ProblemKind::none:
      return "none";
  }
  return "";
}

}  // namespace nekbone_k
