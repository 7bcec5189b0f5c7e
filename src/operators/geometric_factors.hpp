// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The metric of the elements: factors per point, or the values from which kernels compute them.
#pragma once

#include <type_traits>
#include <vector>

#include "operators/assembled_space.hpp"
#include "operators/trilinear.hpp"

namespace nekbone_k {

/// A basis for values scaled by the roots of their quadrature weights, û_i = √w_i u_i, in host
/// memory.
struct ScaledBasis {
  explicit ScaledBasis(const GllBasis& basis);
  std::vector<double> derivative;    ///< (Nq, Nq) row-major: √w_i D(i, j) / √w_j
  std::vector<double> root_weights;  ///< (Nq) √w_i
  std::vector<double> nodes;         ///< (Nq) x_i
};

/// J (∇r)(∇r)ᵀ at every GLL point: the symmetric factor of the stiffness matrix (Deville, Fischer
/// and Mund 2002, section 4.4) without its quadrature weight w = w_i w_j w_k.
///
/// The geometry of the mesh decides what is stored:
/// - stored: the six numbers of a StoredFactor per point; coordinates are interpolated by the
///   element's own GLL basis.
/// - trilinear: the coefficients of the trilinear map, from which a kernel computes a
///   SymmetricFactor.
/// - affine: one StoredFactor per element, because all points of a parallelepiped have the same.
///
/// The mass factor w J is not stored, because J is the determinant of the factor.
struct GeometricFactors {
  /// Computes the factors of this rank's elements. Not collective.
  explicit GeometricFactors(const AssembledSpace& space);

  Geometry geometry;
  /// In device memory. A group has ElementLayout::group_size() elements. The shape is
  /// - stored: (group, ElementLayout::factor_item(), element); zero for empty elements,
  /// - trilinear: (group, term, direction, element), see TrilinearMap; a cube for empty elements,
  /// - affine: (group, entry, element); zero for empty elements.
  DeviceVector<double> factors;
  /// (Nq, Nq) row-major, D(i, j) = l_j'(x_i).
  DeviceVector<double> derivative;
  /// (Nq) GLL weights w_i.
  DeviceVector<double> weights;
  /// For the element kernel, which works with nodal values times √w; and its three arrays in device
  /// memory.
  ScaledBasis scaled_basis;
  DeviceVector<double> scaled_derivative, root_weights, nodes;

  /// The λ that the element kernel takes for an operator with `lambda`: see SingleFactors.
  double kernel_lambda(double lambda) const { return lambda; }

  /// Number of values of `factors` per element.
  KOKKOS_FUNCTION static constexpr int values_per_element(Geometry geometry, int nq) {
    if (geometry == Geometry::trilinear) return 3 * TrilinearMap<double>::n_coefficients;
    return ElementLayout::n_factors * (geometry == Geometry::affine ? 1 : nq * nq * nq);
  }
  /// Of factors of the type T.
  template <class T = double>
  static double estimated_bytes(const BoxMesh& mesh, Geometry geometry) {
    const int group = ElementLayout::group_size(mesh.nq());
    return std::ceil(static_cast<double>(mesh.box().volume()) / group) * group * sizeof(T) *
           values_per_element(geometry, mesh.nq());
  }
  static double estimated_bytes(const BoxMesh& mesh) {
    return estimated_bytes(mesh, mesh.spec().geometry);
  }
};

/// `scale` times the factors of a rank in single precision, for an operator on floats. Whatever the
/// geometry of their source, they are affine if all elements of the mesh are bricks, and stored per
/// point otherwise.
///
/// The mass factor follows from the determinant, which `scale` multiplies by its cube. For `scale`
/// times stiffness + λ mass, the kernel therefore takes λ / scale²; see kernel_lambda().
struct SingleFactors {
  /// Choose `scale` so that the scaled factors and their determinants are well inside the range of
  /// a float. Not collective.
  SingleFactors(const GeometricFactors& from, const AssembledSpace& space, double scale);

  /// The λ of the kernel. Throws InternalError if it is beyond the range of a float.
  float kernel_lambda(double lambda) const;

  /// The geometry on a mesh.
  static Geometry geometry_on(const MeshSpec& mesh) {
    return mesh.deformation == Deformation::none ? Geometry::affine : Geometry::stored;
  }
  static double estimated_bytes(const BoxMesh& mesh) {
    return GeometricFactors::estimated_bytes<float>(mesh, geometry_on(mesh.spec()));
  }

  double scale;
  Geometry geometry;
  /// As in GeometricFactors.
  DeviceVector<float> factors;
  ScaledBasis scaled_basis;
  DeviceVector<float> scaled_derivative, root_weights, nodes;
};

/// The factors of an operator on values of type `T`.
template <class T>
using FactorsOf = std::conditional_t<std::is_same_v<T, double>, GeometricFactors, SingleFactors>;

/// Whether the Jacobian is zero or negative at a GLL point of one of this rank's elements, i.e. the
/// deformation turns the element inside out. Stores nothing, so callers can check before a run
/// allocates memory. Not collective.
bool has_inverted_elements(const BoxMesh& mesh);

/// Reads factors one point at a time, in kernels whose speed does not matter.
struct FactorReader {
  FactorReader(const GeometricFactors& from, const ElementLayout& layout)
      : nq(layout.nq),
        geometry(from.geometry),
        factors(from.factors),
        derivative(from.derivative),
        weights(from.weights),
        nodes(from.nodes) {}

  /// Entry c (0 to 5: rr, rs, rt, ss, st, tt) of the stiffness factor G = w J (∇r)(∇r)ᵀ.
  KOKKOS_FUNCTION double factor(LocalIndex position, int c, int i, int j, int k) const {
    return with_factor(position, i, j, k, [&](const auto& stored) {
      const SymmetricFactor<double> g = multiplied_out(stored);
      const double entries[] = {g.rr, g.rs, g.rt, g.ss, g.st, g.tt};
      return weight(i, j, k) * entries[c];
    });
  }
  /// The factor without its weight, as GeometricFactors stores it.
  KOKKOS_FUNCTION StoredFactor<double> stored_factor(LocalIndex position, int i, int j,
                                                     int k) const {
    return with_factor<StoredFactor<double>>(
        position, i, j, k, [](const auto& g) { return as_stored(g, g.determinant()); });
  }
  /// The mass factor w J.
  KOKKOS_FUNCTION double mass(LocalIndex position, int i, int j, int k) const {
    return with_factor(position, i, j, k,
                       [&](const auto& stored) { return weight(i, j, k) * stored.determinant(); });
  }

  int nq;
  Geometry geometry;
  ConstDeviceVector<double> factors, derivative, weights, nodes;

 private:
  KOKKOS_FUNCTION double weight(int i, int j, int k) const {
    return weights(i) * weights(j) * weights(k);
  }
  /// Calls use() with the factor at a point, without its weight, in the form of the geometry.
  template <class Result = double, class Use>
  KOKKOS_FUNCTION Result with_factor(LocalIndex position, int i, int j, int k,
                                     const Use& use) const {
    if (geometry != Geometry::trilinear) {
      const bool stored = geometry == Geometry::stored;
      const auto entry = [&](int c) {
        return value(position,
                     stored ? ElementLayout::factor_item(nq, (k * nq + j) * nq + i, c) : c);
      };
      return use(StoredFactor<double>{entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)});
    }
    TrilinearMap<double> map;
    for (int term = 0; term < map.n_coefficients; ++term)
      for (int d = 0; d < 3; ++d) map.coefficients[term][d] = value(position, 3 * term + d);
    return use(map.factor(nodes(i), nodes(j), nodes(k)));
  }
  KOKKOS_FUNCTION double value(LocalIndex position, int item) const {
    return factors(ElementLayout::geometry_offset(
        nq, position, item, GeometricFactors::values_per_element(geometry, nq)));
  }
};

/// Coordinates of element nodes in kernels; elements are given by their indices in the whole mesh.
struct MeshCoordinates {
  explicit MeshCoordinates(const BoxMesh& mesh)
      : mapping(mesh.mapping()),
        straight(mesh.spec().geometry != Geometry::stored),
        nodes(to_device("nekbone_k: GLL nodes", mesh.basis().nodes)) {
    for (int d = 0; d < 3; ++d) count[d] = mesh.spec().elements[d];
  }

  KOKKOS_FUNCTION Point operator()(int ex, int ey, int ez, int i, int j, int k) const {
    const double a = (nodes(i) + 1) / 2, b = (nodes(j) + 1) / 2, c = (nodes(k) + 1) / 2;
    if (!straight) return mapped(ex, ey, ez, a, b, c);
    Point sum;
    for (int corner = 0; corner < 8; ++corner) {
      const int at_a = corner % 2, at_b = corner / 2 % 2, at_c = corner / 4;
      const Point p = mapped(ex, ey, ez, at_a, at_b, at_c);
      const double share = (at_a ? a : 1 - a) * (at_b ? b : 1 - b) * (at_c ? c : 1 - c);
      sum.x += share * p.x;
      sum.y += share * p.y;
      sum.z += share * p.z;
    }
    return sum;
  }
  /// The point at fractions a, b, c in [0, 1] of an element, mapped by the deformation.
  KOKKOS_FUNCTION Point mapped(int ex, int ey, int ez, double a, double b, double c) const {
    return mapping((ex + a) / count[0], (ey + b) / count[1], (ez + c) / count[2]);
  }

  BoxMapping mapping;
  bool straight;  ///< straight edges, by the mesh's geometry
  ConstDeviceVector<double> nodes;
  int count[3] = {1, 1, 1};
};

/// Coordinates of element nodes in kernels; elements are given by their position in the processing
/// order.
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
