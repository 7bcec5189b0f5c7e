// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine_paths.hpp"

namespace nekbone_k {

std::string name(Carrier carrier) {
  switch (carrier) {
    case Carrier::none:
      return "nothing";
    case Carrier::host_messages:
      return "host messages";
    case Carrier::device_messages:
      return "device messages";
    case Carrier::nccl:
      return "NCCL";
    case Carrier::nvshmem:
      return "NVSHMEM";
    case Carrier::peer_memory:
      return "peer memory";
  }
  return {};
}

std::string guarded_name(Carrier carrier) { return "path by " + name(carrier); }

const PathCost* MachinePaths::find(Carrier carrier, ProbePlace place) const {
  for (const MessagePath& message : messages)
    if (message.carrier == carrier && message.place == place && message.path.is_known())
      return &message.path;
  return nullptr;
}

}  // namespace nekbone_k
