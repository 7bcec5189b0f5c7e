// What MPI does with the memory of kernels, on the terminal and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "app/doctor_text.hpp"
#include "app/format.hpp"
#include "app/report.hpp"
#include "app/report_json.hpp"
#include "app/transfer_probe.hpp"

namespace nekbone_k {

std::string transfers_text(const TransferRecord& transfers) {
  const MpiProbe& probe = transfers.probe;
  const std::size_t tried = probe.entries.size();
  const auto wrong = std::count_if(probe.entries.begin(), probe.entries.end(),
                                   [](const ProbeEntry& entry) { return !entry.ok(); });
  std::string text = transfers.on_host ? "host memory" : "device memory";
  if (!transfers.why_not.empty())
    text += " not tried, as " + transfers.why_not;
  else if (tried == 0)
    text += " not tried, as one rank has nobody to send to";
  else if (wrong == 0)
    text += fmt::format(", {0} of {0} right", tried);
  else
    text += fmt::format(", {} of {} WRONG", wrong, tried);
  std::string lines = labelled_line("MPI transfers", text + "; " + claim_text(probe.claim));
  if (wrong == 0) return lines;
  lines += labelled_line("", failure_text(*first_wrong(transfers)));
  if (probe.stuck) lines += labelled_line("", "what would have followed it was not tried");
  if (!transfers.on_host) lines += labelled_line("", "strategies that hand it to MPI are left out");
  return lines;
}

nlohmann::ordered_json transfers_json(const TransferRecord& transfers) {
  using Json = nlohmann::ordered_json;
  const auto text = [](const std::string& value) {
    return value.empty() ? Json(nullptr) : Json(value);
  };
  const MpiProbe& probe = transfers.probe;
  Json entries = Json::array();
  for (const ProbeEntry& entry : probe.entries)
    entries.push_back({
        {"between_nodes", entry.place == ProbePlace::between_nodes},
        {"message_bytes", static_cast<std::int64_t>(entry.bytes)},
        {"offset_bytes", static_cast<std::int64_t>(entry.offset)},
        {"failure", text(entry.failure)},
    });
  return {
      {"memory", transfers.on_host ? "host" : "device"},
      {"query", text(probe.claim.query)},
      {"claims_device_memory", probe.claim.device ? Json(*probe.claim.device) : Json(nullptr)},
      {"not_tried", text(transfers.why_not)},
      {"stuck", probe.stuck},
      {"tried", entries},
      {"probe_s", transfers.seconds},
  };
}

}  // namespace nekbone_k
