// SPDX-License-Identifier: BSD-3-Clause
#include "library/process.hpp"

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>

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
  if (provided < MPI_THREAD_FUNNELED) throw InputError("this MPI lacks MPI_THREAD_FUNNELED");
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

std::string start_process() {
  if (mpi_says(MPI_Finalized)) throw InputError("MPI_Finalize was called before");
  std::string fault;
  if (Kokkos::is_finalized()) fault = "Kokkos has ended and cannot start again";
  // Kokkos first, because a GPU-aware MPI prepares itself for the current device.
  const bool starts_kokkos = fault.empty() && !Kokkos::is_initialized();
  try {
    if (starts_kokkos) start_kokkos_or_throw();
  } catch (const std::exception& error) {
    fault = error.what();
  }
  if (!mpi_says(MPI_Initialized)) start_mpi();  // also after a fault: other ranks wait for this one
  if (starts_kokkos && fault.empty()) end_kokkos_with_mpi();
  return fault;
}

std::string why_not_running() {
  if (mpi_says(MPI_Finalized)) return "MPI_Finalize was called; use and free handles before it";
  if (!Kokkos::is_initialized()) return "Kokkos was finalized; use and free handles before that";
  return {};
}

HandleCount::HandleCount() { ++n_handles; }
HandleCount::~HandleCount() { --n_handles; }

}  // namespace nekbone_k
