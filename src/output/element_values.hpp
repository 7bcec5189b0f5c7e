// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Assembled vectors as values at the nodes of elements, in an order that ranks do not change.
#pragma once

#include "operators/assembled_space.hpp"
#include "output/hdf5_file.hpp"

namespace nekbone_k {

struct GeometricFactors;

/// The shape of fields in a file, with `nodes` nodes per direction of an element, and this rank's
/// part. Not collective.
Hdf5File::Shape shape_in_file(const BoxMesh& mesh, int components, int nodes);

/// Moves assembled vectors to and from host memory.
///
/// The values of a rank have the shape (z, y, x, k, j, i): an element of the rank's box, the first
/// direction last, and a node of it. Elements have copies of the nodes that they share.
class ElementValues {
 public:
  /// Keeps a reference. Not collective, as no member is.
  explicit ElementValues(const AssembledSpace& space);

  std::size_t size() const { return m_host.size(); }
  /// The values of an assembled vector, in host memory; valid until the next call.
  const double* from(const DeviceVector<double>& vector);
  /// Where to put values, in host memory, before put_into().
  double* values() { return m_host.data(); }
  /// Sets an assembled vector from values(), which must be equal where elements meet. Leaves
  /// padding as it is.
  void put_into(const DeviceVector<double>& vector);
  /// vector = Qᵀ M values(), over all ranks, with the mass M of each node of an element. Needs no
  /// equal values where elements meet. `space` is that of the constructor. Collective.
  void assemble_by_mass(AssembledSpace& space, const GeometricFactors& factors,
                        const DeviceVector<double>& vector);

  static double estimated_bytes(const BoxMesh& mesh) {
    return 2 * sizeof(double) * static_cast<double>(mesh.box().volume()) * mesh.nq() * mesh.nq() *
           mesh.nq();
  }

 private:
  const AssembledSpace& m_space;
  DeviceVector<double> m_device;
  Kokkos::View<double*, Kokkos::HostSpace> m_host;
};

/// Whether `count` values in host memory are finite on every rank. Collective.
bool are_finite(const Communicator& comm, const double* values, std::size_t count);

}  // namespace nekbone_k
