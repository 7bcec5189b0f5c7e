// SPDX-License-Identifier: BSD-3-Clause
#include "machine/trial_cache.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/commit.hpp"
#include "core/device.hpp"
#include "core/regular_file.hpp"
#include "core/system.hpp"
#include "core/types.hpp"
#include "core/whole_file.hpp"
#include "machine/library_versions.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int trial_cache_version = 1;
constexpr std::size_t most_answers = 64;
constexpr std::uintmax_t most_cache_bytes = std::uintmax_t{4} << 20;

/// Variables that choose how MPI moves messages. Some variables of Open MPI are missing: mpirun
/// sets them differently in each run.
constexpr std::array<std::string_view, 22> transport_variables{"OMPI_MCA_accelerator",
                                                               "OMPI_MCA_bml",
                                                               "OMPI_MCA_btl",
                                                               "OMPI_MCA_coll",
                                                               "OMPI_MCA_common",
                                                               "OMPI_MCA_mpi_cuda",
                                                               "OMPI_MCA_mtl",
                                                               "OMPI_MCA_opal_",
                                                               "OMPI_MCA_osc",
                                                               "OMPI_MCA_pml",
                                                               "OMPI_MCA_smsc",
                                                               "UCX_",
                                                               "MPICH_",
                                                               "MPIR_CVAR_",
                                                               "I_MPI_FABRICS",
                                                               "I_MPI_OFFLOAD",
                                                               "FI_",
                                                               "MV2_USE_",
                                                               "MV2_CUDA_",
                                                               "PSM",
                                                               "LD_PRELOAD=",
                                                               "LD_LIBRARY_PATH="};

/// "PATH, size and time of its last change".
std::string version_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return path;
  return fmt::format("{}, {} B, {}.{:09}", path, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

std::string path_of_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

/// The file with the functions of MPI.
std::string path_of_mpi() {
  Dl_info info{};
  void* const function = dlsym(RTLD_DEFAULT, "PMPI_Init");
  if (function == nullptr || dladdr(function, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

std::string transport_settings() {
  std::vector<std::string> settings;
  for (const std::string& variable : environment_without({}))
    if (std::any_of(transport_variables.begin(), transport_variables.end(),
                    [&](std::string_view name) { return variable.starts_with(name); }))
      settings.push_back(variable);
  std::sort(settings.begin(), settings.end());
  std::string text;
  for (const std::string& setting : settings) text += setting + '\n';
  return text;
}

Json answers_in(const std::string& path) {
  std::error_code error;
  if (!why_not_a_file(path).empty() || fs::file_size(path, error) > most_cache_bytes || error)
    return Json::array();
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("mpi_trials", Json()) != trial_cache_version)
    return Json::array();
  const Json answers = json.value("answers", Json::array());
  return answers.is_array() ? answers : Json::array();
}

bool is_for(const Json& answer, const TrialKey& key) {
  return answer.is_object() && answer.value("key", Json()) == Json(key);
}

std::optional<TrialOutcome> outcome_named(const std::string& text) {
  for (const auto outcome : {TrialOutcome::right, TrialOutcome::not_started, TrialOutcome::wrong,
                             TrialOutcome::crashed, TrialOutcome::hung})
    if (name(outcome) == text) return outcome;
  return {};
}

/// Seconds since the epoch; empty if the text is no time.
std::optional<double> seconds_of(const std::string& utc) {
  std::tm time{};
  const char* const end = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') return {};
  return static_cast<double>(timegm(&time));
}

bool is_recent(const std::string& found, const std::string& now) {
  constexpr double day = 24 * 3600;
  const std::optional<double> then = seconds_of(found), today = seconds_of(now);
  return then && today && *today >= *then && *today - *then < day;
}

}  // namespace

TrialKey trial_key() {
  const LibraryVersions libraries = library_versions();
  return {
      {"program", version_of(path_of_program()) + ", commit " + commit_string},
      {"MPI", mpi_library()},
      {"MPI's file", version_of(path_of_mpi())},
      {"backend", ExecutionSpace::name()},
      {"device", first_device_model()},
      {"GPU runtime", libraries.device_runtime},
      {"GPU driver", libraries.device_driver},
      {"environment", transport_settings()},
  };
}

TrialCache TrialCache::of_user() {
  const auto set = [](const char* variable) -> std::string {
    const char* const text = std::getenv(variable);
    return text == nullptr ? "" : text;
  };
  fs::path folder = set("NEKBONE_K_CACHE");
  if (const std::string home = set("XDG_CACHE_HOME"); folder.empty() && !home.empty())
    folder = fs::path(home) / "nekbone-k";
  if (const std::string home = set("HOME"); folder.empty() && !home.empty())
    folder = fs::path(home) / ".cache" / "nekbone-k";
  return TrialCache(folder.empty() ? "" : (folder / "mpi-trials.json").string());
}

std::optional<MpiTrial> TrialCache::find(const TrialKey& key, const std::string& now) const {
  if (m_path.empty()) return {};
  for (const Json& answer : answers_in(m_path)) {
    if (!is_for(answer, key)) continue;
    const auto text = [&](const char* name) {
      const Json value = answer.value(name, Json());
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    const std::optional<TrialOutcome> outcome = outcome_named(text("outcome"));
    if (!outcome) return {};
    MpiTrial trial{*outcome, text("what"), text("host"), text("found"), true, m_path, 0};
    const bool may_pass = *outcome == TrialOutcome::hung || *outcome == TrialOutcome::not_started;
    if (may_pass && !is_recent(trial.found, now)) return {};
    return trial;
  }
  return {};
}

bool TrialCache::keep(const TrialKey& key, const MpiTrial& trial) const {
  if (m_path.empty() || !why_not_a_file(m_path).empty()) return false;
  std::error_code ignored;
  fs::create_directories(fs::path(m_path).parent_path(), ignored);
  Json answers = Json::array();
  answers.push_back({{"outcome", name(trial.outcome)},
                     {"what", trial.what},
                     {"host", trial.host},
                     {"found", trial.found},
                     {"key", key}});
  for (const Json& other : answers_in(m_path))
    if (answers.size() < most_answers && !is_for(other, key)) answers.push_back(other);
  const Json json{{"mpi_trials", trial_cache_version}, {"answers", answers}};
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
  return replace_file(m_path, text).empty();
}

}  // namespace nekbone_k
