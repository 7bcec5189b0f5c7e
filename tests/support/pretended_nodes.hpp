// SPDX-License-Identifier: BSD-3-Clause
// Pretends several nodes on one machine.
#pragma once

#include <cstdlib>
#include <string>

namespace nekbone_k {

// While it lives, each group of n ranks of a node counts as a separate node; see nodes_of_ranks().
class PretendedNodes {
 public:
  explicit PretendedNodes(int n) { setenv(variable, std::to_string(n).c_str(), 1); }
  ~PretendedNodes() { unsetenv(variable); }
  PretendedNodes(const PretendedNodes&) = delete;
  PretendedNodes& operator=(const PretendedNodes&) = delete;

 private:
  static constexpr const char* variable = "NEKBONE_K_RANKS_PER_NODE";
};

}  // namespace nekbone_k
