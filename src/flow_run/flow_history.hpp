// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The rows and the steps of a flow, as they come.
#pragma once

#include <vector>

#include "core/communicator.hpp"
#include "core/thinning.hpp"
#include "flow/navier_stokes.hpp"
#include "flow_run/flow_files.hpp"
#include "input/case.hpp"
#include "report/flow_record.hpp"

namespace nekbone_k {

/// Adds to a FlowRecord and to the files of a flow. All members are collective.
class FlowHistory {
 public:
  /// Keeps references.
  FlowHistory(const Communicator& comm, const Case& input, FlowElements& elements, FlowFiles& files,
              FlowRecord& record)
      : m_comm(comm), m_input(input), m_elements(elements), m_files(files), m_record(record) {}

  /// Computes the sums of the newest velocity. Returns whether they are finite.
  bool look(const NavierStokes& flow);
  /// Adds a row of the sums that look() computed.
  void add_row(const NavierStokes& flow, const FlowStep& step);
  /// Adds the times and iterations of a step.
  void add_step(const FlowStep& step);
  /// Saves or restores the rows so far.
  void archive(FlowArchive& archive);
  /// Medians and means over the later half of the steps of this run.
  void sum_up();

  /// Largest speed in units of nodes per time, at look().
  double speed() const { return m_sums.speed; }
  /// Seconds of the last step, on the slowest rank.
  double step_seconds() const { return m_step_seconds; }

 private:
  /// Sets the times and the traffic of the steps from `begin` on.
  void sum_up_parts(std::size_t begin);
  /// Compares the enstrophy of a row with the reference at its time, if there is one.
  void compare(FlowRow& row);

  const Communicator& m_comm;
  const Case& m_input;
  FlowElements& m_elements;
  FlowFiles& m_files;
  FlowRecord& m_record;
  FlowSums m_sums;
  FlowRow m_last_row;
  Thinning m_row_thinning, m_step_thinning;
  double m_seconds_since_row = 0;
  struct Step {
    FlowStep made;
    FlowParts parts;  // s, on the slowest rank
  };
  std::vector<Step> m_steps;
  double m_step_seconds = 0;
};

}  // namespace nekbone_k
