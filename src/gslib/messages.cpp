// SPDX-License-Identifier: BSD-3-Clause
#include "gslib/messages.hpp"

#include <mpi.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace nekbone_k::gslib {

namespace {

void say_why(const char* function, const std::string& why) {
  std::fprintf(stderr, "libnekbone_k_gslib: %s: %s\n", function, why.c_str());
  std::fflush(stderr);
}

}  // namespace

void die_together(const char* function, const std::string& why, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) say_why(function, why);
  MPI_Barrier(comm);  // no rank ends the job before the message is out
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

void die(const char* function, const std::string& why) {
  say_why(function, why);
  int is_running = 0, has_ended = 0;
  MPI_Initialized(&is_running);
  MPI_Finalized(&has_ended);
  if (is_running != 0 && has_ended == 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

void say(const std::string& line) {
  std::fprintf(stdout, "%s\n", line.c_str());
  std::fflush(stdout);
}

}  // namespace nekbone_k::gslib

// Functions in the headers of gslib use these. Programs that are compiled with those headers find
// them here if they link nothing else of gslib.
extern "C" {
__attribute__((visibility("default"))) unsigned gslib_comm_gbl_id = 0, gslib_comm_gbl_np = 1;

[[noreturn]] __attribute__((visibility("default"), format(printf, 4, 5))) void gslib_fail(
    int, const char* file, unsigned line, const char* format, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  nekbone_k::gslib::die((std::string(file) + ":" + std::to_string(line)).c_str(), text);
}
}
