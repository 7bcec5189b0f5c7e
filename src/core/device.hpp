/// @file
/// The accelerator that a rank's kernels run on.
#pragma once

#include <string>

#include "core/communicator.hpp"

namespace nekbone_k {

/// One line that tells this rank's device from every other of the node, e.g. "Cuda 0, NVIDIA H200
/// at 0000:1b:00"; "host" where kernels run on the processor.
std::string device_name();

/// Where this rank's accelerator is on the PCI bus, e.g. "0000:1b:00"; empty without one.
std::string device_place();

/// How many ranks have this rank's accelerator, itself included; 1 without one. Collective.
int ranks_on_device(const Communicator& comm);

/// Bytes of device memory that new allocations can have; infinity where that is the host's.
double available_device_memory();

}  // namespace nekbone_k
