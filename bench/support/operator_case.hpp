// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Meshes and operators for the benchmarks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operators/elliptic_operator.hpp"
#include "support/bench.hpp"

namespace nekbone_k {

/// A deformed Dirichlet box. Every rank has nearly a cube of elements, at least one, with about
/// `points` local points at `order`.
MeshSpec mesh_of_size(int ranks, int order, std::int64_t points);

/// The sizes of the options, in local points per rank: larger than caches, and smaller.
std::vector<std::int64_t> point_counts(const BenchOptions& options);

/// "/order:7/points:2097152", with the mean number of local points per rank of the mesh.
std::string size_suffix(const MeshSpec& mesh, int order, int ranks);

/// An operator and a right-hand side without pattern: that of the problem `nekbone`. Collective.
struct OperatorCase {
  OperatorCase(const Bench& bench, const MeshSpec& spec, int order);

  BoxMesh mesh;
  AssembledSpace space;
  GeometricFactors geometry;
  EllipticOperator a;
  DeviceVector<double> b;

  /// Arguments of the element kernel for this rank's elements, with b as u.
  AxhelmArguments all_elements(const DeviceVector<double>& au,
                               SurfaceResults surface_results) const;

  /// Local points of all ranks.
  double total_points() const {
    return static_cast<double>(mesh.spec().total_elements()) * space.layout().points();
  }
  double total_dofs() const { return static_cast<double>(mesh.total_dofs()); }
};

/// Keeps the last case, because benchmarks of the same case follow each other and making a case
/// takes longer than timing it.
template <class Case>
class LastCase {
 public:
  /// The case of `key`. Calls `make` unless it is the last case.
  template <class Make>
  Case& get(const std::string& key, const Make& make) {
    if (m_case == nullptr || m_key != key) {
      m_case.reset();  // first, so that two cases never need memory at once
      m_case = make();
      m_key = key;
    }
    return *m_case;
  }

 private:
  std::string m_key;
  std::unique_ptr<Case> m_case;
};

}  // namespace nekbone_k
