// SPDX-License-Identifier: BSD-3-Clause
#include "selection/multigrid_candidates.hpp"

#include "report/report.hpp"

namespace nekbone_k {
namespace {

/// A pinned value alone, or all of `otherwise`.
template <class T>
std::vector<T> pinned_or(const std::optional<T>& pinned, const std::vector<T>& otherwise) {
  return pinned ? std::vector<T>{*pinned} : otherwise;
}

/// Orders that fall by two: 7, 5, 3, 1.
std::vector<int> orders_by_two(int order) {
  std::vector<int> orders{order};
  while (orders.back() > 2) orders.push_back(orders.back() - 2);
  if (orders.back() > 1) orders.push_back(1);
  return orders;
}

std::vector<std::vector<int>> order_lists(const Case& input) {
  if (input.multigrid.orders) return {*input.multigrid.orders};
  const int order = input.solver_order;
  std::vector<std::vector<int>> lists{halved_orders(order)};
  if (orders_by_two(order) != lists.front()) lists.push_back(orders_by_two(order));
  return lists;
}

}  // namespace

std::optional<MultigridMethod> MultigridChoices::find(const std::string& wanted) const {
  for (const std::vector<int>& these : orders)
    for (const SmootherKind smoother : smoothers)
      for (const ChebyshevKind polynomial : polynomials)
        for (const int degree : degrees)
          for (const Precision precision : precisions) {
            MultigridMethod method{these, smoother, polynomial, degree, precision};
            if (name(method) == wanted) return method;
          }
  return {};
}

MultigridChoices multigrid_choices(const Case& input) {
  const MultigridChoice& pinned = input.multigrid;
  const bool is_deterministic = input.summation == Summation::deterministic;
  MultigridChoices choices;
  choices.orders = order_lists(input);
  // Sums of Schwarz patches depend on the division among ranks.
  choices.smoothers =
      is_deterministic ? std::vector{SmootherKind::jacobi}
                       : pinned_or(pinned.smoother, {SmootherKind::jacobi, SmootherKind::schwarz});
  choices.polynomials = pinned_or(pinned.polynomial, {ChebyshevKind::optimized_fourth,
                                                      ChebyshevKind::first, ChebyshevKind::fourth});
  choices.degrees = pinned_or(pinned.degree, {3, 2, 4, 1, 5, 6});
  choices.precisions = {first_precision(input)};
  if (!pinned.precision && choices.precisions.front() == Precision::single)
    choices.precisions.push_back(Precision::double_);
  if (is_deterministic) {
    choices.orders.resize(1);
    choices.polynomials.resize(1);
    choices.degrees.resize(1);
    choices.precisions.resize(1);
  }
  return choices;
}

MultigridOptions options_of(const MultigridMethod& method, const Case& input) {
  return {method.orders,
          method.smoother,
          method.polynomial,
          method.degree,
          input.multigrid.coarse_dofs,
          input.multigrid.replicated_dofs.value_or(default_replicated_dofs),
          input.launch != CgLaunchChoice::host};
}

}  // namespace nekbone_k
