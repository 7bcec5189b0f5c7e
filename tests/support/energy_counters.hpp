// SPDX-License-Identifier: BSD-3-Clause
// Counters of energy that tests set.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace nekbone_k {

// The library that stands for NVML; see fake_nvml.cpp.
inline std::string fake_nvml() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libnk_fake_nvml.so";
}

// A folder like sysfs with RAPL domains.
class Powercap {
 public:
  std::filesystem::path sys() const { return m_folder.path(); }
  std::filesystem::path domain(const std::string& number) const {
    return sys() / "class/powercap" / ("intel-rapl:" + number);
  }
  // Domain `number`, such as "0:1", with a reading and a range in uJ.
  void add(const std::string& number, const std::string& name, const std::string& microjoules,
           const std::string& range = "1000000000") const {
    std::filesystem::create_directories(domain(number));
    std::ofstream(domain(number) / "name") << name << '\n';
    std::ofstream(domain(number) / "max_energy_range_uj") << range << '\n';
    set(number, microjoules);
  }
  void set(const std::string& number, const std::string& microjoules) const {
    std::ofstream(domain(number) / "energy_uj") << microjoules << '\n';
  }
  // Makes a reading fail, for root, too.
  void break_counter(const std::string& number) const {
    std::filesystem::remove(domain(number) / "energy_uj");
    std::filesystem::create_directory(domain(number) / "energy_uj");
  }

 private:
  TemporaryFolder m_folder;
};

}  // namespace nekbone_k
