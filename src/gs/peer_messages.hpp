// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Messages that kernels write into the memory of neighbours, and the flags that announce them.
#pragma once

#include <cstdint>

#include "core/peer_memory.hpp"
#include "core/types.hpp"
#include "gs/exchange.hpp"
#include "gs/index_runs.hpp"

namespace nekbone_k {

/// A neighbour, as kernels see it. A neighbour on another node has no flags: kernels pack for MPI
/// and read what MPI received.
struct Peer {
  /// Destination of items to it at even and odd calls: slot s is s * item_bytes behind.
  std::byte* to[2];
  Flag* sent = nullptr;           ///< at the neighbour: last call whose message has come
  const Flag* arrived = nullptr;  ///< here: last call whose message has come
  int n_pieces = 0;
};

/// The part of a message that one team writes: these slots and their DOFs.
struct PeerPiece {
  int peer;
  IndexRun run;
};

/// The messages of one set of buffers at one call, in device memory.
struct PeerMessages {
  DeviceVector<Peer> peers;
  DeviceVector<int> pieces_written;  ///< (peers) written pieces of the message of this call
  DeviceVector<LocalIndex> dofs;     ///< (slots)
  std::uint64_t call = 0;
  const void* landing = nullptr;  ///< received messages of this call
  Late* late = nullptr;
  DeviceVector<PeerPiece> pieces;  ///< pieces to neighbours on the node come first
};

using PeerTeam = RunTeamPolicy::member_type;

/// Word w of the item in slot s is data[index * item_stride + w * word_stride]. `index` is the DOF
/// of the slot, or s if the item is already packed.
template <class Word>
struct MessageSource {
  const Word* data;
  bool is_packed;
  std::size_t item_stride, word_stride;
  int words;
};

/// Writes one piece of the messages of a call. The team that writes the last piece of a message
/// raises its flag.
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
    // Order the stores of this team before its count, and the stores of other teams before the
    // flag.
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    int& pieces_written = messages.pieces_written(piece.peer);
    if (Kokkos::atomic_fetch_add(&pieces_written, 1) + 1 < peer.n_pieces) return;
    desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
    pieces_written = 0;
    raise_flag(peer.sent, messages.call);
  });
}

}  // namespace nekbone_k
