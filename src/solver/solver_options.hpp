// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Options of CG.
#pragma once

#include <array>
#include <string>

namespace nekbone_k {

enum class Preconditioner { none, jacobi, multigrid };

/// Implementation of CG's vector operations: this project's fused kernels, or Kokkos Kernels.
enum class VectorOps { fused, kokkos_kernels };

/// How CG forms its scalars and vectors. All give the same iterates up to rounding.
enum class CgVariant {
  classic,           ///< Hestenes and Stiefel 1952: two all-reduces per iteration
  single_reduction,  ///< Chronopoulos and Gear 1989: one all-reduce, one vector more
  pipelined  ///< Ghysels and Vanroose 2014: one all-reduce that overlaps with Ax, three vectors
             ///< more
};
inline constexpr std::array all_cg_variants{CgVariant::classic, CgVariant::single_reduction,
                                            CgVariant::pipelined};

/// How the kernels of CG are launched.
enum class CgLaunch {
  host,       ///< the host waits for every scalar, and launches kernels with it
  plain,      ///< the host launches ahead; scalars stay on the device
  graph,      ///< the host launches a graph of iterations; see KernelGraph
  persistent  ///< one kernel does many iterations; see PersistentCg
};
inline constexpr std::array all_cg_launches{CgLaunch::host, CgLaunch::plain, CgLaunch::graph,
                                            CgLaunch::persistent};

/// Iterations of a graph, and on a GPU between two reads of the state by the host.
inline constexpr int graph_iterations = 20;
/// Iterations after which variants with one all-reduce compute the residual anew.
inline constexpr int replaced_after = 100;
static_assert(replaced_after % graph_iterations == 0);
/// Iterations of a persistent kernel, which begins and ends by copying vectors.
inline constexpr int persistent_iterations = replaced_after;

/// Whether only a GPU can launch so.
inline bool needs_gpu(CgLaunch launch) {
  return launch == CgLaunch::graph || launch == CgLaunch::persistent;
}

/// A variant and its launch.
struct CgMethod {
  CgVariant variant = CgVariant::classic;
  CgLaunch launch = CgLaunch::host;

  friend bool operator==(const CgMethod&, const CgMethod&) = default;
};

/// What the input asks for: one variant or launch, or the fastest.
enum class CgVariantChoice { automatic, classic, single_reduction, pipelined };
enum class CgLaunchChoice { automatic, host, plain, graph, persistent };

/// The name in the input and the report.
inline const char* name(Preconditioner preconditioner) {
  switch (preconditioner) {
    case Preconditioner::none:
      return "none";
    case Preconditioner::jacobi:
      return "jacobi";
    default:
      return "multigrid";
  }
}

inline const char* name(CgVariant variant) {
  switch (variant) {
    case CgVariant::classic:
      return "classic";
    case CgVariant::single_reduction:
      return "single-reduction";
    default:
      return "pipelined";
  }
}

inline const char* name(CgLaunch launch) {
  switch (launch) {
    case CgLaunch::host:
      return "host";
    case CgLaunch::plain:
      return "plain";
    case CgLaunch::graph:
      return "graph";
    default:
      return "persistent";
  }
}

inline const char* name(CgVariantChoice choice) {
  return choice == CgVariantChoice::automatic ? "auto"
                                              : name(all_cg_variants[static_cast<int>(choice) - 1]);
}

inline const char* name(CgLaunchChoice choice) {
  return choice == CgLaunchChoice::automatic ? "auto"
                                             : name(all_cg_launches[static_cast<int>(choice) - 1]);
}

/// Whether a choice is one that only a GPU can launch.
inline bool needs_gpu(CgLaunchChoice choice) {
  return choice != CgLaunchChoice::automatic &&
         needs_gpu(all_cg_launches[static_cast<int>(choice) - 1]);
}

/// Whether a choice has room for a variant or a launch.
inline bool allows(CgVariantChoice choice, CgVariant variant) {
  return choice == CgVariantChoice::automatic ||
         all_cg_variants[static_cast<int>(choice) - 1] == variant;
}
inline bool allows(CgLaunchChoice choice, CgLaunch launch) {
  return choice == CgLaunchChoice::automatic ||
         all_cg_launches[static_cast<int>(choice) - 1] == launch;
}

inline std::string name(const CgMethod& method) {
  return std::string(name(method.variant)) + ", " + name(method.launch);
}

inline const char* name(VectorOps vector_ops) {
  return vector_ops == VectorOps::kokkos_kernels ? "kokkos-kernels" : "fused";
}

}  // namespace nekbone_k
