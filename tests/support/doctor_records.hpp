// SPDX-License-Identifier: BSD-3-Clause
// Made-up records of doctor for its tests.
#pragma once

#include "doctor/doctor_record.hpp"

namespace nekbone_k {

// Four ranks on two nodes of eight cores, each bound to two separate cores. Has no findings.
DoctorRecord healthy_host();
// The same ranks, each with a GPU, and a GPU-aware MPI. Has transfers within and between nodes.
DoctorRecord healthy_gpu();

}  // namespace nekbone_k
