// SPDX-License-Identifier: BSD-3-Clause
// Made-up records for the tests of the report.
#pragma once

#include "report/run_record.hpp"

namespace nekbone_k {

/// Gives `record` its own copy of its input. Returns the copy, for changes.
Case& changed_input(RunRecord& record);

// Order 7 with two plain and two overlapped strategies. The faster plain one also ran with the
// work. One overlapped strategy hides its exchange within the noise and is selected.
OrderRecord usual_order();
// Costs of messages of one carrier at two places, and one unknown path.
MachinePaths usual_paths();
// Three sizes at three offsets, within a node and between nodes, all correct, in host memory.
TransferRecord usual_transfers();
// A trial of MPI on node2 that crashed in this run.
MpiTrial crashed_trial();
// Four ranks on two nodes.
MachineRecord usual_machine();
// usual_machine(), usual_order() and a CG run that passed.
RunRecord usual_run();
// usual_machine(), with exchanges of vectors and scalars at order 7, and a flow that passed.
RunRecord flow_run();
// A run on one rank, so nothing is shared.
RunRecord one_rank_run();
// One strategy is wrong, with a long failure text.
RunRecord wrong_candidate_run();
// All strategies threw, so CG did not run.
RunRecord nothing_right_run();
// CG met a NaN.
RunRecord broken_down_run();
// No value fits its column.
RunRecord extreme_run();

}  // namespace nekbone_k
