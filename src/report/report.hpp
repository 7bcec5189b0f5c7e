// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The report of a run on the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run_record.hpp"

namespace nekbone_k {

/// How much of a run the terminal report shows.
enum class ReportDetail {
  brief,  ///< only the section Result
  usual,  ///< tables without most of the slower candidates
  full,   ///< tables with every candidate
};

/// The parts of the terminal report. Each ends in a newline and is at most 100 columns wide. The
/// run prints each part as soon as its results are known.
std::string header_text(const RunRecord& record);
std::string transfers_text(const TransferRecord& transfers);
std::string paths_text(const MachinePaths& paths);
std::string grid_text(const GridRecord& grid, int ranks, ReportDetail detail = ReportDetail::usual);
std::string order_text(const OrderRecord& order, ReportDetail detail = ReportDetail::usual);
std::string all_reduce_text(const AllReduceRecord& tuning,
                            ReportDetail detail = ReportDetail::usual);
std::string solve_text(const SolveRecord& solve, const MachineRecord& machine, ReportDetail detail);
/// The V-cycles that were tried, and the levels of the selected one.
std::string multigrid_text(const MultigridRecord& record, ReportDetail detail);
/// A V-cycle in words.
std::string name(const MultigridMethod& method);
/// The line that compares multigrid with Jacobi; empty without a comparison.
std::string multigrid_comparison(const SolveRecord& solve);
/// The V-cycles that were tried for the pressure, the time series and the time of a flow.
std::string flow_text(const FlowRecord& flow, const MemoryBandwidth& memory, ReportDetail detail);
/// The lines of a flow in the section Result.
std::string flow_lines(const FlowRecord& flow);
/// Follows solve_text() under the same heading.
std::string comparisons_text(const SolveRecord& solve);
/// Mean and standard deviation of every strategy at every order. All orders must have been tuned
/// with the same strategies.
std::string means_text(const std::vector<OrderRecord>& orders);
/// The result: selected strategies, figure of merit, warnings and verdict. Readable without the
/// other parts. The run fails unless `has_file`, i.e. the JSON report was written.
std::string closing_text(const RunRecord& record, bool has_file = true);

/// The figure of merit, by Nekbone's FLOP count and in DOFs.
std::string figure_of_merit_text(const SolveRecord& solve);

/// The line on the energy of `n` iterations or steps (`noun`) for `dofs` DOFs; `work_per_joule` is
/// the unit of the DOFs that a joule pays for. Empty if no energy was measured.
std::string energy_line(const EnergyRecord& energy, int n, const char* noun, std::int64_t dofs,
                        const char* work_per_joule);

/// The part on the process grid in a dry run, which measures nothing. `budget` in seconds.
std::string would_divide_text(const GridRecord& grid, double budget, int ranks);

/// The part of the header on the build, the libraries and the placement of ranks. `in_json`: refers
/// to the JSON report for values that this text omits.
std::string machine_text(const MachineRecord& machine, bool in_json);

/// Lists a value of each rank, grouped by equal values: "ranks 0-3: host". Shows at most twelve
/// groups. `elsewhere` says where to find the others; empty: nowhere.
std::string per_rank(const std::string& label, const std::vector<std::string>& values,
                     const std::string& elsewhere = {});

}  // namespace nekbone_k
