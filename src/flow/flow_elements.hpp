// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// First-order operators of the flow on the elements of a rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "flow/metric_terms.hpp"
#include "flow/velocity.hpp"
#include "mesh/gauss.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// Gauss points for over-integration, and the interpolation to them.
struct GaussPoints {
  /// ⌈3 (N + 1) / 2⌉ points, which integrate the advection of affine elements exactly: its degree
  /// is 3N, and M points are exact to degree 2M - 1.
  static constexpr int points_for(int nq) { return (3 * nq + 1) / 2; }

  explicit GaussPoints(const GllBasis& basis);

  GaussRule rule;
  std::vector<double> interpolation;  ///< (M, Nq) row-major, from GLL to Gauss points
};

/// (columns, rows) row-major from (rows, columns).
std::vector<double> transpose(const std::vector<double>& a, int rows, int columns);

/// By block: the integral of |ω|², the largest |∇·u|, and the largest speed in units of nodes per
/// time.
using FlowBlockSums = Kokkos::View<double* [3], Kokkos::LayoutRight, DeviceMemory>;

/// Operands of an element kernel: which it uses depends on the kernel.
struct FlowElementArguments {
  const AssembledSpace* space = nullptr;
  const MetricTerms *metric = nullptr, *gauss_metric = nullptr;
  const GaussPoints* gauss = nullptr;
  double nu = 0;
  const double *u[n_components] = {}, *other[n_components] = {};
  double *out[n_components] = {}, *surface[n_components] = {};
  FlowBlockSums sums;
};

/// The element kernels.
enum class FlowKernel { advection, nodal_advection, curl, pressure_source, gradient, sums };

/// Runs a kernel compiled for one order, on all blocks, in the default stream.
template <int order>
void run_flow_kernel(FlowKernel which, const FlowElementArguments& arguments);

/// Whether the build has the flow's kernels for `order`.
bool has_flow_kernels(int order);

/// Integrals and maxima over the domain.
struct FlowSums {
  double energy = 0;                   ///< mean of u·u / 2
  double enstrophy = 0;                ///< mean of ω·ω / 2
  double divergence = 0;               ///< largest |∇·u| at a node
  double speed = 0;                    ///< CFL number per unit of time
  double momentum[n_components] = {};  ///< mean of u
};

/// Weak first derivatives of assembled fields on GLL nodes (Deville, Fischer and Mund 2002), by
/// element kernels, then summed over elements and ranks. Vector results take one message with three
/// components per neighbour. Fully periodic meshes.
class FlowElements {
 public:
  /// Without `dealiasing`, advection is integrated on the GLL points. Keeps a reference to `space`.
  /// Collective. Throws InputError on every rank if the order has no kernel, or if a field is too
  /// large to index.
  FlowElements(const Communicator& comm, AssembledSpace& space, const GeometricFactors& factors,
               bool dealiasing);

  /// out = Qᵀ (v, (u·∇)u). Collective, as the others are.
  void advection(const VectorField& u, const VectorField& out);
  /// out = Qᵀ (v, ∇×u).
  void curl(const VectorField& u, const VectorField& out);
  /// out = ∇×u at the nodes, averaged by mass where elements meet.
  void vorticity(const VectorField& u, const VectorField& out);
  /// out = Qᵀ (∇q, f - ν ∇×vorticity).
  void pressure_source(const VectorField& f, const VectorField& vorticity, double nu,
                       const DeviceVector<double>& out);
  /// out = Qᵀ (v, ∇p).
  void gradient(const DeviceVector<double>& p, const VectorField& out);
  /// See FlowSums.
  FlowSums sums(const VectorField& u);

  /// The assembled mass matrix, which is diagonal, and its inverse; padding has zeros.
  const DeviceVector<double>& mass() const { return m_mass; }
  const DeviceVector<double>& inverse_mass() const { return m_inverse_mass; }
  /// The volume of the domain.
  double volume() const { return m_volume; }
  AssembledSpace& space() const { return m_space; }

  /// Minimum traffic of advection(), curl(), pressure_source() or gradient() on this rank, in
  /// bytes.
  double least_bytes(FlowKernel which) const;

  static double estimated_bytes(const BoxMesh& mesh, bool dealiasing);

 private:
  void run(FlowKernel which, FlowElementArguments arguments) const;
  FlowElementArguments arguments() const;
  void sum_shares(const VectorField& out);

  const Communicator& m_comm;
  AssembledSpace& m_space;
  MetricTerms m_metric;
  std::optional<GaussPoints> m_gauss;
  std::optional<MetricTerms> m_gauss_metric;
  DeviceField<double> m_surface;  ///< results on element surfaces, shape (surface point, component)
  FlowBlockSums m_sums;
  DeviceVector<double> m_mass, m_inverse_mass;
  double m_volume = 0;
};

}  // namespace nekbone_k
