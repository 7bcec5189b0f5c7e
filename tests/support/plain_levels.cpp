// SPDX-License-Identifier: BSD-3-Clause
#include "support/plain_levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace nekbone_k {
namespace {

std::array<int, 3> lengths(const ReferenceMesh& mesh) {
  std::array<int, 3> length;
  for (int d = 0; d < 3; ++d)
    length[d] = mesh.spec().elements[d] * mesh.order() + (mesh.spec().periodic[d] ? 0 : 1);
  return length;
}

}  // namespace

ById operator+(ById a, const ById& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
ById operator-(ById a, const ById& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}
ById operator*(double factor, ById a) {
  for (double& value : a) value *= factor;
  return a;
}

std::vector<GlobalId> dof_ids(const ReferenceMesh& mesh) {
  std::vector<GlobalId> ids;
  for (GlobalId id = 0; id < mesh.n_points(); ++id)
    if (!mesh.is_masked(id)) ids.push_back(id);
  return ids;
}

double mean_of_dofs(const ReferenceMesh& mesh, const ById& values) {
  double sum = 0;
  for (const GlobalId id : dof_ids(mesh)) sum += values[id];
  return sum / static_cast<double>(dof_ids(mesh).size());
}

// ---- Interpolation -----------------------------------------------------------------------------

PlainInterpolation::PlainInterpolation(const ReferenceMesh& coarse, const ReferenceMesh& fine)
    : m_coarse_length(lengths(coarse)), m_fine_length(lengths(fine)) {
  const std::vector<double>& x = coarse.nodes();
  for (int d = 0; d < 3; ++d) {
    const int n_coarse = m_coarse_length[d], n_fine = m_fine_length[d];
    const bool periodic = fine.spec().periodic[d];
    m_matrix[d].assign(std::size_t(n_fine) * n_coarse, 0);
    for (int f = 0; f < n_fine; ++f) {
      if (!periodic && (f == 0 || f == n_fine - 1)) continue;
      const int element = f / fine.order(), node = f % fine.order();
      const double position = (element + (fine.nodes()[node] + 1) / 2) / fine.spec().elements[d] *
                              coarse.spec().elements[d];
      const int in = std::min(static_cast<int>(position), coarse.spec().elements[d] - 1);
      for (int m = 0; m < coarse.nq(); ++m) {
        const int point = in * coarse.order() + m;
        if (!periodic && (point == 0 || point == n_coarse - 1)) continue;
        double value = 1;
        for (int n = 0; n < coarse.nq(); ++n)
          if (n != m) value *= (2 * (position - in) - 1 - x[n]) / (x[m] - x[n]);
        m_matrix[d][std::size_t(f) * n_coarse + point % n_coarse] += value;
      }
    }
  }
}

// One direction after the other.
ById PlainInterpolation::multiply(ById values, bool transposed) const {
  std::array<int, 3> length = transposed ? m_fine_length : m_coarse_length;
  for (int d = 0; d < 3; ++d) {
    const int from = length[d], to = transposed ? m_coarse_length[d] : m_fine_length[d];
    const int inner = d == 0 ? 1 : d == 1 ? length[0] : length[0] * length[1];
    const int outer = static_cast<int>(values.size()) / inner / from;
    ById next(std::size_t(outer) * to * inner, 0);
    for (int o = 0; o < outer; ++o)
      for (int t = 0; t < to; ++t)
        for (int f = 0; f < from; ++f) {
          const double weight =
              transposed ? m_matrix[d][std::size_t(f) * to + t] : m_matrix[d][t * from + f];
          for (int i = 0; weight != 0 && i < inner; ++i)
            next[(std::size_t(o) * to + t) * inner + i] +=
                weight * values[(std::size_t(o) * from + f) * inner + i];
        }
    values = std::move(next);
    length[d] = to;
  }
  return values;
}

// ---- Solves ------------------------------------------------------------------------------------

DenseSolve::DenseSolve(const ReferenceOperator& a, bool is_singular)
    : m_n_points(a.mesh().n_points()), m_is_singular(is_singular), m_ids(dof_ids(a.mesh())) {
  const std::size_t n = m_ids.size();
  std::vector<double> matrix(n * n);
  m_inverse.assign(n * n, 0);
  for (std::size_t column = 0; column < n; ++column) {
    ById unit(m_n_points, 0);
    unit[m_ids[column]] = 1;
    const ById au = a.apply(unit);
    for (std::size_t row = 0; row < n; ++row) matrix[row * n + column] = au[m_ids[row]];
    m_inverse[column * n + column] = 1;
  }
  // A definite matrix with the same solutions for vectors of mean zero.
  double size = 0;
  for (std::size_t i = 0; i < n; ++i) size = std::max(size, matrix[i * n + i]);
  if (is_singular)
    for (double& entry : matrix) entry += (size > 0 ? size : 1) / static_cast<double>(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(matrix[i * n + k]) > std::abs(matrix[pivot * n + k])) pivot = i;
    EXPECT_NE(matrix[pivot * n + k], 0) << "singular matrix";
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(matrix[k * n + j], matrix[pivot * n + j]);
      std::swap(m_inverse[k * n + j], m_inverse[pivot * n + j]);
    }
    const double scale = 1 / matrix[k * n + k];
    for (std::size_t j = 0; j < n; ++j) {
      matrix[k * n + j] *= scale;
      m_inverse[k * n + j] *= scale;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = matrix[i * n + k];
      if (i == k || factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        matrix[i * n + j] -= factor * matrix[k * n + j];
        m_inverse[i * n + j] -= factor * m_inverse[k * n + j];
      }
    }
  }
}

ById DenseSolve::solve(const ById& b) const {
  const std::size_t n = m_ids.size();
  double mean = 0;
  if (m_is_singular)
    for (const GlobalId id : m_ids) mean += b[id] / static_cast<double>(n);
  ById x(m_n_points, 0);
  double mean_x = 0;
  for (std::size_t row = 0; row < n; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < n; ++column)
      sum += m_inverse[row * n + column] * (b[m_ids[column]] - mean);
    x[m_ids[row]] = sum;
    mean_x += sum / static_cast<double>(n);
  }
  if (m_is_singular)
    for (const GlobalId id : m_ids) x[id] -= mean_x;
  return x;
}

// ---- Smoothers ---------------------------------------------------------------------------------

ScaledOperator::ScaledOperator(const ReferenceOperator& of)
    : a(of), inverse_diagonal(of.mesh().n_points(), 0) {
  const ReferenceMesh& mesh = a.mesh();
  const auto d = [&](int i, int j) { return mesh.derivative(i, j); };
  // Gradients of a nodal basis function are zero but on the lines through its node.
  mesh.for_each_node([&](int e, int i, int j, int k) {
    double sum = a.lambda() * a.metric(e, i, j, k).mass;
    for (int m = 0; m < mesh.nq(); ++m)
      sum += d(m, i) * d(m, i) * a.metric(e, m, j, k).g[0] +
             d(m, j) * d(m, j) * a.metric(e, i, m, k).g[3] +
             d(m, k) * d(m, k) * a.metric(e, i, j, m).g[5];
    const auto& g = a.metric(e, i, j, k).g;
    sum += 2 * (d(i, i) * d(j, j) * g[1] + d(i, i) * d(k, k) * g[2] + d(j, j) * d(k, k) * g[4]);
    inverse_diagonal[mesh.id(e, i, j, k)] += sum;
  });
  for (GlobalId id = 0; id < mesh.n_points(); ++id)
    inverse_diagonal[id] = mesh.is_masked(id) ? 0 : 1 / inverse_diagonal[id];
}

ById ScaledOperator::apply(const ById& u) const {
  ById result = a.apply(u);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= inverse_diagonal[i];
  return result;
}

double ScaledOperator::largest_eigenvalue() const {
  ById u = a.mesh().random(99);
  double eigenvalue = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const ById au = a.apply(u);
    ById next(u.size());
    double energy = 0;  // uᵀ D u
    for (std::size_t i = 0; i < u.size(); ++i) {
      next[i] = inverse_diagonal[i] * au[i];
      if (inverse_diagonal[i] != 0) energy += u[i] * u[i] / inverse_diagonal[i];
    }
    eigenvalue = dot(u, au) / energy;  // Rayleigh's quotient
    u = (1 / max_abs(next)) * next;
  }
  return eigenvalue;
}

ById smoothed_error(const ScaledOperator& scaled, ChebyshevKind kind, int degree, double lambda_max,
                    const ById& error) {
  // Values at X = centre - D⁻¹ A / radius of polynomials with Q_{n+1} = 2 X Q_n - Q_{n-1}.
  const bool is_first = kind == ChebyshevKind::first;
  const double lambda_min = is_first ? lambda_max / first_kind_ratio : 0;
  const double radius = (lambda_max - lambda_min) / 2;
  const double centre = (lambda_max + lambda_min) / (lambda_max - lambda_min);
  const auto x_times = [&](const ById& u) { return centre * u - (1 / radius) * scaled.apply(u); };
  ById before = error, now = x_times(error);                   // T_0 and T_1
  if (!is_first) now = 2 * now + error;                        // W_1 = 2 X + 1
  double at_zero_before = 1, at_zero = is_first ? centre : 3;  // where X = centre
  const auto weights = chebyshev_steps(kind, degree, lambda_max);
  ById result = error;
  for (int n = 1; n <= degree; ++n) {
    result =
        result - weights[n - 1].solution * ((1 / at_zero_before) * before - (1 / at_zero) * now);
    ById next = 2 * x_times(now) - before;
    before = std::exchange(now, std::move(next));
    at_zero_before = std::exchange(at_zero, 2 * centre * at_zero - at_zero_before);
  }
  return result;
}

}  // namespace nekbone_k
