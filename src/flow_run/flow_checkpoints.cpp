// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/flow_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "core/whole_file.hpp"
#include "flow_run/field_files.hpp"
#include "output/hdf5_file.hpp"

namespace nekbone_k {

void require_output(const Communicator& comm, const Case& input) {
  if (!input.is_flow()) return;
  const auto require = [&](const std::string& place, const std::string& what,
                           const std::string& path, const std::string& keys) {
    if (!has_hdf5())
      throw InputError(fmt::format(
          "{}: this build has no parallel HDF5, so it cannot write {}; install it and build again, "
          "or remove {}",
          place, what, keys));
    const std::string why = comm.broadcast(comm.is_root() ? why_not_replaceable(path) : "");
    if (!why.empty())
      throw InputError(
          fmt::format("{}: '{}' cannot be written: {}; name another file", place, path, why));
  };
  if (input.checkpoint.is_on())
    require(input.place("checkpoint.file"), "checkpoints", input.checkpoint.file,
            "checkpoint.every and checkpoint.before_walltime");
  if (input.output.every > 0)
    require(input.place("output.file"), "fields", field_file(input.output.file, 0), "output.every");
}

std::string replaced_checkpoint(const Communicator& comm, const Case& input) {
  if (!input.is_flow() || !input.checkpoint.is_on()) return {};
  const std::string& path = input.checkpoint.file;
  std::string warning;
  if (comm.is_root()) {
    std::error_code error;
    if (std::filesystem::exists(path, error) &&
        !std::filesystem::equivalent(path, input.restart, error))
      warning = fmt::format(
          "{}: '{}' exists, and this run will replace it. To keep it, name another file. To "
          "continue from it, give --restart {}.",
          input.place("checkpoint.file"), path, path);
  }
  return comm.broadcast(warning);
}

FlowCheckpoints::FlowCheckpoints(const Communicator& comm, const CheckpointCase& checkpoint,
                                 double began, FlowRecord& record)
    : m_comm(comm), m_checkpoint(checkpoint), m_began(began), m_record(record) {
  if (checkpoint.is_on()) m_request.emplace();
}

std::string FlowCheckpoints::why_stop(double step_seconds) const {
  std::array<double, 2> here{static_cast<double>(StopRequest::signal()), wall_seconds() - m_began};
  m_comm.max(here);
  if (here[0] != 0) return "stopped by " + StopRequest::name(static_cast<int>(here[0]));
  // Two more steps and twice the longest checkpoint must fit, with a second for the rest. The first
  // checkpoint is guessed to take no longer than ten steps.
  const double needed = 1 + 2 * step_seconds + 2 * (m_longest > 0 ? m_longest : 10 * step_seconds);
  if (m_checkpoint.before_walltime > 0 && here[1] + needed > m_checkpoint.before_walltime)
    return fmt::format("stopped {} {} of wall time",
                       here[1] > m_checkpoint.before_walltime ? "after" : "before",
                       seconds_text(m_checkpoint.before_walltime));
  return {};
}

std::string FlowCheckpoints::after_step(int step, double step_seconds, bool ends,
                                        const std::function<void()>& save) {
  if (!m_request) return {};
  const std::string why = why_stop(step_seconds);
  const bool is_due = m_checkpoint.every > 0 && step % m_checkpoint.every == 0;
  if (!is_due && !ends && why.empty()) return {};
  const double begin = wall_seconds();
  try {
    save();
    ++m_record.checkpoints;
    m_record.checkpoint_step = step;
    m_record.checkpoint_failure.clear();
  } catch (const FileError& error) {
    m_record.checkpoint_failure = fmt::format("the checkpoint of step {}: {}", step, error.what());
  }
  m_longest = std::max(m_longest, m_comm.max(wall_seconds() - begin));
  m_record.checkpoint_seconds = m_longest;
  return ends ? "" : why;
}

}  // namespace nekbone_k
