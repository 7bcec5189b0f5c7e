// SPDX-License-Identifier: BSD-3-Clause
#include "machine/energy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "core/format.hpp"
#include "core/system.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

constexpr double joules_per_microjoule = 1e-6, joules_per_millijoule = 1e-3;

/// The number in a file of sysfs, in J; nothing if it cannot be read, and errno says why.
std::optional<double> joules_in(const fs::path& file) {
  errno = 0;
  std::ifstream in(file);
  double microjoules = 0;
  if (!(in >> microjoules)) return {};
  return joules_per_microjoule * microjoules;
}

/// The domains of RAPL in ascending order, without those of its second interface (intel-rapl-mmio),
/// which repeat packages.
std::vector<fs::path> rapl_domains(const fs::path& folder) {
  std::vector<fs::path> domains;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with("intel-rapl:"))
      domains.push_back(entry->path());
  std::sort(domains.begin(), domains.end());
  return domains;
}

std::optional<EnergyKind> kind_of(const fs::path& domain) {
  std::ifstream file(domain / "name");
  std::string name;
  file >> name;
  if (name.starts_with("package")) return EnergyKind::package;
  if (name == "dram") return EnergyKind::dram;
  return {};
}

/// NVML, loaded and initialised, or why not. Its header is not needed: these declarations are
/// NVIDIA's.
class Nvml {
 public:
  explicit Nvml(const std::string& library) : m_library(dlopen(library.c_str(), RTLD_NOW)) {
    if (m_library == nullptr) {
      const char* const why = dlerror();
      missing = fmt::format("NVML cannot be loaded: {}", why == nullptr ? library : why);
      return;
    }
    const bool has_all = find(m_init, "nvmlInit_v2") && find(m_shutdown, "nvmlShutdown") &&
                         find(m_text, "nvmlErrorString") &&
                         find(m_at_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
                         find(m_energy, "nvmlDeviceGetTotalEnergyConsumption");
    if (!has_all) {
      missing = library + " counts no energy";
      return;
    }
    if (const int code = m_init(); code != 0)
      missing = fmt::format("NVML cannot begin: {}", m_text(code));
    else
      m_has_begun = true;
  }
  ~Nvml() {
    if (m_has_begun) m_shutdown();
    if (m_library != nullptr) dlclose(m_library);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Finds the device to read. Sets `missing` if there is none.
  void find_device(const std::string& place) {
    if (const int code = m_at_bus((place + ".0").c_str(), &m_device); code != 0)
      missing = fmt::format("NVML has no GPU at {}: {}", place, m_text(code));
  }
  /// The device's energy in J. Sets `missing` if it cannot be read.
  std::optional<double> joules() {
    unsigned long long millijoules = 0;
    if (const int code = m_energy(m_device, &millijoules); code != 0) {
      missing = fmt::format("NVML does not tell the energy of a GPU: {}", m_text(code));
      return {};
    }
    return joules_per_millijoule * static_cast<double>(millijoules);
  }

  std::string missing;

 private:
  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(dlsym(m_library, name));
    return function != nullptr;
  }

  void* m_library = nullptr;
  void* m_device = nullptr;
  bool m_has_begun = false;
  int (*m_init)() = nullptr;
  int (*m_shutdown)() = nullptr;
  const char* (*m_text)(int) = nullptr;
  int (*m_at_bus)(const char*, void**) = nullptr;
  int (*m_energy)(void*, unsigned long long*) = nullptr;
};

}  // namespace

EnergyCounters rapl_counters(const fs::path& sys) {
  const fs::path folder = sys / "class/powercap";
  EnergyCounters found;
  for (const fs::path& domain : rapl_domains(folder)) {
    const std::optional<EnergyKind> kind = kind_of(domain);
    if (!kind) continue;
    const fs::path file = domain / "energy_uj", range_file = domain / "max_energy_range_uj";
    const auto cannot_read = [](const fs::path& which) {
      return EnergyCounters{
          {},
          fmt::format("{} cannot be read: {}", which.string(),
                      errno != 0 ? std::generic_category().message(errno) : "no number")};
    };
    if (!joules_in(file)) return cannot_read(file);
    const std::optional<double> range = joules_in(range_file);
    if (!range) return cannot_read(range_file);
    found.counters.push_back({*kind, [file] { return joules_in(file); }, *range});
  }
  if (found.counters.empty())
    found.missing = fmt::format("{} has no RAPL counters", folder.string());
  return found;
}

EnergyCounters nvml_counters(const std::string& place, const std::string& library) {
  const auto nvml = std::make_shared<Nvml>(library);
  if (nvml->missing.empty()) nvml->find_device(place);
  if (nvml->missing.empty()) nvml->joules();
  if (!nvml->missing.empty()) return {{}, nvml->missing};
  return {{{EnergyKind::gpu, [nvml] { return nvml->joules(); }}}, ""};
}

EnergyMeter::EnergyMeter(const Communicator& comm, const EnergyOptions& options)
    : m_comm(comm), m_options(options) {
  EnergyCounters cpus, gpu;
  if (find_node_layout(comm).node_rank == 0) cpus = rapl_counters(options.sys);
  const std::string device =
      options.device.empty() ? "" : fmt::format("{} {}", host_name(), options.device);
  const std::vector<std::string> devices = comm.gather(device);
  const auto first = std::find(devices.begin(), devices.end(), device) - devices.begin();
  if (!device.empty() && first == comm.rank()) gpu = nvml_counters(options.device, options.nvml);
  for (const EnergyCounters& found : {cpus, gpu}) {
    const std::string missing = comm.first_text(found.missing);
    if (missing.empty())
      m_counters.insert(m_counters.end(), found.counters.begin(), found.counters.end());
    else
      m_missing += (m_missing.empty() ? "" : "; ") + missing;
  }
}

void EnergyMeter::begin() {
  m_failed = false;
  m_used.assign(m_counters.size(), 0);
  m_last.clear();
  for (const EnergyCounter& counter : m_counters) {
    const std::optional<double> now = counter.read();
    m_failed = m_failed || !now;
    m_last.push_back(now.value_or(0));
  }
  m_begin = m_read_at = wall_seconds();
}

void EnergyMeter::go_on() {
  if (!m_counters.empty() && wall_seconds() - m_read_at >= m_options.read_after) add();
}

void EnergyMeter::add() {
  for (std::size_t c = 0; c < m_counters.size(); ++c) {
    const std::optional<double> now = m_counters[c].read();
    double used = now.value_or(0) - m_last[c];
    if (used < 0) used += m_counters[c].range;
    m_failed = m_failed || !now || !std::isfinite(used);
    m_used[c] += used;
    m_last[c] = now.value_or(0);
  }
  m_read_at = wall_seconds();
}

EnergyRecord EnergyMeter::end() {
  const double seconds = m_comm.broadcast(wall_seconds() - m_begin);
  add();
  enum { package_count, dram_count, gpu_count, package_joules, dram_joules, gpu_joules, failures };
  std::array<double, 7> sums{};
  for (std::size_t c = 0; c < m_counters.size(); ++c) {
    const auto kind = static_cast<std::size_t>(m_counters[c].kind);
    sums[package_count + kind] += 1;
    sums[package_joules + kind] += m_used[c];
  }
  sums[failures] = m_failed ? 1 : 0;
  m_comm.sum(sums);

  EnergyRecord record;
  record.missing = m_missing;
  const double least = sums[gpu_count] > 0 ? m_options.least_gpu_seconds : m_options.least_seconds;
  if (sums[package_count] + sums[dram_count] + sums[gpu_count] == 0) return record;
  if (sums[failures] > 0) {
    record.missing = "a counter could no longer be read";
  } else if (seconds < least) {
    record.missing = fmt::format("{} are too short for the counters, which need {}",
                                 seconds_text(seconds), seconds_text(least));
  } else if (sums[package_joules] + sums[dram_joules] + sums[gpu_joules] == 0) {
    record.missing = "the counters stand still";  // as in some virtual machines
  } else {
    record.packages = static_cast<int>(sums[package_count]);
    record.dram = static_cast<int>(sums[dram_count]);
    record.gpus = static_cast<int>(sums[gpu_count]);
    record.package_joules = sums[package_joules];
    record.dram_joules = sums[dram_joules];
    record.gpu_joules = sums[gpu_joules];
  }
  return record;
}

}  // namespace nekbone_k
