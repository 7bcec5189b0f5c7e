// SPDX-License-Identifier: BSD-3-Clause
#include "library/process.hpp"

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdlib>

#include "core/communicator.hpp"
#include "core/errors.hpp"
#include "core/runtime.hpp"

namespace nekbone_k {
namespace {

std::atomic<int> n_handles{0};

bool mpi_says(int (*query)(int*)) {
  int flag = 0;
  query(&flag);
  return flag != 0;
}

/// MPI calls it at the beginning of MPI_Finalize.
int end_kokkos(MPI_Comm, int, void*, void*) {
  if (n_handles == 0 && Kokkos::is_initialized()) Kokkos::finalize();
  return MPI_SUCCESS;
}

void start_mpi() {
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  std::atexit([] {
    if (!mpi_says(MPI_Finalized)) MPI_Finalize();
  });
}

/// Attributes of MPI_COMM_SELF are deleted at the beginning of MPI_Finalize.
void end_kokkos_with_mpi() {
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_kokkos, &key, nullptr),
            "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
}

}  // namespace

void start_process() {
  if (mpi_says(MPI_Finalized)) throw InputError("MPI_Finalize was called before");
  if (Kokkos::is_finalized()) throw InputError("Kokkos has ended and cannot start again");
  // Kokkos first, because a GPU-aware MPI prepares itself for the current device.
  const bool starts_kokkos = !Kokkos::is_initialized();
  if (starts_kokkos) start_kokkos_or_throw();
  if (!mpi_says(MPI_Initialized)) start_mpi();
  if (starts_kokkos) end_kokkos_with_mpi();
}

bool is_process_running() {
  return mpi_says(MPI_Initialized) && !mpi_says(MPI_Finalized) && Kokkos::is_initialized();
}

HandleCount::HandleCount() { ++n_handles; }
HandleCount::~HandleCount() { --n_handles; }

}  // namespace nekbone_k
