// The terminal report on the machine: with what, and where the ranks are.
#include <fmt/format.h>

#include <algorithm>

#include "app/format.hpp"
#include "app/report.hpp"

namespace nekbone_k {
namespace {

constexpr std::size_t most_groups = 12;

std::string layout_text(const MachineRecord& machine) {
  std::string text = fmt::format("{} on {}", machine.ranks, counted(machine.nodes, "node"));
  if (machine.nodes <= 1 || machine.ranks_per_node.empty()) return text;
  const auto [least, most] =
      std::minmax_element(machine.ranks_per_node.begin(), machine.ranks_per_node.end());
  if (*least == *most) return text + fmt::format(", {} a node", *least);
  return text + fmt::format(", {} to {} a node", *least, *most);
}

/// The first line: MPICH's version goes on with pages of configuration.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// "CUDA 13.0, driver for up to CUDA 13.1, NCCL 2.28.9"; empty where the build has none of them.
std::string libraries_text(const LibraryVersions& libraries) {
  std::string text;
  const auto add = [&](const char* name, const std::string& version) {
    if (!version.empty()) text += fmt::format("{}{}{}", text.empty() ? "" : ", ", name, version);
  };
  add("", libraries.device_runtime);
  add("driver for up to ", libraries.device_driver);
  add("NCCL ", libraries.nccl);
  add("NVSHMEM ", libraries.nvshmem);
  return text;
}

}  // namespace

std::string per_rank(const std::string& label, const std::vector<std::string>& values,
                     const std::string& elsewhere) {
  const auto groups = group_equal(values);
  std::string text;
  for (std::size_t g = 0; g < std::min(groups.size(), most_groups); ++g) {
    const auto& [value, ranks] = groups[g];
    const std::string shown = value.empty() ? "unknown" : value;
    text += labelled_line(
        g == 0 ? label : "",
        fmt::format("rank{} {}: {}", ranks.size() > 1 ? "s" : "", ranges_text(ranks), shown));
  }
  if (groups.size() > most_groups)
    text += labelled_line("", fmt::format("and {} more{}{}", groups.size() - most_groups,
                                          elsewhere.empty() ? "" : ": ", elsewhere));
  return text;
}

std::string machine_text(const MachineRecord& machine, bool in_json) {
  std::string text =
      labelled_line("build", fmt::format("{}, {}", machine.compiler, machine.build_type));
  text += labelled_line("Kokkos",
                        fmt::format("{}, {} with concurrency {} on a rank", machine.kokkos_version,
                                    machine.backend, machine.concurrency));
  text += labelled_line("MPI", first_line(machine.mpi_library));
  if (const std::string libraries = libraries_text(machine.libraries); !libraries.empty())
    text += labelled_line("libraries", libraries);
  text += labelled_line("ranks", layout_text(machine));
  const auto in_report = [&](const char* key) {
    return in_json ? fmt::format("machine.{} of the JSON report", key) : std::string();
  };
  text += per_rank("hosts", machine.hosts, in_report("hosts"));
  text += per_rank("devices", machine.devices, in_report("devices"));
  text += per_rank("cores", machine.binding, in_report("binding"));
  return text;
}

}  // namespace nekbone_k
