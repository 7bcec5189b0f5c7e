// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Signals by which a scheduler asks a job to end.
#pragma once

#include <string>

namespace nekbone_k {

/// While an object exists, the first SIGTERM or SIGUSR1 does not end the process but is noted here,
/// so that the run can save what it has. A second one has its usual effect. One object at a time.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// The number of the signal that came on this rank; 0 if none did.
  static int signal();
  /// Its name, such as "SIGTERM".
  static std::string name(int signal);
};

}  // namespace nekbone_k
