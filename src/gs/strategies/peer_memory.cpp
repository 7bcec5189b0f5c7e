#include "gs/strategies/peer_memory.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "core/errors.hpp"
#include "core/machine.hpp"
#include "core/peer_memory.hpp"
#include "gs/message_memory.hpp"
#include "gs/strategies/pairwise.hpp"

namespace nekbone_k {
namespace {

/// A piece of a message that one team copies, in bytes.
struct Piece {
  int peer;
  std::size_t begin, bytes;  ///< in the message buffers
};

/// What kernels know of a neighbour on this node.
struct Peer {
  /// Where this rank's message goes, at even and odd calls; less where it begins in the send
  /// buffer, so that the position of an item there is its position here.
  std::byte* landing[2];
  Flag* sent;           ///< at the neighbour: calls whose message from here is there
  const Flag* arrived;  ///< here: calls whose message from the neighbour has come
  int n_pieces;         ///< of the message to it, and of the one from it
};

constexpr int team_size = is_host_device ? 1 : 256;
constexpr std::size_t piece_bytes = 8192;
using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;
using Team = Policy::member_type;

/// Copies by the threads of a team; all that is copied lies at multiples of `Word`.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void copy(const Team& team, std::byte* to, const std::byte* from,
                                      std::size_t bytes) {
  auto* const target = reinterpret_cast<Word*>(to);
  const auto* const source = reinterpret_cast<const Word*>(from);
  for (std::size_t w = team.team_rank(); w < bytes / sizeof(Word); w += team_size)
    target[w] = source[w];
}

/// Writes the messages of a call where the neighbours read them. The team that ends a message, of
/// all that write it, raises its flag.
template <class Word>
struct Push {
  DeviceVector<Piece> pieces;
  DeviceVector<Peer> peers;
  DeviceVector<int> written;  ///< (n_peers) pieces of the call's message
  const std::byte* send;
  std::uint64_t call;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Piece piece = pieces(team.league_rank());
    const Peer peer = peers(piece.peer);
    copy<Word>(team, peer.landing[call % 2] + piece.begin, send + piece.begin, piece.bytes);
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      desul::atomic_thread_fence(desul::MemoryOrderRelease(), desul::MemoryScopeNode());
      if (Kokkos::atomic_fetch_add(&written(piece.peer), 1) + 1 < peer.n_pieces) return;
      written(piece.peer) = 0;
      raise(peer.sent, call);
    });
  }
};

/// Waits for the messages of a call and copies them to where they are unpacked from.
template <class Word>
struct Pull {
  DeviceVector<Piece> pieces;
  DeviceVector<Peer> peers;
  const std::byte* landing;
  std::byte* receive;
  std::uint64_t call;
  int* late;  ///< set where a message does not come

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Piece piece = pieces(team.league_rank());
    const Flag* const arrived = peers(piece.peer).arrived;
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      // About a minute: a look takes most of a microsecond.
      constexpr std::int64_t patience = 100'000'000;
      std::int64_t looks = 0;
      while (!is_raised(arrived, call)) {
        // Seldom, as `late` is in the host's memory.
        if (++looks % 65536 != 0 || (looks < patience && *const_cast<volatile int*>(late) == 0))
          continue;
        *const_cast<volatile int*>(late) = 1;
        break;
      }
    });
    team.team_barrier();
    copy<Word>(team, receive + piece.begin, landing + piece.begin, piece.bytes);
  }
};

class PeerExchange final : public Exchange {
 public:
  PeerExchange(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm), m_plan(plan), m_buffers(buffers), m_late("nekbone_k: a message is late") {
    const std::vector<int> nodes = nodes_of_ranks(comm);
    std::vector<int> near;
    for (const Neighbour& n : plan.neighbours) {
      if (nodes[n.rank] == nodes[comm.rank()]) {
        near.push_back(n.rank);
        m_near.push_back(n);
      } else {
        m_far_plan.neighbours.push_back(n);
      }
    }
    // Flags, then two landings, each laid out as the receive buffer.
    m_landing_bytes = (buffers.bytes(plan) + alignof(Flag) - 1) / alignof(Flag) * alignof(Flag);
    const std::size_t n_flags = m_near.size();
    m_memory = std::make_unique<PeerMemory>(comm, n_flags * sizeof(Flag) + 2 * m_landing_bytes,
                                            near, n_flags);
    introduce_peers();
    if (!m_far_plan.neighbours.empty()) m_far = make_pairwise(comm, m_far_plan, buffers);
    if (buffers.item_bytes % sizeof(std::uint64_t) == 0)
      m_word_bytes = 8;
    else if (buffers.item_bytes % sizeof(std::uint32_t) == 0)
      m_word_bytes = 4;
  }

  void start() override {
    if (m_late() != 0)
      throw InternalError(fmt::format(
          "a message to rank {} that a neighbour should have written into its memory did not come "
          "within a minute",
          m_comm.rank()));
    ++m_call;
    if (m_pieces.extent(0) > 0)
      with_word([&](auto word) {
        Kokkos::parallel_for(
            "nekbone_k: write to neighbours", policy(),
            Push<decltype(word)>{m_pieces, m_peers, m_written,
                                 static_cast<const std::byte*>(m_buffers.send), m_call});
      });
    if (m_far) m_far->start();
  }

  void finish() override {
    if (m_far) m_far->finish();
    if (m_pieces.extent(0) == 0) return;
    if constexpr (is_host_device) wait_on_host();
    with_word([&](auto word) {
      Kokkos::parallel_for(
          "nekbone_k: read from neighbours", policy(),
          Pull<decltype(word)>{m_pieces, m_peers, landing(m_call),
                               static_cast<std::byte*>(m_buffers.receive), m_call, m_late.data()});
    });
  }

  void poison() override {
    const std::size_t bytes = m_buffers.bytes(m_plan);
    const Bytes receive(static_cast<std::byte*>(m_buffers.receive), bytes);
    for (const std::uint64_t call : {0, 1}) Kokkos::deep_copy(Bytes(landing(call), bytes), receive);
    Kokkos::fence("nekbone_k: poisoned");
    m_comm.barrier();  // before a neighbour writes there
  }

 private:
  using Bytes = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  std::byte* landing(std::uint64_t call) const {
    return m_memory->here() + m_near.size() * sizeof(Flag) + call % 2 * m_landing_bytes;
  }

  Policy policy() const { return Policy(static_cast<int>(m_pieces.extent(0)), team_size); }

  /// action(a word) of the largest type that items are made of.
  template <class Action>
  void with_word(const Action& action) const {
    if (m_word_bytes == 8) return action(std::uint64_t{});
    if (m_word_bytes == 4) return action(std::uint32_t{});
    action(std::uint8_t{});
  }

  /// Tells each neighbour on the node where its messages land here, and cuts messages into pieces.
  void introduce_peers() {
    std::vector<std::vector<std::int64_t>> to_rank(m_comm.size());
    for (std::size_t p = 0; p < m_near.size(); ++p)
      to_rank[m_near[p].rank] = {
          static_cast<std::int64_t>(p * sizeof(Flag)),
          static_cast<std::int64_t>(landing(0) - m_memory->here()),
          static_cast<std::int64_t>(m_landing_bytes),
          static_cast<std::int64_t>(m_near[p].offset * m_buffers.item_bytes)};
    const auto from_rank = m_comm.exchange(to_rank);
    std::vector<Peer> peers;
    std::vector<Piece> pieces;
    for (std::size_t p = 0; p < m_near.size(); ++p) {
      const Neighbour& n = m_near[p];
      const auto& told = from_rank[n.rank];
      const std::size_t begin = n.offset * m_buffers.item_bytes,
                        bytes = n.count * m_buffers.item_bytes;
      Peer peer{};
      for (int parity = 0; parity < 2; ++parity)
        peer.landing[parity] = m_memory->of_peer(p) + told[1] + parity * told[2] + told[3] - begin;
      peer.sent = reinterpret_cast<Flag*>(m_memory->of_peer(p) + told[0]);
      peer.arrived = reinterpret_cast<const Flag*>(m_memory->here()) + p;
      for (std::size_t at = 0; at < bytes; at += piece_bytes, ++peer.n_pieces)
        pieces.push_back({static_cast<int>(p), begin + at, std::min(piece_bytes, bytes - at)});
      peers.push_back(peer);
    }
    m_peers = to_device("nekbone_k: peers", peers);
    m_pieces = to_device("nekbone_k: pieces of messages", pieces);
    m_written = DeviceVector<int>("nekbone_k: pieces written", peers.size());
  }

  /// Where kernels would hold up the processes they wait for: with the processor given to others.
  void wait_on_host() {
    constexpr double patience = 60;  // seconds
    Kokkos::fence("nekbone_k: messages written");
    const double begin = wall_seconds();
    for (std::size_t p = 0; p < m_peers.extent(0); ++p)
      for (int looks = 0; !is_raised(m_peers(p).arrived, m_call); ++looks) {
        if (looks < 1000) continue;
        sched_yield();
        if (wall_seconds() - begin > patience)
          throw InternalError(
              fmt::format("rank {} wrote no message into the memory of rank {} within a minute",
                          m_near[p].rank, m_comm.rank()));
      }
  }

  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  std::vector<Neighbour> m_near;  // on this node
  HaloPlan m_far_plan;            // its neighbours are those elsewhere; it has nothing else
  std::unique_ptr<Exchange> m_far;
  std::size_t m_landing_bytes = 0;
  std::unique_ptr<PeerMemory> m_memory;
  DeviceVector<Peer> m_peers;
  DeviceVector<Piece> m_pieces;
  DeviceVector<int> m_written;
  // In host memory that the device writes to.
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> m_late;
  std::uint64_t m_call = 0;
  int m_word_bytes = 1;
};

}  // namespace

std::unique_ptr<Exchange> make_peer_memory(const Communicator& comm, const HaloPlan& plan,
                                           const MessageBuffers& buffers) {
  return std::make_unique<PeerExchange>(comm, plan, buffers);
}

}  // namespace nekbone_k
