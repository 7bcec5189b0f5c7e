/// @file
/// What it costs to move bytes: a latency and a bandwidth.
#pragma once

#include <span>

namespace nekbone_k {

/// How long moving `bytes` took.
struct TransferTime {
  double bytes = 0, seconds = 0;
};

/// T(bytes) = latency + bytes / bandwidth (Hockney 1994).
struct LinearCost {
  double latency = 0;    ///< s
  double bandwidth = 1;  ///< B/s

  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

/// The line through two of `points`, of which there is one at least, that is least far from all of
/// them: by the sum of |log(line / measured)|, so that small sizes count as much as large ones, and
/// one that went astray does not move it. Exact where the points lie on a line.
///
/// Both parameters are positive and finite: what cannot be told from nothing becomes a hundredth of
/// the time of the smallest size for the latency, and for the bandwidth a time of a hundredth of
/// the largest size's.
LinearCost fit_linear_cost(std::span<const TransferTime> points);

}  // namespace nekbone_k
