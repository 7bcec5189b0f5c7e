// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The matrix-free element operator: stiffness plus λ mass.
#pragma once

#include "operators/assembled_space.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// Destination of Au on the surfaces of elements.
enum class SurfaceResults {
  stored,  ///< written to au_surface; rows are then summed in a fixed order
  added    ///< added to the rows of au: with many threads in an order that may vary
};

/// Inputs and outputs of the element operator, in device memory, for vectors of `T`: double or
/// float. The body of the kernel is the same for both.
template <class T>
struct AxhelmArgumentsOf {
  ElementLayout layout;
  LocalIndex first_block = 0, last_block = 0;  ///< range [first, last) of blocks to process
  LocalIndex interior_begin = 0;               ///< first interior entry of the assembled vectors
  T lambda = 0;
  IndexLists::Reader surface_entries;
  const ScaledBasis* scaled_basis = nullptr;  ///< in host memory
  Geometry geometry = Geometry::stored;       ///< contents of `factors`: see GeometricFactors
  ConstDeviceVector<T> factors, scaled_derivative, root_weights, nodes;
  ConstDeviceVector<T> u;  ///< assembled, gathered by the kernel
  /// Assembled. Interior DOFs are written. If surface results are added, the caller has cleared the
  /// rows.
  DeviceVector<T> au;
  SurfaceResults surface_results = SurfaceResults::stored;
  LocalIndex n_rows = 0;       ///< rows of au that results are added to
  DeviceVector<T> au_surface;  ///< (block, surface point, lane), if results are stored
  /// (n_partial_dots(layout)) parts of uᵀ A u. The range of blocks that begins at 0 and the range
  /// from its end to the last block, which may be empty, write separate entries, so that both
  /// together give the whole. If the division between the ranges moves, clear all entries first. On
  /// a CPU every block has an entry, and operators on floats may write none.
  DeviceVector<double> partial_dots;
};
using AxhelmArguments = AxhelmArgumentsOf<double>;

/// Length of partial_dots. Some entries may stay unwritten, so the array must initially be zero.
LocalIndex n_partial_dots(const ElementLayout& layout);

/// Computes Au of a range of blocks, element by element, and its parts of u·Au, whose sum over the
/// elements of all ranks is uᵀ A u. On each element
///
///     Au = Σ_ab D_aᵀ G_ab D_b u + λ w J u,   a, b ∈ {r, s, t}
///
/// with the tensor-product derivatives D_r = I⊗I⊗D and so on (Deville, Fischer and Mund 2002). The
/// kernels work with û = √w u, which takes the weights out of the factors. By summation by parts,
/// D̂ = √W D √W⁻¹ satisfies D̂ᵀ = -D̂ except at the ends of the diagonal, so one matrix serves for
/// both.
///
/// Cost: 12 Nq + 15 operations per point by Nekbone's count. Traffic: 64 bytes per point if each
/// reads u and six factors and writes Au; 16 bytes if the factors are computed from values per
/// element.
///
/// Runs in the kernel order of `stream` and returns before the kernel ends. Throws InternalError if
/// results are to be added at an order that cannot add them, or if floats have
/// Geometry::trilinear: the build has no such kernel. Not collective.
template <class T>
void axhelm(const AxhelmArgumentsOf<T>& arguments, const ExecutionSpace& stream = {});

/// Whether the build has a kernel compiled for `order`. Other orders run a slower kernel.
bool is_compiled_order(int order);

/// Whether axhelm() can add its surface results at an order. It can if adding is faster
/// (AxhelmShape); on a CPU only if the rank has one thread.
bool can_add_surface_results(int order);

/// axhelm() by the kernel for a run-time order, whether or not the order is compiled. It stores its
/// surface results and writes one entry of partial_dots per block.
template <class T>
void axhelm_run_time(const AxhelmArgumentsOf<T>& arguments, const ExecutionSpace& stream = {});

/// The kernel compiled for one order and geometry (axhelm_kernel.hpp), instantiated for each order
/// of the build.
template <int order, Geometry geometry, class T>
void axhelm_compiled(const AxhelmArgumentsOf<T>& arguments, const ExecutionSpace& stream);

}  // namespace nekbone_k
