// SPDX-License-Identifier: BSD-3-Clause
#include "machine/library_versions.hpp"

#include <fmt/format.h>

#include "core/config.hpp"
#include "core/nccl.hpp"
#include "core/types.hpp"
#ifdef NEKBONE_K_HAVE_NVSHMEM
#include <nvshmem_host.h>
#endif

namespace nekbone_k {

LibraryVersions library_versions() {
  LibraryVersions versions;
#if defined(KOKKOS_ENABLE_CUDA)
  const auto text = [](int code) {
    return fmt::format("CUDA {}.{}", code / 1000, code % 1000 / 10);
  };
  int runtime = 0, driver = 0;  // 0 means that there is no driver
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) versions.device_runtime = text(runtime);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0)
    versions.device_driver = text(driver);
#elif defined(KOKKOS_ENABLE_HIP)
  const auto text = [](int code) {
    return fmt::format("ROCm {}.{}.{}", code / 10'000'000, code / 100'000 % 100, code % 100'000);
  };
  int runtime = 0, driver = 0;
  if (hipRuntimeGetVersion(&runtime) == hipSuccess) versions.device_runtime = text(runtime);
  if (hipDriverGetVersion(&driver) == hipSuccess) versions.device_driver = text(driver);
#endif
#ifdef NEKBONE_K_HAVE_NCCL
  int nccl = 0;
  if (ncclGetVersion(&nccl) == ncclSuccess)
    versions.nccl = fmt::format("{}.{}.{}", nccl / 10'000, nccl / 100 % 100, nccl % 100);
#endif
#ifdef NEKBONE_K_HAVE_NVSHMEM
  int major = 0, minor = 0, patch = 0;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  versions.nvshmem = fmt::format("{}.{}.{}", major, minor, patch);
#endif
  return versions;
}

}  // namespace nekbone_k
