/// @file
/// The element operator: stiffness plus λ mass, applied without a matrix.
#pragma once

#include "operators/assembled_space.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// What becomes of Au on the surfaces of elements.
enum class SurfaceResults {
  stored,  ///< written to au_surface, of which rows are summed in a fixed order
  added    ///< added to the rows of au: by many threads in an order that is not always the same
};

/// What an application of the element operator reads and writes, in device memory.
struct AxhelmArguments {
  ElementLayout layout;
  LocalIndex first_block = 0, last_block = 0;  ///< blocks [first, last) are worked on
  LocalIndex interior_begin = 0;               ///< of the assembled vectors
  double lambda = 0;
  IndexLists::Reader surface_entries;
  const ScaledBasis* scaled_basis = nullptr;  ///< in host memory
  Geometry geometry = Geometry::stored;       ///< what `factors` holds: see GeometricFactors
  ConstDeviceVector<double> factors, scaled_derivative, root_weights, nodes;
  ConstDeviceVector<double> u;  ///< assembled, gathered by the kernel
  /// Assembled: interior DOFs are written. Where results are added, the caller has cleared the
  /// rows.
  DeviceVector<double> au;
  SurfaceResults surface_results = SurfaceResults::stored;
  LocalIndex n_rows = 0;            ///< of au, to be added to
  DeviceVector<double> au_surface;  ///< (block, surface point, lane), where results are stored
  /// (n_partial_dots(layout)) uᵀ A u in parts. A range that begins at 0 and the one from its end to
  /// the last block, which may be empty, have entries of their own, so that the two together give
  /// the whole; where the next two meet elsewhere, all are to be cleared before. On a CPU every
  /// block has one.
  DeviceVector<double> partial_dots;
};

/// Entries that partial_dots needs. Not all need be written: they are zeros to begin with.
LocalIndex n_partial_dots(const ElementLayout& layout);

/// Au of the blocks, element by element, and their parts of u·Au (so that the sum over all ranks'
/// elements is uᵀ A u). On each element
///
///     Au = Σ_ab D_aᵀ G_ab D_b u + λ w J u,   a, b ∈ {r, s, t}
///
/// with the tensor-product derivatives D_r = I⊗I⊗D and so on (Deville, Fischer and Mund 2002). The
/// kernels work with û = √w u: that takes the weights out of the factors and, as D̂ = √W D √W⁻¹
/// makes D̂ᵀ = -D̂ but for the ends of the diagonal (summation by parts), takes one matrix for both.
/// 12 Nq + 15 operations a point by Nekbone's count; 64 bytes a point, if each reads u and six
/// factors and writes Au; 16 where the factors are computed from what is kept of an element.
/// Runs in the order of the kernels of `stream`, and returns before it ends. Throws if results are
/// to be added at an order where they cannot be. Not collective.
void axhelm(const AxhelmArguments& arguments, const ExecutionSpace& stream = {});

/// Whether `order` has a kernel compiled for it; others run a slower one.
bool is_compiled_order(int order);

/// Whether axhelm() can add its results on surfaces at an order: where that is faster
/// (AxhelmShape), and on a CPU only if the rank has one thread.
bool can_add_surface_results(int order);

/// axhelm() by the kernel whose order is a run-time value, whatever orders are compiled. It stores
/// its results on surfaces, and writes an entry of partial_dots for every block.
void axhelm_run_time(const AxhelmArguments& arguments, const ExecutionSpace& stream = {});

/// The kernel compiled for one order and geometry (axhelm_kernel.hpp), instantiated once for each
/// of the build.
template <int order, Geometry geometry>
void axhelm_compiled(const AxhelmArguments& arguments, const ExecutionSpace& stream);

}  // namespace nekbone_k
