// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The number of processes, as the launcher of any MPI reports it.
#pragma once

#include <filesystem>

namespace nekbone_k {

/// The number of processes that the launcher reports; 0 if it reports none. Several launchers may
/// have set variables, e.g. a batch system and an mpirun in its job. The result is then `ranks`,
/// the number of ranks that MPI counts, if one of them reports that number; otherwise the largest
/// number. `environment` is the file of the variables at the start of the process, because MPI_Init
/// changes them. Not collective.
int launched_processes(int ranks, const std::filesystem::path& environment = "/proc/self/environ");

}  // namespace nekbone_k
