// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The V-cycles that a case allows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "input/case.hpp"
#include "multigrid/multigrid.hpp"
#include "report/multigrid_record.hpp"

namespace nekbone_k {

/// The values that the case allows for each choice of a V-cycle, the default first.
struct MultigridChoices {
  std::vector<std::vector<int>> orders;
  std::vector<SmootherKind> smoothers;
  std::vector<ChebyshevKind> polynomials;
  std::vector<int> degrees;
  std::vector<Precision> precisions;

  /// The V-cycle of the defaults.
  MultigridMethod first() const {
    return {orders.front(), smoothers.front(), polynomials.front(), degrees.front(),
            precisions.front()};
  }
  /// The smoother that converges on elements of any shape, if it is allowed.
  SmootherKind robust_smoother() const {
    for (const SmootherKind smoother : smoothers)
      if (smoother == SmootherKind::schwarz) return smoother;
    return smoothers.front();
  }
  /// The V-cycle of this name in the report, if the case allows it.
  std::optional<MultigridMethod> find(const std::string& wanted) const;
};

/// The choices that the case allows. Only the defaults in a deterministic run, whose choices must
/// not depend on measurements. Not collective.
MultigridChoices multigrid_choices(const Case& input);

/// The precision of the default.
inline Precision first_precision(const Case& input) {
  return input.multigrid.precision.value_or(Precision::single);
}

/// The options of Multigrid for a method.
MultigridOptions options_of(const MultigridMethod& method, const Case& input);

}  // namespace nekbone_k
