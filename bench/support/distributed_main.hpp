/// @file
/// The main that all benchmark programs share: it starts MPI and Kokkos, reads the command line,
/// lets the program register its benchmarks, and runs them with only rank 0 reporting.
#pragma once

#include "support/bench.hpp"

namespace nekbone_k {

/// Each benchmark program defines this one function: it adds its benchmarks to `bench`, the same
/// ones in the same order on every rank. `bench` outlives them.
void register_benchmarks(const Bench& bench);

}  // namespace nekbone_k
