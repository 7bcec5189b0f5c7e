// SPDX-License-Identifier: BSD-3-Clause
// Stands for NVIDIA's management library with one GPU at 0000:1b:00.0. Each time its energy is
// asked for, it has used 2.5 J more. The GPU at 0000:2b:00.0 does not tell its energy.
#include <string_view>

namespace {
enum { success = 0, not_supported = 3, not_found = 6 };
int a_gpu, silent_gpu;
unsigned long long millijoules = 1'000'000;
}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are those of NVML.
extern "C" int nvmlInit_v2() { return success; }
extern "C" int nvmlShutdown() { return success; }
extern "C" const char* nvmlErrorString(int code) {
  return code == not_supported ? "Not Supported" : "Not Found";
}
extern "C" int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** device) {
  const std::string_view at = place;
  if (at != "0000:1b:00.0" && at != "0000:2b:00.0") return not_found;
  *device = at == "0000:1b:00.0" ? &a_gpu : &silent_gpu;
  return success;
}
extern "C" int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy) {
  if (device != &a_gpu) return not_supported;
  *energy = millijoules += 2500;
  return success;
}
// NOLINTEND(readability-identifier-naming)
