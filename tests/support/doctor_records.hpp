// What doctor might find, made up for its tests.
#pragma once

#include "app/doctor_record.hpp"

namespace nekbone_k {

// Four ranks on two nodes of eight cores, each bound to two cores of its own; nothing is wrong.
DoctorRecord healthy_host();
// The same with a GPU each and an MPI that can read it; transfers within and between the nodes.
DoctorRecord healthy_gpu();

}  // namespace nekbone_k
