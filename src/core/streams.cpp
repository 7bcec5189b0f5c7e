#include "core/streams.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/errors.hpp"

namespace nekbone_k {

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
namespace {

#ifdef KOKKOS_ENABLE_CUDA
using Stream = cudaStream_t;
using Event = cudaEvent_t;
void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess)
    throw InternalError(fmt::format("{}: {}", what, cudaGetErrorString(code)));
}
Stream stream_of(const ExecutionSpace& space) { return space.cuda_stream(); }
Stream make_stream() {
  int least = 0, greatest = 0;
  Stream stream = nullptr;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities of streams");
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "making a stream");
  return stream;
}
Event make_event() {
  Event event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return event;
}
void record(Event event, Stream stream) {
  check(cudaEventRecord(event, stream), "recording an event");
}
void wait_for(Event event, Stream stream) {
  check(cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}
#else
using Stream = hipStream_t;
using Event = hipEvent_t;
void check(hipError_t code, const char* what) {
  if (code != hipSuccess) throw InternalError(fmt::format("{}: {}", what, hipGetErrorString(code)));
}
Stream stream_of(const ExecutionSpace& space) { return space.hip_stream(); }
Stream make_stream() {
  int least = 0, greatest = 0;
  Stream stream = nullptr;
  check(hipDeviceGetStreamPriorityRange(&least, &greatest), "priorities of streams");
  check(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest), "making a stream");
  return stream;
}
Event make_event() {
  Event event = nullptr;
  check(hipEventCreateWithFlags(&event, hipEventDisableTiming), "making an event");
  return event;
}
void record(Event event, Stream stream) {
  check(hipEventRecord(event, stream), "recording an event");
}
void wait_for(Event event, Stream stream) {
  check(hipStreamWaitEvent(stream, event, 0), "waiting for an event");
}
#endif

}  // namespace

// Stream and event live until the process ends; of Kokkos' instance Kokkos must see the end.
ExecutionSpace side_stream() {
  static std::optional<ExecutionSpace> instance;
  if (!instance) {
    instance.emplace(make_stream());
    Kokkos::push_finalize_hook([] { instance.reset(); });
  }
  return *instance;
}

void order(const ExecutionSpace& earlier, const ExecutionSpace& later) {
  // One will do: who waits, waits for what was recorded when it was told to.
  static const Event event = make_event();
  const Stream first = stream_of(earlier), second = stream_of(later);
  if (first == second) return;
  record(event, first);
  wait_for(event, second);
}

#else

ExecutionSpace side_stream() { return {}; }
void order(const ExecutionSpace&, const ExecutionSpace&) {}

#endif

}  // namespace nekbone_k
