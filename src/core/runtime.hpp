// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Start and end of MPI and Kokkos, for every program of this project.
#pragma once

#include <exception>

#include "core/errors.hpp"

namespace nekbone_k {

/// Starts Kokkos on this rank's device, then MPI; the destructor ends both. Kokkos starts first,
/// because a GPU-aware MPI prepares itself for the current device.
///
/// The ranks of a node take its devices in turn, by the node-local rank in the environment of the
/// launcher. Kokkos knows the variables of Open MPI, MPICH, MVAPICH and Slurm.
class Runtime {
 public:
  /// Collective over all processes of the job. MPI removes its own arguments from `argv`. Throws
  /// InputError for an invalid number of threads, and InternalError if MPI does not support
  /// threads. If Kokkos aborts, exits or throws while it starts, this ends the job with one message
  /// and ExitCode::internal.
  Runtime(int& argc, char**& argv);
  /// Ends nothing while an exception is in flight, because MPI would wait for ranks that may be
  /// elsewhere. The caller must then end the job.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

 private:
  Unwinding m_unwinding;
};

/// Starts Kokkos in a program that uses the library. Throws InputError for an invalid number of
/// threads, and InternalError if Kokkos throws. Kokkos itself may still end the program, for
/// example if an environment variable that begins with KOKKOS_ is invalid.
void start_kokkos_or_throw();

/// Whether this process is the first rank of its job, by the variables of the launcher: for use
/// before MPI starts. True if there is no launcher, or an unknown one.
bool is_first_rank();

/// Ends all ranks at once, even before MPI starts. The launcher returns `code`.
[[noreturn]] void end_job(int code);

/// Ends the job with one message from `error` and its exit code. For errors before MPI starts, and
/// for exceptions that nothing else caught. Before MPI starts, the first rank prints. The other
/// ranks print only if the launcher has not ended them soon after.
[[noreturn]] void end_job(const std::exception& error);

}  // namespace nekbone_k
