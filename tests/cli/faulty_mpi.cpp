// MPI calls that fail, preloaded into the program (LD_PRELOAD) by test_faults.py, as the real ones
// would where a library or a network is broken. NEKBONE_K_TEST_FAULT says which:
//   never   MPI_Ineighbor_alltoallv gives a request that is never done
//   hang    MPI_Ineighbor_alltoallv does not return
//   crash   MPI_Ineighbor_alltoallv ends the process by SIGSEGV, on the last rank
//   wrong   MPI_Ineighbor_alltoallv sends the first byte wrong
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

extern "C" int MPI_Ineighbor_alltoallv(const void* send, const int* counts, const int* offsets,
                                       MPI_Datatype type, void* receive, const int* from_counts,
                                       const int* from_offsets, MPI_Datatype from_type,
                                       MPI_Comm comm, MPI_Request* request) {
  const char* const asked_for = std::getenv("NEKBONE_K_TEST_FAULT");
  const std::string fault = asked_for != nullptr ? asked_for : "";
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (fault == "never") {
    static int nothing = 0;
    return PMPI_Irecv(&nothing, 1, MPI_INT, 0, 12345, MPI_COMM_SELF, request);
  }
  if (fault == "hang")
    for (;;) pause();
  if (fault == "crash" && rank == size - 1) std::raise(SIGSEGV);
  int type_bytes = 0;
  MPI_Type_size(type, &type_bytes);
  if (fault == "wrong" && send != nullptr && counts[0] > 0 && type_bytes > 0)
    static_cast<unsigned char*>(const_cast<void*>(send))[0] ^= 0x40;
  return PMPI_Ineighbor_alltoallv(send, counts, offsets, type, receive, from_counts, from_offsets,
                                  from_type, comm, request);
}
