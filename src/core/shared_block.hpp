// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A block of device memory that another process can open.
#pragma once

#include <cstddef>
#include <string>

namespace nekbone_k {

/// Device memory of this process that another process of the node can open.
struct SharedBlock {
  std::byte* data = nullptr;
  std::size_t bytes = 0;  ///< usable bytes
  /// Tells another process how to find and recognise the memory. May hold any bytes.
  std::string offer;
};

/// Allocates a block of at least `bytes`, with a random word behind it. The system frees the block
/// when the process ends. Throws UnavailableError if processes cannot share memory.
SharedBlock make_shared_block(std::size_t bytes);

/// Opens the block that another process offers. Containers number process ids and devices anew, so
/// another file may be at the same path. Throws UnavailableError, with the reason, if the block
/// cannot be opened, or if its identity (device, inode, size) or its random word differs.
std::byte* open_shared_block(const std::string& offer);

}  // namespace nekbone_k
