// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The files that a flow reads and writes, apart from checkpoints.
#pragma once

#include <memory>
#include <optional>

#include "core/communicator.hpp"
#include "input/case.hpp"
#include "report/flow_series.hpp"

namespace nekbone_k {

/// The files of a flow, on every rank.
struct FlowFiles {
  std::unique_ptr<SeriesFile> series;      ///< null on other ranks than 0
  std::optional<FlowReference> reference;  ///< on every rank
};

/// Checks the file with the initial velocity, if there is one, and reads the reference. Then begins
/// the series on rank 0 or, with `goes_on_after`, continues it after the row of that step. Throws
/// InputError on every rank if one of them cannot be read or written. Collective.
FlowFiles open_flow_files(const Communicator& comm, const Case& input,
                          std::optional<int> goes_on_after);

/// Throws as open_flow_files() does, but leaves the series as it is. Collective.
void check_flow_files(const Communicator& comm, const Case& input);

}  // namespace nekbone_k
