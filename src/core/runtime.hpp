/// @file
/// Start and end of MPI and Kokkos, for every program here.
#pragma once

namespace nekbone_k {

/// Starts Kokkos on the rank's own device, then MPI, and ends both in the destructor. In this
/// order, because a GPU-aware MPI prepares itself for the device that it finds current.
///
/// Devices go round the ranks of a node, by the node-local rank that the launcher tells in the
/// environment (Kokkos knows those of Open MPI, MPICH, MVAPICH and Slurm).
class Runtime {
 public:
  /// Collective over all processes of the job. MPI and Kokkos take their own arguments out of
  /// `argv`. Throws what Kokkos throws, and InternalError if MPI cannot be used with threads.
  Runtime(int& argc, char**& argv);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

/// Ends all ranks at once, also before MPI has started; the launcher returns `code`.
[[noreturn]] void end_job(int code);

}  // namespace nekbone_k
