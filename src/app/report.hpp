/// @file
/// The report of a run: on the terminal, and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "app/run_record.hpp"

namespace nekbone_k {

/// Version of the JSON report's format, described in docs/report.schema.json.
inline constexpr int report_version = 1;

/// The parts of the terminal report, each ending in a newline, at most 100 columns wide. They are
/// printed as soon as they are known.
std::string header_text(const RunRecord& record);
std::string transfers_text(const TransferRecord& transfers);
std::string paths_text(const MachinePaths& paths);
std::string grid_text(const GridRecord& grid, int ranks);
std::string order_text(const OrderRecord& order);
std::string all_reduce_text(const AllReduceRecord& tuning);
std::string solve_text(const SolveRecord& solve, const MachineRecord& machine);
/// Mean and standard deviation of every strategy at every order, all tuned with the same
/// strategies.
std::string means_text(const std::vector<OrderRecord>& orders);
std::string closing_text(const RunRecord& record);

/// What grid_text() would say in a dry run, which measures nothing; `budget` in seconds.
std::string would_divide_text(const GridRecord& grid, double budget, int ranks);

/// The part of the header on the build, the libraries and where the ranks are. `in_json`: a JSON
/// report has what is left out here.
std::string machine_text(const MachineRecord& machine, bool in_json);

/// A value of each rank, equal ones together: "ranks 0-3: host". At most twelve different ones, the
/// others are `elsewhere`, if anywhere.
std::string per_rank(const std::string& label, const std::vector<std::string>& values,
                     const std::string& elsewhere = {});

/// The whole report with all samples.
nlohmann::ordered_json to_json(const RunRecord& record);
/// Its part on MPI's transfers.
nlohmann::ordered_json transfers_json(const TransferRecord& transfers);
/// Its part on the machine's paths.
nlohmann::ordered_json paths_json(const MachinePaths& paths);

/// A JSON report that appears complete or not at all. Only rank 0 makes one.
///
/// It is written to a temporary file `.NAME.PID.tmp` in the same folder, then renamed; a report
/// that was there before stays as it was until then. A device or pipe is written to without
/// renaming.
class ReportFile {
 public:
  /// Checks that the report can be written by creating its temporary file and removing it again, so
  /// that a run that is killed leaves nothing behind; throws InputError if it cannot.
  explicit ReportFile(std::string path);
  /// Removes the temporary file if write() failed half-way.
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  /// Writes the temporary file and renames it to the path. Throws OutputError if that fails, as on
  /// a full disk.
  void write(const nlohmann::ordered_json& report);
  /// The same for a report that write() will replace: not to a device or pipe, and a failure is
  /// left to write() to tell.
  void write_for_now(const nlohmann::ordered_json& report);

 private:
  std::string m_path;       ///< as given, for messages
  std::string m_target;     ///< the file behind symbolic links
  std::string m_temporary;  ///< empty: the target is a device or pipe
  bool m_written = false;
};

}  // namespace nekbone_k
