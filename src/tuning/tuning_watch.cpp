// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/tuning_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/standard_streams.hpp"
#include "gs/strategy_table.hpp"
#include "machine/machine_paths.hpp"

namespace nekbone_k {
namespace {

/// Maximum time of a use of a strategy, as a multiple of the patience for a message.
constexpr double watched_for = 4;

/// The kind of machine for which lines of a journal count.
std::string place_of(const MachineRecord& machine) {
  return fmt::format("{}, {}", machine.backend, machine.mpi_library);
}

/// The process that writes the lines of begin(). Collective.
JournalWriter root_of(const Communicator& comm) {
  JournalWriter root;
  root.host = comm.broadcast(root.host);
  root.process = std::stoi(comm.broadcast(std::to_string(root.process)));
  root.token = comm.broadcast(root.token);
  return root;
}

/// A name of a guard in words.
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
      m_journal(journal, place_of(machine),
                {m_root, comm.rank(), comm.size(), watched_for * patience}),
      m_watchdog([this, journal](const std::string& what) {
        // All ranks hang together. Rank 0 reports, and the others give it time. If rank 0 is
        // stopped or gone, another rank writes the line.
        if (m_comm.is_root()) {
          const bool written = m_journal.write_hang();
          print_on_stderr(fmt::format(
              "\nnekbone-k: timeout: {} did not return within {:g} s; aborting. {}\n", what,
              watched_for * m_patience,
              written
                  ? "Journal " + journal + " records it; the next run skips it."
                  : "Journal " + journal + " cannot be written, so the next run may hang, too."));
        } else {
          sleep(3);
          m_journal.write_hang();
        }
        _exit(static_cast<int>(ExitCode::internal));
      }) {
  m_complaint = comm.broadcast(m_journal.complaint());
  if (comm.is_root() && !m_complaint.empty())
    print_on_stderr(fmt::format("nekbone-k: {}\n", m_complaint));
}

void TuningWatch::watch() {
  if (m_entered.empty()) {
    m_journal.rest();
    m_watchdog.rest();
    return;
  }
  std::vector<std::string> in_use;  // each once, because uses of a strategy may nest
  std::string what;
  for (const std::string& name : m_entered) {
    if (std::find(in_use.begin(), in_use.end(), name) != in_use.end()) continue;
    in_use.push_back(name);
    what += (what.empty() ? "" : " with ") + in_words(name);
  }
  m_journal.trying(in_use, m_started);
  m_watchdog.watch(what, watched_for * m_patience);
}

void TuningWatch::enter(const std::string& strategy) {
  m_entered.push_back(strategy);
  watch();
}

void TuningWatch::leave() {
  if (!m_entered.empty()) m_entered.pop_back();  // otherwise fail() came before, and the job ends
  watch();
}

void TuningWatch::fail() {
  m_journal.write_failure();
  m_entered.clear();
  watch();
}

void TuningWatch::begin(const std::string& strategy) {
  // Not for paths of a run, which most strategies need: someone may end the run for another reason.
  if (!m_is_probe && strategy.starts_with("path ")) return m_comm.barrier();
  // An interruption reaches ranks at different times. A rank must not die before the line exists,
  // because the line would then say that the rank was killed. So it waits for the line.
  if (!m_comm.is_root()) m_journal.expect_line(true);
  m_comm.barrier();
  if (m_comm.is_root()) m_journal.begin(strategy, m_started);
  m_comm.barrier();
  m_journal.expect_line(false);
}

void TuningWatch::end() {
  m_comm.barrier();
  if (m_comm.is_root()) m_journal.end();
}

void TuningWatch::take_back(const std::string& strategy) {
  m_journal.take_back(strategy, m_started, m_root);
}

std::string TuningWatch::why_excluded(const std::string& name) const {
  // Use the journal of rank 0, because ranks may see different folders. If the measurement of a
  // carrier ended a run, its strategies are excluded, too.
  std::string why = m_journal.why_excluded(name);
  const Strategy* const strategy = find_strategy(name);
  if (why.empty() && strategy != nullptr)
    why = m_journal.why_excluded(guarded_name(strategy->cost.carrier));
  return m_comm.broadcast(why);
}

}  // namespace nekbone_k
