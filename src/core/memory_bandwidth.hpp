/// @file
/// How fast memory can be read and written.
#pragma once

#include "core/communicator.hpp"
#include "core/machine.hpp"

namespace nekbone_k {

/// Bytes a second that all ranks together read plus write, as far as the code names them.
struct MemoryBandwidth {
  /// a = b, two doubles an entry: the better of a device copy and a copy kernel, which on a GPU
  /// reads and writes 16 bytes at once. With one CPU thread a rank that is a copy of the C library,
  /// which writes past the caches; a loop first reads what it will write.
  double copy = 0;
  /// a = b + s c, three doubles an entry, by a loop (STREAM: McCalpin 1995): like kernels of CG.
  double triad = 0;
};

/// By three vectors of half a gigabyte a node, shared by its ranks, or of one on each GPU, which
/// are freed again; by smaller ones where all three would take more than `most_bytes` of a node or
/// GPU, and not at all, with zeros as result, where they would fit into caches then. Collective.
MemoryBandwidth measure_memory_bandwidth(const Communicator& comm, const NodeLayout& layout,
                                         double most_bytes);

}  // namespace nekbone_k
