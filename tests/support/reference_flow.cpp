// SPDX-License-Identifier: BSD-3-Clause
#include "support/reference_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "support/typed_vectors.hpp"

namespace nekbone_k {
namespace {

using Real = long double;

// P_n at x, and P_n' inside (-1, 1).
std::array<Real, 2> legendre_at(int n, Real x) {
  Real previous = 0, value = 1;
  for (int k = 1; k <= n; ++k) {
    const Real next = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
    previous = std::exchange(value, next);
  }
  return {value, n * (x * value - previous) / (x * x - 1)};
}

}  // namespace

Quadrature gauss_quadrature(int points) {
  Quadrature rule;
  const auto value = [&](Real x) { return legendre_at(points, x)[0]; };
  // The grid has an odd number of intervals, so that no root is a point of the grid.
  const int steps = 16 * points + 1;
  const auto grid = [&](int s) { return -std::cos(std::numbers::pi_v<Real> * s / steps); };
  for (int s = 0; s < steps; ++s) {
    Real low = grid(s), high = grid(s + 1);
    if (value(low) * value(high) > 0) continue;
    for (int bisection = 0; bisection < 80; ++bisection) {
      const Real middle = (low + high) / 2;
      (value(low) * value(middle) <= 0 ? high : low) = middle;
    }
    const Real x = (low + high) / 2, slope = legendre_at(points, x)[1];
    rule.nodes.push_back(static_cast<double>(x));
    rule.weights.push_back(static_cast<double>(2 / ((1 - x * x) * slope * slope)));
  }
  EXPECT_EQ(rule.nodes.size(), points + 0u);
  return rule;
}

Quadrature gll_quadrature(const ReferenceMesh& mesh) { return {mesh.nodes(), mesh.weights()}; }

VectorField to_vector_field(const AssembledSpace& space, const ReferenceMesh& mesh,
                            const VectorById& values) {
  const VectorField field("field", space);
  for (int c = 0; c < 3; ++c)
    Kokkos::deep_copy(field.component(c), to_assembled(space, mesh, values[c]));
  return field;
}

VectorById to_ids(const Communicator& comm, const AssembledSpace& space, const ReferenceMesh& mesh,
                  const VectorField& field) {
  VectorById values;
  for (int c = 0; c < 3; ++c) values[c] = to_ids(comm, space, mesh, field.component(c));
  return values;
}

VectorField nan_vector_field(const AssembledSpace& space, const ReferenceMesh& mesh) {
  const ById nan(mesh.n_points(), std::nan(""));
  return to_vector_field(space, mesh, {nan, nan, nan});
}

namespace {

ById joined(const VectorById& values) {
  ById all;
  for (const ById& component : values) all.insert(all.end(), component.begin(), component.end());
  return all;
}

}  // namespace

double dot(const VectorById& a, const VectorById& b) { return dot(joined(a), joined(b)); }

double max_abs(const VectorById& a) { return max_abs(joined(a)); }

double relative_difference(const VectorById& found, const VectorById& expected) {
  return relative_difference(joined(found), joined(expected));
}

ReferenceFlow::ReferenceFlow(const ReferenceMesh& mesh, Quadrature rule)
    : m_mesh(mesh), m_rule(std::move(rule)) {
  const std::vector<double>& nodes = mesh.nodes();
  const int nq = mesh.nq();
  for (const Real x : m_rule.nodes)
    for (int j = 0; j < nq; ++j) {
      Real value = 1, slope = 0;
      for (int m = 0; m < nq; ++m) {
        if (m == j) continue;
        value *= (x - nodes[m]) / (Real{nodes[j]} - nodes[m]);
        Real product = 1 / (Real{nodes[j]} - nodes[m]);
        for (int n = 0; n < nq; ++n)
          if (n != j && n != m) product *= (x - nodes[n]) / (Real{nodes[j]} - nodes[n]);
        slope += product;
      }
      m_values.push_back(static_cast<double>(value));
      m_slopes.push_back(static_cast<double>(slope));
    }
  mesh.for_each_node(
      [&](int e, int i, int j, int k) { m_coordinates.push_back(mesh.coordinates(e, i, j, k)); });
}

ReferenceFlow::Basis ReferenceFlow::basis(int q, int i, int j, int k) const {
  const int n = static_cast<int>(m_rule.nodes.size()), nq = m_mesh.nq();
  const int x = q % n * nq + i, y = q / n % n * nq + j, z = q / (n * n) * nq + k;
  return {m_values[x] * m_values[y] * m_values[z],
          {m_slopes[x] * m_values[y] * m_values[z], m_values[x] * m_slopes[y] * m_values[z],
           m_values[x] * m_values[y] * m_slopes[z]}};
}

PointValues ReferenceFlow::at(int e, int q, const std::vector<const ById*>& fields) const {
  const int nq = m_mesh.nq(), n = static_cast<int>(m_rule.nodes.size());
  PointValues p;
  p.point = {q % n, q / n % n, q / (n * n)};
  p.value.assign(fields.size(), 0);
  p.gradient.assign(fields.size(), {});
  std::array<std::array<double, 3>, 3> dx{};  // ∂x_d/∂r_a at [d][a]
  std::size_t node = std::size_t{1} * e * nq * nq * nq;
  for (int k = 0; k < nq; ++k)
    for (int j = 0; j < nq; ++j)
      for (int i = 0; i < nq; ++i, ++node) {
        const Basis v = basis(q, i, j, k);
        const GlobalId id = m_mesh.id(e, i, j, k);
        for (std::size_t f = 0; f < fields.size(); ++f) {
          const double value = (*fields[f])[id];
          p.value[f] += v.value * value;
          for (int a = 0; a < 3; ++a) p.gradient[f][a] += v.slope[a] * value;
        }
        for (int d = 0; d < 3; ++d)
          for (int a = 0; a < 3; ++a) dx[d][a] += v.slope[a] * m_coordinates[node][d];
      }
  // ∂r/∂x is the inverse of ∂x/∂r: its rows are cross products of columns, divided by J.
  double jacobian = 0;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    for (int d = 0; d < 3; ++d) {
      const int s = (d + 1) % 3, t = (d + 2) % 3;
      p.along[a][d] = dx[s][b] * dx[t][c] - dx[t][b] * dx[s][c];
    }
  }
  for (int d = 0; d < 3; ++d) jacobian += dx[d][0] * p.along[0][d];
  for (auto& row : p.along)
    for (double& entry : row) entry /= jacobian;
  for (auto& gradient : p.gradient) {
    std::array<double, 3> in_space{};
    for (int d = 0; d < 3; ++d)
      for (int a = 0; a < 3; ++a) in_space[d] += gradient[a] * p.along[a][d];
    gradient = in_space;
  }
  const auto& w = m_rule.weights;
  p.weight = w[p.point[0]] * w[p.point[1]] * w[p.point[2]] * jacobian;
  return p;
}

std::array<double, 3> curl_of(const PointValues& p, int first) {
  const auto& x = p.gradient[first];
  const auto& y = p.gradient[first + 1];
  const auto& z = p.gradient[first + 2];
  return {z[1] - y[2], x[2] - z[0], y[0] - x[1]};
}

VectorById ReferenceFlow::advection(const Communicator& comm, const VectorById& u) const {
  return weak(comm, {&u[0], &u[1], &u[2]}, [](const PointValues& p) {
    std::array<double, 3> f{};
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) f[c] += p.value[d] * p.gradient[c][d];
    return f;
  });
}

VectorById ReferenceFlow::curl(const Communicator& comm, const VectorById& u) const {
  return weak(comm, {&u[0], &u[1], &u[2]}, [](const PointValues& p) { return curl_of(p); });
}

VectorById ReferenceFlow::gradient(const Communicator& comm, const ById& pressure) const {
  return weak(comm, {&pressure}, [](const PointValues& p) { return p.gradient[0]; });
}

ById ReferenceFlow::pressure_source(const Communicator& comm, const VectorById& f,
                                    const VectorById& vorticity, double nu) const {
  return weak_divergence(comm, {&f[0], &f[1], &f[2], &vorticity[0], &vorticity[1], &vorticity[2]},
                         [nu](const PointValues& p) {
                           const std::array<double, 3> curl = curl_of(p, 3);
                           return std::array<double, 3>{p.value[0] - nu * curl[0],
                                                        p.value[1] - nu * curl[1],
                                                        p.value[2] - nu * curl[2]};
                         });
}

ById ReferenceFlow::mass(const Communicator& comm) const {
  return weak(comm, {}, [](const PointValues&) { return std::array<double, 3>{1, 0, 0}; })[0];
}

}  // namespace nekbone_k
