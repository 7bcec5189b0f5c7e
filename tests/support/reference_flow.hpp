// SPDX-License-Identifier: BSD-3-Clause
// Integrals of a flow by plain loops over the whole mesh: at every point of a quadrature rule,
// values and gradients are sums over all nodes of an element.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/communicator.hpp"
#include "flow/velocity.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {

using VectorById = std::array<ById, 3>;

// The vector field of `values`, and the values of a vector field, as for assembled vectors.
VectorField to_vector_field(const AssembledSpace& space, const ReferenceMesh& mesh,
                            const VectorById& values);
VectorById to_ids(const Communicator& comm, const AssembledSpace& space, const ReferenceMesh& mesh,
                  const VectorField& field);
VectorField nan_vector_field(const AssembledSpace& space, const ReferenceMesh& mesh);
double dot(const VectorById& a, const VectorById& b);
double max_abs(const VectorById& a);
// Largest difference of a component, relative to the largest value of all.
double relative_difference(const VectorById& found, const VectorById& expected);

// Nodes and weights in [-1, 1].
struct Quadrature {
  std::vector<double> nodes, weights;
};
// Gauss–Legendre points, found by bisection.
Quadrature gauss_quadrature(int points);
Quadrature gll_quadrature(const ReferenceMesh& mesh);

// Fields and their gradients at a quadrature point.
struct PointValues {
  std::vector<double> value;                     // of each field
  std::vector<std::array<double, 3>> gradient;   // of each field
  double weight = 0;                             // w J
  std::array<std::array<double, 3>, 3> along{};  // ∂r_a/∂x_d at [a][d]
  std::array<int, 3> point{};                    // (i, j, k) of the rule
};

// Quadrature of the elements of a mesh.
class ReferenceFlow {
  // A Lagrange polynomial and its reference gradient.
  struct Basis {
    double value;
    std::array<double, 3> slope;
  };

 public:
  ReferenceFlow(const ReferenceMesh& mesh, Quadrature rule);

  // Calls use(element, point, values) at every quadrature point of some elements. The ranks share
  // the elements.
  template <class Use>
  void for_each_point(const Communicator& comm, const std::vector<const ById*>& fields,
                      const Use& use) const {
    for (int e = comm.rank(); e < m_mesh.n_elements(); e += comm.size())
      for (int q = 0; q < n_points(); ++q) use(e, q, at(e, q, fields));
  }

  // By id: the sums over the quadrature points of w J f v, for each component of a vector
  // f(values), where v is the Lagrange polynomial of a node. The ranks share the work. Collective.
  template <class Form>
  VectorById weak(const Communicator& comm, const std::vector<const ById*>& fields,
                  const Form& f) const {
    VectorById sums;
    sums.fill(ById(m_mesh.n_points(), 0));
    for_each_point(comm, fields, [&](int e, int q, const PointValues& p) {
      const std::array<double, 3> values = f(p);
      for_each_test(e, q, [&](GlobalId id, const Basis& v) {
        for (int c = 0; c < 3; ++c) sums[c][id] += p.weight * values[c] * v.value;
      });
    });
    for (ById& sum : sums) comm.sum(sum);
    return sums;
  }
  // The same of w J f·∇v.
  template <class Form>
  ById weak_divergence(const Communicator& comm, const std::vector<const ById*>& fields,
                       const Form& f) const {
    ById sums(m_mesh.n_points(), 0);
    for_each_point(comm, fields, [&](int e, int q, const PointValues& p) {
      const std::array<double, 3> flux = f(p);
      for_each_test(e, q, [&](GlobalId id, const Basis& v) {
        for (int d = 0; d < 3; ++d)
          for (int a = 0; a < 3; ++a) sums[id] += p.weight * flux[d] * p.along[a][d] * v.slope[a];
      });
    });
    comm.sum(sums);
    return sums;
  }

  // Results of all three components of FlowElements.
  VectorById advection(const Communicator& comm, const VectorById& u) const;
  VectorById curl(const Communicator& comm, const VectorById& u) const;
  VectorById gradient(const Communicator& comm, const ById& p) const;
  ById pressure_source(const Communicator& comm, const VectorById& f, const VectorById& vorticity,
                       double nu) const;
  ById mass(const Communicator& comm) const;

 private:
  int n_points() const {
    const int n = static_cast<int>(m_rule.nodes.size());
    return n * n * n;
  }
  PointValues at(int e, int q, const std::vector<const ById*>& fields) const;
  // That of node (i, j, k) at point q.
  Basis basis(int q, int i, int j, int k) const;
  // Calls use(id, polynomial) for every node of element e, with the polynomial at point q.
  template <class Use>
  void for_each_test(int e, int q, const Use& use) const {
    for (int k = 0; k < m_mesh.nq(); ++k)
      for (int j = 0; j < m_mesh.nq(); ++j)
        for (int i = 0; i < m_mesh.nq(); ++i) use(m_mesh.id(e, i, j, k), basis(q, i, j, k));
  }

  const ReferenceMesh& m_mesh;
  Quadrature m_rule;
  std::vector<double> m_values, m_slopes;  // (point, node) along a line
  std::vector<std::array<double, 3>> m_coordinates;
};

// ∇×u from the gradients of three fields that begin at `first`.
std::array<double, 3> curl_of(const PointValues& p, int first = 0);

}  // namespace nekbone_k
