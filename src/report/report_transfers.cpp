// SPDX-License-Identifier: BSD-3-Clause
// The results of MPI transfers from and to kernel memory, on the terminal and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "core/format.hpp"
#include "report/report.hpp"
#include "report/report_json.hpp"
#include "tuning/transfer_probe.hpp"

namespace nekbone_k {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json trial_json(const MpiTrial& trial) {
  return {
      {"outcome", name(trial.outcome)},   {"what", text_or_null(trial.what)},
      {"host", text_or_null(trial.host)}, {"found", text_or_null(trial.found)},
      {"of_an_earlier_run", trial.kept},  {"file", text_or_null(trial.file)},
      {"trial_s", trial.seconds},
  };
}

}  // namespace

std::string transfers_text(const TransferRecord& transfers) {
  const MpiProbe& probe = transfers.probe;
  const std::size_t tried = probe.entries.size();
  const auto wrong = probe.count_wrong();
  std::string text = transfers.on_host ? "host memory" : "device memory";
  if (!transfers.why_not.empty())
    text += " not tried, as " + transfers.why_not;
  else if (tried == 0)
    text += " not tried, as there is only one rank";
  else if (wrong == 0)
    text += fmt::format(", {0} of {0} right", tried);
  else
    text += fmt::format(", {} of {} WRONG", wrong, tried);
  std::string lines = labelled_line("MPI transfers", text + "; " + claim_text(probe.claim));
  if (const std::string trial = trial_text(transfers.trial); !trial.empty())
    lines += labelled_line("", trial);
  if (transfers.trial.is_bad())
    lines += labelled_line("", "strategies that pass it to MPI are unavailable");
  if (wrong == 0) return lines;
  lines += labelled_line("", failure_text(*first_wrong(transfers)));
  if (probe.stuck) lines += labelled_line("", "the remaining transfers were not tried");
  if (!transfers.on_host)
    lines += labelled_line("", "strategies that pass it to MPI are unavailable");
  return lines;
}

nlohmann::ordered_json transfers_json(const TransferRecord& transfers) {
  const MpiProbe& probe = transfers.probe;
  Json entries = Json::array();
  for (const ProbeEntry& entry : probe.entries)
    entries.push_back({
        {"between_nodes", entry.place == ProbePlace::between_nodes},
        {"message_bytes", static_cast<std::int64_t>(entry.bytes)},
        {"offset_bytes", static_cast<std::int64_t>(entry.offset)},
        {"failure", text_or_null(entry.failure)},
    });
  return {
      {"memory", transfers.on_host ? "host" : "device"},
      {"query", text_or_null(probe.claim.query)},
      {"claims_device_memory", probe.claim.device ? Json(*probe.claim.device) : Json(nullptr)},
      {"not_tried", text_or_null(transfers.why_not)},
      {"trial", trial_json(transfers.trial)},
      {"stuck", probe.stuck},
      {"tried", entries},
      {"probe_s", transfers.seconds},
  };
}

}  // namespace nekbone_k
