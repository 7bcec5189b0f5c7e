// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Measured bandwidth of memory.
#pragma once

#include "core/communicator.hpp"
#include "core/system.hpp"

namespace nekbone_k {

/// Bytes per second that all ranks together read and write. Counts only the traffic that the code
/// names.
struct MemoryBandwidth {
  /// a = b, two doubles per entry: the faster of a device copy and a copy kernel. On a GPU the
  /// kernel reads and writes 16 bytes at once. With one CPU thread per rank, the copy is that of
  /// the C library, which bypasses the caches; a loop would first read what it writes.
  double copy = 0;
  /// a = b + s c, three doubles per entry, by a loop, like kernels of CG (STREAM: McCalpin 1995).
  double triad = 0;
};

/// Measures with three vectors, and frees them. Size of each vector:
///
/// - 1 GiB per GPU;
/// - on a host, four times the last-level caches of the node, as STREAM asks for (512 MiB if their
///   size is unknown), divided among its ranks;
/// - on a host, no more than `run_bytes`, which the run needs per node, because a small run should
///   not wait for a large measurement; but at least 128 MiB;
/// - less if all three would exceed `most_bytes` of a node or GPU, or the limits of a rank.
///
/// Does not measure, and returns zeros, if a vector would have less than 64 MiB: it might fit into
/// caches. Collective.
MemoryBandwidth measure_memory_bandwidth(const Communicator& comm, const NodeLayout& layout,
                                         double run_bytes, double most_bytes);

}  // namespace nekbone_k
