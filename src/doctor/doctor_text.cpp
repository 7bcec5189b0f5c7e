// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/doctor_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/format.hpp"
#include "report/report.hpp"

namespace nekbone_k {
namespace {

std::string shared_cores_text(const MachineRecord& machine) {
  constexpr std::size_t most = 12;
  const std::vector<SharedCores> all = shared_cores(machine);
  if (all.empty()) return labelled_line("shared", "no core may be used by two ranks");
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    text += labelled_line(
        i == 0 ? "shared" : "",
        fmt::format("core{} {} of {}: ranks {}", all[i].cores.size() > 1 ? "s" : "",
                    ranges_text(all[i].cores), all[i].host, ranges_text(all[i].ranks)));
  if (all.size() > most) text += labelled_line("", fmt::format("and {} more", all.size() - most));
  return text;
}

bool same_path(const ProbeEntry& a, const ProbeEntry& b) {
  return a.place == b.place && a.memory == b.memory;
}

}  // namespace

std::string doctor_header_text(const DoctorRecord& record) {
  const MachineRecord& machine = record.machine;
  std::string text = heading(fmt::format("nekbone-k doctor {}, commit {}, started {}",
                                         machine.version, machine.commit, machine.started));
  text += machine_text(machine, false);
  text += shared_cores_text(machine);
  text +=
      labelled_line("threads", fmt::format("{} per rank; the node of rank 0 has {}", record.threads,
                                           counted(record.online_cores.front(), "core")));
  text += per_rank("NUMA nodes", record.numa_nodes);
  if (!record.kernels_on_host) text += per_rank("of devices", record.device_numa_nodes);
  text += per_rank("network", record.networks);
  return text;
}

std::string probe_header_text(const DoctorRecord& record) {
  const bool host = record.kernels_on_host;
  std::string text = fmt::format(
      "\n{}", heading(fmt::format("Messages by MPI, {} memory", host ? "host" : "device")));
  text += labelled_line(
      "claims", (record.probe.claim.device ? "" : "nothing: ") + claim_text(record.probe.claim));
  if (record.machine.ranks < 2)
    return text + labelled_line("tried", "nothing, as there is only one rank");
  text += labelled_line(
      "tried",
      host ? "messages from host to host memory, where the kernels of this build run: "
             "this says nothing of GPUs"
           : fmt::format("messages from device to device memory ({})", record.probe.memory));
  text += labelled_line(
      "how",
      "to both neighbours in a ring of ranks at once; every byte is checked; at 3 B: buffers "
      "begin 3 B past an aligned address; times are medians of the slowest rank");
  if (const std::string trial = trial_text(record.trial); !trial.empty())
    text += labelled_line("before", trial);
  if (!host && !record.trial.is_bad())
    text += labelled_line(
        "if it crashes",
        "here, MPI cannot read the device memory of the transfer that stands last: it is "
        "not GPU-aware. Only this job is lost.");
  return text;
}

std::string probe_result_text(const MpiProbe& probe) {
  if (probe.entries.empty()) return {};
  const auto wrong = probe.count_wrong();
  if (wrong == 0)
    return labelled_line("found", fmt::format("all {} transfers right", probe.entries.size()));
  std::string text =
      labelled_line("found", fmt::format("{} of {} transfers WRONG", wrong, probe.entries.size()));
  for (const ProbeEntry& entry : probe.entries)
    if (!entry.ok()) text += labelled_line("", failure_text(entry));
  if (probe.stuck)
    text += labelled_line("", "transfers after one that did not finish were not tried");
  return text;
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text = fmt::format("\n{}", heading("What is likely wrong"));
  if (findings.empty()) return text + "  nothing found\n";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    text += wrap(fmt::format("  {}. ", i + 1), findings[i].what);
    if (!findings[i].fix.empty()) text += wrap("     fix: ", findings[i].fix);
  }
  return text;
}

std::string ProbeRows::before(const ProbeEntry& entry) {
  std::string text;
  const bool new_path = !m_last || !same_path(*m_last, entry);
  if (new_path) text += end_path() + fmt::format("  {}\n", name(entry));
  if (new_path || m_last->bytes != entry.bytes)
    text += fmt::format("{}    {:<9}", new_path ? "" : "\n",
                        bytes_text(static_cast<double>(entry.bytes)));
  else
    text += std::string(m_padding, ' ');
  m_last = entry;
  return text + fmt::format("  at {} B: ", entry.offset);
}

std::string ProbeRows::after(const ProbeEntry& entry) {
  constexpr std::size_t width = 12;
  if (m_path.empty() || m_path.back().bytes != entry.bytes) m_path.push_back(entry);
  const std::string text = entry.ok() ? seconds_text(entry.seconds) + " ok" : "WRONG";
  m_padding = width - std::min(text_width(text), width);
  return text;
}

std::string ProbeRows::end_path() {
  if (m_path.empty()) return {};
  const ProbeEntry &small = m_path.front(), &large = m_path.back();
  std::string text = "\n";
  if (small.ok() && large.ok() && large.seconds > 0)
    text +=
        wrap("    ",
             fmt::format("{} in {}, cold; each rank sends {} and receives as much ({})",
                         bytes_text(static_cast<double>(small.bytes)), seconds_text(small.seconds),
                         giga_text(2.0 * static_cast<double>(large.bytes) / large.seconds, "B/s"),
                         bytes_text(static_cast<double>(large.bytes))));
  m_path.clear();
  return text;
}

std::string ProbeRows::end() {
  m_last.reset();
  return end_path();
}

std::string attempt_text(const std::string& name) { return fmt::format("  {:<18} ", name); }

std::string attempt_result_text(const Availability& result) {
  const std::string first = attempt_text(result.name);
  return wrap(first, !result.why_not.empty() ? "not here: " + result.why_not
                     : !result.wrong.empty() ? "WRONG: " + result.wrong
                                             : "yes")
      .substr(first.size());
}

}  // namespace nekbone_k
