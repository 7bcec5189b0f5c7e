#include "app/tuning_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/errors.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {
namespace {

/// Where a journal's lines count: on a machine that is like it.
std::string place_of(const MachineRecord& machine) {
  return fmt::format("{}, {}", machine.backend, machine.mpi_library);
}

}  // namespace

TuningWatch::TuningWatch(const Communicator& comm, const std::string& journal, double patience,
                         const MachineRecord& machine)
    : m_comm(comm),
      m_patience(patience),
      m_started(comm.broadcast(machine.started)),
      m_journal(journal, place_of(machine)),
      m_watchdog([this, journal](const std::string& what) {
        // All ranks are in it together; the first speaks, and the others give it time to.
        if (m_comm.is_root()) {
          const bool written = m_journal.write_hang();
          fmt::print(stderr,
                     "\nnekbone-k: {} did not come back within {:g} s, and cannot be undone; the "
                     "job ends here, {}\n",
                     what, 4 * m_patience,
                     written ? "and " + journal + " lets the next one leave it out"
                             : "and as " + journal + " cannot be written, the next one may, too");
          std::fflush(stderr);
        } else {
          sleep(3);
        }
        _exit(static_cast<int>(ExitCode::internal));
      }) {}

TuningGuard TuningWatch::guard() {
  const auto enter = [this](const std::string& strategy) {
    m_journal.trying(strategy, m_started);
    const bool is_path = strategy.starts_with("path ");
    m_watchdog.watch((is_path ? "the " : "strategy ") + strategy, 4 * m_patience);
  };
  const auto leave = [this] {
    m_journal.rest();
    m_watchdog.rest();
  };
  // Of rank 0's journal, as ranks may see different folders. Where the carrier of its messages
  // ended a run when it was measured, a strategy would end the next.
  const auto why_excluded = [this](const std::string& name) {
    std::string why = m_journal.why_excluded(name);
    const Strategy* const strategy = find_strategy(name);
    if (why.empty() && strategy != nullptr)
      why = m_journal.why_excluded(guarded_name(strategy->cost.carrier));
    return m_comm.broadcast(why);
  };
  return {m_patience, enter, leave, why_excluded};
}

TuningGuard TuningWatch::probing_guard() {
  TuningGuard probing = guard();
  probing.enter = [this, enter = probing.enter](const std::string& strategy) {
    if (m_comm.is_root()) m_journal.begin(strategy, m_started);
    m_comm.barrier();
    if (strategy.starts_with("path ")) return m_journal.trying(strategy, m_started);
    enter(strategy);
  };
  probing.leave = [this, leave = probing.leave] {
    leave();
    m_comm.barrier();
    if (m_comm.is_root()) m_journal.end();
  };
  return probing;
}

}  // namespace nekbone_k
