// SPDX-License-Identifier: BSD-3-Clause
#include "core/kernel_graph.hpp"

#include <exception>
#include <string>
#include <vector>

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
  } catch (const std::exception& error) {
    static_cast<void>(NEKBONE_K_GPU(StreamEndCapture)(stream, &graph));
    if (graph != nullptr) static_cast<void>(NEKBONE_K_GPU(GraphDestroy)(graph));
    static_cast<void>(NEKBONE_K_GPU(GetLastError)());  // so that later calls do not return it
    // With a tool that times kernels, Kokkos waits for each.
    throw InternalError(std::string("recording kernels: ") + error.what());
  }
  check_gpu(NEKBONE_K_GPU(StreamEndCapture)(stream, &graph), "recording kernels");
  return graph;
}

/// Whether a copy in `graph` reads host memory. Kokkos copies large functors to the device, from
/// memory that later launches overwrite; see light().
bool copies_from_host(Graph graph) {
  std::size_t n_nodes = 0;
  check_gpu(NEKBONE_K_GPU(GraphGetNodes)(graph, nullptr, &n_nodes), "counting recorded kernels");
  std::vector<NEKBONE_K_GPU(GraphNode_t)> nodes(n_nodes);
  check_gpu(NEKBONE_K_GPU(GraphGetNodes)(graph, nodes.data(), &n_nodes),
            "listing recorded kernels");
  for (const auto node : nodes) {
    NEKBONE_K_GPU(GraphNodeType) type;
    check_gpu(NEKBONE_K_GPU(GraphNodeGetType)(node, &type), "reading a recorded kernel");
    if (type != NEKBONE_K_GPU(GraphNodeTypeMemcpy)) continue;
    NEKBONE_K_GPU(Memcpy3DParms) copy{};
    check_gpu(NEKBONE_K_GPU(GraphMemcpyNodeGetParams)(node, &copy), "reading a recorded copy");
    if (copy.kind == NEKBONE_K_GPU(MemcpyHostToDevice)) return true;
  }
  return false;
}

}  // namespace

KernelGraph::KernelGraph(const std::function<void()>& launch) {
  const std::shared_ptr<void> owner(recorded(launch), [](void* graph) {
    static_cast<void>(NEKBONE_K_GPU(GraphDestroy)(static_cast<Graph>(graph)));
  });
  const auto graph = static_cast<Graph>(owner.get());
  require(!copies_from_host(graph), "a recorded kernel has arguments in host memory");
  Instance instance = nullptr;
  check_gpu(NEKBONE_K_GPU(GraphInstantiateWithFlags)(&instance, graph, 0),
            "making a graph of kernels");
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
