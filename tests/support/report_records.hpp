// Records made up for the tests of the report.
#pragma once

#include "app/run_record.hpp"

namespace nekbone_k {

// Order 7 with two plain strategies, the faster of which also ran with the work, and two overlapped
// ones, of which one hides its exchange in the noise and is selected.
OrderRecord usual_order();
// What messages of two places and one carrier cost, and one path that is not known.
MachinePaths usual_paths();
// Three sizes at three offsets within a node and between nodes, all right, of host memory.
TransferRecord usual_transfers();
// Four ranks on two nodes.
MachineRecord usual_machine();
// That machine, that order, and a CG run that passed.
RunRecord usual_run();
// Nothing is shared.
RunRecord one_rank_run();
// One strategy is wrong, with much to say about it.
RunRecord wrong_candidate_run();
// All strategies threw, so that no CG ran.
RunRecord nothing_right_run();
// CG met a NaN.
RunRecord broken_down_run();
// Nothing fits the columns it was meant for.
RunRecord extreme_run();

}  // namespace nekbone_k
