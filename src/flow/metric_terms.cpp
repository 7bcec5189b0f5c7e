// SPDX-License-Identifier: BSD-3-Clause
#include "flow/metric_terms.hpp"

#include "multigrid/interpolation.hpp"
#include "operators/element_metric.hpp"

namespace nekbone_k {
namespace {

/// Computes the terms of an element from the coordinates of its nodes. One team per element.
struct TermsKernel {
  NodeCoordinates coordinates;
  ConstDeviceVector<double> values, slopes;  // (points, Nq): of the Lagrange polynomials
  DeviceVector<double> terms;
  int nq, points;
  bool per_element;

  KOKKOS_FUNCTION void operator()(const ElementCoordinates::Team& team) const {
    const LocalIndex position = team.league_rank();
    const ElementCoordinates element(team, nq);
    element.fill(team, [&](int i, int j, int k) { return coordinates(position, i, j, k); });
    const int n_points = per_element ? 1 : points * points * points;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n_points), [&](int q) {
      const Metric metric = at(element, q % points, q / points % points, q / (points * points));
      const auto set = [&](int c, double value) {
        terms(ElementLayout::offset(position / ElementLayout::lanes,
                                    MetricTerms::item(q, c, n_points),
                                    MetricTerms::n_terms * n_points) +
              position % ElementLayout::lanes) = value;
      };
      for (int a = 0; a < 3; ++a)
        for (int d = 0; d < 3; ++d) set(3 * a + d, metric.adjugate[a][d]);
      set(9, 1 / metric.jacobian);
    });
  }

  KOKKOS_FUNCTION Metric at(const ElementCoordinates& element, int i, int j, int k) const {
    double dx[3][3] = {};
    for (int d = 0; d < 3; ++d)
      for (int c = 0; c < nq; ++c)
        for (int b = 0; b < nq; ++b) {
          double value = 0, slope = 0;
          for (int a = 0; a < nq; ++a) {
            const double x = element.x(d * element.points + (c * nq + b) * nq + a);
            value += values(i * nq + a) * x;
            slope += slopes(i * nq + a) * x;
          }
          dx[d][0] += slope * values(j * nq + b) * values(k * nq + c);
          dx[d][1] += value * slopes(j * nq + b) * values(k * nq + c);
          dx[d][2] += value * values(j * nq + b) * slopes(k * nq + c);
        }
    return Metric(dx);
  }
};

}  // namespace

MetricTerms::MetricTerms(const AssembledSpace& space)
    : MetricTerms(space, space.mesh().basis().nodes) {}

MetricTerms::MetricTerms(const AssembledSpace& space, const std::vector<double>& nodes)
    : points(static_cast<int>(nodes.size())),
      per_element(space.mesh().spec().geometry == Geometry::affine) {
  const GllBasis& basis = space.mesh().basis();
  const int nq = basis.nq();
  std::vector<double> values, slopes;
  for (const double x : nodes) {
    const std::vector<double> row = lagrange_values(basis, x);
    values.insert(values.end(), row.begin(), row.end());
    for (int m = 0; m < nq; ++m) {
      double slope = 0;
      for (int i = 0; i < nq; ++i) slope += row[i] * basis.derivative[i * nq + m];
      slopes.push_back(slope);
    }
  }
  const ElementLayout& layout = space.layout();
  terms = large_vector("nekbone_k: metric terms",
                       ElementLayout::offset(layout.n_blocks(), 0, items(per_element, points)));
  Kokkos::parallel_for(
      "nekbone_k: metric terms", element_policy(layout.n_elements, nq),
      TermsKernel{NodeCoordinates(space), to_device("nekbone_k: interpolation", values),
                  to_device("nekbone_k: slopes", slopes), terms, nq, points, per_element});
  Kokkos::fence("nekbone_k: metric terms");
}

double MetricTerms::estimated_bytes(const BoxMesh& mesh, int points) {
  constexpr int lanes = ElementLayout::lanes;
  return std::ceil(static_cast<double>(mesh.box().volume()) / lanes) * lanes * sizeof(double) *
         items(mesh.spec().geometry == Geometry::affine, points);
}

}  // namespace nekbone_k
