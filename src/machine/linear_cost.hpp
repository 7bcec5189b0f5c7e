// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The cost of moving bytes: a latency and a bandwidth.
#pragma once

#include <span>

namespace nekbone_k {

/// Measured time of moving `bytes`, in s.
struct TransferTime {
  double bytes = 0, seconds = 0;
};

/// T(bytes) = latency + bytes / bandwidth (Hockney 1994).
struct LinearCost {
  double latency = 0;    ///< s
  double bandwidth = 1;  ///< B/s

  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

/// Fits a line to `points`, at least one. Candidates are lines through two points, and lines
/// through one point without latency or without slope. The fit is the candidate with the smallest
/// sum of |log(line / measured)| over all points. So small sizes count like large ones, and an
/// outlier does not move the line. The fit is exact if the points lie on a line.
///
/// Both parameters are positive and finite. The latency is at least a hundredth of the time of the
/// smallest size. The bytes of the largest size take at least a hundredth of its time.
LinearCost fit_linear_cost(std::span<const TransferTime> points);

}  // namespace nekbone_k
