// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/peer_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/peer_memory.hpp"
#include "core/system.hpp"
#include "gs/exchange_by_kernel.hpp"
#include "gs/index_runs.hpp"
#include "gs/peer_messages.hpp"
#include "gs/strategies/pairwise.hpp"
#include "gs/strategies/words.hpp"

namespace nekbone_k {
namespace {

constexpr int team_size = RunShape::team_size;

/// Slots per team that writes a message of `n_positions` slots. Few, so that many teams write at
/// once, but two small items per thread. Long messages have more per team, because the start and
/// the end of a team take time.
LocalIndex most_of_a_team(std::size_t n_positions, std::size_t item_bytes) {
  constexpr std::size_t enough_teams = 512, least_bytes = 4096, most_bytes = 32768;
  const std::size_t bytes = std::clamp(n_positions * item_bytes / enough_teams / least_bytes,
                                       std::size_t{1}, most_bytes / least_bytes) *
                            least_bytes;
  return static_cast<LocalIndex>(std::max<std::size_t>(team_size, bytes / item_bytes));
}

/// Slots per team of an exchange by one kernel, at most the slots that its threads process at once.
/// Both ends of a message get the same result.
LocalIndex most_exchanged(LocalIndex n_slots) {
  constexpr LocalIndex enough_teams = 512;
  return team_size * std::clamp<LocalIndex>(n_slots / (enough_teams * team_size), 1,
                                            WordMessages::most_a_thread);
}

/// (DOFs) Number of messages that contain each DOF.
std::vector<int> messages_of_dofs(const HaloPlan& plan) {
  std::vector<int> messages;
  for (const LocalIndex dof : plan.message_dofs) {
    if (dof >= static_cast<LocalIndex>(messages.size())) messages.resize(dof + 1, 0);
    ++messages[dof];
  }
  return messages;
}

/// Writes the messages of a call into the memory of the neighbours.
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
      : m_comm(comm), m_plan(plan), m_buffers(buffers) {
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
    // MPI to other nodes needs the host between packing and unpacking.
    m_can_be_one_kernel = comm.all(!is_host_device && m_far.neighbours.empty());
    // First the flags of received messages, then landing buffers with the layout of the receive
    // buffer.
    m_landing_bytes = (buffers.bytes(plan) + alignof(Flag) - 1) / alignof(Flag) * alignof(Flag);
    m_memory = std::make_unique<PeerMemory>(
        comm, near.size() * sizeof(Flag) + n_landings() * m_landing_bytes, near, near.size());
    if (m_can_be_one_kernel) clear_landings();
    m_messages.dofs = to_device("nekbone_k: message DOFs", plan.message_dofs);
    m_messages.late = m_late.data();
    introduce_peers();
    if (m_can_be_one_kernel) list_pieces_of_kernel();
    if (m_far.neighbours.empty()) return;
    m_far.message_dofs = plan.message_dofs;  // of all messages, because offsets refer to them
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

  void post() override {
    if (!std::exchange(m_packed, false)) {
      begin_call();
      with_word(m_buffers.item_bytes, [&](auto word) {
        using Word = decltype(word);
        const auto words = static_cast<int>(m_buffers.item_bytes / sizeof(Word));
        push<Word>(m_n_near_pieces, {static_cast<const Word*>(m_buffers.send), true,
                                     static_cast<std::size_t>(words), 1, words});
      });
    }
    if (const auto& far = far_exchange()) far->post();
  }

  void check() const override {
    if (m_late.is_late())
      throw InternalError(fmt::format(
          "a message that a neighbour of rank {} should have written into its memory did not come "
          "within about a minute",
          m_comm.rank()));
  }

  Arrival wait() override {
    if (const auto& far = far_exchange()) far->wait();
    if constexpr (is_host_device) wait_on_host();
    return {m_messages.landing, flags(), static_cast<int>(m_near.size()), m_messages.call,
            m_late.data()};
  }

  void collect() override {
    if (m_n_written == 0) return;
    with_word(m_buffers.item_bytes, [&](auto word) {
      using Word = decltype(word);
      Kokkos::parallel_for("nekbone_k: read from neighbours", policy(m_n_written),
                           Pull<Word>{m_messages, static_cast<Word*>(m_buffers.receive),
                                      static_cast<int>(m_buffers.item_bytes / sizeof(Word))});
    });
  }

  const WordMessages* by_kernel() const override {
    return m_can_be_one_kernel ? &m_words : nullptr;
  }

  /// Leaves the landing buffers of words alone: there, the poison would be taken for a message.
  void poison() override {
    const std::size_t bytes = m_buffers.bytes(m_plan);
    const Bytes receive(static_cast<std::byte*>(m_buffers.receive), bytes);
    for (const std::uint64_t call : {0, 1}) Kokkos::deep_copy(Bytes(landing(call), bytes), receive);
    Kokkos::fence("nekbone_k: poisoned");
    m_comm.barrier();  // before a neighbour writes there
  }

 private:
  using Bytes = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Flags of received messages, in the order of m_near.
  Flag* flags() const { return reinterpret_cast<Flag*>(m_memory->here()); }
  /// Two in turn for messages with flags, and two for messages without.
  std::size_t n_landings() const { return m_can_be_one_kernel ? 4 : 2; }
  std::byte* landing_number(std::size_t number) const {
    return m_memory->here() + m_near.size() * sizeof(Flag) + number * m_landing_bytes;
  }
  std::byte* landing(std::uint64_t call) const { return landing_number(call % 2); }

  /// Marks all messages without flags as not come.
  void clear_landings() const {
    using Half = std::uint32_t;
    Kokkos::deep_copy(DeviceVector<Half>(reinterpret_cast<Half*>(landing_number(2)),
                                         2 * m_landing_bytes / sizeof(Half)),
                      not_come<Half>);
    Kokkos::fence("nekbone_k: nothing has come");
  }

  RunTeamPolicy policy(int teams) const {
    return RunTeamPolicy(m_buffers.stream, teams, team_size);
  }

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

  /// The exchange of messages to other nodes at this call, or null.
  const std::unique_ptr<Exchange>& far_exchange() const {
    return m_far_exchange[m_messages.call % 2];
  }

  /// Tells each neighbour on the node where its messages land. Lists the peers, and the pieces that
  /// kernels write to them.
  void introduce_peers() {
    std::vector<std::vector<std::int64_t>> to_rank(m_comm.size());
    const auto position = [&](const void* in_memory) {
      return static_cast<const std::byte*>(in_memory) - m_memory->here();
    };
    for (std::size_t p = 0; p < m_near.size(); ++p) {
      auto& told = to_rank[m_near[p].rank];
      told = {position(flags() + p)};
      for (std::size_t number = 0; number < n_landings(); ++number)
        told.push_back(position(m_buffers.message(landing_number(number), m_near[p])));
    }
    const auto from_rank = m_comm.exchange(to_rank);
    std::vector<Peer> peers;
    std::vector<WordMessages::Peer> peers_of_kernel;
    std::vector<PeerPiece> pieces;
    for (std::size_t p = 0; p < m_near.size(); ++p) {
      const auto& told = from_rank[m_near[p].rank];
      std::byte* const there = m_memory->of_peer(p);
      const std::int64_t begin = m_near[p].offset * static_cast<std::int64_t>(m_buffers.item_bytes);
      const auto landing_there = [&](int number) { return there + told[1 + number] - begin; };
      add_pieces(m_near[p],
                 {.to = {landing_there(0), landing_there(1)},
                  .sent = reinterpret_cast<Flag*>(there + told[0]),
                  .arrived = flags() + p},
                 peers, pieces);
      if (m_can_be_one_kernel) peers_of_kernel.push_back({{landing_there(2), landing_there(3)}});
    }
    m_n_near_pieces = static_cast<int>(pieces.size());
    auto* const send = static_cast<std::byte*>(m_buffers.send);
    for (const Neighbour& n : m_far.neighbours) add_pieces(n, {.to = {send, send}}, peers, pieces);
    m_n_written = static_cast<int>(pieces.size());
    m_messages.peers = to_device("nekbone_k: peers", peers);
    m_messages.pieces_written = DeviceVector<int>("nekbone_k: pieces written", peers.size());
    m_messages.pieces = to_device("nekbone_k: pieces of messages", pieces);
    m_words.peers = to_device("nekbone_k: peers of a kernel", peers_of_kernel);
  }

  /// Adds `peer` and the pieces of the message to it.
  void add_pieces(const Neighbour& n, Peer peer, std::vector<Peer>& peers,
                  std::vector<PeerPiece>& pieces) const {
    for (const IndexRun& slots :
         find_runs(m_plan.message_dofs, n.offset, n.offset + n.count, RunShape::shortest,
                   most_of_a_team(n.count, m_buffers.item_bytes))) {
      pieces.push_back({static_cast<int>(peers.size()), slots});
      ++peer.n_pieces;
    }
    peers.push_back(peer);
  }

  /// Lists the work of the teams of an exchange by one kernel. Both ends must cut the same pieces,
  /// so a piece without a common stride reads the list of DOFs.
  void list_pieces_of_kernel() {
    const std::vector<int> messages = messages_of_dofs(m_plan);
    std::vector<WordMessages::Piece> pieces;
    for (std::size_t p = 0; p < m_near.size(); ++p) {
      const LocalIndex end = m_near[p].offset + m_near[p].count,
                       longest = most_exchanged(m_near[p].count);
      for (LocalIndex begin = m_near[p].offset; begin < end; begin += longest) {
        const LocalIndex count = std::min(longest, end - begin);
        const std::vector<IndexRun> runs =
            find_runs(m_plan.message_dofs, begin, begin + count, RunShape::shortest, longest);
        const auto first = m_plan.message_dofs.begin() + begin;
        pieces.push_back({.peer = static_cast<int>(p),
                          .run = runs.size() == 1 ? runs[0] : IndexRun{begin, count, 0, 0},
                          .has_several = std::any_of(first, first + count, [&](LocalIndex dof) {
                            return messages[dof] > 1;
                          })});
        if (pieces.back().has_several) ++m_words.n_with_several;
      }
    }
    std::vector<LocalIndex> several;
    for (std::size_t dof = 0; dof < messages.size(); ++dof)
      if (messages[dof] > 1) several.push_back(static_cast<LocalIndex>(dof));
    const auto n_several = static_cast<LocalIndex>(several.size());
    for (LocalIndex begin = 0; begin < n_several; begin += team_size)
      pieces.push_back({.peer = WordMessages::Piece::no_peer,
                        .run = {begin, std::min<LocalIndex>(team_size, n_several - begin), 0, 0}});
    m_words.dofs = m_messages.dofs;
    m_words.late = m_messages.late;
    for (const int parity : {0, 1}) m_words.landings[parity] = landing_number(2 + parity);
    m_words.pieces = to_device("nekbone_k: pieces of an exchange", pieces);
    m_words.shared_by_several = to_device("nekbone_k: DOFs that several share", several);
    m_words.n_taken = DeviceVector<std::uint64_t>("nekbone_k: pieces taken", 1);
    m_words.n_read = DeviceVector<std::uint64_t>("nekbone_k: pieces read", 1);
  }

  /// Waits on a CPU, where kernels would block the processes that they wait for. The host gives the
  /// processor to other processes instead.
  void wait_on_host() {
    const double patience = m_buffers.patience;
    m_buffers.stream.fence("nekbone_k: messages written");
    std::size_t p = 0;  // first flag not known to be raised
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
  HaloPlan m_far;                 // neighbours on other nodes; slots of all messages
  std::array<std::unique_ptr<Exchange>, 2> m_far_exchange;  // into each of the two landing buffers
  std::size_t m_landing_bytes = 0;
  bool m_can_be_one_kernel = false;
  std::unique_ptr<PeerMemory> m_memory;
  PeerMessages m_messages;  // peers: near ones in the order of m_near, then far ones
  int m_n_near_pieces = 0, m_n_written = 0;  // written pieces: to m_near, to all
  Lateness m_late;
  WordMessages m_words;   // of calls by one kernel; its peers are the near ones
  bool m_packed = false;  // by pack(), for this call
};

}  // namespace

std::unique_ptr<Exchange> make_peer_memory(const Communicator& comm, const HaloPlan& plan,
                                           const MessageBuffers& buffers) {
  return std::make_unique<PeerExchange>(comm, plan, buffers);
}

}  // namespace nekbone_k
