// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The context of a result file: where and with what it was made.
#pragma once

#include "support/bench.hpp"

namespace nekbone_k {

/// Adds commit, compiler, Kokkos, MPI, threads and machine to the context of Google Benchmark.
/// Without --quick it also adds the copy bandwidth, which takes a second and 1 GB. Collective.
void add_context(const Bench& bench);

}  // namespace nekbone_k
