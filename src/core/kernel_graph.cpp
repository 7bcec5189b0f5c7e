// SPDX-License-Identifier: BSD-3-Clause
#include "core/kernel_graph.hpp"

#include "core/errors.hpp"
#include "core/gpu_api.hpp"

namespace nekbone_k {

#if defined(NEKBONE_K_GPU)
namespace {

using Graph = NEKBONE_K_GPU(Graph_t);
using Instance = NEKBONE_K_GPU(GraphExec_t);

/// Records what `launch` launches. Ends the recording even if `launch` throws.
Graph recorded(const std::function<void()>& launch) {
  const auto stream = native_stream(ExecutionSpace());
  // Relaxed, because other threads and Kokkos may call the device while this one records.
  check_gpu(NEKBONE_K_GPU(StreamBeginCapture)(stream, NEKBONE_K_GPU(StreamCaptureModeRelaxed)),
            "beginning to record kernels");
  Graph graph = nullptr;
  try {
    launch();
  } catch (...) {
    static_cast<void>(NEKBONE_K_GPU(StreamEndCapture)(stream, &graph));
    if (graph != nullptr) static_cast<void>(NEKBONE_K_GPU(GraphDestroy)(graph));
    throw;
  }
  check_gpu(NEKBONE_K_GPU(StreamEndCapture)(stream, &graph), "recording kernels");
  return graph;
}

}  // namespace

KernelGraph::KernelGraph(const std::function<void()>& launch) {
  const Graph graph = recorded(launch);
  Instance instance = nullptr;
  const auto code = NEKBONE_K_GPU(GraphInstantiateWithFlags)(&instance, graph, 0);
  static_cast<void>(NEKBONE_K_GPU(GraphDestroy)(graph));
  check_gpu(code, "making a graph of kernels");
  m_graph = {instance, [](void* made) {
               static_cast<void>(NEKBONE_K_GPU(GraphExecDestroy)(static_cast<Instance>(made)));
             }};
}

void KernelGraph::replay() const {
  check_gpu(NEKBONE_K_GPU(GraphLaunch)(static_cast<Instance>(m_graph.get()),
                                       native_stream(ExecutionSpace())),
            "launching a graph of kernels");
}

#else

KernelGraph::KernelGraph(const std::function<void()>&) {
  throw InternalError("kernels on the host cannot be recorded");
}
void KernelGraph::replay() const {}

#endif

}  // namespace nekbone_k
