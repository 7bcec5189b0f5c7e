// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What the drop-in for gslib prints.
#pragma once

#include <string>

namespace nekbone_k::gslib {

/// Prints why `function` cannot go on, and ends the job: functions of gslib return no codes.
[[noreturn]] void die(const char* function, const std::string& why);

/// Prints a line to standard output.
void say(const std::string& line);

}  // namespace nekbone_k::gslib
