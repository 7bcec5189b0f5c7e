// SPDX-License-Identifier: BSD-3-Clause
#include "support/made_up_strategies.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "gs/strategies/all_to_all.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/pairwise.hpp"

namespace nekbone_k {
namespace {

// ---- Wrong exchanges ---------------------------------------------------------------------------

// Spoils the messages of a correct exchange.
class Faulty final : public RightExchange {
 public:
  Faulty(Fault fault, Where where, const Communicator& comm, const HaloPlan& plan,
         const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers),
        m_fault(fault),
        m_active(where == Where::everywhere || comm.rank() == comm.size() - 1),
        m_plan(plan),
        m_item_bytes(buffers.item_bytes),
        m_receive(static_cast<unsigned char*>(buffers.receive), buffers.bytes(plan)) {}

  void post() override {
    m_before = received();
    RightExchange::post();
  }

  Arrival wait() override {
    const Arrival arrival = RightExchange::wait();
    if (!m_active || m_plan.neighbours.empty()) return arrival;
    std::vector<unsigned char> bytes = received();
    const std::vector<unsigned char> delivered = bytes;
    spoil(bytes);
    m_last = delivered;
    Kokkos::deep_copy(m_receive, HostBytes(bytes.data(), bytes.size()));
    return arrival;
  }

 private:
  using DeviceBytes =
      Kokkos::View<unsigned char*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using HostBytes =
      Kokkos::View<unsigned char*, HostMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  std::vector<unsigned char> received() const {
    std::vector<unsigned char> bytes(m_receive.extent(0));
    Kokkos::deep_copy(HostBytes(bytes.data(), bytes.size()), m_receive);
    return bytes;
  }

  void spoil(std::vector<unsigned char>& bytes) const {
    const Neighbour& n = m_plan.neighbours.back();
    const auto item = [&](LocalIndex slot) { return bytes.begin() + slot * m_item_bytes; };
    switch (m_fault) {
      case Fault::delivers_nothing:
        bytes = m_before;
        break;
      case Fault::skips_a_neighbour:
        std::copy(m_before.begin() + n.offset * m_item_bytes,
                  m_before.begin() + (n.offset + n.count) * m_item_bytes, item(n.offset));
        break;
      case Fault::corrupts_a_byte:
        bytes[0] ^= 0x01;
        break;
      case Fault::delivers_the_last_call:
        if (!m_last.empty()) bytes = m_last;
        break;
      case Fault::reverses_a_message:
        for (LocalIndex i = 0; i < n.count / 2; ++i)
          std::swap_ranges(item(n.offset + i), item(n.offset + i + 1),
                           item(n.offset + n.count - 1 - i));
        break;
      case Fault::swaps_components:
        if (m_item_bytes == 3 * sizeof(double))
          for (LocalIndex slot = 0; slot < m_plan.n_slots(); ++slot)
            std::swap_ranges(item(slot), item(slot) + sizeof(double),
                             item(slot) + 2 * sizeof(double));
        break;
      case Fault::fails_for_floats:
        if (m_item_bytes == sizeof(float)) bytes = m_before;
        break;
      case Fault::fails_for_three_components:
        if (m_item_bytes == 3 * sizeof(double)) bytes = m_before;
        break;
    }
  }

  Fault m_fault;
  bool m_active;
  const HaloPlan& m_plan;
  std::size_t m_item_bytes;
  DeviceBytes m_receive;
  std::vector<unsigned char> m_before, m_last;
};

template <Fault fault, Where where>
std::unique_ptr<Exchange> faulty(const Communicator& comm, const HaloPlan& plan,
                                 const MessageBuffers& buffers) {
  return make_faulty(fault, where, comm, plan, buffers);
}

// Correct for some calls of an object: more than verification makes and fewer than the tuner makes.
class TurnsWrong final : public RightExchange {
 public:
  TurnsWrong(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers),
        m_receive(static_cast<unsigned char*>(buffers.receive), buffers.bytes(plan)) {}
  Arrival wait() override {
    const Arrival arrival = RightExchange::wait();
    if (++m_calls > 4) Kokkos::deep_copy(m_receive, 0xff);  // bytes of a NaN
    return arrival;
  }

 private:
  Kokkos::View<unsigned char*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> m_receive;
  int m_calls = 0;
};

class Slow final : public RightExchange {
 public:
  using RightExchange::RightExchange;
  Arrival wait() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return RightExchange::wait();
  }
};

class Noted final : public RightExchange {
 public:
  Noted(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : RightExchange(comm, plan, buffers), m_number(made_exchanges().size()) {
    made_exchanges().push_back({buffers.item_bytes});
  }
  void post() override {
    ++made_exchanges()[m_number].calls;
    RightExchange::post();
  }

 private:
  std::size_t m_number;
};

// The calls that the last rank neglects.
enum class Neglect {
  // It leaves one message unreceived for the next user. For host buffers: such a short message is
  // gone once it is sent, while a GPU-aware MPI may wait for the buffer of the receiver.
  receiving_one,
  // It sends nothing from the third call of all objects on, so that its neighbours wait forever
  // unless there is a timeout.
  sending_for_long,
  // It sends nothing from the sixth call of each object on: more calls than verification makes.
  sending_while_timed
};

// Pairwise messages; the last rank neglects some of them.
template <Neglect neglect>
class Neglectful final : public Exchange {
 public:
  Neglectful(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm), m_plan(plan), m_buffers(buffers) {}

  void post() override {
    Kokkos::fence("packed");
    const bool neglects = m_comm.rank() == m_comm.size() - 1;
    ++m_calls_of_this;
    const bool sends = !neglects || (neglect == Neglect::sending_for_long      ? ++m_calls < 3
                                     : neglect == Neglect::sending_while_timed ? m_calls_of_this < 6
                                                                               : true);
    for (const Neighbour& n : m_plan.neighbours) {
      const int bytes = static_cast<int>(n.count * m_buffers.item_bytes);
      const auto slot = [&](void* buffer) {
        return static_cast<char*>(buffer) + n.offset * m_buffers.item_bytes;
      };
      // The pairwise strategies also use tag 17, but must not receive this message.
      if (sends)
        MPI_Isend(slot(m_buffers.send), bytes, MPI_BYTE, n.rank, 17, m_comm.get(),
                  &m_requests.emplace_back());
      if (neglect != Neglect::receiving_one || !neglects || &n != &m_plan.neighbours.front())
        MPI_Irecv(slot(m_buffers.receive), bytes, MPI_BYTE, n.rank, 17, m_comm.get(),
                  &m_requests.emplace_back());
    }
  }

  Arrival wait() override {
    wait_all(m_requests, m_buffers.patience);
    m_requests.clear();
    return {};
  }

 private:
  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  std::vector<MPI_Request> m_requests;
  static inline int m_calls = 0;
  int m_calls_of_this = 0;
};

// ---- Exchanges that throw ----------------------------------------------------------------------

enum class Phase { make, post, wait };

// Throws before it does any work of the phase, so that messages of other ranks stay pending.
class Throwing final : public Exchange {
 public:
  Throwing(Phase phase, Where where, int right_calls, const Communicator& comm,
           const HaloPlan& plan, const MessageBuffers& buffers, ExchangeFactory inner)
      : m_phase(phase),
        m_active(where == Where::everywhere || comm.rank() == comm.size() - 1),
        m_right_calls(right_calls) {
    throw_in(Phase::make);
    m_inner = inner(comm, plan, buffers);
  }
  void post() override {
    throw_in(Phase::post);
    m_inner->post();
  }
  Arrival wait() override {
    throw_in(Phase::wait);
    return m_inner->wait();
  }
  void poison() override { m_inner->poison(); }

 private:
  void throw_in(Phase phase) {
    if (!m_active || phase != m_phase) return;
    if (m_right_calls-- <= 0) throw std::runtime_error("out of rendezvous slots");
  }

  Phase m_phase;
  bool m_active;
  int m_right_calls;
  std::unique_ptr<Exchange> m_inner;
};

template <Phase phase, Where where, ExchangeFactory inner, int right_calls = 0>
std::unique_ptr<Exchange> make_throwing(const Communicator& comm, const HaloPlan& plan,
                                        const MessageBuffers& buffers) {
  return std::make_unique<Throwing>(phase, where, right_calls, comm, plan, buffers, inner);
}

// ---- Lists of strategies -----------------------------------------------------------------------

template <Fault fault>
void add_wrong(std::vector<Wrong>& all, const std::string& name) {
  all.push_back({named(name, faulty<fault, Where::everywhere>), Where::everywhere});
  all.push_back({named(name + "_on_one_rank", faulty<fault, Where::last_rank>), Where::last_rank});
}

template <ExchangeFactory inner>
void add_throwers(std::vector<Thrower>& all, const std::string& name) {
  const auto add = [&]<Phase phase>(const std::string& phase_name) {
    all.push_back(
        {name + phase_name, Where::everywhere, make_throwing<phase, Where::everywhere, inner>});
    all.push_back({name + phase_name + "_on_one_rank", Where::last_rank,
                   make_throwing<phase, Where::last_rank, inner>});
  };
  add.template operator()<Phase::make>("make");
  add.template operator()<Phase::post>("post");
  add.template operator()<Phase::wait>("wait");
}

}  // namespace

RightExchange::RightExchange(const Communicator& comm, const HaloPlan& plan,
                             const MessageBuffers& buffers)
    : m_inner(host_staged<make_pairwise>(comm, plan, buffers)) {}

Strategy named(const std::string& name, ExchangeFactory make, bool overlapped) {
  return {name, "Host", "for a test", make, overlapped};
}

Strategy good(const std::string& name, bool overlapped) {
  return named(name, host_staged<make_pairwise>, overlapped);
}

Strategy noted(const std::string& name, bool overlapped) {
  return named(name, make<Noted>, overlapped);
}

std::vector<MadeExchange>& made_exchanges() {
  static std::vector<MadeExchange> all;
  return all;
}

std::unique_ptr<Exchange> make_faulty(Fault fault, Where where, const Communicator& comm,
                                      const HaloPlan& plan, const MessageBuffers& buffers) {
  return std::make_unique<Faulty>(fault, where, comm, plan, buffers);
}

std::vector<Wrong> wrong_strategies() {
  std::vector<Wrong> all;
  add_wrong<Fault::delivers_nothing>(all, "delivers_nothing");
  add_wrong<Fault::skips_a_neighbour>(all, "skips_a_neighbour");
  add_wrong<Fault::corrupts_a_byte>(all, "corrupts_a_byte");
  add_wrong<Fault::delivers_the_last_call>(all, "delivers_the_last_call");
  add_wrong<Fault::reverses_a_message>(all, "reverses_a_message");
  add_wrong<Fault::swaps_components>(all, "swaps_components");
  add_wrong<Fault::fails_for_floats>(all, "fails_for_floats");
  add_wrong<Fault::fails_for_three_components>(all, "fails_for_three_components");
  all.push_back({named("leaves_a_message", host_staged<make<Neglectful<Neglect::receiving_one>>>),
                 Where::last_rank});
  return all;
}

Strategy stops_sending(const std::string& name) {
  return named(name, host_staged<make<Neglectful<Neglect::sending_for_long>>>);
}

Strategy turns_wrong(const std::string& name, bool overlapped) {
  return named(name, make<TurnsWrong>, overlapped);
}

std::vector<Strategy> failing_while_timed() {
  constexpr int right_calls = 5;  // more than verification makes on one object
  return {
      named("stops sending", host_staged<make<Neglectful<Neglect::sending_while_timed>>>),
      named("throws",
            make_throwing<Phase::wait, Where::everywhere, host_staged<make_pairwise>, right_calls>),
      named("throws on one rank",
            make_throwing<Phase::post, Where::last_rank, host_staged<make_pairwise>, right_calls>),
      named("overlapped throws on one rank",
            make_throwing<Phase::wait, Where::last_rank, host_staged<make_pairwise>, right_calls>,
            true)};
}

Strategy slow(const std::string& name) { return named(name, make<Slow>); }

std::vector<Thrower> throwers() {
  std::vector<Thrower> all;
  add_throwers<make_pairwise>(all, "pairwise_in_");      // messages that nobody receives
  add_throwers<make_all_to_all>(all, "all_to_all_in_");  // a collective that some ranks never join
  return all;
}

}  // namespace nekbone_k
