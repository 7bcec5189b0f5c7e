#include "gs/strategies/peer_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/machine.hpp"
#include "core/peer_memory.hpp"
#include "gs/index_runs.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/strategies/words.hpp"

namespace nekbone_k {
namespace {

/// Slots of one neighbour that one team works on, and their DOFs.
struct Piece {
  int neighbour;
  IndexRun slots;
};

/// What kernels know of a neighbour. One on another node has no flags: kernels pack for MPI, and
/// read what MPI received.
struct Peer {
  /// Where items to it go, at even and odd calls: that of slot s to s * item_bytes behind.
  std::byte* to[2];
  Flag* sent = nullptr;           ///< at the neighbour: calls whose message from here is there
  const Flag* arrived = nullptr;  ///< here: calls whose message from the neighbour has come
  int n_pieces = 0;
};

constexpr int team_size = RunShape::team_size;
constexpr std::size_t piece_bytes = 4096;
using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;
using Team = Policy::member_type;

/// Writes the messages of a call where the neighbours read them. The team that ends a message, of
/// all that write it, raises its flag.
template <class Word>
struct Push {
  DeviceVector<Piece> pieces;
  DeviceVector<Peer> peers;
  DeviceVector<int> written;  ///< (neighbours) pieces of the call's message
  std::uint64_t call;
  // Word w of the item in slot s is source[index * item_stride + w * word_stride], where the index
  // is that of its DOF or, packed, s.
  const Word* source;
  const LocalIndex* dofs;  ///< by slot; null: packed
  std::size_t item_stride, word_stride;
  int words;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Piece piece = pieces(team.league_rank());
    const Peer peer = peers(piece.neighbour);
    auto* const to = reinterpret_cast<Word*>(peer.to[call % 2]);
    const IndexRun slots =
        dofs != nullptr ? piece.slots
                        : IndexRun{piece.slots.begin, piece.slots.count, piece.slots.begin, 1};
    for_positions<team_size>(slots, dofs, team.team_rank(), [&](LocalIndex slot, LocalIndex index) {
      const Word* const item = source + index * item_stride;
      for (int w = 0; w < words; ++w) to[std::int64_t{slot} * words + w] = item[w * word_stride];
    });
    if (peer.sent == nullptr) return;
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      // What this team wrote comes before its count, and what others wrote before the flag.
      desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
      if (Kokkos::atomic_fetch_add(&written(piece.neighbour), 1) + 1 < peer.n_pieces) return;
      desul::atomic_thread_fence(desul::MemoryOrderAcqRel(), desul::MemoryScopeNode());
      written(piece.neighbour) = 0;
      raise(peer.sent, call);
    });
  }
};

/// Waits for the messages of a call and copies them to `receive`.
template <class Word>
struct Pull {
  DeviceVector<Piece> pieces;
  DeviceVector<Peer> peers;
  Arrival arrival;
  Word* receive;
  int words;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Piece piece = pieces(team.league_rank());
    if (const Flag* const arrived = peers(piece.neighbour).arrived; arrived != nullptr) {
      Kokkos::single(Kokkos::PerTeam(team), [&]() { await(arrived, arrival.call, arrival.late); });
      team.team_barrier();
    }
    const auto* const from = static_cast<const Word*>(arrival.messages);
    const std::int64_t begin = std::int64_t{piece.slots.begin} * words,
                       end = begin + std::int64_t{piece.slots.count} * words;
    for (std::int64_t w = begin + team.team_rank(); w < end; w += team_size) receive[w] = from[w];
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
        m_far.neighbours.push_back(n);
      }
    }
    // Flags, then two landings, each laid out as the receive buffer.
    m_landing_bytes = (buffers.bytes(plan) + alignof(Flag) - 1) / alignof(Flag) * alignof(Flag);
    const std::size_t n_flags = m_near.size();
    m_memory = std::make_unique<PeerMemory>(comm, n_flags * sizeof(Flag) + 2 * m_landing_bytes,
                                            near, n_flags);
    introduce_peers();
    m_dofs = to_device("nekbone_k: message DOFs", plan.message_dofs);
    if (m_far.neighbours.empty()) return;
    m_far.message_dofs = plan.message_dofs;  // those of all, as offsets are
    for (const std::uint64_t parity : {0, 1})
      m_far_exchange[parity] = make_pairwise(
          comm, m_far,
          {buffers.send, landing(parity), buffers.item_bytes, buffers.stream, buffers.patience});
  }

  bool pack(const OutgoingField& field) override {
    begin_call();
    with_word(field.value_bytes, [&](auto word) {
      using Word = decltype(word);
      push<Word>(static_cast<int>(m_pieces.extent(0)), static_cast<const Word*>(field.data),
                 m_dofs.data(), 1, field.component_stride, field.components);
    });
    m_packed = true;
    return true;
  }

  void start() override {
    if (!std::exchange(m_packed, false)) {
      begin_call();
      with_word(m_buffers.item_bytes, [&](auto word) {
        using Word = decltype(word);
        const auto words = static_cast<int>(m_buffers.item_bytes / sizeof(Word));
        push<Word>(m_n_near_pieces, static_cast<const Word*>(m_buffers.send), nullptr, words, 1,
                   words);
      });
    }
    if (const auto& far = far_exchange()) far->start();
  }

  void check() const override {
    if (m_late() != 0)
      throw InternalError(fmt::format(
          "a message that a neighbour of rank {} should have written into its memory did not come "
          "within about a minute",
          m_comm.rank()));
  }

  Arrival arrive(const void*) override {
    if (const auto& far = far_exchange()) far->finish();
    if constexpr (is_host_device) wait_on_host();
    return {landing(m_call), reinterpret_cast<const Flag*>(m_memory->here()),
            static_cast<int>(m_near.size()), m_call, m_late.data()};
  }

  void finish() override {
    const Arrival arrival = arrive(nullptr);
    if (m_pieces.extent(0) == 0) return;
    with_word(m_buffers.item_bytes, [&](auto word) {
      using Word = decltype(word);
      Kokkos::parallel_for(
          "nekbone_k: read from neighbours", policy(static_cast<int>(m_pieces.extent(0))),
          Pull<Word>{m_pieces, m_peers, arrival, static_cast<Word*>(m_buffers.receive),
                     static_cast<int>(m_buffers.item_bytes / sizeof(Word))});
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

  Policy policy(int teams) const { return Policy(m_buffers.stream, teams, team_size); }

  void begin_call() {
    check();
    ++m_call;
  }

  template <class Word>
  void push(int teams, const Word* source, const LocalIndex* dofs, std::size_t item_stride,
            std::size_t word_stride, int words) const {
    if (teams == 0) return;
    Kokkos::parallel_for("nekbone_k: write to neighbours", policy(teams),
                         Push<Word>{m_pieces, m_peers, m_written, m_call, source, dofs, item_stride,
                                    word_stride, words});
  }

  /// What carries messages to other nodes at this call, or nothing.
  const std::unique_ptr<Exchange>& far_exchange() const { return m_far_exchange[m_call % 2]; }

  /// Tells each neighbour on the node where its messages land here, and cuts messages into pieces.
  void introduce_peers() {
    std::vector<std::vector<std::int64_t>> to_rank(m_comm.size());
    const auto position = [&](const void* in_memory) {
      return static_cast<const std::byte*>(in_memory) - m_memory->here();
    };
    for (std::size_t p = 0; p < m_near.size(); ++p)
      to_rank[m_near[p].rank] = {static_cast<std::int64_t>(p * sizeof(Flag)),
                                 position(landing(0) + m_near[p].offset * m_buffers.item_bytes),
                                 position(landing(1) + m_near[p].offset * m_buffers.item_bytes)};
    const auto from_rank = m_comm.exchange(to_rank);
    std::vector<Peer> peers;
    std::vector<Piece> pieces;
    const auto add = [&](const Neighbour& n, Peer peer) {
      const auto most =
          static_cast<LocalIndex>(std::max<std::size_t>(1, piece_bytes / m_buffers.item_bytes));
      for (const IndexRun& slots :
           find_runs(m_plan.message_dofs, n.offset, n.offset + n.count, RunShape::shortest, most)) {
        pieces.push_back({static_cast<int>(peers.size()), slots});
        ++peer.n_pieces;
      }
      peers.push_back(peer);
    };
    for (std::size_t p = 0; p < m_near.size(); ++p) {
      const auto& told = from_rank[m_near[p].rank];
      std::byte* const there = m_memory->of_peer(p);
      const std::int64_t begin = m_near[p].offset * static_cast<std::int64_t>(m_buffers.item_bytes);
      add(m_near[p], {.to = {there + told[1] - begin, there + told[2] - begin},
                      .sent = reinterpret_cast<Flag*>(there + told[0]),
                      .arrived = reinterpret_cast<const Flag*>(m_memory->here()) + p});
    }
    m_n_near_pieces = static_cast<int>(pieces.size());
    auto* const send = static_cast<std::byte*>(m_buffers.send);
    for (const Neighbour& n : m_far.neighbours) add(n, {.to = {send, send}});
    m_peers = to_device("nekbone_k: peers", peers);
    m_pieces = to_device("nekbone_k: pieces of messages", pieces);
    m_written = DeviceVector<int>("nekbone_k: pieces written", peers.size());
  }

  /// Where kernels would hold up the processes they wait for: with the processor given to others.
  void wait_on_host() {
    const double patience = m_buffers.patience;
    m_buffers.stream.fence("nekbone_k: messages written");
    const auto* const flags = reinterpret_cast<const Flag*>(m_memory->here());
    std::size_t p = 0;  // the first that is not known to be raised
    const auto are_raised = [&] {
      while (p < m_near.size() && is_raised(flags + p, m_call)) ++p;
      return p == m_near.size();
    };
    if (!wait_until(are_raised, patience))
      throw InternalError(
          fmt::format("rank {} wrote no message into the memory of rank {} within {:g} s",
                      m_near[p].rank, m_comm.rank(), patience));
  }

  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  std::vector<Neighbour> m_near;  // on this node
  HaloPlan m_far;                 // its neighbours are those elsewhere, its slots those of all
  std::array<std::unique_ptr<Exchange>, 2> m_far_exchange;  // into either landing
  std::size_t m_landing_bytes = 0;
  std::unique_ptr<PeerMemory> m_memory;
  DeviceVector<LocalIndex> m_dofs;
  DeviceVector<Peer> m_peers;    // those near, in the order of m_near, then those far
  DeviceVector<Piece> m_pieces;  // in the order of the peers
  DeviceVector<int> m_written;
  int m_n_near_pieces = 0;
  // In host memory that the device writes to.
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> m_late;
  std::uint64_t m_call = 0;
  bool m_packed = false;  // by pack(), of this call
};

}  // namespace

std::unique_ptr<Exchange> make_peer_memory(const Communicator& comm, const HaloPlan& plan,
                                           const MessageBuffers& buffers) {
  return std::make_unique<PeerExchange>(comm, plan, buffers);
}

}  // namespace nekbone_k
