// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The report of a run as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "report/run_record.hpp"

namespace nekbone_k {

/// Version of the JSON report's format, described in docs/report.schema.json.
inline constexpr int report_version = 1;

/// The whole report with all samples.
nlohmann::ordered_json to_json(const RunRecord& record);
/// The part on MPI transfers.
nlohmann::ordered_json transfers_json(const TransferRecord& transfers);
/// The part on the machine's paths.
nlohmann::ordered_json paths_json(const MachinePaths& paths);

}  // namespace nekbone_k
