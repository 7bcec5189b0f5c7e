/// @file
/// The one thing in which exchange strategies differ: how a rank's packed messages reach its
/// neighbours.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/communicator.hpp"
#include "core/peer_memory.hpp"
#include "core/waiting.hpp"
#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// Packed messages in device memory: HaloPlan::n_slots() items to send and as many to receive, each
/// of `item_bytes` bytes (all components of one shared DOF).
struct MessageBuffers {
  void* send = nullptr;
  void* receive = nullptr;
  std::size_t item_bytes = 0;
  /// Where the kernels run that fill `send` and drain `receive`, and those of the exchange.
  ExecutionSpace stream = {};
  /// Seconds after which a wait for messages is given up with an InternalError, where a strategy
  /// can: its buffers must then not be freed.
  double patience = for_ever;

  std::size_t bytes(const HaloPlan& plan) const { return item_bytes * plan.n_slots(); }
  /// A neighbour's message in `buffer`, which is one of the two or laid out like them.
  std::byte* message(void* buffer, const Neighbour& n) const {
    return static_cast<std::byte*>(buffer) + n.offset * item_bytes;
  }
};

/// A field whose shared entries are to be sent: component c of shared DOF s is the value_bytes
/// bytes at data + (c * component_stride + s) * value_bytes, in device memory.
struct OutgoingField {
  const void* data = nullptr;
  std::size_t component_stride = 0, value_bytes = 0;
  int components = 1;
};

/// What a kernel that unpacks has to read, n_slots items, and the flags that it has to see raised
/// before: those of messages that other ranks' kernels write.
struct Arrival {
  const void* messages = nullptr;
  const Flag* flags = nullptr;  ///< (n_flags) raised to `call`; see await()
  int n_flags = 0;
  std::uint64_t call = 0;
  int* late = nullptr;
};

struct WordMessages;  // exchange_by_kernel.hpp

/// Moves the packed messages of one set of buffers, again and again.
///
/// Every rank alternates start() and finish(), also one without neighbours. start() waits for the
/// kernels launched on the buffers' stream as far as it must, and after finish() a kernel launched
/// there sees what was received. Destruction is collective: some strategies free what they share
/// with other ranks.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Posts everything; returns without waiting for messages where the strategy can. The last unpack
  /// may still be running: nothing may arrive in `receive` before it is done.
  virtual void start() = 0;
  /// Waits until all messages are in `receive` and `send` may be changed.
  virtual void finish() = 0;

  /// For strategies whose kernels pack `field` on the way, or that send pieces of it: launches what
  /// they need, instead of a kernel that fills `send`, before start(). Returns false, and does
  /// nothing, where there is no such way. Waits for nothing. The shared entries of `field`
  /// stay as they are until after finish().
  virtual bool pack(const OutgoingField&) { return false; }
  /// finish(), for an unpack kernel launched next that can read elsewhere than in `receive`, and
  /// wait for flags itself.
  virtual Arrival arrive(const void* receive) {
    finish();
    return {receive};
  }

  /// For strategies by which one kernel can do a whole exchange: begins one, in the place of
  /// pack(), start() and finish(), and returns what that kernel, launched next, has to write and to
  /// wait for; valid until the next exchange begins. Null, and nothing has begun, where there is no
  /// such way. All ranks get one or none, and may use both ways in turn.
  virtual const WordMessages* begin_by_kernel() { return nullptr; }

  /// Throws InternalError if a message that kernels waited for did not come. To be called where the
  /// host has waited for the device.
  virtual void check() const {}

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
