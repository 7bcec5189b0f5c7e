// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Staging: any exchange on copies of the messages in host memory, for an MPI that cannot or should
/// not access device memory.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Wraps the exchange that `inner` makes. Copies messages from device to host before it and from
/// host to device after it. The buffers are separate even if device memory is host memory, so that
/// every code path runs everywhere. Collective if `inner` is.
std::unique_ptr<Exchange> make_host_staged(ExchangeFactory inner, const Communicator&,
                                           const HaloPlan&, const MessageBuffers&);

/// make_host_staged() as an ExchangeFactory, for the table of strategies.
template <ExchangeFactory inner>
std::unique_ptr<Exchange> host_staged(const Communicator& comm, const HaloPlan& plan,
                                      const MessageBuffers& buffers) {
  return make_host_staged(inner, comm, plan, buffers);
}

}  // namespace nekbone_k
