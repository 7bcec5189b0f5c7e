/// @file
/// The one thing in which exchange strategies differ: how a rank's packed messages reach its
/// neighbours.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/communicator.hpp"
#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// Packed messages in device memory: HaloPlan::n_slots() items to send and as many to receive, each
/// of `item_bytes` bytes (all components of one shared DOF).
struct MessageBuffers {
  void* send = nullptr;
  void* receive = nullptr;
  std::size_t item_bytes = 0;

  std::size_t bytes(const HaloPlan& plan) const { return item_bytes * plan.n_slots(); }
};

/// Moves the packed messages of one set of buffers, again and again.
///
/// Every rank calls start() and finish() in turn, also one without neighbours. The kernels that
/// fill `send` and drain `receive` run on the default instance of ExecutionSpace: start() waits for
/// the first as far as it must, and after finish() a kernel launched there sees what was received.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Posts everything; returns without waiting for messages where the strategy can. The last unpack
  /// may still be running: nothing may arrive in `receive` before it is done.
  virtual void start() = 0;
  /// Waits until all messages are in `receive` and `send` may be changed.
  virtual void finish() = 0;

  /// Copies `receive` in device memory to every further buffer that messages pass through, so that
  /// verification finds what was not delivered. Nothing to do where there is none. Collective,
  /// between two exchanges.
  virtual void poison() {}
};

/// What makes an Exchange. The plan and the buffers outlive it. Collective; throws UnavailableError
/// on every rank where this build or this machine lacks what it needs.
using ExchangeFactory = std::unique_ptr<Exchange> (*)(const Communicator&, const HaloPlan&,
                                                      const MessageBuffers&);

}  // namespace nekbone_k
