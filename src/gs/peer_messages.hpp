/// @file
/// Messages that kernels write straight into the memory of neighbours, where flags say that they
/// have come.
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
  int n_pieces = 0;
};

/// What a team does of a message: these slots, and their DOFs.
struct PeerPiece {
  int peer;
  IndexRun run;
};

/// The messages of one set of buffers at one call.
struct PeerMessages {
  DeviceVector<Peer> peers;
  DeviceVector<int> pieces_written;  ///< (peers) of the call's message
  DeviceVector<LocalIndex> dofs;     ///< (slots)
  std::uint64_t call = 0;
  const void* landing = nullptr;  ///< what comes at this call
  int* late = nullptr;
  DeviceVector<PeerPiece> pieces;  ///< those to neighbours on the node first
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

/// Writes a piece of the messages of a call. The team that ends a message, of all that write it,
/// raises its flags.
template <class Word>
KOKKOS_FUNCTION void write_piece(const PeerTeam& team, const PeerMessages& messages,
                                 const PeerPiece& piece, const MessageSource<Word>& source) {
  const Peer peer = messages.peers(piece.peer);
  auto* const to = reinterpret_cast<Word*>(peer.to[messages.call % 2]);
  const IndexRun slots =
      source.is_packed ? IndexRun{piece.run.begin, piece.run.count, piece.run.begin, 1} : piece.run;
  constexpr int step = RunShape::team_size;
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
    // What this team wrote comes before its count, and what others wrote before the flags.
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    int& pieces_written = messages.pieces_written(piece.peer);
    if (Kokkos::atomic_fetch_add(&pieces_written, 1) + 1 < peer.n_pieces) return;
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    pieces_written = 0;
    raise_flag(peer.sent, messages.call);
  });
}

}  // namespace nekbone_k
