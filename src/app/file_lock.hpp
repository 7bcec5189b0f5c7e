/// @file
/// Files that several jobs write to.
#pragma once

namespace nekbone_k {

/// Keeps other processes that call this out of an open file, until it is closed. Waits for them, up
/// to `seconds`. Returns whether that is so: not in time, or not on a file system without locks.
/// Makes only calls that a signal handler may make.
bool lock_file(int file, double seconds);

}  // namespace nekbone_k
