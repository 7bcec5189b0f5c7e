// SPDX-License-Identifier: BSD-3-Clause
// The terminal report on the build, the machine and the placement of ranks.
#include <fmt/format.h>

#include <algorithm>

#include "core/format.hpp"
#include "machine/limits.hpp"
#include "report/report.hpp"

namespace nekbone_k {
namespace {

constexpr std::size_t most_groups = 12;

std::string layout_text(const MachineRecord& machine) {
  std::string text = fmt::format("{} on {}", machine.ranks, counted(machine.nodes, "node"));
  if (machine.nodes <= 1 || machine.ranks_per_node.empty()) return text;
  const auto [least, most] =
      std::minmax_element(machine.ranks_per_node.begin(), machine.ranks_per_node.end());
  if (*least == *most) return text + fmt::format(", {} per node", *least);
  return text + fmt::format(", {} to {} per node", *least, *most);
}

/// The first line. MPICH's version text continues with pages of configuration.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// E.g. "CUDA 13.0, driver for up to CUDA 13.1, NCCL 2.28.9"; empty if the build has none of them.
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
                        fmt::format("{}, {} with concurrency {} per rank", machine.kokkos_version,
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
  const auto& quota = machine.cpu_quota;
  if (std::any_of(quota.begin(), quota.end(), [](double cores) { return cores < unlimited; })) {
    std::vector<std::string> texts;
    for (const double cores : quota)
      texts.push_back(cores < unlimited ? cpu_time_text(cores) + ", by its control group" : "none");
    text += per_rank("CPU quota", texts, in_report("cpu_quota"));
  }
  return text;
}

}  // namespace nekbone_k
