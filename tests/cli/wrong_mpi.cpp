// An MPI that goes wrong when a rank sends 64 KiB, to be preloaded (LD_PRELOAD) into the program by
// tests of what it says then. WRONG_MPI in the environment says how: "shift", "crash" or "refuse".
#include <mpi.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  const char* const text = std::getenv("WRONG_MPI");
  const std::string_view how = text == nullptr ? "" : text;
  if (count == 64 << 10 && how == "crash") std::raise(SIGSEGV);
  if (count == 64 << 10 && how == "refuse") return MPI_ERR_OTHER;
  // Without reading it, as it may be a device's memory: what lies one byte further.
  if (count == 64 << 10 && how == "shift") buffer = static_cast<const char*>(buffer) + 1;
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}
