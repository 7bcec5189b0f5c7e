// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The schedule of an overlapped exchange.
#pragma once

#include <exception>

#include "core/streams.hpp"
#include "core/types.hpp"
#include "gs/field_exchange.hpp"

namespace nekbone_k {

/// Runs `first`, and then `second` even if `first` throws, because other ranks may wait for what
/// `second` does. Rethrows the first exception.
template <class First, class Second>
void run_both(const First& first, const Second& second) {
  std::exception_ptr thrown;
  try {
    first();
  } catch (...) {
    thrown = std::current_exception();
  }
  try {
    second();
  } catch (...) {
    if (!thrown) thrown = std::current_exception();
  }
  if (thrown) std::rethrow_exception(thrown);
}

/// Runs an exchange by an overlapped strategy, and work while its messages are under way:
///
/// 1. before(stream) launches the work that computes what the exchange packs, in the stream that
///    packs it. There it takes priority over other kernels.
/// 2. meanwhile() launches work on everything else, in the default stream. It runs even if an
///    earlier step throws, as it may start an all-reduce.
/// 3. The exchange combines the messages.
///
/// Kernels may still run on return. Collective.
template <class T, class Before, class Meanwhile>
void run_overlapped(const Before& before, const FieldExchange<T>& exchange,
                    const Meanwhile& meanwhile) {
  // If kernels keep the host busy, messages are posted before the work. Otherwise they are posted
  // after its launch: posting waits for packing, and the device should have work meanwhile.
  run_both(
      [&] {
        before(side_stream());
        exchange.pack();
        if (is_host_device) exchange.post();
      },
      meanwhile);
  if (!is_host_device) exchange.post();
  exchange.wait();
  exchange.unpack();
}

}  // namespace nekbone_k
