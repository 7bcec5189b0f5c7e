/// @file
/// Versions of the libraries that GPUs and their exchanges depend on.
#pragma once

#include <string>

namespace nekbone_k {

/// As the libraries that run say themselves, such as "2.28.9"; empty where this build has no such
/// library, or it does not say.
struct LibraryVersions {
  std::string device_runtime;  ///< of CUDA or ROCm, with its name: "CUDA 13.0"
  std::string device_driver;   ///< the newest runtime that the driver can serve: "CUDA 13.1"
  std::string nccl;            ///< NCCL or RCCL
  std::string nvshmem;
};

/// Those of this process. Begins none of the libraries.
LibraryVersions library_versions();

}  // namespace nekbone_k
