// SPDX-License-Identifier: BSD-3-Clause
// A tool library for Kokkos (KOKKOS_TOOLS_LIBS). It writes the regions of its process to
// regions-PID.txt in the working directory, one line each: "+ NAME" where a region begins, "-"
// where one ends, and at last "end", where Kokkos ends. Without regions it writes nothing.
#include <unistd.h>

#include <cstdio>
#include <string>

namespace {
std::FILE* file = nullptr;
}

extern "C" void kokkosp_push_profile_region(const char* name) {
  if (file == nullptr) {
    file = std::fopen(("regions-" + std::to_string(getpid()) + ".txt").c_str(), "w");
    if (file == nullptr) return;
  }
  std::fprintf(file, "+ %s\n", name);
}

extern "C" void kokkosp_pop_profile_region() {
  if (file != nullptr) std::fputs("-\n", file);
}

extern "C" void kokkosp_finalize_library() {
  if (file == nullptr) return;
  std::fputs("end\n", file);
  std::fclose(file);
  file = nullptr;
}
