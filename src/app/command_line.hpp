// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The command line as types.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/doctor.hpp"
#include "report/report.hpp"

namespace nekbone_k {

/// The command: print a text, doctor, or a run.
struct CommandLine {
  /// Makes the text to print; empty for doctor or a run. Throws InputError if the text is about an
  /// unknown key or an invalid input file.
  std::function<std::string()> text;
  std::optional<DoctorOptions> doctor;

  // A run
  std::string input;                   ///< path of the input file
  std::vector<std::string> overrides;  ///< "key.path=value"
  std::string restart;                 ///< path of a checkpoint; empty: none
  std::string report;                  ///< path of the JSON report; empty: as in the input
  bool dry_run = false;
  ReportDetail detail = ReportDetail::usual;

  /// Whether the command sends messages between ranks.
  bool sends_messages() const { return doctor || (!text && !dry_run); }
};

/// Throws InputError. Needs no MPI; the result is the same on every rank.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace nekbone_k
