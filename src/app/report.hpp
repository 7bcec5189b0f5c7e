/// @file
/// The report of a run on the terminal.
#pragma once

#include <string>
#include <vector>

#include "app/run_record.hpp"

namespace nekbone_k {

/// The parts of the terminal report, each ending in a newline, at most 100 columns wide. They are
/// printed as soon as they are known.
std::string header_text(const RunRecord& record);
std::string transfers_text(const TransferRecord& transfers);
std::string paths_text(const MachinePaths& paths);
std::string grid_text(const GridRecord& grid, int ranks);
std::string order_text(const OrderRecord& order);
std::string all_reduce_text(const AllReduceRecord& tuning);
std::string solve_text(const SolveRecord& solve, const MachineRecord& machine);
/// What comes after it under the same heading.
std::string comparisons_text(const SolveRecord& solve);
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

}  // namespace nekbone_k
