// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Messages of the drop-in for gslib.
#pragma once

#include <mpi.h>

#include <string>

namespace nekbone_k::gslib {

/// Prints why `function` failed, and ends the job, because functions of gslib return no codes.
[[noreturn]] void die(const char* function, const std::string& why);

/// The same if all ranks of `comm` call it with one text: rank 0 prints it. Collective.
[[noreturn]] void die_together(const char* function, const std::string& why, MPI_Comm comm);

/// Prints a line to standard output.
void say(const std::string& line);

}  // namespace nekbone_k::gslib
