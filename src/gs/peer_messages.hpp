/// @file
/// Messages that kernels write straight into the memory of neighbours, and a kernel that does a
/// whole exchange by them: strategies/peer_memory.hpp makes what it needs, HaloExchange launches
/// it.
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

/// What a team does: writes these slots of the message to a peer and, where one kernel does it all,
/// combines what comes in them; or, without a peer, combines some of the DOFs that several others
/// have. Both ends of a message cut it into the same pieces.
struct PeerPiece {
  static constexpr int no_peer = -1;
  int peer;
  IndexRun run;                   ///< of slots and their DOFs; of PeerMessages::shared_by_several
  Flag* sent = nullptr;           ///< at the neighbour: calls whose piece from here is there
  const Flag* arrived = nullptr;  ///< here: calls whose piece from the neighbour has come
  bool has_several = false;       ///< whether some of its DOFs have shares in other messages, too
};

/// The messages of one set of buffers at one call.
struct PeerMessages {
  DeviceVector<Peer> peers;
  DeviceVector<int> pieces_written;  ///< (peers) of the call's message
  DeviceVector<LocalIndex> dofs;     ///< (slots)
  std::uint64_t call = 0;
  const void* landing = nullptr;  ///< what comes at this call
  int* late = nullptr;

  /// Those that are written, of neighbours on the node first, in ascending rank, and then, for a
  /// kernel that does it all, those of what several other ranks have.
  DeviceVector<PeerPiece> pieces;
  // Of such a kernel. Its teams take one piece after another, and write before they wait. So none
  // waits for ever for a team that finds no room: of all pairs of pieces not yet combined, take the
  // first by the lower rank, the higher rank and the place in the message. All that either end has
  // before it is done, hence both ends come to write it.
  DeviceVector<LocalIndex> shared_by_several;  ///< DOFs
  DeviceVector<std::uint64_t> n_taken;         ///< (1) at this and all earlier calls
  std::uint64_t taken_before = 0;              ///< at earlier calls
};

using PeerTeam = RunTeamPolicy::member_type;

/// Word w of the item in slot s is data[index * item_stride + w * word_stride], where the index is
/// that of its DOF or, where it has been packed, s.
template <class Word>
struct MessageSource {
  const Word* data;
  bool is_packed;
  std::size_t item_stride, word_stride;
  int words;
};

/// Writes a piece of the messages of a call and raises its flag. The team that ends a message, of
/// all that write it, raises those of the message.
template <class Word>
KOKKOS_FUNCTION void write_piece(const PeerTeam& team, const PeerMessages& messages,
                                 const PeerPiece& piece, const MessageSource<Word>& source) {
  constexpr int step = RunShape::team_size;
  const Peer peer = messages.peers(piece.peer);
  auto* const to = reinterpret_cast<Word*>(peer.to[messages.call % 2]);
  const IndexRun slots =
      source.is_packed ? IndexRun{piece.run.begin, piece.run.count, piece.run.begin, 1} : piece.run;
  if (source.words == 1 && source.item_stride == 1) {
    for_positions_apart<step>(
        slots, messages.dofs.data(), team.team_rank(),
        [&](LocalIndex, LocalIndex index) { return source.data[index]; },
        [&](LocalIndex slot, LocalIndex, Word value) { to[slot] = value; });
  } else {
    for_positions<step>(
        slots, messages.dofs.data(), team.team_rank(), [&](LocalIndex slot, LocalIndex index) {
          const Word* const item = source.data + index * source.item_stride;
          for (int w = 0; w < source.words; ++w)
            to[std::int64_t{slot} * source.words + w] = item[w * source.word_stride];
        });
  }
  if (peer.sent == nullptr) return;
  team.team_barrier();
  Kokkos::single(Kokkos::PerTeam(team), [&]() {
    // What this team wrote comes before its flag and its count, and what others wrote before the
    // flags of the message.
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    if (piece.sent != nullptr) set(piece.sent, messages.call);
    int& pieces_written = messages.pieces_written(piece.peer);
    if (Kokkos::atomic_fetch_add(&pieces_written, 1) + 1 < peer.n_pieces) return;
    pieces_written = 0;
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    set(peer.sent, messages.call);
    set(peer.written, messages.call);
  });
}

/// A whole exchange of a field of T: writes the messages of a call, waits for what comes, and
/// combines it: a piece as soon as it is there, by the team that wrote the same one, but for DOFs
/// that are in several messages, which wait for all.
///
/// Pieces meet in cache lines, so that a team may have read the beginning of one that had not come.
/// It is read again behind the fence that follows its flag; but not if it were read as memory that
/// nobody writes while a kernel runs, so that no pointer here must promise that (no
/// KOKKOS_RESTRICT).
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
    const PeerPiece piece = messages.pieces(taken - messages.taken_before);
    const auto* const landing = static_cast<const T*>(messages.landing);
    if (piece.peer != PeerPiece::no_peer) {
      write_piece(team, messages, piece, source);
      Kokkos::single(Kokkos::PerTeam(team),
                     [&]() { await(piece.arrived, messages.call, messages.late); });
      team.team_barrier();
      combine.combine_piece(piece.run, messages.dofs.data(), piece.has_several, team.team_rank(),
                            landing);
      return;
    }
    const auto n_peers = static_cast<int>(messages.peers.extent(0));
    for (int p = team.team_rank(); p < n_peers; p += RunShape::team_size) {
      await(messages.peers(p).written, messages.call, messages.late);
      await(messages.peers(p).arrived, messages.call, messages.late);
    }
    team.team_barrier();
    combine.combine_listed(piece.run, messages.shared_by_several.data(), team.team_rank(), landing);
  }
};

/// Launches an ExchangeByKernel in the order of the kernels of `stream`. Only on a GPU: kernels on
/// a CPU would hold up what they wait for.
template <class T, class Combine>
void launch_exchange(const ExecutionSpace& stream, const PeerMessages& messages,
                     const MessageSource<T>& source, const Combine& combine) {
  const auto n_pieces = static_cast<int>(messages.pieces.extent(0));
  if (n_pieces == 0) return;
  // So large a functor would else go through constant memory: for that the host waits, and pieces
  // of 16 MiB were written in 90 in place of 67 µs on an H200.
  if constexpr (!is_host_device)
    Kokkos::parallel_for(
        "nekbone_k: exchange",
        Kokkos::Experimental::require(RunTeamPolicy(stream, n_pieces, RunShape::team_size),
                                      Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        ExchangeByKernel<T, Combine>{messages, source, combine});
}

}  // namespace nekbone_k
