// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// A whole exchange by one kernel: it writes messages into the memory of the neighbours, and waits
/// for the messages that they write here. strategies/peer_memory.hpp makes its data; HaloExchange
/// launches it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/launch_shape.hpp"
#include "core/peer_memory.hpp"
#include "core/types.hpp"
#include "gs/index_runs.hpp"
#include "reduce/reduction.hpp"

namespace nekbone_k {

/// Placeholder for a word of a message that has not come: a NaN of floats and of doubles. A word of
/// 8 bytes is two placeholders of 4 bytes.
template <class Word>
inline constexpr Word not_come = static_cast<Word>(0x7ff4'dead'7ff4'dead);

/// The word that is sent for a number. It differs from the placeholder: a NaN with the bits of the
/// placeholder is sent as another NaN. So copies of a DOF may differ in one bit of that NaN.
template <class Word, class T>
KOKKOS_FORCEINLINE_FUNCTION Word as_sent(T value) {
  const auto word = Kokkos::bit_cast<Word>(value);
  return word == not_come<Word> ? word ^ 1 : word;
}

/// Reads a word that other ranks write.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word look_at(const Word* word) {
  return *const_cast<const volatile Word*>(word);
}

/// Waits until a word has come, and returns it; `seen` is its value at the last look. See
/// look_until(). Writes the placeholder back, so that the word is free for the call after next.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word take(Word* word, Word seen, Late* late) {
  if (seen == not_come<Word>) {
    look_until(
        [&] {
          seen = look_at(word);
          return seen != not_come<Word>;
        },
        late);
  }
  *word = not_come<Word>;
  return seen;
}

/// The messages of an exchange by one kernel, in device memory. They are the same at every call, so
/// that a recorded kernel can be replayed (core/kernel_graph.hpp): the kernel counts its calls.
///
/// They need neither flags nor fences. A word of a message has come when it differs from the
/// placeholder; no processor tears a word. The reader then puts the placeholder back. The small
/// all-reduces of NVIDIA's TensorRT-LLM ("Lamport") use a similar protocol. With flags, a writer
/// would wait before the flag until all its stores have arrived, and a reader would wait for the
/// last of many words.
///
/// A thread stores words before it looks for others. Compilers may not reorder the two unless they
/// know that the memory is distinct, so there is no KOKKOS_RESTRICT.
struct WordMessages {
  /// Maximum slots of a piece per thread of a team.
  static constexpr int most_a_thread = 4;

  /// The work of one team. With a peer, the team exchanges these slots of the message to it; both
  /// ends cut the message into the same pieces. Without a peer, it combines some of the DOFs that
  /// are in several messages.
  struct Piece {
    static constexpr int no_peer = -1;
    int peer;
    IndexRun run;              ///< of slots and their DOFs, or of shared_by_several
    bool has_several = false;  ///< whether other messages contain some of its DOFs
  };
  /// Destination of words to a peer at even and odd calls, shifted so that slots of this rank index
  /// it.
  struct Peer {
    std::byte* to[2];
  };

  DeviceVector<Peer> peers;
  DeviceVector<LocalIndex> dofs;               ///< (slots)
  DeviceVector<LocalIndex> shared_by_several;  ///< DOFs in several messages
  /// Pieces with a peer in ascending rank, then pieces without a peer.
  ///
  /// There is no deadlock, even if not all teams run at once. Teams take pieces in this order and
  /// write before they wait. Order the pieces that are not yet combined by lower rank, higher rank
  /// and place in the message. Everything before the first one has been combined at both ends, so
  /// both have a team free to write it. Another kernel that waits for ranks, as between pack() and
  /// unpack() of another exchange, may run only if it leaves room for one team and waits for
  /// nothing that follows this exchange.
  DeviceVector<Piece> pieces;
  /// (1) Pieces taken, at all calls. A call takes all pieces before the next call takes any.
  DeviceVector<std::uint64_t> n_taken;
  /// (1) Pieces with DOFs in several messages that have finished reading the field, at all calls.
  DeviceVector<std::uint64_t> n_read;
  std::uint64_t n_with_several = 0;        ///< number of pieces with has_several
  void* landings[2] = {nullptr, nullptr};  ///< messages of even and odd calls
  Late* late = nullptr;                    ///< in host memory

  /// The words of a message as numbers, for a reader that reads each word once.
  template <class T, class Word>
  struct Taken {
    Word* landing;
    Late* late;
    KOKKOS_FORCEINLINE_FUNCTION T operator[](std::size_t at) const {
      return Kokkos::bit_cast<T>(take(landing + at, look_at(landing + at), late));
    }
  };
};

/// A whole exchange of a field of T by the teams of one kernel; see WordMessages. The team that
/// wrote a piece combines it, each word as soon as it has come, except DOFs that are in several
/// messages. `Shares` is a CombineShares.
template <class T, class Shares>
struct ExchangeByKernel {
  /// Several teams per multiprocessor, so that waiting teams leave room for teams that write.
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<RunShape::team_size, 6>>;
  using Team = Policy::member_type;
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using Piece = WordMessages::Piece;
  static constexpr int step = RunShape::team_size;
  static constexpr int at_once = WordMessages::most_a_thread;

  WordMessages messages;
  Shares shares;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    std::uint64_t taken = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](std::uint64_t& mine) {
          mine = Kokkos::atomic_fetch_add(&messages.n_taken(0), std::uint64_t{1});
        },
        taken);
    const std::uint64_t n_pieces = messages.pieces.extent(0), call = taken / n_pieces + 1;
    const Piece piece = messages.pieces(taken % n_pieces);
    if (piece.peer == Piece::no_peer) return combine_several(team, call, piece.run);
    if (shares.is_simple())
      exchange_numbers(piece, call, team.team_rank());
    else
      exchange_items(piece, call, team.team_rank());
    if (!piece.has_several) return;
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      desul::atomic_thread_fence(desul::MemoryOrderRelease(), desul::MemoryScopeDevice());
      Kokkos::atomic_add(&messages.n_read(0), std::uint64_t{1});
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Word* there(const Piece& piece, std::uint64_t call) const {
    return reinterpret_cast<Word*>(messages.peers(piece.peer).to[call % 2]);
  }
  KOKKOS_FORCEINLINE_FUNCTION Word* here(std::uint64_t call) const {
    return static_cast<Word*>(messages.landings[call % 2]);
  }

  /// Whether DOF s in `slot` is combined with its piece: no other message contains it.
  KOKKOS_FORCEINLINE_FUNCTION bool is_whole(const Piece& piece, LocalIndex s,
                                            LocalIndex slot) const {
    return !piece.has_several || shares.only_slots(s) == slot;
  }

  /// For fields of one component whose shares commute: a thread reads and writes several numbers
  /// before it waits for any.
  KOKKOS_FORCEINLINE_FUNCTION void exchange_numbers(const Piece& piece, std::uint64_t call,
                                                    int from) const {
    const IndexRun run = piece.run;
    T* const field = shares.field.data();
    Word *const to = there(piece, call) + run.begin, *const landing = here(call) + run.begin;
    for (LocalIndex first = from; first < run.count; first += at_once * step) {
      LocalIndex dof[at_once];
      T own[at_once];
      Word seen[at_once];
      const auto for_each = [&](const auto& action) {
        NEKBONE_K_UNROLL
        for (int n = 0; n < at_once; ++n)
          if (first + n * step < run.count) action(n, first + n * step);
      };
      for_each([&](int n, LocalIndex at) {
        dof[n] = run.stride != 0 ? run.first + at * run.stride : messages.dofs(run.begin + at);
      });
      for_each([&](int n, LocalIndex) { own[n] = field[dof[n]]; });
      for_each([&](int n, LocalIndex at) { to[at] = as_sent<Word>(own[n]); });
      for_each([&](int n, LocalIndex at) { seen[n] = look_at(landing + at); });
      for_each([&](int n, LocalIndex at) {
        if (!is_whole(piece, dof[n], run.begin + at)) return;
        const Word word = take(landing + at, seen[n], messages.late);
        field[dof[n]] = combine<Shares::operation>(own[n], Kokkos::bit_cast<T>(word));
      });
    }
  }

  KOKKOS_FUNCTION void exchange_items(const Piece& piece, std::uint64_t call, int from) const {
    const int components = static_cast<int>(shares.field.extent(1));
    Word* const to = there(piece, call);
    for_positions<step>(piece.run, messages.dofs.data(), from, [&](LocalIndex slot, LocalIndex s) {
      for (int c = 0; c < components; ++c)
        to[std::size_t(slot) * components + c] = as_sent<Word>(shares.field(s, c));
    });
    const WordMessages::Taken<T, Word> received{here(call), messages.late};
    for_positions<step>(piece.run, messages.dofs.data(), from, [&](LocalIndex slot, LocalIndex s) {
      if (is_whole(piece, s, slot)) shares.combine_two(s, slot, received);
    });
  }

  KOKKOS_FUNCTION void combine_several(const Team& team, std::uint64_t call,
                                       const IndexRun& run) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      const std::uint64_t all = call * messages.n_with_several;
      look_until([&] { return look_at(&messages.n_read(0)) >= all; }, messages.late);
      desul::atomic_thread_fence(desul::MemoryOrderAcquire(), desul::MemoryScopeDevice());
    });
    team.team_barrier();
    const WordMessages::Taken<T, Word> received{here(call), messages.late};
    for_positions<step>(run, messages.shared_by_several.data(), team.team_rank(),
                        [&](LocalIndex, LocalIndex s) { shares.combine_all(s, received); });
  }
};

/// Launches an ExchangeByKernel in `stream`. Does nothing on a CPU, where kernels would block the
/// processes that they wait for.
template <class T, class Shares>
void launch_exchange(const ExecutionSpace& stream, const WordMessages& messages,
                     const Shares& shares) {
  const auto n_pieces = static_cast<int>(messages.pieces.extent(0));
  if (n_pieces == 0) return;
  // On an H200, pieces of 16 MiB took 90 µs without light() and 67 µs with it.
  if constexpr (!is_host_device)
    Kokkos::parallel_for(
        "nekbone_k: exchange",
        light(typename ExchangeByKernel<T, Shares>::Policy(stream, n_pieces, RunShape::team_size)),
        ExchangeByKernel<T, Shares>{messages, shares});
}

}  // namespace nekbone_k
