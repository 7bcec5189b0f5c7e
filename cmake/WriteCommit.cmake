# SPDX-License-Identifier: BSD-3-Clause
# Runs at every build (cmake -P): writes OUTPUT with the commit of the sources if it changed, so
# that a build without a new commit compiles nothing.
execute_process(
  COMMAND git -C ${SOURCE} -c safe.directory=* describe --always --dirty
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT commit)
  set(commit unknown) # not a git checkout
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// CMake writes this file at every build (cmake/WriteCommit.cmake).
#pragma once

namespace nekbone_k {

// Commit of the sources, with "-dirty" when files were changed; "unknown" outside a git checkout.
inline constexpr const char* commit_string = "@commit@";

}  // namespace nekbone_k
]])
