// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The interface of exchange strategies: how the packed messages of a rank reach its neighbours.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/communicator.hpp"
#include "core/peer_memory.hpp"
#include "core/waiting.hpp"
#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// Packed messages in device memory: HaloPlan::n_slots() items to send and the same number to
/// receive. An item has `item_bytes` bytes: all components of one shared DOF.
struct MessageBuffers {
  void* send = nullptr;
  void* receive = nullptr;
  std::size_t item_bytes = 0;
  /// The stream of the kernels that fill `send` and drain `receive`, and of the exchange.
  ExecutionSpace stream = {};
  /// Timeout of a wait for messages, in seconds. A strategy that supports it then throws an
  /// InternalError; its buffers must not be freed after that.
  double patience = for_ever;

  std::size_t bytes(const HaloPlan& plan) const { return item_bytes * plan.n_slots(); }
  /// The message of a neighbour in `buffer`, which has the layout of `send` and `receive`.
  std::byte* message(void* buffer, const Neighbour& n) const {
    return static_cast<std::byte*>(buffer) + n.offset * item_bytes;
  }
};

/// A field in device memory whose shared entries are sent. Component c of shared DOF s is the
/// value_bytes bytes at data + (c * component_stride + s) * value_bytes.
struct OutgoingField {
  const void* data = nullptr;
  std::size_t component_stride = 0, value_bytes = 0;
  int components = 1;
};

/// Input of an unpack kernel: n_slots items, and the flags that it must wait for. Kernels of other
/// ranks raise these flags when they have written a message.
struct Arrival {
  const void* messages = nullptr;  ///< null if they are in MessageBuffers::receive
  const Flag* flags = nullptr;     ///< (n_flags) raised to `call`; see await()
  int n_flags = 0;
  std::uint64_t call = 0;
  Late* late = nullptr;
};

struct WordMessages;  // exchange_by_kernel.hpp

/// Moves the messages of one set of buffers. An exchange has four steps, on every rank in this
/// order, even without neighbours:
///
/// 1. pack() makes messages from a field. If it cannot, a kernel of the caller fills `send`.
/// 2. post() sends the messages.
/// 3. wait() waits for messages of the neighbours, and says where an unpack kernel finds them.
/// 4. A kernel of the caller unpacks them there. A caller without such a kernel calls collect(),
///    and finds all messages in `receive`.
///
/// Kernels of steps 1 and 4 run in the stream of the buffers; steps 2 and 3 wait for that stream as
/// far as they must. by_kernel() replaces all steps if one kernel can do them. Destruction
/// is collective, because some strategies free memory that they share with other ranks.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Prepares the messages from `field`. For strategies whose kernels pack and send at once, or
  /// that send pieces of the field. Returns false and does nothing if the strategy cannot; then the
  /// caller fills `send`. Does not wait. The caller keeps the shared entries of `field` unchanged
  /// until after wait().
  virtual bool pack(const OutgoingField&) { return false; }
  /// Posts all messages. Returns without waiting for them if the strategy can. The previous unpack
  /// kernel may still run: no message may arrive in `receive` before it ends.
  virtual void post() = 0;
  /// Waits until the caller may change `send`, and until all messages are here for a kernel that is
  /// launched next. That kernel may have to read messages outside `receive` and to wait for flags;
  /// the result says so.
  virtual Arrival wait() = 0;
  /// Brings all messages to `receive`, for a kernel that is launched next. For strategies whose
  /// wait() leaves them elsewhere.
  virtual void collect() {}

  /// What one kernel that does a whole exchange must write and wait for; valid as long as the
  /// Exchange. Null, on all ranks, if the strategy has no such kernel. A caller may alternate
  /// between both ways.
  virtual const WordMessages* by_kernel() const { return nullptr; }

  /// Throws InternalError if a message that kernels waited for did not come. Call it after the host
  /// has waited for the device.
  virtual void check() const {}

  /// Copies `receive`, in device memory, to all other buffers that messages pass through, so that
  /// verification finds messages that were not delivered. Does nothing if there are none.
  /// Collective; call it between two exchanges.
  virtual void poison() {}
};

/// Makes an Exchange. The plan and the buffers outlive it. Collective; throws UnavailableError on
/// every rank if this build or this machine lacks what it needs.
using ExchangeFactory = std::unique_ptr<Exchange> (*)(const Communicator&, const HaloPlan&,
                                                      const MessageBuffers&);

}  // namespace nekbone_k
