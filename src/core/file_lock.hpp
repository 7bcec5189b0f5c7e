// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Locks for files that several jobs write to.
#pragma once

namespace nekbone_k {

/// Locks an open file against other processes that call this, until the file is closed. Waits up to
/// `seconds` for them. Returns false if the lock did not come in time or if the file system has no
/// locks. Makes only calls that a signal handler may make.
bool lock_file(int file, double seconds);

}  // namespace nekbone_k
