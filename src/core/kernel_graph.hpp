// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Kernels that are recorded once and launched together.
#pragma once

#include <functional>
#include <memory>

#include "core/types.hpp"

namespace nekbone_k {

/// A sequence of kernels of the default instance as a graph of CUDA or HIP. A replay takes one
/// launch, so it costs the host little, and the device begins each kernel earlier than one that the
/// host launches. Not collective.
class KernelGraph {
 public:
  /// Whether this build can record: kernels run on a GPU.
  static constexpr bool is_available = !is_host_device;

  /// Records what `launch` launches, without running it. Every argument of a kernel stays as it was
  /// then, so what changes from replay to replay must be in device memory. `launch` must not wait
  /// for the device, nor copy from host memory; functors of more than 512 bytes need light().
  /// Kernels in other instances are recorded, too, if run_after() joins them. Throws InternalError
  /// if the launches cannot be recorded.
  explicit KernelGraph(const std::function<void()>& launch);

  /// Launches all kernels, after everything launched on the default instance so far. Does not wait.
  void replay() const;

 private:
  std::shared_ptr<void> m_graph;
};

}  // namespace nekbone_k
