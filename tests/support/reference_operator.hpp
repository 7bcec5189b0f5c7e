// SPDX-License-Identifier: BSD-3-Clause
// A reference mesh and operator by plain loops over the whole mesh, identical on every rank. They
// have their own basis and vectors numbered densely by global id. Functions convert between these
// and assembled vectors.
#pragma once

#include <array>
#include <vector>

#include "core/communicator.hpp"
#include "mesh/box_mesh.hpp"
#include "operators/assembled_space.hpp"
#include "operators/axhelm/axhelm.hpp"

namespace nekbone_k {

// Whether the threads of a GPU add to Au in any order, so that its last bits may differ from call
// to call.
inline bool adds_in_any_order(int order) {
  return !is_host_device && can_add_surface_results(order);
}

// A value per point of the whole mesh's lattice, by global id.
using ById = std::vector<double>;

class ReferenceMesh {
 public:
  ReferenceMesh(const MeshSpec& spec, int order);

  const MeshSpec& spec() const { return m_spec; }
  int order() const { return m_order; }
  int nq() const { return m_order + 1; }
  int n_elements() const { return static_cast<int>(m_spec.total_elements()); }
  // Points of the lattice, including Dirichlet points.
  GlobalId n_points() const { return m_length[0] * m_length[1] * m_length[2]; }
  // Elements are numbered first direction fastest.
  int element_number(const std::array<int, 3>& element) const;
  GlobalId id(int element, int i, int j, int k) const {
    return m_ids[((std::size_t{1} * element * nq() + k) * nq() + j) * nq() + i];
  }
  bool is_masked(GlobalId id) const { return m_masked[id]; }
  // Coordinates of node (i, j, k) of the element.
  std::array<double, 3> coordinates(int element, int i, int j, int k) const;

  // Calls action(element, i, j, k) at every node of every element.
  template <class Action>
  void for_each_node(const Action& action) const {
    for (int e = 0; e < n_elements(); ++e)
      for (int k = 0; k < nq(); ++k)
        for (int j = 0; j < nq(); ++j)
          for (int i = 0; i < nq(); ++i) action(e, i, j, k);
  }

  // Number of element nodes at each point; zero at Dirichlet points.
  ById multiplicity() const;
  // Uniform in [-1, 1], the same on every rank; zero at Dirichlet points.
  ById random(unsigned seed) const;

  const std::vector<double>& nodes() const { return m_nodes; }
  const std::vector<double>& weights() const { return m_weights; }
  double derivative(int i, int j) const { return m_derivative[i * nq() + j]; }

 private:
  std::array<int, 3> element(int number) const;
  bool on_dirichlet_face(GlobalId id) const;

  MeshSpec m_spec;
  int m_order;
  std::array<GlobalId, 3> m_length;
  std::vector<double> m_nodes, m_weights, m_derivative;
  std::vector<GlobalId> m_ids;
  std::vector<char> m_masked;
};

// stiffness + lambda mass.
class ReferenceOperator {
 public:
  ReferenceOperator(const MeshSpec& spec, int order, double lambda);

  const ReferenceMesh& mesh() const { return m_mesh; }
  double lambda() const { return m_lambda; }
  // The metric at one point: w J ∇r_a · ∇r_b as rr, rs, rt, ss, st, tt; w J; and J.
  struct Metric {
    std::array<double, 6> g;
    double mass, jacobian;
  };
  const Metric& metric(int element, int i, int j, int k) const {
    return metrics()[at(element, i, j, k)];
  }

  ById apply(const ById& u) const;

 private:
  std::size_t at(int e, int i, int j, int k) const {
    const int nq = m_mesh.nq();
    return ((std::size_t{1} * e * nq + k) * nq + j) * nq + i;
  }
  Metric make_metric(const std::vector<std::array<double, 3>>& x, int e, int i, int j, int k) const;
  // Computed at the first use, because many tests need only the mesh.
  const std::vector<Metric>& metrics() const;

  ReferenceMesh m_mesh;
  double m_lambda;
  mutable std::vector<Metric> m_metric;
};

// A node of an element of this rank, and the entry of its value in an assembled vector.
struct AssembledPoint {
  LocalIndex position;         // in the processing order
  std::array<int, 3> element;  // in the whole mesh
  std::array<int, 3> node;     // (i, j, k)
  GlobalId id;
  bool masked;
  LocalIndex entry;
};
std::vector<AssembledPoint> assembled_points(const AssembledSpace& space,
                                             const ReferenceMesh& mesh);

template <class T>
std::vector<T> to_host(const DeviceVector<T>& vector) {
  std::vector<T> values(vector.extent(0));
  Kokkos::deep_copy(Kokkos::View<T*, HostMemory>(values.data(), values.size()), vector);
  return values;
}

// The assembled vector of `values`; Dirichlet points and padding stay zero.
DeviceVector<double> to_assembled(const AssembledSpace& space, const ReferenceMesh& mesh,
                                  const ById& values);

// The values of an assembled vector, on every rank. Expects that all copies of a DOF are bitwise
// equal, and that Dirichlet points and padding are zero. Collective.
ById to_ids(const Communicator& comm, const AssembledSpace& space, const ReferenceMesh& mesh,
            const DeviceVector<double>& vector);

double dot(const ById& a, const ById& b);
// Largest absolute value; NaN if there is one.
double max_abs(const ById& a);
// Largest difference, relative to the largest value of `expected`.
double relative_difference(const ById& found, const ById& expected);

}  // namespace nekbone_k
