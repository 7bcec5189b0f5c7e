// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// MPI and Kokkos of a program that calls the library.
#pragma once

#include <string>

namespace nekbone_k {

/// Starts MPI and Kokkos, unless they run. If it starts Kokkos, it ends Kokkos at the beginning of
/// MPI_Finalize, because Kokkos cannot start twice. If it starts MPI, it ends MPI at program exit.
/// Collective over all processes of the job if MPI does not run. If Kokkos cannot start, returns
/// the reason, so that the ranks can compare it by MPI; empty otherwise. Throws InputError if MPI
/// has ended.
std::string start_process();

/// Counts handles, so that Kokkos is not ended while one exists: its memory would be freed later.
class HandleCount {
 public:
  HandleCount();
  ~HandleCount();
  HandleCount(const HandleCount&) = delete;
  HandleCount& operator=(const HandleCount&) = delete;
};

/// Why MPI or Kokkos does not run, and what to do; empty if both run.
std::string why_not_running();

}  // namespace nekbone_k
