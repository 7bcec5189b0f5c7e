// SPDX-License-Identifier: BSD-3-Clause
// Assembled vectors of floats or doubles by global id.
#pragma once

#include <cmath>
#include <type_traits>

#include "support/reference_operator.hpp"

namespace nekbone_k {

template <class T>
DeviceVector<T> to_assembled_of(const AssembledSpace& space, const ReferenceMesh& mesh,
                                const ById& values) {
  DeviceVector<double> doubles = to_assembled(space, mesh, values);
  if constexpr (std::is_same_v<T, double>) {
    return doubles;
  } else {
    const auto vector = space.template make_vector<T>("assembled");
    Kokkos::deep_copy(vector, doubles);
    return vector;
  }
}

// As to_ids(). Collective.
template <class T>
ById to_ids_of(const Communicator& comm, const AssembledSpace& space, const ReferenceMesh& mesh,
               const DeviceVector<T>& vector) {
  const auto doubles = space.make_vector("doubles");
  Kokkos::deep_copy(doubles, vector);
  return to_ids(comm, space, mesh, doubles);
}

// A vector whose DOFs are NaN and whose padding is zero, for results that must be overwritten.
template <class T>
DeviceVector<T> nan_vector(const AssembledSpace& space, const ReferenceMesh& mesh) {
  return to_assembled_of<T>(space, mesh, ById(mesh.n_points(), std::nan("")));
}

}  // namespace nekbone_k
