/// @file
/// Whether MPI really sends device memory: tried by transfers, beside what its own query claims.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"

namespace nekbone_k {

/// Where the two ends of the transfers are.
enum class ProbePlace { within_node, between_nodes };
/// "within a node" or "between nodes".
std::string name(ProbePlace place);

/// The memory that MPI is handed.
enum class ProbeMemory {
  direct,  ///< device memory itself
  staged   ///< pinned copies on the host, made before and after the messages
};

/// One message size at one offset, tried in one place.
struct ProbeEntry {
  ProbePlace place = ProbePlace::within_node;
  ProbeMemory memory = ProbeMemory::direct;
  std::size_t bytes = 0;   ///< of one message
  std::size_t offset = 0;  ///< bytes of send and receive buffer beyond their alignment
  std::string failure;     ///< what was wrong, and on which rank; empty if nothing
  /// Median over repeats, on the slowest rank, of two messages out and two in at once, copies of a
  /// staged one included, s. Of no meaning after a failure.
  double seconds = 0;

  bool ok() const { return failure.empty(); }
};

/// What MPI says about itself.
struct MpiClaim {
  std::string query;           ///< what was asked, e.g. "MPIX_Query_cuda_support"; empty: nothing
  std::optional<bool> device;  ///< the answer: sends device memory, or does not
};

/// What was claimed and what was found, alike on every rank.
struct MpiProbe {
  std::string memory;  ///< name of the device memory space; "Host" where kernels run on the host
  MpiClaim claim;
  std::vector<ProbeEntry> entries;
  /// Whether a transfer threw or did not come: messages of it may be under way for ever, so that
  /// MPI cannot be ended in good order.
  bool stuck = false;
};

/// Two messages that a rank sends at once and two that it receives: number 0 goes to the next rank
/// of a ring, and comes from the previous; number 1 the other way round. In a ring of two the next
/// is the previous. Not called on ranks that are in no ring.
struct RingMessages {
  std::array<int, 2> to = {}, from = {};
  std::array<const void*, 2> send = {};
  std::array<void*, 2> receive = {};
  int bytes = 0;
  int tag = 0;  ///< of message 0; message 1 has the one after it
};

/// Moves the messages of one repeat; throws what went wrong.
using ProbeTransfer =
    std::function<void(const Communicator&, const ProbeEntry&, const RingMessages&)>;

/// MPI_Isend and MPI_Irecv. Throws InternalError if MPI does, or if the messages are not there
/// after `limit` seconds.
void send_ring_messages(const Communicator& comm, const RingMessages& messages, double limit = 30);

struct ProbeOptions {
  std::vector<std::size_t> sizes{8, 4 << 10, 64 << 10, 1 << 20, 4 << 20};
  /// Doubles behind an odd number of doubles, as in a message of a halo; and nothing to rely on.
  std::vector<std::size_t> offsets{0, 8, 3};
  /// Whether to time staged messages, too: each size, the first offset.
  bool staged = false;
  int repeats = 5;
  ProbeTransfer transfer = [](const Communicator& comm, const ProbeEntry&,
                              const RingMessages& messages) { send_ring_messages(comm, messages); };
  /// Called on every rank before and after each entry; no rank begins before all were called. An
  /// MPI that cannot read device memory ends the process in between, as a rule, by a segmentation
  /// fault.
  std::function<void(const ProbeEntry&)> before = [](const ProbeEntry&) {};
  std::function<void(const ProbeEntry&)> after = [](const ProbeEntry&) {};
};

/// What the MPI that this build was made with says of itself. Collective; rank 0's answer.
MpiClaim mpi_claim(const Communicator& comm);

/// Sends device memory round rings of ranks: within each node (nodes_of_ranks), and through the
/// nodes, from each rank to the one of the same place on the next. Both neighbours at once, every
/// byte checked in every repeat, in receive buffers that hold its complement before, and also the
/// bytes around the message. A place without two ranks has no entries.
///
/// **May crash the job** where MPI is not GPU-aware: only for a job that is made to be lost.
/// Collective; what a transfer throws becomes an entry's failure, and the entries that would follow
/// in the same place and memory are not tried.
MpiProbe probe_mpi(const Communicator& comm, const ProbeOptions& options);

}  // namespace nekbone_k
