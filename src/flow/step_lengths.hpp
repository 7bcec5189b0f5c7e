// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The lengths of the steps of a flow.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/flow_archive.hpp"
#include "flow/flow_case.hpp"

namespace nekbone_k {

/// Steps from the beginning of a flow to its end, of constant length or by a CFL number. Not
/// collective but for archive(); the same on all ranks that call it with the same values.
class StepLengths {
 public:
  /// Keeps a reference.
  explicit StepLengths(const FlowCase& flow);

  /// Begins a flow. `speed` is the largest speed, in nodes per unit of time.
  void begin(double speed);
  /// Saves the lengths, or restores them in place of begin(), after `done` steps at `time`. If the
  /// saved ones are of another flow.dt, end_time, cfl or steps, divides the time that is left anew.
  void archive(FlowArchive& archive, int done, double time);

  /// Short steps at the beginning.
  int n_start() const { return static_cast<int>(m_start.size()); }
  /// All steps, as far as they are known.
  int total() const;
  /// Whether the flow ends at `time`, after `done` steps.
  bool is_end(int done, double time) const;
  /// The length of the next step, number `done` from 0 on.
  double next(int done, double time, double speed);

 private:
  /// Divides the time from `time` to the end into equal steps, of `step` if that fits.
  void divide_rest(int done, double time, double step);

  const FlowCase& m_flow;
  bool m_is_begun = false;
  double m_dt = 0;
  std::int64_t m_left = -1;  // after the short ones; -1: not known
  std::vector<double> m_start;
};

}  // namespace nekbone_k
