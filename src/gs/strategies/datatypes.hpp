/// @file
/// Point-to-point messages that MPI itself picks from the field.
#pragma once

#include "core/types.hpp"
#include "gs/exchange.hpp"

namespace nekbone_k {

/// What this build lacks for it; empty if nothing.
inline constexpr const char* datatypes_missing =
    is_host_device ? ""
                   : "the field is in device memory, which MPI would copy entry by entry, and may "
                     "mistake for what was there before";

/// As make_pairwise(), but nothing is packed: each message is sent from the shared entries of the
/// field by an indexed datatype (MPI_Type_create_indexed_block), made once for each neighbour and
/// again when the distance between components changes. What arrives is contiguous, as shares are
/// combined in ascending rank. Where start() is not preceded by pack() the send buffer is sent.
///
/// Throws UnavailableError where the field is in the memory of a device. MPI libraries copy what a
/// datatype picks from there entry by entry, and those that remember memory by its address may
/// mistake a field for an earlier one (gs/message_memory.hpp).
std::unique_ptr<Exchange> make_datatypes(const Communicator&, const HaloPlan&,
                                         const MessageBuffers&);

}  // namespace nekbone_k
