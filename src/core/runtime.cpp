#include "core/runtime.hpp"

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>

#include "core/errors.hpp"

namespace nekbone_k {

Runtime::Runtime(int& argc, char**& argv) {
  // Kokkos' warnings are left out: the report has lines of its own on threads, binding and devices.
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_disable_warnings(true).set_map_device_id_by("mpi_rank"));
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  require(provided >= MPI_THREAD_FUNNELED, "this MPI cannot be used by a program with threads");
}

Runtime::~Runtime() {
  Kokkos::finalize();
  MPI_Finalize();
}

void end_job(int code) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace nekbone_k
