// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Identifies processes although the system reuses process ids.
#pragma once

#include <cstdint>
#include <string>

namespace nekbone_k {

/// Identifies a process. The id alone is not enough: the system reuses ids, in a container at every
/// start.
struct ProcessIdentity {
  std::string boot;           ///< random id of the machine's last boot, or the host name
  std::string pid_namespace;  ///< namespace of `process`; empty if the system has none
  int process = 0;
  std::int64_t since = 0;  ///< start time in clock ticks after the boot; 0 if unknown
};

ProcessIdentity this_process();

enum class Life { lives, ended, unknown };

/// Whether a process is alive. A zombie has ended. Unknown if the process belongs to another
/// machine or PID namespace, or if this machine hides processes.
Life life_of(const ProcessIdentity& process);

/// Like life_of(), for a process of this host with only its id known.
Life life_of_id(int process);

}  // namespace nekbone_k
