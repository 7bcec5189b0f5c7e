/// @file
/// Any exchange with its messages staged through buffers in host memory, for an MPI that cannot, or
/// should not, touch device memory.
#pragma once

#include "gs/exchange.hpp"

namespace nekbone_k {

/// Wraps the exchange that `inner` makes: device → host before it, host → device after it. Where
/// the device is the host the buffers are separate all the same, so that every path runs
/// everywhere.
std::unique_ptr<Exchange> make_host_staged(ExchangeFactory inner, const Communicator&,
                                           const HaloPlan&, const MessageBuffers&);

/// The same as an ExchangeFactory, for the table of strategies.
template <ExchangeFactory inner>
std::unique_ptr<Exchange> host_staged(const Communicator& comm, const HaloPlan& plan,
                                      const MessageBuffers& buffers) {
  return make_host_staged(inner, comm, plan, buffers);
}

}  // namespace nekbone_k
