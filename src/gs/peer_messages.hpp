/// @file
/// Messages that kernels write straight into the memory of neighbours, and those that came so.
#pragma once

#include <cstdint>

#include "core/peer_memory.hpp"
#include "core/types.hpp"
#include "gs/exchange.hpp"
#include "gs/index_runs.hpp"

namespace nekbone_k {

/// What kernels know of a neighbour. One on another node has no flags: kernels pack for MPI, and
/// read what MPI received.
struct Peer {
  /// Where items to it go, at even and odd calls: that of slot s to s * item_bytes behind.
  std::byte* to[2];
  Flag* sent = nullptr;           ///< at the neighbour: calls whose message from here is there
  const Flag* arrived = nullptr;  ///< here: calls whose message from the neighbour has come
  Flag* written = nullptr;        ///< here: calls whose message to it no longer needs the field
  int n_pieces = 0;
};

/// Slots of the message to one neighbour that a team writes.
struct PeerPiece {
  int peer;
  IndexRun slots;
};

/// What a team of a kernel that does a whole exchange does: writes a piece or, without a peer,
/// combines a run of shared DOFs once the messages in which they are were written and have come.
struct PeerTask {
  static constexpr int no_peer = -1;
  int peer;
  IndexRun run;
  int first_needed, n_needed;  ///< peers whose messages a run of DOFs waits for
};

/// The messages of one set of buffers at one call.
struct PeerMessages {
  DeviceVector<Peer> peers;
  DeviceVector<int> pieces_written;  ///< (peers) of the call's message
  DeviceVector<LocalIndex> dofs;     ///< (slots)
  std::uint64_t call = 0;
  const void* landing = nullptr;  ///< what comes at this call
  int* late = nullptr;

  // Teams take one task after another. Those that write wait for nothing and are the first of the
  // list, so that no team waits for what no team does.
  DeviceVector<PeerTask> tasks;
  DeviceVector<int> needed;
  DeviceVector<std::uint64_t> n_taken;  ///< (1) at this and all earlier calls
  std::uint64_t taken_before = 0;       ///< at earlier calls
};

using PeerTeamPolicy =
    Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<RunShape::team_size, 0>>;
using PeerTeam = PeerTeamPolicy::member_type;

/// Word w of the item in slot s is data[index * item_stride + w * word_stride], where the index is
/// that of its DOF or, where it has been packed, s.
template <class Word>
struct MessageSource {
  const Word* data;
  bool is_packed;
  std::size_t item_stride, word_stride;
  int words;
};

/// Writes a piece of the messages of a call. The team that ends a message, of all that write it,
/// raises its flags.
template <class Word>
KOKKOS_FUNCTION void write_piece(const PeerTeam& team, const PeerMessages& messages,
                                 const PeerPiece& piece, const MessageSource<Word>& source) {
  const Peer peer = messages.peers(piece.peer);
  auto* const to = reinterpret_cast<Word*>(peer.to[messages.call % 2]);
  const IndexRun slots = source.is_packed
                             ? IndexRun{piece.slots.begin, piece.slots.count, piece.slots.begin, 1}
                             : piece.slots;
  for_positions<RunShape::team_size>(
      slots, messages.dofs.data(), team.team_rank(), [&](LocalIndex slot, LocalIndex index) {
        const Word* const item = source.data + index * source.item_stride;
        for (int w = 0; w < source.words; ++w)
          to[std::int64_t{slot} * source.words + w] = item[w * source.word_stride];
      });
  if (peer.sent == nullptr) return;
  team.team_barrier();
  Kokkos::single(Kokkos::PerTeam(team), [&]() {
    // What this team wrote comes before its count, and what others wrote before the flags.
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    int& pieces_written = messages.pieces_written(piece.peer);
    if (Kokkos::atomic_fetch_add(&pieces_written, 1) + 1 < peer.n_pieces) return;
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    pieces_written = 0;
    raise(peer.sent, messages.call);
    raise(peer.written, messages.call);
  });
}

/// A whole exchange of a field of T: writes the messages of a call, waits for those of the
/// neighbours, and does combine(run, from, received) for the shared DOFs.
template <class T, class Combine>
struct ExchangeByKernel {
  PeerMessages messages;
  MessageSource<T> source;
  Combine combine;

  KOKKOS_FUNCTION void operator()(const PeerTeam& team) const {
    std::uint64_t taken = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](std::uint64_t& mine) {
          mine = Kokkos::atomic_fetch_add(&messages.n_taken(0), std::uint64_t{1});
        },
        taken);
    const PeerTask task = messages.tasks(taken - messages.taken_before);
    if (task.peer != PeerTask::no_peer)
      return write_piece(team, messages, {task.peer, task.run}, source);
    for (int n = team.team_rank(); n < task.n_needed; n += RunShape::team_size) {
      const Peer peer = messages.peers(messages.needed(task.first_needed + n));
      await(peer.written, messages.call, messages.late);
      await(peer.arrived, messages.call, messages.late);
    }
    team.team_barrier();
    combine(task.run, team.team_rank(), static_cast<const T*>(messages.landing));
  }
};

/// Launches an ExchangeByKernel in the order of the kernels of `stream`. Only on a GPU: kernels on
/// a CPU would hold up what they wait for.
template <class T, class Combine>
void launch_exchange(const ExecutionSpace& stream, const PeerMessages& messages,
                     const MessageSource<T>& source, const Combine& combine) {
  const auto n_tasks = static_cast<int>(messages.tasks.extent(0));
  if (n_tasks == 0) return;
  // So large a functor would else go through constant memory, for which the host waits and with
  // which the kernel took half as long again.
  if constexpr (!is_host_device)
    Kokkos::parallel_for(
        "nekbone_k: exchange",
        Kokkos::Experimental::require(PeerTeamPolicy(stream, n_tasks, RunShape::team_size),
                                      Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        ExchangeByKernel<T, Combine>{messages, source, combine});
}

}  // namespace nekbone_k
