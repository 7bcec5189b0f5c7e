// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The accelerator that a rank's kernels run on.
#pragma once

#include <string>

#include "core/communicator.hpp"

namespace nekbone_k {

/// One line that distinguishes this rank's device from every other of the node, e.g. "Cuda 0,
/// NVIDIA H200 at 0000:1b:00"; "host" if kernels run on the CPU.
std::string device_name();

/// Name of the first accelerator that this process sees, e.g. "NVIDIA H200"; "host" if kernels run
/// on the CPU, "none" if no accelerator is visible. May be called before Kokkos starts.
std::string first_device_model();

/// PCI bus address of this rank's accelerator, e.g. "0000:1b:00"; empty without an accelerator.
std::string device_place();

/// Number of ranks on this rank's accelerator, itself included; 1 without one. Collective.
int ranks_on_device(const Communicator& comm);

/// Free device memory, in bytes; infinity if the device is the host or the amount is unknown.
double available_device_memory();

/// Whether an address of the caller is in memory of the device. Of a host, all memory is.
bool is_device_memory(const void* address);

}  // namespace nekbone_k
