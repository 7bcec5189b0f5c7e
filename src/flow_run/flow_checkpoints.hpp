// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// When a flow is saved, and when it then stops.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/communicator.hpp"
#include "core/stop_request.hpp"
#include "input/case.hpp"
#include "report/flow_record.hpp"

namespace nekbone_k {

/// Throws InputError on every rank if the case writes checkpoints or fields, and this build cannot
/// write them or their files cannot be written. Collective.
void require_output(const Communicator& comm, const Case& input);

/// A warning that the run replaces the checkpoint of another run, or nothing. Collective.
std::string replaced_checkpoint(const Communicator& comm, const Case& input);

/// Saves a flow every few steps, at its end, when the job is asked to end by a signal, and before
/// its wall time ends; see CheckpointCase. Does nothing if the case has no checkpoints.
class FlowCheckpoints {
 public:
  /// `began` is the wall_seconds() at which the job began. Keeps references. Not collective.
  FlowCheckpoints(const Communicator& comm, const CheckpointCase& checkpoint, double began,
                  FlowRecord& record);

  /// Call it after each step, which took `step_seconds` on the slowest rank. Calls `save` if it is
  /// time to. Returns why the flow must stop here, or nothing. A failure to save is kept in the
  /// record, and ends nothing. Collective, with the same result on every rank.
  std::string after_step(int step, double step_seconds, bool ends,
                         const std::function<void()>& save);

 private:
  /// Why the job must end, or nothing. Collective.
  std::string why_stop(double step_seconds) const;

  const Communicator& m_comm;
  const CheckpointCase& m_checkpoint;
  double m_began;
  FlowRecord& m_record;
  std::optional<StopRequest> m_request;
  double m_longest = 0;  ///< seconds of a checkpoint, on the slowest rank
};

}  // namespace nekbone_k
