// SPDX-License-Identifier: BSD-3-Clause
#include "support/doctor_records.hpp"

#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

void add_entries(MpiProbe& probe, ProbePlace place, ProbeMemory memory, double latency) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20})
    for (const std::size_t offset : {0, 8, 3}) {
      if (memory == ProbeMemory::staged && offset != 0) continue;
      probe.entries.push_back(
          {place, memory, bytes, offset, "", latency + static_cast<double>(bytes) / 1e10});
    }
}

}  // namespace

DoctorRecord healthy_host() {
  DoctorRecord record;
  record.machine = usual_machine();
  record.machine.build_type = "Release, preset openmp";
  record.machine.mpi_library = "Open MPI v4.1.4";
  record.machine.started = "2026-11-21T21:21:46Z";
  record.threads = 2;
  record.launched = 4;
  record.online_cores = {8, 8, 8, 8};
  record.numa_nodes = {"0", "0", "0", "0"};
  record.device_numa_nodes = {"", "", "", ""};
  record.networks = std::vector<std::string>(4, "eth0 (Ethernet, up), mlx5_0 (InfiniBand, active)");
  record.probe.memory = "Host";
  record.probe.claim = {"MPIX_Query_cuda_support", false};
  add_entries(record.probe, ProbePlace::within_node, ProbeMemory::direct, 1e-6);
  add_entries(record.probe, ProbePlace::between_nodes, ProbeMemory::direct, 2e-6);
  return record;
}

DoctorRecord healthy_gpu() {
  DoctorRecord record = healthy_host();
  record.machine.backend = "Cuda";
  record.machine.devices = {
      "Cuda 0, NVIDIA H200 at 0000:1b:00", "Cuda 1, NVIDIA H200 at 0000:2b:00",
      "Cuda 0, NVIDIA H200 at 0000:1b:00", "Cuda 1, NVIDIA H200 at 0000:2b:00"};
  record.device_numa_nodes = {"0", "0", "0", "0"};
  record.kernels_on_host = false;
  record.threads = 1;
  record.probe.memory = "Cuda";
  record.probe.claim.device = true;
  record.probe.entries.clear();
  for (const ProbePlace place : {ProbePlace::within_node, ProbePlace::between_nodes}) {
    add_entries(record.probe, place, ProbeMemory::direct, 2e-6);
    add_entries(record.probe, place, ProbeMemory::staged, 20e-6);
  }
  return record;
}

}  // namespace nekbone_k
