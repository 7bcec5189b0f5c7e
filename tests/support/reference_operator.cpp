// SPDX-License-Identifier: BSD-3-Clause
#include "support/reference_operator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <span>

namespace nekbone_k {
namespace {

using Real = long double;

// P_n(x), and its derivative inside (-1, 1) by the identity (x² - 1) P_n' = n (x P_n - P_{n-1}).
std::array<Real, 2> legendre(int n, Real x) {
  Real previous = 1, value = x;
  for (int k = 2; k <= n; ++k) {
    const Real before = previous;
    previous = value;
    value = ((2 * k - 1) * x * value - (k - 1) * before) / k;
  }
  return {value, n * (x * value - previous) / (x * x - 1)};
}

// The ends and the roots of P_N'. Bisection finds each root between two neighbours of a grid that
// is fine enough to separate the roots.
std::vector<Real> gll_nodes(int order) {
  std::vector<Real> nodes{-1};
  const auto slope = [&](Real x) { return legendre(order, x)[1]; };
  const int steps = 16 * order + 1;
  const auto grid = [&](int s) { return -std::cos(std::numbers::pi_v<Real> * s / steps); };
  for (int s = 1; s + 1 < steps; ++s) {
    Real low = grid(s), high = grid(s + 1);
    if (slope(low) * slope(high) > 0) continue;
    for (int bisection = 0; bisection < 80; ++bisection) {
      const Real middle = (low + high) / 2;
      (slope(low) * slope(middle) <= 0 ? high : low) = middle;
    }
    nodes.push_back((low + high) / 2);
  }
  nodes.push_back(1);
  EXPECT_EQ(nodes.size(), order + 1u);
  return nodes;
}

}  // namespace

ReferenceMesh::ReferenceMesh(const MeshSpec& spec, int order) : m_spec(spec), m_order(order) {
  for (int d = 0; d < 3; ++d)
    m_length[d] = GlobalId{1} * spec.elements[d] * order + (spec.periodic[d] ? 0 : 1);
  const std::vector<Real> x = gll_nodes(order);
  m_derivative.resize(nq() * nq());
  for (int i = 0; i < nq(); ++i) {
    const Real end = i == 0 && order % 2 != 0 ? -1 : 1;  // P_N(±1), where the recurrence is exact
    const Real p = i == 0 || i == order ? end : legendre(order, x[i])[0];
    m_nodes.push_back(static_cast<double>(x[i]));
    m_weights.push_back(static_cast<double>(2 / (order * (order + 1) * p * p)));
    // The derivative at x_i of the Lagrange polynomial of x_j, by the product rule.
    for (int j = 0; j < nq(); ++j) {
      Real sum = 0;
      for (int m = 0; m < nq(); ++m) {
        if (m == j) continue;
        Real product = 1 / (x[j] - x[m]);
        for (int n = 0; n < nq(); ++n)
          if (n != j && n != m) product *= (x[i] - x[n]) / (x[j] - x[n]);
        sum += product;
      }
      m_derivative[i * nq() + j] = static_cast<double>(sum);
    }
  }
  // Tables, because the operator looks each value up many times.
  for_each_node([&](int e, int i, int j, int k) {
    const auto at = element(e);
    const GlobalId px = (at[0] * order + i) % m_length[0], py = (at[1] * order + j) % m_length[1],
                   pz = (at[2] * order + k) % m_length[2];
    m_ids.push_back(px + m_length[0] * (py + m_length[1] * pz));
  });
  for (GlobalId point = 0; point < n_points(); ++point)
    m_masked.push_back(on_dirichlet_face(point) ? 1 : 0);
}

int ReferenceMesh::element_number(const std::array<int, 3>& element) const {
  return (element[2] * m_spec.elements[1] + element[1]) * m_spec.elements[0] + element[0];
}

std::array<int, 3> ReferenceMesh::element(int number) const {
  const auto& n = m_spec.elements;
  return {number % n[0], number / n[0] % n[1], number / n[0] / n[1]};
}

bool ReferenceMesh::on_dirichlet_face(GlobalId id) const {
  for (int d = 0; d < 3; id /= m_length[d], ++d) {
    const GlobalId position = id % m_length[d];
    if (!m_spec.periodic[d] && (position == 0 || position == m_length[d] - 1)) return true;
  }
  return false;
}

std::array<double, 3> ReferenceMesh::coordinates(int e, int i, int j, int k) const {
  const auto at = element(e);
  BoxMapping map{m_spec.deformation, m_spec.epsilon, {}};
  std::copy(m_spec.extent.begin(), m_spec.extent.end(), map.extent);
  // The point at fractions of the element.
  const auto mapped = [&](double a, double b, double c) -> std::array<double, 3> {
    const Point p = map((at[0] + a) / m_spec.elements[0], (at[1] + b) / m_spec.elements[1],
                        (at[2] + c) / m_spec.elements[2]);
    return {p.x, p.y, p.z};
  };
  const std::array<double, 3> fraction{(m_nodes[i] + 1) / 2, (m_nodes[j] + 1) / 2,
                                       (m_nodes[k] + 1) / 2};
  if (m_spec.geometry == Geometry::stored) return mapped(fraction[0], fraction[1], fraction[2]);
  // Straight edges: interpolates between the corners along one direction after the other.
  const auto between = [](double f, const std::array<double, 3>& from,
                          const std::array<double, 3>& to) {
    std::array<double, 3> p{};
    for (int d = 0; d < 3; ++d) p[d] = from[d] + f * (to[d] - from[d]);
    return p;
  };
  const auto edge = [&](double b, double c) {
    return between(fraction[0], mapped(0, b, c), mapped(1, b, c));
  };
  const auto face = [&](double c) { return between(fraction[1], edge(0, c), edge(1, c)); };
  return between(fraction[2], face(0), face(1));
}

ById ReferenceMesh::multiplicity() const {
  ById count(n_points(), 0);
  for_each_node([&](int e, int i, int j, int k) {
    const GlobalId point = id(e, i, j, k);
    if (!is_masked(point)) count[point] += 1;
  });
  return count;
}

ById ReferenceMesh::random(unsigned seed) const {
  std::mt19937_64 generator(seed);
  ById values(n_points());
  for (GlobalId point = 0; point < n_points(); ++point) {
    const double value = 2 * static_cast<double>(generator() >> 11) / (1LL << 53) - 1;
    values[point] = is_masked(point) ? 0 : value;
  }
  return values;
}

ReferenceOperator::ReferenceOperator(const MeshSpec& spec, int order, double lambda)
    : m_mesh(spec, order), m_lambda(lambda) {}

const std::vector<ReferenceOperator::Metric>& ReferenceOperator::metrics() const {
  if (!m_metric.empty()) return m_metric;
  std::vector<std::array<double, 3>> x;
  m_mesh.for_each_node(
      [&](int e, int i, int j, int k) { x.push_back(m_mesh.coordinates(e, i, j, k)); });
  m_metric.reserve(x.size());
  m_mesh.for_each_node(
      [&](int e, int i, int j, int k) { m_metric.push_back(make_metric(x, e, i, j, k)); });
  return m_metric;
}

ReferenceOperator::Metric ReferenceOperator::make_metric(
    const std::vector<std::array<double, 3>>& x, int e, int i, int j, int k) const {
  std::array<std::array<Real, 3>, 3> along{};  // along[r] = dx/dr
  for (int d = 0; d < 3; ++d)
    for (int m = 0; m < m_mesh.nq(); ++m) {
      along[0][d] += Real{m_mesh.derivative(i, m)} * x[at(e, m, j, k)][d];
      along[1][d] += Real{m_mesh.derivative(j, m)} * x[at(e, i, m, k)][d];
      along[2][d] += Real{m_mesh.derivative(k, m)} * x[at(e, i, j, m)][d];
    }
  const auto cross = [](const auto& a, const auto& b) {
    return std::array<Real, 3>{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                               a[0] * b[1] - a[1] * b[0]};
  };
  const auto product = [](const auto& a, const auto& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  // ∇r = (dx/ds × dx/dt) / J and so on, the dual basis of dx/dr, dx/ds, dx/dt.
  std::array<std::array<Real, 3>, 3> gradient{cross(along[1], along[2]), cross(along[2], along[0]),
                                              cross(along[0], along[1])};
  const Real jacobian = product(along[0], gradient[0]);
  for (auto& g : gradient)
    for (Real& component : g) component /= jacobian;

  const auto& w = m_mesh.weights();
  const Real mass = Real{w[i]} * w[j] * w[k] * jacobian;
  const auto g = [&](int a, int b) {
    return static_cast<double>(mass * product(gradient[a], gradient[b]));
  };
  return {{g(0, 0), g(0, 1), g(0, 2), g(1, 1), g(1, 2), g(2, 2)},
          static_cast<double>(mass),
          static_cast<double>(jacobian)};
}

ById ReferenceOperator::apply(const ById& u) const {
  const int nq = m_mesh.nq();
  const std::vector<Metric>& metric = metrics();
  ById au(u.size(), 0);
  // The values of one element, looked up by id once, and its results.
  std::vector<double> values(std::size_t{1} * nq * nq * nq), results(values.size());
  const auto node = [&](int i, int j, int k) { return at(0, i, j, k); };
  const auto apply_at_node = [&](int e, int i, int j, int k) {
    double slope[3] = {0, 0, 0};
    for (int m = 0; m < nq; ++m) {
      slope[0] += m_mesh.derivative(i, m) * values[node(m, j, k)];
      slope[1] += m_mesh.derivative(j, m) * values[node(i, m, k)];
      slope[2] += m_mesh.derivative(k, m) * values[node(i, j, m)];
    }
    const auto& [g, mass, jacobian] = metric[at(e, i, j, k)];
    const double flux[3] = {g[0] * slope[0] + g[1] * slope[1] + g[2] * slope[2],
                            g[1] * slope[0] + g[3] * slope[1] + g[4] * slope[2],
                            g[2] * slope[0] + g[4] * slope[1] + g[5] * slope[2]};
    for (int m = 0; m < nq; ++m) {
      results[node(m, j, k)] += m_mesh.derivative(i, m) * flux[0];
      results[node(i, m, k)] += m_mesh.derivative(j, m) * flux[1];
      results[node(i, j, m)] += m_mesh.derivative(k, m) * flux[2];
    }
    results[node(i, j, k)] += m_lambda * mass * values[node(i, j, k)];
  };
  const auto for_each_node_of_element = [&](const auto& action) {
    for (int k = 0; k < nq; ++k)
      for (int j = 0; j < nq; ++j)
        for (int i = 0; i < nq; ++i) action(i, j, k);
  };
  for (int e = 0; e < m_mesh.n_elements(); ++e) {
    std::fill(results.begin(), results.end(), 0);
    for_each_node_of_element([&](int i, int j, int k) {
      const GlobalId id = m_mesh.id(e, i, j, k);
      values[node(i, j, k)] = m_mesh.is_masked(id) ? 0 : u[id];
    });
    for_each_node_of_element([&](int i, int j, int k) { apply_at_node(e, i, j, k); });
    for_each_node_of_element(
        [&](int i, int j, int k) { au[m_mesh.id(e, i, j, k)] += results[node(i, j, k)]; });
  }
  for (GlobalId id = 0; id < m_mesh.n_points(); ++id)
    if (m_mesh.is_masked(id)) au[id] = 0;
  return au;
}

namespace {

// The lists of surface entries of all blocks, in one array.
std::vector<LocalIndex> surface_entries(const AssembledSpace& space) {
  const ElementLayout& layout = space.layout();
  const int n_surface = layout.n_surface() * ElementLayout::lanes;
  const DeviceVector<LocalIndex> on_device("entries", layout.n_surface_values());
  const IndexLists::Reader lists = space.surface_entries().reader();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(on_device.extent(0))),
      KOKKOS_LAMBDA(const LocalIndex at) {
        on_device(at) = lists(at / n_surface)[at % n_surface];
      });
  const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), on_device);
  return {host.data(), host.data() + host.extent(0)};
}

// Calls action(point) for each node of this rank's elements. Tests of every strategy visit them
// hundreds of times, so that a list of them would cost more than the operator.
template <class Action>
void for_each_assembled_point(const AssembledSpace& space, const ReferenceMesh& mesh,
                              const Action& action) {
  const auto elements = Kokkos::create_mirror_view_and_copy(HostMemory(), space.elements());
  const ElementLayout& layout = space.layout();
  const int nq = layout.nq;
  const std::vector<LocalIndex> entries = surface_entries(space);
  for (LocalIndex e = 0; e < layout.n_elements; ++e)
    for (int k = 0; k < nq; ++k)
      for (int j = 0; j < nq; ++j)
        for (int i = 0; i < nq; ++i) {
          AssembledPoint p{e, {elements(e, 0), elements(e, 1), elements(e, 2)}, {i, j, k}, 0, {},
                           0};
          p.id = mesh.id(mesh.element_number(p.element), i, j, k);
          p.masked = mesh.is_masked(p.id);
          const LocalIndex block = e / ElementLayout::lanes;
          const int lane = e % ElementLayout::lanes;
          if (ElementLayout::on_surface(nq, i, j, k)) {
            const int s = ElementLayout::surface_index(nq, i, j, k);
            p.entry = entries[ElementLayout::offset(block, s, layout.n_surface()) + lane];
          } else {
            const int r = ElementLayout::interior_index(nq, i, j, k);
            p.entry = space.interior_begin() + lane +
                      static_cast<LocalIndex>(ElementLayout::offset(block, r, layout.n_interior()));
          }
          action(p);
        }
}

}  // namespace

std::vector<AssembledPoint> assembled_points(const AssembledSpace& space,
                                             const ReferenceMesh& mesh) {
  std::vector<AssembledPoint> points;
  for_each_assembled_point(space, mesh, [&](const AssembledPoint& p) { points.push_back(p); });
  return points;
}

DeviceVector<double> to_assembled(const AssembledSpace& space, const ReferenceMesh& mesh,
                                  const ById& values) {
  std::vector<double> assembled(space.size(), 0);
  for_each_assembled_point(space, mesh, [&](const AssembledPoint& p) {
    if (!p.masked) assembled[p.entry] = values[p.id];
  });
  return to_device("assembled", assembled);
}

ById to_ids(const Communicator& comm, const AssembledSpace& space, const ReferenceMesh& mesh,
            const DeviceVector<double>& vector) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  std::vector<double> assembled = to_host(vector);
  // The largest of each DOF's copies, then of their negatives: copies are equal if these agree.
  ById largest(2 * mesh.n_points(), nothing);
  const std::span<double> negated = std::span(largest).subspan(mesh.n_points());
  // Counted rather than expected one by one, because a defect may affect every DOF.
  int n_nan = 0, n_nonzero_masked = 0, n_nonzero_padding = 0, n_different_copies = 0;
  std::vector<bool> is_dof(assembled.size(), false);
  for_each_assembled_point(space, mesh, [&](const AssembledPoint& p) {
    const double value = assembled[p.entry];
    if (p.masked) {
      n_nonzero_masked += value != 0;
    } else {
      is_dof[p.entry] = true;
    }
    largest[p.id] = value;
    negated[p.id] = -value;
  });
  for (std::size_t a = 0; a < assembled.size(); ++a) {
    n_nan += std::isnan(assembled[a]);
    n_nonzero_padding += !is_dof[a] && assembled[a] != 0;
  }
  comm.max(largest);
  for (GlobalId id = 0; id < mesh.n_points(); ++id)
    n_different_copies += largest[id] != -negated[id];
  EXPECT_EQ(n_nan, 0) << "NaNs";
  EXPECT_EQ(n_nonzero_masked, 0) << "of the Dirichlet points";
  EXPECT_EQ(n_nonzero_padding, 0) << "of the padding entries";
  EXPECT_EQ(n_different_copies, 0) << "of " << mesh.n_points() << " DOFs differ between ranks";
  largest.resize(mesh.n_points());
  return largest;
}

double dot(const ById& a, const ById& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += Real{a[i]} * b[i];
  return static_cast<double>(sum);
}

double max_abs(const ById& a) {
  double largest = 0;
  for (const double value : a) {
    if (std::isnan(value)) return value;  // std::max would drop it
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

double relative_difference(const ById& found, const ById& expected) {
  ById difference(expected);
  for (std::size_t i = 0; i < found.size(); ++i) difference[i] -= found[i];
  return max_abs(difference) / max_abs(expected);
}

}  // namespace nekbone_k
