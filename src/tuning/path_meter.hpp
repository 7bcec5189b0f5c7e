// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Timer for the measurements of a path.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "machine/machine_paths.hpp"

namespace nekbone_k {

/// The effort per path.
struct PathOptions {
  double seconds = 0.05;  ///< s, time per path; the minimum of rounds may exceed it
  int least_rounds = 5;
  std::vector<std::size_t> sizes{8, 2 << 10, 16 << 10, 128 << 10, 512 << 10, 2 << 20};  ///< B
};

/// Times operations in interleaved rounds on all ranks. It keeps the first exception of a rank and
/// runs nothing more on that rank; other ranks continue.
class PathMeter {
 public:
  /// An operation may leave kernels running.
  using Operation = std::function<void()>;

  /// `comm` and `options` outlive the object.
  PathMeter(const Communicator& comm, const PathOptions& options)
      : m_comm(comm), m_options(options) {}

  /// For each operation, the median over interleaved rounds of the maximum over the ranks, in s.
  /// Repeats short operations within a sample, with one wait. Collective.
  std::vector<double> medians(const std::vector<Operation>& operations);

  /// Runs an untimed operation, unless one has thrown before. Passes on an UnavailableError.
  void attempt(const Operation& operation);

  /// The exception text of the lowest rank that has one; empty if none. Collective.
  std::string failure() const { return m_comm.first_text(m_failure); }

 private:
  double sample(const Operation& operation, int repeats);

  const Communicator& m_comm;
  const PathOptions& m_options;
  std::string m_failure;
};

/// The path for `sizes`, in bytes, with `medians`, in s, and its fitted cost.
PathCost path_of(std::span<const std::size_t> sizes, std::span<const double> medians);

}  // namespace nekbone_k
