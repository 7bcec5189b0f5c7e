// SPDX-License-Identifier: BSD-3-Clause
#include "support/context.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/config.hpp"
#include "core/system.hpp"
#include "core/waiting.hpp"
#include "machine/machine_record.hpp"
#include "machine/memory_bandwidth.hpp"
#include "operators/element_layout.hpp"

namespace nekbone_k {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";  // some architectures have no model name
}

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Kokkos' own description, without disabled features and headings.
std::string kokkos_configuration() {
  std::stringstream text;
  Kokkos::print_configuration(text);
  std::vector<std::string> kept;
  for (std::string line; std::getline(text, line);) {
    const auto begin = line.find_first_not_of(' '), colon = line.find(": ");
    const bool off = line.ends_with(": no") || line.ends_with(": none");
    if (colon != std::string::npos && !off) kept.push_back(line.substr(begin));
  }
  return joined(kept);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "not set";
}

}  // namespace

void add_context(const Bench& bench) {
  const auto add = [](const std::string& key, const auto& value) {
    benchmark::AddCustomContext(key, fmt::format("{}", value));
  };
  const MachineRecord machine = make_machine_record(bench.comm());
  add("nekbone_k_version", machine.version);
  add("commit", machine.commit);
  add("compiler", machine.compiler);
  add("build_type", machine.build_type);
  add("build_flags", build_flags);
  add("kokkos_version", machine.kokkos_version);
  add("kokkos_backend", machine.backend);
  add("kokkos_concurrency", machine.concurrency);
  add("kokkos_configuration", kokkos_configuration());
  add("simd_lanes", int{ElementLayout::lanes});
  add("mpi_library", machine.mpi_library);
  add("ranks", machine.ranks);
  add("ranks_per_node", fmt::format("{}", fmt::join(machine.ranks_per_node, " ")));
  add("devices", joined(machine.devices));
  add("rank_cores", joined(machine.binding));
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES"})
    add(name, environment(name));
  add("cpu_model", cpu_model());
  add("cpu_cores", sysconf(_SC_NPROCESSORS_ONLN));
  add("lambda", fmt::format("{}", bench.options().lambda));
  add("strategy", bench.options().strategy.name);
  add("seconds_a_benchmark", bench.options().quick ? 0 : bench.options().seconds);
  if (!machine.warnings.empty()) add("warnings", joined(machine.warnings));
  if (!bench.options().quick) {
    const MemoryBandwidth memory =
        measure_memory_bandwidth(bench.comm(), find_node_layout(bench.comm()), for_ever, for_ever);
    add("copy_GB_per_s", fmt::format("{:.2f}", memory.copy / 1e9));
    add("triad_GB_per_s", fmt::format("{:.2f}", memory.triad / 1e9));
  }
}

}  // namespace nekbone_k
