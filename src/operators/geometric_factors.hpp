/// @file
/// The metric of the elements, stored per point.
#pragma once

#include <vector>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// A basis for values times the roots of their quadrature weights, û_i = √w_i u_i, in host memory.
struct ScaledBasis {
  explicit ScaledBasis(const GllBasis& basis);
  std::vector<double> derivative;    ///< (Nq, Nq) row-major: √w_i D(i, j) / √w_j
  std::vector<double> root_weights;  ///< (Nq) √w_i
};

/// J (∇r)(∇r)ᵀ at every GLL point: the six distinct entries rr, rs, rt, ss, st, tt of the symmetric
/// factor of the stiffness matrix (Deville, Fischer and Mund 2002, section 4.4), without its
/// quadrature weight w = w_i w_j w_k. The coordinates are interpolated by the element's own GLL
/// basis.
///
/// The mass factor w J is not stored: the determinant of the six is J.
struct GeometricFactors {
  /// Computes the factors of a rank's elements. Not collective.
  explicit GeometricFactors(const AssembledSpace& space);

  /// Shape (block, factor, point, lane); zero for empty elements.
  DeviceVector<double> factors;
  /// (Nq, Nq) row-major, D(i, j) = l_j'(x_i).
  DeviceVector<double> derivative;
  /// (Nq) GLL weights w_i.
  DeviceVector<double> weights;
  /// For the element kernel, which works with nodal values times √w; and its two arrays in device
  /// memory.
  ScaledBasis scaled_basis;
  DeviceVector<double> scaled_derivative, root_weights;

  static double estimated_bytes(const BoxMesh& mesh) {
    const auto elements = static_cast<double>(mesh.box().volume());
    return ElementLayout::estimate(mesh.nq(), elements).factors * sizeof(double);
  }
};

/// Whether the Jacobian is zero or negative at a GLL point of one of this rank's elements: the
/// deformation turns it inside out. Stores nothing, so that it can be asked before a run allocates.
/// Not collective.
bool has_inverted_elements(const BoxMesh& mesh);

/// Determinant of a symmetric factor.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T determinant(const T& rr, const T& rs, const T& rt, const T& ss,
                                          const T& st, const T& tt) {
  return rr * (ss * tt - st * st) - rs * (rs * tt - st * rt) + rt * (rs * st - ss * rt);
}

/// Reads factors one point at a time, in kernels that are not about speed.
struct FactorReader {
  FactorReader(const GeometricFactors& geometry, const ElementLayout& layout)
      : nq(layout.nq),
        factors(geometry.factors),
        derivative(geometry.derivative),
        weights(geometry.weights) {}

  /// Entry c of the stiffness factor G = w J (∇r)(∇r)ᵀ.
  KOKKOS_FUNCTION double factor(LocalIndex position, int c, int i, int j, int k) const {
    return weight(i, j, k) * metric(position, c, i, j, k);
  }
  /// The mass factor w J.
  KOKKOS_FUNCTION double mass(LocalIndex position, int i, int j, int k) const {
    const auto g = [&](int c) { return metric(position, c, i, j, k); };
    return weight(i, j, k) * determinant(g(0), g(1), g(2), g(3), g(4), g(5));
  }

  int nq;
  ConstDeviceVector<double> factors, derivative, weights;

 private:
  KOKKOS_FUNCTION double weight(int i, int j, int k) const {
    return weights(i) * weights(j) * weights(k);
  }
  KOKKOS_FUNCTION double metric(LocalIndex position, int c, int i, int j, int k) const {
    const int points = nq * nq * nq, q = (k * nq + j) * nq + i;
    return factors(ElementLayout::offset(position / ElementLayout::lanes, c * points + q,
                                         ElementLayout::n_factors * points) +
                   position % ElementLayout::lanes);
  }
};

/// Coordinates of the nodes of elements given by their indices in the whole mesh, in kernels.
struct MeshCoordinates {
  explicit MeshCoordinates(const BoxMesh& mesh)
      : mapping(mesh.mapping()), nodes(to_device("nekbone_k: GLL nodes", mesh.basis().nodes)) {
    for (int d = 0; d < 3; ++d) count[d] = mesh.spec().elements[d];
  }

  KOKKOS_FUNCTION Point operator()(int ex, int ey, int ez, int i, int j, int k) const {
    const auto fraction = [&](int d, int element, int node) {
      return (element + (nodes(node) + 1) / 2) / count[d];
    };
    return mapping(fraction(0, ex, i), fraction(1, ey, j), fraction(2, ez, k));
  }

  BoxMapping mapping;
  ConstDeviceVector<double> nodes;
  int count[3] = {1, 1, 1};
};

/// The same of elements given by their position in the processing order.
struct NodeCoordinates {
  explicit NodeCoordinates(const AssembledSpace& space)
      : mesh(space.mesh()), elements(space.elements()) {}

  KOKKOS_FUNCTION Point operator()(LocalIndex position, int i, int j, int k) const {
    return mesh(elements(position, 0), elements(position, 1), elements(position, 2), i, j, k);
  }

  MeshCoordinates mesh;
  Kokkos::View<const int* [3], Kokkos::LayoutRight, DeviceMemory> elements;
};

}  // namespace nekbone_k
