/// @file
/// A kernel that does a whole exchange: it writes messages straight into the memory of neighbours,
/// and waits for what they write here. strategies/peer_memory.hpp makes what it needs, HaloExchange
/// launches it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/peer_memory.hpp"
#include "core/types.hpp"
#include "gs/index_runs.hpp"
#include "gs/reduction.hpp"

namespace nekbone_k {

/// What stands in the place of a word of a message that has not come: a NaN, of floats and doubles.
/// A word of 8 bytes is two of 4.
template <class Word>
inline constexpr Word not_come = static_cast<Word>(0x7ff4'dead'7ff4'dead);

/// A number as a word that can be told from one that has not come: of NaNs one becomes another, so
/// that the copies of a DOF may differ in a bit of such a one.
template <class Word, class T>
KOKKOS_FORCEINLINE_FUNCTION Word as_sent(T value) {
  const auto word = Kokkos::bit_cast<Word>(value);
  return word == not_come<Word> ? word ^ 1 : word;
}

/// What a word that others write is now.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word look_at(const Word* word) {
  return *const_cast<const volatile Word*>(word);
}

/// What has come in a word that was last seen as `seen`, once it has; see look_until(). Leaves the
/// word free for the call after next.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word take(Word* word, Word seen, int* late) {
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

/// The messages of an exchange by one kernel at one call.
///
/// They need no flags, and no fences: a word of a message, which no processor tears, is there when
/// it is no longer what stands for one that has not come, and it becomes that again when it is
/// taken. (In a like way do the small all-reduces of NVIDIA's TensorRT-LLM, there called
/// Lamport's.) Words are stored before others are looked for, which compilers may not turn round as
/// long as they cannot know that the two lie apart: so no KOKKOS_RESTRICT. Before a flag a writer
/// would wait until all that it wrote has arrived, and behind it a reader for the last word of
/// many.
struct WordMessages {
  /// Slots of a piece for each thread of a team.
  static constexpr int most_a_thread = 4;

  /// What a team does: exchanges these slots of the message to a peer, which both ends cut into the
  /// same pieces, or, without a peer, combines some of the DOFs that are in several messages.
  struct Piece {
    static constexpr int no_peer = -1;
    int peer;
    IndexRun run;              ///< of slots and their DOFs; of shared_by_several
    bool has_several = false;  ///< whether some of its DOFs are in other messages, too
  };
  /// Where words to a peer go, at even and odd calls, as if all slots were its.
  struct Peer {
    std::byte* to[2];
  };

  DeviceVector<Peer> peers;
  DeviceVector<LocalIndex> dofs;               ///< (slots)
  DeviceVector<LocalIndex> shared_by_several;  ///< DOFs in several messages
  /// To peers in ascending rank, and then those without.
  ///
  /// No deadlock, though not all teams may find room at once: teams take pieces in this order, and
  /// write before they wait. Of all pieces not yet combined take the first by lower rank, higher
  /// rank and place in the message: at both ends everything before it has been combined, so that
  /// both have a team free to write it. For that the kernel must have the device: no other one that
  /// waits for ranks may be running, as between start() and finish() of another exchange.
  DeviceVector<Piece> pieces;
  DeviceVector<std::uint64_t> n_taken;  ///< (1) pieces, at this and all earlier calls
  /// (1) Pieces with DOFs in several messages that no longer need the field, at all calls.
  DeviceVector<std::uint64_t> n_read;
  std::uint64_t n_with_several = 0;  ///< of the pieces
  std::uint64_t call = 0;            ///< the first is 1
  void* landing = nullptr;           ///< what comes at this call
  int* late = nullptr;               ///< in the host's memory

  /// A message's words, as numbers, for those who read each once.
  template <class T, class Word>
  struct Taken {
    Word* landing;
    int* late;
    KOKKOS_FORCEINLINE_FUNCTION T operator[](std::size_t at) const {
      return Kokkos::bit_cast<T>(take(landing + at, look_at(landing + at), late));
    }
  };
};

/// A whole exchange of a field of T by the teams of one kernel: see WordMessages. A piece is
/// combined by the team that wrote it, each word as soon as it is there, but for DOFs that are in
/// several messages. `Shares` is a CombineShares.
template <class T, class Shares>
struct ExchangeByKernel {
  /// So many teams at once on a multiprocessor that those that wait leave others to write.
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
    const Piece piece = messages.pieces(taken - (messages.call - 1) * messages.pieces.extent(0));
    if (piece.peer == Piece::no_peer) return combine_several(team, piece.run);
    if (shares.is_simple())
      exchange_numbers(piece, team.team_rank());
    else
      exchange_items(piece, team.team_rank());
    if (!piece.has_several) return;
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      desul::atomic_thread_fence(desul::MemoryOrderRelease(), desul::MemoryScopeDevice());
      Kokkos::atomic_add(&messages.n_read(0), std::uint64_t{1});
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Word* there(const Piece& piece) const {
    return reinterpret_cast<Word*>(messages.peers(piece.peer).to[messages.call % 2]);
  }
  KOKKOS_FORCEINLINE_FUNCTION Word* here() const { return static_cast<Word*>(messages.landing); }

  /// Whether the share of DOF s in `slot` is combined with the piece: it is in no other.
  KOKKOS_FORCEINLINE_FUNCTION bool is_whole(const Piece& piece, LocalIndex s,
                                            LocalIndex slot) const {
    return !piece.has_several || shares.only_slots(s) == slot;
  }

  /// Of fields of one component whose shares may be combined in either order: a thread reads and
  /// writes several numbers before it waits for any.
  KOKKOS_FORCEINLINE_FUNCTION void exchange_numbers(const Piece& piece, int from) const {
    const IndexRun run = piece.run;
    T* const field = shares.field.data();
    Word *const to = there(piece) + run.begin, *const landing = here() + run.begin;
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

  KOKKOS_FUNCTION void exchange_items(const Piece& piece, int from) const {
    const int components = static_cast<int>(shares.field.extent(1));
    Word* const to = there(piece);
    for_positions<step>(piece.run, messages.dofs.data(), from, [&](LocalIndex slot, LocalIndex s) {
      for (int c = 0; c < components; ++c)
        to[std::size_t(slot) * components + c] = as_sent<Word>(shares.field(s, c));
    });
    const WordMessages::Taken<T, Word> received{here(), messages.late};
    for_positions<step>(piece.run, messages.dofs.data(), from, [&](LocalIndex slot, LocalIndex s) {
      if (is_whole(piece, s, slot)) shares.combine_two(s, slot, received);
    });
  }

  KOKKOS_FUNCTION void combine_several(const Team& team, const IndexRun& run) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      const std::uint64_t all = messages.call * messages.n_with_several;
      look_until([&] { return look_at(&messages.n_read(0)) >= all; }, messages.late);
      desul::atomic_thread_fence(desul::MemoryOrderAcquire(), desul::MemoryScopeDevice());
    });
    team.team_barrier();
    const WordMessages::Taken<T, Word> received{here(), messages.late};
    for_positions<step>(run, messages.shared_by_several.data(), team.team_rank(),
                        [&](LocalIndex, LocalIndex s) { shares.combine_all(s, received); });
  }
};

/// Launches an ExchangeByKernel in the order of the kernels of `stream`. Only on a GPU: kernels on
/// a CPU would hold up what they wait for.
template <class T, class Shares>
void launch_exchange(const ExecutionSpace& stream, const WordMessages& messages,
                     const Shares& shares) {
  const auto n_pieces = static_cast<int>(messages.pieces.extent(0));
  if (n_pieces == 0) return;
  // So large a functor would else go through constant memory: for that the host waits, and pieces
  // of 16 MiB were written in 90 in place of 67 µs on an H200.
  if constexpr (!is_host_device)
    Kokkos::parallel_for(
        "nekbone_k: exchange",
        Kokkos::Experimental::require(
            typename ExchangeByKernel<T, Shares>::Policy(stream, n_pieces, RunShape::team_size),
            Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        ExchangeByKernel<T, Shares>{messages, shares});
}

}  // namespace nekbone_k
