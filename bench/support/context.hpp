/// @file
/// What every result file says about where and with what it was made.
#pragma once

#include "support/bench.hpp"

namespace nekbone_k {

/// Adds commit, compiler, Kokkos, MPI, threads and machine to Google Benchmark's context, and
/// unless --quick the copy bandwidth, which takes a second and 1 GB. Collective.
void add_context(const Bench& bench);

}  // namespace nekbone_k
