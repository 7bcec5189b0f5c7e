// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Calls `action` on rank 0. If it throws a Failure, throws that on every rank. Collective.
template <class Failure, class Action>
void on_root(const Communicator& comm, const Action& action) {
  const std::string complaint = complaint_on_root<Failure>(comm, action);
  if (!complaint.empty()) throw Failure(complaint);
}

/// Whether two names denote the same regular file, which need not exist yet.
bool same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(one, other, error)) return fs::is_regular_file(one, error);
  if (fs::exists(one, error) || fs::exists(other, error)) return false;
  // Make paths absolute first: weakly_canonical() leaves them relative if no part exists.
  const auto place = [&](const std::string& name) {
    return error ? fs::path() : fs::weakly_canonical(fs::absolute(name), error);
  };
  error.clear();
  const fs::path one_place = place(one), other_place = place(other);
  return !error && one_place == other_place;
}

/// A file that the run reads or writes.
struct RunFile {
  std::string what, path, place;
};

/// Says that one would be written to another.
InputError overwrite_error(const RunFile& written, const std::string& other) {
  return InputError(fmt::format("{}: {} would be written to '{}', which is {}; name another file",
                                written.place, written.what, written.path, other));
}

/// Throws InputError if the run would overwrite a file that it reads, or one of its files by
/// another.
void require_files_apart(const Case& input) {
  std::vector<RunFile> files{{"the input", input.source, input.source}};
  if (input.is_flow() && !input.reference.empty())
    files.push_back({"the reference", input.reference, input.place("verification.reference")});
  if (input.is_flow() && !input.flow.initial_file.empty())
    files.push_back({"the initial velocity", input.flow.initial_file, input.place("flow.initial")});
  const std::size_t n_read = files.size();
  files.push_back(
      {"the journal", input.tuning_journal, input.place("gather_scatter.tuning.journal")});
  files.push_back({"the JSON report", input.report_json, input.place("report.json")});
  if (input.tuning_mode == TuningMode::cached)
    files.push_back(
        {"the cache of choices", input.tuning_cache, input.place("gather_scatter.tuning.cache")});
  if (input.is_flow())
    files.push_back({"the series", input.flow.series, input.place("flow.series")});
  if (input.is_flow() && input.checkpoint.is_on())
    files.push_back({"the checkpoint", input.checkpoint.file, input.place("checkpoint.file")});
  // A new checkpoint may replace the one from which the flow continues.
  for (std::size_t f = n_read; f < files.size() && !input.restart.empty(); ++f)
    if (files[f].what != "the checkpoint" && same_file(files[f].path, input.restart))
      throw overwrite_error(files[f], "the checkpoint of --restart");
  for (std::size_t f = n_read; f < files.size(); ++f)
    for (std::size_t before = 0; before < f; ++before)
      if (same_file(files[f].path, files[before].path))
        throw overwrite_error(files[f], files[before].what);
}

[[noreturn]] void refuse_report_of_others(const Case& input, const std::string& jobs) {
  throw InputError(fmt::format(
      "{}: another run is writing the report '{}' now; name another file with --report, or wait "
      "for that run{}",
      input.place("report.json"), input.report_json, jobs.empty() ? "" : "; " + jobs));
}

}  // namespace

std::unique_ptr<ReportFile> open_report(const Communicator& comm, const Case& input) {
  std::unique_ptr<ReportFile> file;
  on_root<InputError>(comm, [&] {
    require_files_apart(input);
    try {
      file = std::make_unique<ReportFile>(input.report_json);
    } catch (const InputError& error) {
      throw InputError(input.place("report.json") + ": " + error.what());
    }
  });
  return file;
}

std::unique_ptr<ReportLock> lock_report(const Communicator& comm, const Case& input,
                                        const std::string& jobs) {
  std::unique_ptr<ReportLock> lock;
  on_root<InputError>(comm, [&] {
    lock = std::make_unique<ReportLock>(input.report_json);
    if (lock->is_elsewhere()) refuse_report_of_others(input, jobs);
  });
  return lock;
}

void require_free_report(const Communicator& comm, const Case& input, const std::string& jobs) {
  on_root<InputError>(comm, [&] {
    if (ReportLock::is_taken(input.report_json)) refuse_report_of_others(input, jobs);
  });
}

}  // namespace nekbone_k
