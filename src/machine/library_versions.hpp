// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Versions of the libraries that GPUs and their exchanges need.
#pragma once

#include <string>

namespace nekbone_k {

/// Versions as the loaded libraries report them, such as "2.28.9". Empty if this build lacks the
/// library, or if the library reports no version.
struct LibraryVersions {
  std::string device_runtime;  ///< CUDA or ROCm, with its name: "CUDA 13.0"
  std::string device_driver;   ///< newest runtime that the driver supports: "CUDA 13.1"
  std::string nccl;            ///< NCCL or RCCL
  std::string nvshmem;
};

/// The versions in this process. Does not initialise the libraries.
LibraryVersions library_versions();

}  // namespace nekbone_k
