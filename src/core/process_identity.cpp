// SPDX-License-Identifier: BSD-3-Clause
#include "core/process_identity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "core/system.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

/// The state and start time of a process in /proc.
struct ProcessStatus {
  char state = '?';
  std::int64_t since = 0;
};

/// Whether /proc is that of this process's PID namespace; a container may show another's.
bool proc_is_of_this_namespace() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self", ignored) == std::to_string(getpid());
}

std::optional<ProcessStatus> status_of(const std::string& process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');  // the name may contain any characters
  if (name_end == std::string::npos) return {};
  constexpr int fields_between = 18;  // from the state (field 3) to the start time (field 22)
  std::istringstream fields(text.substr(name_end + 1));
  ProcessStatus status;
  fields >> status.state;
  std::string other;
  for (int f = 0; f < fields_between; ++f) fields >> other;
  fields >> status.since;
  if (!fields) return {};
  return status;
}

}  // namespace

ProcessIdentity this_process() {
  ProcessIdentity identity;
  identity.process = getpid();
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  if (!std::getline(boot, identity.boot) || identity.boot.empty()) identity.boot = host_name();
  std::error_code ignored;
  identity.pid_namespace = fs::read_symlink("/proc/self/ns/pid", ignored).string();
  if (const auto status = status_of("self")) identity.since = status->since;
  return identity;
}

Life life_of(const ProcessIdentity& process) {
  const ProcessIdentity here = this_process();
  if (process.boot != here.boot || process.pid_namespace != here.pid_namespace)
    return Life::unknown;
  if (proc_is_of_this_namespace())
    if (const auto status = status_of(std::to_string(process.process)))
      return status->since == process.since && status->state != 'Z' && status->state != 'X'
                 ? Life::lives
                 : Life::ended;
  // /proc does not show it: it is hidden, unless no such process exists.
  return kill(process.process, 0) != 0 && errno == ESRCH ? Life::ended : Life::unknown;
}

Life life_of_id(int process) {
  const auto status = status_of(std::to_string(process));
  return status && status->state != 'Z' && status->state != 'X' ? Life::lives : Life::ended;
}

}  // namespace nekbone_k
