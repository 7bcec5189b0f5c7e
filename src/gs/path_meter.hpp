/// @file
/// Times what a path is measured by.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "gs/machine_paths.hpp"

namespace nekbone_k {

/// How much to measure.
struct PathOptions {
  double seconds = 0.05;  ///< of timing, a path; a few rounds are done past it
  int least_rounds = 5;
  std::vector<std::size_t> sizes{8, 2 << 10, 16 << 10, 128 << 10, 512 << 10, 2 << 20};  ///< B
};

/// Times operations beside each other on all ranks. What one throws on a rank is kept, and nothing
/// more is done there; the others go on.
class PathMeter {
 public:
  /// May leave kernels running.
  using Operation = std::function<void()>;

  /// Both outlive the object.
  PathMeter(const Communicator& comm, const PathOptions& options)
      : m_comm(comm), m_options(options) {}

  /// Medians over interleaved rounds of the maxima over the ranks, s, of each operation done once.
  /// Short ones are repeated, and waited for together. Collective.
  std::vector<double> medians(const std::vector<Operation>& operations);

  /// Does something that is not timed, unless something was thrown before. Throws UnavailableError
  /// if it does.
  void attempt(const Operation& operation);

  /// What was thrown on the lowest rank where something was. Collective.
  std::string failure() const { return m_comm.first_text(m_failure); }

 private:
  double sample(const Operation& operation, int repeats);

  const Communicator& m_comm;
  const PathOptions& m_options;
  std::string m_failure;
};

/// The path whose `sizes`, B, took `medians`, s, with its cost.
PathCost path_of(std::span<const std::size_t> sizes, std::span<const double> medians);

}  // namespace nekbone_k
