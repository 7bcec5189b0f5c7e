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
#include "gs/peer_messages.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/strategies/words.hpp"

namespace nekbone_k {
namespace {

constexpr int team_size = RunShape::team_size;

/// Slots or DOFs that a team works on, of so many. The same at both ends of a message. Few, so that
/// many write at once, but two of each thread if they are small; of long messages more, as each
/// team's begin and end take their time.
LocalIndex most_of_a_team(std::size_t n_positions, std::size_t item_bytes) {
  constexpr std::size_t enough_teams = 512, least_bytes = 4096, most_bytes = 32768;
  const std::size_t bytes = std::clamp(n_positions * item_bytes / enough_teams / least_bytes,
                                       std::size_t{1}, most_bytes / least_bytes) *
                            least_bytes;
  return static_cast<LocalIndex>(std::max<std::size_t>(team_size, bytes / item_bytes));
}

/// (DOFs) how many messages each is in.
std::vector<int> messages_of_dofs(const HaloPlan& plan) {
  std::vector<int> messages;
  for (const LocalIndex dof : plan.message_dofs) {
    if (dof >= static_cast<LocalIndex>(messages.size())) messages.resize(dof + 1, 0);
    ++messages[dof];
  }
  return messages;
}

/// Writes the messages of a call where the neighbours read them.
template <class Word>
struct Push {
  PeerMessages messages;
  MessageSource<Word> source;

  KOKKOS_FUNCTION void operator()(const PeerTeam& team) const {
    write_piece(team, messages, messages.pieces(team.league_rank()), source);
  }
};

/// Waits for the messages of a call and copies them to `receive`.
template <class Word>
struct Pull {
  PeerMessages messages;
  Word* receive;
  int words;

  KOKKOS_FUNCTION void operator()(const PeerTeam& team) const {
    const PeerPiece piece = messages.pieces(team.league_rank());
    if (const Flag* const arrived = messages.peers(piece.peer).arrived; arrived != nullptr) {
      Kokkos::single(Kokkos::PerTeam(team),
                     [&]() { await(arrived, messages.call, messages.late); });
      team.team_barrier();
    }
    const auto* const from = static_cast<const Word*>(messages.landing);
    const std::int64_t begin = std::int64_t{piece.run.begin} * words,
                       end = begin + std::int64_t{piece.run.count} * words;
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
    // Flags of messages that came, of those that were written and of pieces that came, then two
    // landings, each laid out as the receive buffer.
    m_landing_bytes = (buffers.bytes(plan) + alignof(Flag) - 1) / alignof(Flag) * alignof(Flag);
    m_n_flags = 2 * m_near.size();
    if (!is_host_device)
      for (const Neighbour& n : m_near) m_n_flags += n_pieces(n);
    m_memory = std::make_unique<PeerMemory>(comm, m_n_flags * sizeof(Flag) + 2 * m_landing_bytes,
                                            near, m_n_flags);
    list_pieces(introduce_peers());
    m_messages.dofs = to_device("nekbone_k: message DOFs", plan.message_dofs);
    m_messages.late = m_late.data();
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
      push<Word>(m_n_written, {static_cast<const Word*>(field.data), false, 1,
                               field.component_stride, field.components});
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
        push<Word>(m_n_near_pieces, {static_cast<const Word*>(m_buffers.send), true,
                                     static_cast<std::size_t>(words), 1, words});
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
    return {m_messages.landing, flags(), static_cast<int>(m_near.size()), m_messages.call,
            m_late.data()};
  }

  void finish() override {
    static_cast<void>(arrive(nullptr));
    if (m_n_written == 0) return;
    with_word(m_buffers.item_bytes, [&](auto word) {
      using Word = decltype(word);
      Kokkos::parallel_for("nekbone_k: read from neighbours", policy(m_n_written),
                           Pull<Word>{m_messages, static_cast<Word*>(m_buffers.receive),
                                      static_cast<int>(m_buffers.item_bytes / sizeof(Word))});
    });
  }

  const PeerMessages* begin_by_kernel() override {
    if (!can_be_one_kernel()) return nullptr;
    begin_call();
    m_messages.taken_before = m_n_taken;
    m_n_taken += m_messages.pieces.extent(0);
    return &m_messages;
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

  /// Those of messages that came, in the order of m_near; behind them those of what was written;
  /// and behind these, on a GPU, those of pieces that came.
  Flag* flags() const { return reinterpret_cast<Flag*>(m_memory->here()); }
  std::byte* landing(std::uint64_t call) const {
    return m_memory->here() + m_n_flags * sizeof(Flag) + call % 2 * m_landing_bytes;
  }

  LocalIndex longest_piece(const Neighbour& n) const {
    return most_of_a_team(n.count, m_buffers.item_bytes);
  }
  std::size_t n_pieces(const Neighbour& n) const {
    return (n.count + longest_piece(n) - 1) / longest_piece(n);
  }

  RunTeamPolicy policy(int teams) const {
    return RunTeamPolicy(m_buffers.stream, teams, team_size);
  }

  /// What MPI sends to other nodes wants the host between packing and unpacking.
  bool can_be_one_kernel() const { return !is_host_device && m_far.neighbours.empty(); }

  void begin_call() {
    check();
    ++m_messages.call;
    m_messages.landing = landing(m_messages.call);
  }

  template <class Word>
  void push(int teams, const MessageSource<Word>& source) const {
    if (teams == 0) return;
    Kokkos::parallel_for("nekbone_k: write to neighbours", policy(teams),
                         Push<Word>{m_messages, source});
  }

  /// What carries messages to other nodes at this call, or nothing.
  const std::unique_ptr<Exchange>& far_exchange() const {
    return m_far_exchange[m_messages.call % 2];
  }

  /// Tells each neighbour on the node where its messages land here, and cuts messages into pieces:
  /// those to neighbours on the node first.
  std::vector<PeerPiece> introduce_peers() {
    std::vector<std::vector<std::int64_t>> to_rank(m_comm.size());
    const auto position = [&](const void* in_memory) {
      return static_cast<const std::byte*>(in_memory) - m_memory->here();
    };
    Flag* piece_flags = flags() + 2 * m_near.size();
    std::vector<const Flag*> first_piece_flags;
    for (std::size_t p = 0; p < m_near.size(); ++p) {
      to_rank[m_near[p].rank] = {
          position(flags() + p), position(landing(0) + m_near[p].offset * m_buffers.item_bytes),
          position(landing(1) + m_near[p].offset * m_buffers.item_bytes), position(piece_flags)};
      first_piece_flags.push_back(piece_flags);
      if (!is_host_device) piece_flags += n_pieces(m_near[p]);
    }
    const auto from_rank = m_comm.exchange(to_rank);
    std::vector<Peer> peers;
    std::vector<PeerPiece> pieces;
    for (std::size_t p = 0; p < m_near.size(); ++p) {
      const auto& told = from_rank[m_near[p].rank];
      std::byte* const there = m_memory->of_peer(p);
      const std::int64_t begin = m_near[p].offset * static_cast<std::int64_t>(m_buffers.item_bytes);
      const std::size_t first = pieces.size();
      add_message(m_near[p],
                  {.to = {there + told[1] - begin, there + told[2] - begin},
                   .sent = reinterpret_cast<Flag*>(there + told[0]),
                   .arrived = flags() + p,
                   .written = flags() + m_near.size() + p},
                  peers, pieces);
      require(pieces.size() - first == n_pieces(m_near[p]), "a message is not cut as announced");
      if (is_host_device) continue;
      for (std::size_t i = first; i < pieces.size(); ++i) {
        pieces[i].sent = reinterpret_cast<Flag*>(there + told[3]) + (i - first);
        pieces[i].arrived = first_piece_flags[p] + (i - first);
      }
    }
    m_n_near_pieces = static_cast<int>(pieces.size());
    auto* const send = static_cast<std::byte*>(m_buffers.send);
    for (const Neighbour& n : m_far.neighbours) add_message(n, {.to = {send, send}}, peers, pieces);
    m_messages.peers = to_device("nekbone_k: peers", peers);
    m_messages.pieces_written = DeviceVector<int>("nekbone_k: pieces written", peers.size());
    return pieces;
  }

  /// Cuts the message to `peer`, whose number of pieces is found here.
  void add_message(const Neighbour& n, Peer peer, std::vector<Peer>& peers,
                   std::vector<PeerPiece>& pieces) const {
    const LocalIndex longest = longest_piece(n);
    peer.n_pieces = static_cast<int>(n_pieces(n));
    for (LocalIndex begin = n.offset; begin < n.offset + n.count; begin += longest) {
      const LocalIndex end = std::min(begin + longest, n.offset + n.count);
      const std::vector<IndexRun> runs =
          find_runs(m_plan.message_dofs, begin, end, RunShape::shortest, longest);
      pieces.push_back({.peer = static_cast<int>(peers.size()),
                        .run = runs.size() == 1 ? runs[0] : IndexRun{begin, end - begin, 0, 0}});
    }
    peers.push_back(peer);
  }

  /// Lists `pieces`, which are written, and what a kernel that does it all does besides.
  void list_pieces(std::vector<PeerPiece> pieces) {
    m_n_written = static_cast<int>(pieces.size());
    if (can_be_one_kernel()) {
      const std::vector<int> messages = messages_of_dofs(m_plan);
      for (PeerPiece& piece : pieces) {
        const auto first = m_plan.message_dofs.begin() + piece.run.begin;
        piece.has_several = std::any_of(first, first + piece.run.count,
                                        [&](LocalIndex dof) { return messages[dof] > 1; });
      }
      std::vector<LocalIndex> several;
      for (std::size_t dof = 0; dof < messages.size(); ++dof)
        if (messages[dof] > 1) several.push_back(static_cast<LocalIndex>(dof));
      const auto n_several = static_cast<LocalIndex>(several.size());
      for (const IndexRun& run : find_runs(several, 0, n_several, RunShape::shortest,
                                           most_of_a_team(n_several, m_buffers.item_bytes)))
        pieces.push_back({.peer = PeerPiece::no_peer, .run = run});
      m_messages.shared_by_several = to_device("nekbone_k: DOFs that several share", several);
      m_messages.n_taken = DeviceVector<std::uint64_t>("nekbone_k: pieces taken", 1);
    }
    m_messages.pieces = to_device("nekbone_k: pieces of an exchange", pieces);
  }

  /// Where kernels would hold up the processes they wait for: with the processor given to others.
  void wait_on_host() {
    const double patience = m_buffers.patience;
    m_buffers.stream.fence("nekbone_k: messages written");
    std::size_t p = 0;  // the first that is not known to be raised
    const auto are_raised = [&] {
      while (p < m_near.size() && is_raised(flags() + p, m_messages.call)) ++p;
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
  std::size_t m_n_flags = 0, m_landing_bytes = 0;
  std::unique_ptr<PeerMemory> m_memory;
  PeerMessages m_messages;  // peers: those near, in the order of m_near, then those far
  int m_n_near_pieces = 0, m_n_written = 0;  // pieces that are written, of m_near and of all
  // In host memory that the device writes to.
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> m_late;
  std::uint64_t m_n_taken = 0;  // pieces, by all calls so far
  bool m_packed = false;        // by pack(), of this call
};

}  // namespace

std::unique_ptr<Exchange> make_peer_memory(const Communicator& comm, const HaloPlan& plan,
                                           const MessageBuffers& buffers) {
  return std::make_unique<PeerExchange>(comm, plan, buffers);
}

}  // namespace nekbone_k
