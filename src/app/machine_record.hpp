/// @file
/// Fills in where and with what a run was made.
#pragma once

#include "app/run_record.hpp"
#include "core/communicator.hpp"

namespace nekbone_k {

/// All but what is measured or tried. Collective.
MachineRecord make_machine_record(const Communicator& comm);

}  // namespace nekbone_k
