// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Kernels before and after an exchange of contributions.
#pragma once

#include <string>
#include <vector>

#include "core/types.hpp"
#include "gs/contribution_plan.hpp"
#include "gs/index_runs.hpp"
#include "reduce/reduction.hpp"

namespace nekbone_k {

/// The arrays of a ContributionPlan in device memory, and the plan of the DOFs. The plan of the
/// messages is kept elsewhere.
struct DeviceContributions {
  DeviceContributions(HaloPlan plan, const ContributionPlan& contributions)
      : dofs(std::move(plan)),
        place_points(to_device("nekbone_k: points of places", contributions.place_points)),
        source_offsets(to_device("nekbone_k: source offsets", contributions.source_offsets)),
        sources(to_device("nekbone_k: sources", contributions.sources)),
        runs(to_device("nekbone_k: runs of shared DOFs",
                       find_runs(std::vector<LocalIndex>(dofs.n_shared(), -1)))) {}

  HaloPlan dofs;
  DeviceVector<LocalIndex> place_points, source_offsets, sources;
  DeviceRuns runs;  ///< all shared DOFs in pieces without a stride
};

/// Copies the values of points, shape (n_points, components), to their places; a place without a
/// point gets zero. Both are in device memory. Runs in `stream`.
template <class T>
void take_contributions(const DeviceVector<LocalIndex>& place_points, const DeviceField<T>& points,
                        const DeviceField<T>& places, const ExecutionSpace& stream) {
  const int components = static_cast<int>(points.extent(1));
  Kokkos::parallel_for(
      "nekbone_k: take contributions",
      Kokkos::RangePolicy<ExecutionSpace>(stream, 0,
                                          static_cast<LocalIndex>(place_points.extent(0))),
      KOKKOS_LAMBDA(const LocalIndex place) {
        const LocalIndex point = place_points(place);
        for (int c = 0; c < components; ++c)
          places(place, c) = point == ContributionPlan::no_point ? T(0) : points(point, c);
      });
}

/// Combines the contributions of all ranks to DOFs in the order of their keys. For unpack_by().
template <class T, Reduction op>
struct CombineContributions {
  DeviceField<T> field, places;
  DeviceVector<LocalIndex> offsets, sources;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const IndexRun& run, int from,
                                              const T* received) const {
    const int components = static_cast<int>(field.extent(1));
    for (LocalIndex i = from; i < run.count; i += RunShape::team_size)
      for (int c = 0; c < components; ++c)
        field(run.begin + i, c) = sum(run.begin + i, c, received);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T sum(LocalIndex s, int c, const T* received) const {
    const auto contribution = [&](LocalIndex at) {
      const LocalIndex from = sources(at);
      return from < 0 ? places(~from, c) : received[std::size_t(from) * field.extent(1) + c];
    };
    T value = contribution(offsets(s));
    for (LocalIndex at = offsets(s) + 1; at < offsets(s + 1); ++at)
      value = combine<op>(value, contribution(at));
    return value;
  }
};

}  // namespace nekbone_k
