/// @file
/// A second queue of kernels beside that of the default instance.
#pragma once

#include "core/types.hpp"

namespace nekbone_k {

/// An instance of ExecutionSpace whose kernels run beside those of the default instance and go
/// first where both could run: what other ranks wait for should not queue behind other work. One
/// for the whole run. Where kernels run on the host, the default instance.
ExecutionSpace side_stream();

/// What is launched on `later` from now on begins after what was launched on `earlier` up to now.
/// Returns at once.
void order(const ExecutionSpace& earlier, const ExecutionSpace& later);

}  // namespace nekbone_k
