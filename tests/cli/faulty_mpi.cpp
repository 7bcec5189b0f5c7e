// SPDX-License-Identifier: BSD-3-Clause
// Simulates a broken MPI library or network. Tests preload these calls into the program
// (LD_PRELOAD). NEKBONE_K_TEST_FAULT selects the fault:
//
// MPI_Ineighbor_alltoallv:
//   never         returns a request that never completes
//   hang          does not return
//   crash, kill   ends the last rank's process by SIGSEGV or SIGKILL
//   exit          ends the last rank's process by exit()
//   refuse        fails
//   wrong         sends a wrong first value
//   FAULT@N       has one of these faults from the process's call N on (from 0)
//   count         works; each process prints its number of calls on stderr
// MPI_Win_allocate_shared:
//   crash-shared, kill-shared   ends the process by SIGSEGV or SIGKILL
// MPI_Isend of 64 Ki items:
//   shift-64k     sends data that begins one byte too late
//   crash-64k     ends the process by SIGSEGV
//   refuse-64k    fails
//   hang-64k      does not return
// MPI_Isend of 256 Ki items, which only the transfer probe sends:
//   refuse-256k, shift-256k     as with 64k
// MPI_Isend of any size:
//   crash-device  ends the process by SIGSEGV if the host cannot read the memory, like an MPI that
//                 is not GPU-aware
// MPI_Init_thread:
//   no-singleton  ends a process that no launcher started
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::string_view fault() {
  const char* const text = std::getenv("NEKBONE_K_TEST_FAULT");
  return text == nullptr ? "" : text;
}

/// The fault of this process's call number `call`, from 0.
std::string_view fault_of(long call) {
  const std::string_view text = fault();
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return text;
  return call < std::atol(text.data() + at + 1) ? "" : text.substr(0, at);
}

long neighbour_calls = 0;

bool host_can_read(const void* memory) {
  int ends[2];
  if (pipe(ends) != 0) return true;
  const bool can = write(ends[1], memory, 1) == 1;  // fails with EFAULT instead of crashing
  close(ends[0]);
  close(ends[1]);
  return can;
}

}  // namespace

extern "C" int MPI_Finalize() {
  if (fault() == "count")
    std::fprintf(stderr, "MPI_Ineighbor_alltoallv: %ld calls\n", neighbour_calls);
  return PMPI_Finalize();
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const bool is_launched =
      std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr;
  if (fault() == "no-singleton" && !is_launched) std::exit(1);
  return PMPI_Init_thread(argc, argv, required, provided);
}

extern "C" int MPI_Ineighbor_alltoallv(const void* send, const int* counts, const int* offsets,
                                       MPI_Datatype type, void* receive, const int* from_counts,
                                       const int* from_offsets, MPI_Datatype from_type,
                                       MPI_Comm comm, MPI_Request* request) {
  const std::string_view fault = fault_of(neighbour_calls++);
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (fault == "never") {
    static int nothing = 0;
    return PMPI_Irecv(&nothing, 1, MPI_INT, 0, 12345, MPI_COMM_SELF, request);
  }
  while (fault == "hang") pause();
  if (fault == "crash" && rank == size - 1) std::raise(SIGSEGV);
  if (fault == "kill" && rank == size - 1) std::raise(SIGKILL);
  if (fault == "exit" && rank == size - 1) std::exit(5);
  if (fault == "refuse") return MPI_ERR_OTHER;
  // Change the exponent, because a wrong last bit could be rounding.
  if (fault == "wrong" && send != nullptr && counts[0] > 0)
    static_cast<unsigned char*>(const_cast<void*>(send))[7] ^= 0x40;
  return PMPI_Ineighbor_alltoallv(send, counts, offsets, type, receive, from_counts, from_offsets,
                                  from_type, comm, request);
}

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  constexpr int large = 64 << 10, probed = 256 << 10;
  if (count == probed && fault() == "refuse-256k") return MPI_ERR_OTHER;
  if (count == probed && fault() == "shift-256k") buffer = static_cast<const char*>(buffer) + 1;
  if (fault() == "crash-device" && count > 0 && !host_can_read(buffer)) std::raise(SIGSEGV);
  if (count == large && fault() == "crash-64k") std::raise(SIGSEGV);
  while (count == large && fault() == "hang-64k") pause();
  if (count == large && fault() == "refuse-64k") return MPI_ERR_OTHER;
  // Shift the pointer instead of copying, because this may be device memory.
  if (count == large && fault() == "shift-64k") buffer = static_cast<const char*>(buffer) + 1;
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

extern "C" int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm,
                                       void* base, MPI_Win* window) {
  if (fault() == "crash-shared") std::raise(SIGSEGV);
  if (fault() == "kill-shared") std::raise(SIGKILL);
  return PMPI_Win_allocate_shared(bytes, unit, info, comm, base, window);
}
