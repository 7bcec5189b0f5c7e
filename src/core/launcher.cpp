// SPDX-License-Identifier: BSD-3-Clause
#include "core/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string>

namespace nekbone_k {
namespace {

/// Variables with the number of all processes: Open MPI and Spectrum MPI, MVAPICH, MPICH and its
/// derivatives, srun, flux run, jsrun.
constexpr const char* sizes[] = {
    "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE",
    "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE",       "JSM_NAMESPACE_SIZE"};
/// Variables with the number of processes on this node, a lower bound of the number of all.
constexpr const char* sizes_on_node[] = {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE"};
/// Variables with the rank, from 0: there is at least one more process. PMIx does not set a number
/// of processes.
constexpr const char* places[] = {"PMIX_RANK", "PMI_RANK", "PALS_RANKID", "ALPS_APP_PE"};

/// The environment variables by name.
std::map<std::string, std::string> variables_in(const std::filesystem::path& environment) {
  std::map<std::string, std::string> variables;
  std::ifstream file(environment, std::ios::binary);
  for (std::string line; std::getline(file, line, '\0');) {
    const std::size_t end = std::min(line.find('='), line.size());
    variables[line.substr(0, end)] = line.substr(std::min(end + 1, line.size()));
  }
  return variables;
}

}  // namespace

int launched_processes(int ranks, const std::filesystem::path& environment) {
  const auto variables = variables_in(environment);
  const auto value = [&](const char* name) {
    const auto found = variables.find(name);
    if (found == variables.end()) return -1;
    const std::string& text = found->second;
    int number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && stop == text.data() + text.size() ? number : -1;
  };
  // srun also starts interactive shells on a terminal; they are tasks of srun, and users start
  // other launchers in them.
  const bool is_shell_of_srun = variables.count("SLURM_PTY_PORT") > 0;
  int most = 0;
  for (const char* const name : sizes) {
    if (is_shell_of_srun && std::string(name).starts_with("SLURM_")) continue;
    if (value(name) == ranks) return ranks;
    most = std::max(most, value(name));
  }
  for (const char* const name : sizes_on_node) most = std::max(most, value(name));
  for (const char* const name : places) most = std::max(most, value(name) + 1);
  return most;
}

}  // namespace nekbone_k
