// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Vector fields with three components.
#pragma once

#include <string>
#include <utility>

#include "operators/assembled_space.hpp"

namespace nekbone_k {

/// The components of a vector field.
inline constexpr int n_components = 3;

/// An assembled vector field in device memory: its components follow each other, so that it is one
/// vector for vector operations and solvers.
struct VectorField {
  VectorField() = default;
  /// Zeros. Not collective.
  VectorField(const std::string& label, const AssembledSpace& space)
      : values(large_vector("nekbone_k: " + label, std::size_t(n_components) * space.size())) {}
  /// A vector of the same shape.
  explicit VectorField(DeviceVector<double> of) : values(std::move(of)) {}

  LocalIndex size() const { return static_cast<LocalIndex>(values.extent(0)) / n_components; }
  /// One component as an assembled vector.
  DeviceVector<double> component(int c) const {
    return Kokkos::subview(values, std::pair(c * size(), (c + 1) * size()));
  }
  /// All components, for the gather–scatter. It does not keep the memory alive.
  DeviceField<double> field() const {
    return DeviceField<double>(values.data(), size(), n_components);
  }

  DeviceVector<double> values;
};

/// The range of vector operations on all components.
inline VectorRange vector_range(const AssembledSpace& space) {
  return {n_components * space.size(), space.n_not_owned(), space.size()};
}

}  // namespace nekbone_k
