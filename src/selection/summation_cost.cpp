// SPDX-License-Identifier: BSD-3-Clause
#include "selection/summation_cost.hpp"

#include <algorithm>

#include "core/statistics.hpp"

namespace nekbone_k {

SummationCost compare_summations(const Communicator& comm,
                                 const std::function<double(int iterations)>& deterministic,
                                 const std::function<double(int iterations)>& ordinary,
                                 double budget_seconds) {
  constexpr int iterations = 5, least_rounds = 3, most_rounds = 25;
  std::vector<double> with, without;
  const double begin = wall_seconds();
  double spent = 0;
  while (static_cast<int>(with.size()) < least_rounds ||
         (spent < budget_seconds && static_cast<int>(with.size()) < most_rounds)) {
    with.push_back(deterministic(iterations) / iterations);
    without.push_back(ordinary(iterations) / iterations);
    spent = comm.max(wall_seconds() - begin);
  }
  return {median(with), median(without), static_cast<int>(with.size()), iterations};
}

}  // namespace nekbone_k
