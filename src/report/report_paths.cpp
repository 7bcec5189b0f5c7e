// SPDX-License-Identifier: BSD-3-Clause
// The measured costs of the machine's paths, on the terminal and as JSON.
#include <fmt/format.h>

#include "core/format.hpp"
#include "report/report.hpp"
#include "report/report_json.hpp"

namespace nekbone_k {
namespace {

using Json = nlohmann::ordered_json;

void add_path(Table& table, const std::string& name, const PathCost& path, bool has_messages) {
  if (!path.is_known()) {
    table.add({name, "-", "-", "-"});
    table.add_text("    not known: ", path.failure);
    return;
  }
  table.add({name, seconds_text(path.cost.latency), giga_text(path.cost.bandwidth, "B/s"),
             has_messages ? seconds_text(path.further_message) : ""});
}

Json path_json(const PathCost& path) {
  Json sizes = Json::array(), medians = Json::array();
  for (const TransferTime& point : path.points) {
    sizes.push_back(static_cast<std::int64_t>(point.bytes));
    medians.push_back(point.seconds);
  }
  const bool known = path.is_known();
  return {
      {"failure", known ? Json(nullptr) : Json(path.failure)},
      {"latency_s", known ? Json(path.cost.latency) : Json(nullptr)},
      {"bandwidth_bytes_per_s", known ? Json(path.cost.bandwidth) : Json(nullptr)},
      {"further_message_s", known ? Json(path.further_message) : Json(nullptr)},
      {"sizes_bytes", sizes},
      {"medians_s", medians},
  };
}

}  // namespace

std::string paths_text(const MachinePaths& paths) {
  Table table({{"path", false}, {"latency"}, {"bandwidth"}, {"per further message"}});
  table.add({"launch of a kernel", seconds_text(paths.launch), "", ""});
  table.add({"wait for a kernel", seconds_text(paths.sync), "", ""});
  add_path(table, "pack kernel with its wait", paths.pack, false);
  add_path(table, "copy of messages to the host", paths.copy_to_host, false);
  add_path(table, "copy of messages to the device", paths.copy_to_device, false);
  for (const MessagePath& message : paths.messages)
    add_path(table, name(message.carrier) + ", " + name(message.place), message.path, true);
  return fmt::format("\n{}", heading("Paths of the machine")) + table.text() +
         wrap("  ", "Measured in " + seconds_text(paths.seconds));
}

nlohmann::ordered_json paths_json(const MachinePaths& paths) {
  auto messages = nlohmann::ordered_json::array();
  for (const MessagePath& message : paths.messages)
    messages.push_back({
        {"carrier", name(message.carrier)},
        {"between_nodes", message.place == ProbePlace::between_nodes},
        {"path", path_json(message.path)},
    });
  return {
      {"launch_s", paths.launch},
      {"sync_s", paths.sync},
      {"pack", path_json(paths.pack)},
      {"copy_to_host", path_json(paths.copy_to_host)},
      {"copy_to_device", path_json(paths.copy_to_device)},
      {"messages", messages},
      {"measure_s", paths.seconds},
  };
}

}  // namespace nekbone_k
