// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Point-to-point messages whose entries MPI picks from the field.
#pragma once

#include "core/types.hpp"
#include "gs/exchange.hpp"

namespace nekbone_k {

/// What this build lacks for this strategy; empty if nothing.
inline constexpr const char* datatypes_missing =
    is_host_device ? ""
                   : "the field is in device memory, which MPI would copy entry by entry, and may "
                     "mistake for what was there before";

/// Like make_pairwise(), but without packing. It sends each message from the shared entries of the
/// field by an indexed datatype (MPI_Type_create_indexed_block). Datatypes are made once per
/// neighbour, and again when the distance between components changes. Received messages are
/// contiguous, because the unpack kernel combines shares in ascending rank. Without a preceding
/// pack(), post() sends the send buffer.
///
/// Throws UnavailableError if the field is in the memory of a GPU. There, MPI libraries copy the
/// entries of a datatype one by one. Libraries that remember memory by its address may also mistake
/// a field for an earlier one (core/message_memory.hpp).
std::unique_ptr<Exchange> make_datatypes(const Communicator&, const HaloPlan&,
                                         const MessageBuffers&);

}  // namespace nekbone_k
