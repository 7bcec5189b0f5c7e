// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/chebyshev.hpp"

#include <array>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// Weights of the fourth kind by degree (Lottes 2022, table 1).
constexpr std::array<std::array<double, most_chebyshev_degree>, most_chebyshev_degree>
    optimal_weights{
        {{1.12500000000000},
         {1.02387287570313, 1.26408905371085},
         {1.00842544782028, 1.08867839208730, 1.33753125909618},
         {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000},
         {1.00212930146164, 1.02173711549260, 1.07872433192603, 1.19810065292663, 1.41322542791682},
         {1.00128517255940, 1.01304293035233, 1.04678215124113, 1.11616489419675, 1.23829020218444,
          1.43524297106744}}};

std::vector<ChebyshevStep> first_kind(int degree, double lambda_max) {
  const double lambda_min = lambda_max / first_kind_ratio;
  const double centre = (lambda_max + lambda_min) / 2, radius = (lambda_max - lambda_min) / 2;
  std::vector<ChebyshevStep> steps{{0, 1 / centre, 1}};
  double rho = radius / centre;
  while (static_cast<int>(steps.size()) < degree) {
    const double next = 1 / (2 * centre / radius - rho);
    steps.push_back({next * rho, 2 * next / radius, 1});
    rho = next;
  }
  return steps;
}

}  // namespace

std::vector<ChebyshevStep> chebyshev_steps(ChebyshevKind kind, int degree, double lambda_max) {
  require(degree >= 1 && degree <= most_chebyshev_degree, "a Chebyshev degree out of range");
  if (kind == ChebyshevKind::first) return first_kind(degree, lambda_max);
  std::vector<ChebyshevStep> steps;
  for (int k = 1; k <= degree; ++k) {
    const double weight =
        kind == ChebyshevKind::optimized_fourth ? optimal_weights[degree - 1][k - 1] : 1;
    steps.push_back({(2.0 * k - 3) / (2 * k + 1) * (k > 1),
                     (8.0 * k - 4) / ((2 * k + 1) * lambda_max), weight});
  }
  return steps;
}

}  // namespace nekbone_k
