// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The common main of all benchmark programs. It starts MPI and Kokkos, reads the command line,
/// lets the program register its benchmarks, and runs them; only rank 0 reports.
#pragma once

#include "support/bench.hpp"

namespace nekbone_k {

/// Each benchmark program defines this function. It adds its benchmarks to `bench`, the same ones
/// in the same order on every rank. `bench` outlives them.
void register_benchmarks(const Bench& bench);

}  // namespace nekbone_k
