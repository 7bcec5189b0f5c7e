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

/// Who writes down what is begun. Collective.
JournalWriter root_of(const Communicator& comm) {
  JournalWriter root;
  root.host = comm.broadcast(root.host);
  root.process = std::stoi(comm.broadcast(std::to_string(root.process)));
  return root;
}

/// What a guard was told, for people.
std::string in_words(const std::string& entered) {
  const bool is_other = entered.starts_with("path ") || entered.starts_with("sum ");
  return (is_other ? "the " : "strategy ") + entered;
}

}  // namespace

TuningWatch::TuningWatch(const Communicator& comm, const std::string& journal, double patience,
                         const MachineRecord& machine, bool is_probe)
    : m_comm(comm),
      m_is_probe(is_probe),
      m_patience(patience),
      m_started(comm.broadcast(machine.started)),
      m_root(root_of(comm)),
      m_journal(journal, place_of(machine)),
      m_watchdog([this, journal](const std::string& what) {
        // All ranks are in it together; the first speaks, and the others give it time to. What
        // it cannot write any more, being stopped or gone, another does.
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
          m_journal.write_hang();
        }
        _exit(static_cast<int>(ExitCode::internal));
      }) {
  m_complaint = comm.broadcast(m_journal.complaint());
  if (comm.is_root() && !m_complaint.empty()) fmt::print(stderr, "nekbone-k: {}\n", m_complaint);
}

void TuningWatch::watch() {
  if (m_entered.empty()) {
    m_journal.rest();
    m_watchdog.rest();
    return;
  }
  std::string what;
  for (const std::string& name : m_entered) what += (what.empty() ? "" : " with ") + in_words(name);
  m_journal.trying(m_entered, m_started);
  m_watchdog.watch(what, 4 * m_patience);
}

TuningGuard TuningWatch::guard() {
  TuningGuard guard{.patience = m_patience};
  guard.enter = [this](const std::string& strategy) {
    m_entered.push_back(strategy);
    watch();
  };
  guard.leave = [this] {
    if (!m_entered.empty()) m_entered.pop_back();  // else fail() came before, and the job ends
    watch();
  };
  guard.begin = [this](const std::string& strategy) {
    // In a run not what most strategies need: somebody may end it for another reason.
    if (m_comm.is_root() && (m_is_probe || !strategy.starts_with("path ")))
      m_journal.begin(strategy, m_started);
    m_comm.barrier();
  };
  guard.end = [this] {
    m_comm.barrier();
    if (m_comm.is_root()) m_journal.end();
  };
  guard.take_back = [this](const std::string& strategy) {
    m_journal.take_back(strategy, m_started, m_root);
  };
  guard.go_on = [this] { watch(); };
  guard.fail = [this] {
    m_journal.write_failure();
    m_entered.clear();
    watch();
  };
  // Of rank 0's journal, as ranks may see different folders. Where the carrier of its messages
  // ended a run when it was measured, a strategy would end the next.
  guard.why_excluded = [this](const std::string& name) {
    std::string why = m_journal.why_excluded(name);
    const Strategy* const strategy = find_strategy(name);
    if (why.empty() && strategy != nullptr)
      why = m_journal.why_excluded(guarded_name(strategy->cost.carrier));
    return m_comm.broadcast(why);
  };
  return guard;
}

}  // namespace nekbone_k
