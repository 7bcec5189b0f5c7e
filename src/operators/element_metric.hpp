// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The metric of one element from the coordinates of its nodes, in kernels that set up geometry.
#pragma once

#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// Coordinates of one element's nodes in the scratch of its team.
struct ElementCoordinates {
  using Team = Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Scratch = Kokkos::View<double*, ExecutionSpace::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  // At order 15 they take 96 KB, more than the fast scratch of a GPU.
  KOKKOS_FUNCTION static constexpr int scratch_level() { return 1; }

  KOKKOS_FUNCTION ElementCoordinates(const Team& team, int n)
      : nq(n), points(n * n * n), x(team.team_scratch(scratch_level()), 3 * n * n * n) {}

  /// Fills them with the points `coordinates(i, j, k)`.
  template <class Coordinates>
  KOKKOS_FUNCTION void fill(const Team& team, const Coordinates& coordinates) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, points), [&](int q) {
      const Point p = coordinates(q % nq, q / nq % nq, q / (nq * nq));
      x(q) = p.x;
      x(points + q) = p.y;
      x(2 * points + q) = p.z;
    });
    team.team_barrier();
  }

  int nq, points;
  Scratch x;
};

/// The metric at one node, from the derivatives of the coordinates.
struct Metric {
  KOKKOS_FUNCTION Metric(const ElementCoordinates& element,
                         const ConstDeviceVector<double>& derivative, int i, int j, int k) {
    const int nq = element.nq;
    double dx[3][3] = {};  // dx[d][r]: coordinate d along reference direction r
    for (int d = 0; d < 3; ++d) {
      const auto at = [&](int a, int b, int c) {
        return element.x(d * element.points + (c * nq + b) * nq + a);
      };
      for (int m = 0; m < nq; ++m) {
        dx[d][0] += derivative(i * nq + m) * at(m, j, k);
        dx[d][1] += derivative(j * nq + m) * at(i, m, k);
        dx[d][2] += derivative(k * nq + m) * at(i, j, m);
      }
    }
    set(dx);
  }
  /// From dx[d][r], the derivative of coordinate d along reference direction r.
  KOKKOS_FUNCTION explicit Metric(const double (&dx)[3][3]) { set(dx); }

  KOKKOS_FUNCTION void set(const double (&dx)[3][3]) {
    for (int r = 0; r < 3; ++r) {
      const int s = (r + 1) % 3, t = (r + 2) % 3;
      for (int d = 0; d < 3; ++d) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        adjugate[r][d] = dx[e][s] * dx[f][t] - dx[f][s] * dx[e][t];
      }
    }
    jacobian = dx[0][0] * adjugate[0][0] + dx[1][0] * adjugate[0][1] + dx[2][0] * adjugate[0][2];
  }
  KOKKOS_FUNCTION SymmetricFactor<double> factor() const {
    const double scale = 1 / jacobian;
    const auto entry = [&](int r, int s) {
      const auto& a = adjugate;
      return scale * (a[r][0] * a[s][0] + a[r][1] * a[s][1] + a[r][2] * a[s][2]);
    };
    return {entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)};
  }

  double adjugate[3][3];  ///< rows: J ∇r, J ∇s, J ∇t
  double jacobian;
};

/// The policy of kernels with such coordinates.
inline Kokkos::TeamPolicy<ExecutionSpace> element_policy(int teams, int nq) {
  using Element = ElementCoordinates;
  Kokkos::TeamPolicy<ExecutionSpace> policy(teams, Kokkos::AUTO);
  policy.set_scratch_size(Element::scratch_level(),
                          Kokkos::PerTeam(Element::Scratch::shmem_size(3 * nq * nq * nq)));
  return policy;
}

}  // namespace nekbone_k
