// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Tests by transfers whether MPI really sends device memory, whatever MPI claims.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"

namespace nekbone_k {

/// The location of the two ends of a transfer.
enum class ProbePlace { within_node, between_nodes };
/// "within a node" or "between nodes".
std::string name(ProbePlace place);

/// The memory that MPI reads and writes.
enum class ProbeMemory {
  direct,  ///< device memory itself
  staged   ///< pinned copies on the host, made before and after the messages
};

/// One message size at one offset in one place.
struct ProbeEntry {
  ProbePlace place = ProbePlace::within_node;
  ProbeMemory memory = ProbeMemory::direct;
  std::size_t bytes = 0;   ///< of one message
  std::size_t offset = 0;  ///< B, distance of both buffers from an aligned address
  std::string failure;     ///< the error and its rank; empty if there is none
  /// Median over repeats on the slowest rank, in s. A repeat sends two messages and receives two at
  /// once, and copies staged ones. Meaningless after a failure.
  double seconds = 0;

  bool ok() const { return failure.empty(); }
};

/// MPI's statement on device memory.
struct MpiClaim {
  std::string query;           ///< e.g. "MPIX_Query_cuda_support"; empty if MPI has none
  std::optional<bool> device;  ///< the answer: whether MPI sends device memory
};

/// MPI's claim and the results, the same on every rank.
struct MpiProbe {
  std::string memory;  ///< name of the device memory space; "Host" if kernels run on the host
  MpiClaim claim;
  std::vector<ProbeEntry> entries;
  /// Whether a transfer threw or did not arrive. Its messages may never end, so MPI cannot be
  /// finalised.
  bool stuck = false;

  /// The number of transfers that were wrong or did not end.
  std::ptrdiff_t count_wrong() const {
    return std::count_if(entries.begin(), entries.end(),
                         [](const ProbeEntry& entry) { return !entry.ok(); });
  }
};

/// The messages of a rank in a ring: it sends two and receives two at once. Number 0 goes to the
/// next rank and comes from the previous one; number 1 goes the other way. In a ring of two, both
/// are the same rank.
struct RingMessages {
  std::array<int, 2> to = {}, from = {};
  std::array<const void*, 2> send = {};
  std::array<void*, 2> receive = {};
  int bytes = 0;
  int tag = 0;  ///< of message 0; message 1 has the next one
};

/// Moves the messages of one repeat; throws if that fails. Not called on ranks that are in no ring.
using ProbeTransfer =
    std::function<void(const Communicator&, const ProbeEntry&, const RingMessages&)>;

/// Sends the messages by MPI_Isend and MPI_Irecv. Throws InternalError if MPI fails, or if the
/// messages have not arrived after `limit` seconds.
void send_ring_messages(const Communicator& comm, const RingMessages& messages, double limit = 30);

struct ProbeOptions {
  std::vector<std::size_t> sizes{8, 4 << 10, 64 << 10, 1 << 20, 4 << 20};
  /// In bytes: aligned, behind an odd number of doubles as in a message of a halo, and unaligned.
  std::vector<std::size_t> offsets{0, 8, 3};
  /// Whether to time staged messages, too, for each size at the first offset.
  bool staged = false;
  /// Whether a rank that is alone on its node sends to itself.
  bool to_itself = false;
  int repeats = 5;
  ProbeTransfer transfer = [](const Communicator& comm, const ProbeEntry&,
                              const RingMessages& messages) { send_ring_messages(comm, messages); };
  /// Called on every rank before and after each entry. No rank begins before all were called. An
  /// MPI that cannot read device memory usually ends the process in between by a segmentation
  /// fault.
  std::function<void(const ProbeEntry&)> before = [](const ProbeEntry&) {};
  std::function<void(const ProbeEntry&)> after = [](const ProbeEntry&) {};
};

/// The place, and the memory if kernels do not use it.
std::string name(const ProbeEntry& path);

/// MPI's claim in words: "MPIX_Query_cuda_support says: GPU-aware".
std::string claim_text(const MpiClaim& claim);
/// The failed transfer and its failure in words.
std::string failure_text(const ProbeEntry& entry);

/// The claim of the MPI of this build, as rank 0 reports it. Collective.
MpiClaim mpi_claim(const Communicator& comm);

/// Sends device memory along rings of ranks: within each node (nodes_of_ranks), and between nodes,
/// from each rank to the rank with the same position on the next node. Each rank sends to both
/// neighbours at once. Every repeat checks every byte, in receive buffers that hold its complement
/// before, and the bytes around the message. A place without two ranks has no entries, except with
/// options.to_itself.
///
/// **May crash the job** if MPI is not GPU-aware: call it only in an expendable job. A transfer
/// that throws makes its entry fail, and ends the entries of the same place and memory. Collective.
MpiProbe probe_mpi(const Communicator& comm, const ProbeOptions& options);

}  // namespace nekbone_k
