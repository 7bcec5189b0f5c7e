#include "app/tuning_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Where a journal's lines count: on a machine that is like it.
std::string place_of(const MachineRecord& machine) {
  return fmt::format("{}, {}", machine.backend, machine.mpi_library);
}

}  // namespace

TuningWatch::TuningWatch(const Communicator& comm, const Case& input, const MachineRecord& machine)
    : m_comm(comm),
      m_patience(input.tuning_patience),
      m_started(comm.broadcast(machine.started)),
      m_journal(input.tuning_journal, place_of(machine)),
      m_watchdog([this, journal = input.tuning_journal](const std::string& what) {
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
    m_watchdog.watch("strategy " + strategy, 4 * m_patience);
  };
  const auto leave = [this] {
    m_journal.rest();
    m_watchdog.rest();
  };
  // Of rank 0's journal, as ranks may see different folders.
  const auto why_excluded = [this](const std::string& strategy) {
    return m_comm.broadcast(m_journal.why_excluded(strategy));
  };
  return {m_patience, enter, leave, why_excluded};
}

}  // namespace nekbone_k
