/// @file
/// The element operator: stiffness plus λ mass, applied without a matrix.
#pragma once

#include "operators/assembled_space.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// What an application of the element operator reads and writes, in device memory.
struct AxhelmArguments {
  ElementLayout layout;
  LocalIndex first_block = 0, last_block = 0;  ///< blocks [first, last) are worked on
  LocalIndex interior_begin = 0;               ///< of the assembled vectors
  double lambda = 0;
  ConstDeviceVector<LocalIndex> surface_entries;
  ConstDeviceVector<double> factors, derivative, inverse_weight_squared;
  ConstDeviceVector<double> u;       ///< assembled, gathered by the kernel
  DeviceVector<double> au_interior;  ///< assembled: interior DOFs are written, no others
  DeviceVector<double> au_surface;   ///< (block, surface point, lane), to be summed into rows
};

/// Au of the blocks, element by element, and their part of u·Au (so that the sum over all ranks'
/// elements is uᵀ A u). On each element
///
///     Au = Σ_ab D_aᵀ G_ab D_b u + λ w J u,   a, b ∈ {r, s, t}
///
/// with the tensor-product derivatives D_r = I⊗I⊗D and so on (Deville, Fischer and Mund 2002).
/// 12 Nq + 15 operations a point by Nekbone's count; 64 bytes a point at least: u, six factors, Au.
/// Returns when the sum is known on the host. Not collective.
double axhelm(const AxhelmArguments& arguments);

/// Whether `order` has a kernel compiled for it; others run the same body with a run-time order.
bool is_compiled_order(int order);

/// The kernel compiled for one order; instantiated once for each order of the build.
template <int order>
double axhelm_compiled(const AxhelmArguments& arguments);

}  // namespace nekbone_k
