/// @file
/// Proves an exchange strategy right before it may be timed.
#pragma once

#include <memory>
#include <string>

#include "gs/halo_exchange.hpp"

namespace nekbone_k {

/// Empty if `strategy` combines the shared DOFs of `plan` correctly on every rank, else what is
/// wrong on the lowest rank where it is: the operation, the first bad DOF by global id, what was
/// expected and what was found; or what the strategy threw there. Collective, with the same result
/// on every rank. Waits for messages that take longer than `patience` seconds count as thrown
/// errors, where the strategy can give them up. Throws UnavailableError on every rank if the
/// strategy does.
///
/// Each share is a whole number, or ± a power of two for multiply, computed from the DOF's global
/// id, the rank it comes from and the number of the call, so the combination is exact in any order
/// and every rank can compute it without a message: that is the reference. All operations on double
/// are tried, addition on float and on three components, each twice with other data; before each
/// call every receive buffer is poisoned with what the operation cannot absorb (NaN for add and
/// multiply, +∞ for max, -∞ for min).
std::string verify_strategy(const Communicator& comm, std::shared_ptr<const DeviceHaloPlan> plan,
                            const Strategy& strategy, double patience = for_ever);

}  // namespace nekbone_k
