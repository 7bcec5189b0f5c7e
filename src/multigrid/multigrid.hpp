// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The V-cycle.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/kernel_graph.hpp"
#include "multigrid/cycle_level.hpp"

namespace nekbone_k {

/// M ≈ A⁻¹: one V-cycle with the same number of smoothing steps before and after coarser levels, so
/// M is symmetric. With T = float, all levels are in single precision. Operators and vectors are
/// scaled to about 1 before they are converted, so lengths of any size fit. The operators of
/// coarser levels are rediscretised (Lottes and Fischer, J. Sci. Comput. 24, 2005).
template <class T>
class Multigrid {
 public:
  using Level = CycleLevel<T>;

  /// Sets up all levels below `finest`, whose operator has λ = `lambda`. Keeps references.
  /// Collective, and so is destruction. Throws InternalError if the coarsest operator is not
  /// positive definite, and on every rank InputError if it has more than most_direct_dofs, or
  /// BeyondSingle.
  Multigrid(const Communicator& comm, AssembledSpace& finest, const GeometricFactors& factors,
            double lambda, const MultigridOptions& options);

  /// z = M r. `norm` is ‖r‖. Assembled vectors in device memory. Collective.
  void apply(const DeviceVector<double>& r, const DeviceVector<double>& z, double norm);

  /// Changes the polynomial of the smoothers of all levels. Not collective.
  void set_polynomial(ChebyshevKind kind, int degree);

  /// One V-cycle from a level down: its v.x from its v.b. For the number of levels(), the
  /// replicated levels alone; after that, from further ones of them. On a GPU whose exchanges need
  /// no host, the second call records the kernels, and later ones replay them, until another
  /// strategy is selected. Collective.
  void cycle(std::size_t level);
  /// Whether later cycles may record and replay kernels. Not collective.
  void set_recording(bool records) { m_records = records; }
  /// Whether the last cycle() from `level` replayed recorded kernels. Not collective.
  bool is_recorded(std::size_t level = 0) const;

  /// Throws InternalError if a message of a level did not come; see Exchange::check(). Not
  /// collective.
  void check() const;

  /// The levels that ranks divide; the first one even if there is one rank.
  std::vector<Level>& levels() { return m_levels; }
  const std::vector<Level>& levels() const { return m_levels; }
  /// The V-cycle of this rank alone on the replicated levels; null if there is only the coarsest.
  const Multigrid* replicated() const { return m_replicated; }
  /// The level that is solved directly.
  const LevelPlan& coarsest() const { return m_coarsest; }

  /// Minimum traffic of one V-cycle on this rank, in bytes: operators and vectors of all levels but
  /// the last, without transfers. Not collective.
  double least_bytes() const;
  /// Memory of all levels on a rank, in bytes, an upper bound. Not collective.
  static double estimated_bytes(const BoxMesh& finest, const MultigridOptions& options);

 private:
  /// What recorded kernels depend on.
  struct Recorded {
    int n_selections = 0;
    const T *b = nullptr, *x = nullptr;  // of the finest level
    bool operator==(const Recorded&) const = default;
  };
  struct Recording {
    Recorded of;
    bool is_possible = true;
    // The first ends before the sum of the CoarseSolver if that needs the host.
    std::optional<KernelGraph> first, rest;
  };

  class ReplicatedCycle;
  void make_levels(AssembledSpace& finest, const GeometricFactors& factors, double lambda,
                   const MultigridOptions& options, const std::vector<LevelPlan>& plans);
  /// Makes the step to the replicated levels, whose plans are those from `first` on.
  void make_coarse_solver(double lambda, const MultigridOptions& options,
                          const std::vector<LevelPlan>& plans, std::size_t first);
  /// cycle() without a graph of all kernels; coarser levels may have one.
  void launch(std::size_t level);
  /// cycle() without recorded kernels.
  void run(std::size_t level);
  /// A level's part of a cycle, before and after the coarser levels that ranks divide.
  void go_down(std::size_t level);
  void go_up(std::size_t level);
  /// The parts of cycle() before and after the sum of the CoarseSolver.
  void descend(std::size_t level);
  void ascend(std::size_t level);
  const CoarseSolver<T>& coarse_solver() const { return *m_levels.back().coarse_solver; }
  /// cycle() by recorded kernels. Returns false and does nothing if there are none. Collective.
  bool replay(std::size_t level);
  void record(Recording& recording, std::size_t level);
  Recorded current() const;

  const Communicator& m_comm;
  std::vector<Level> m_levels;
  LevelPlan m_coarsest;
  std::vector<const GatherScatter*> m_all_gs;  // of all levels
  Multigrid* m_replicated = nullptr;           ///< in the CoarseSolver
  std::size_t m_first_level;
  ChebyshevKind m_polynomial;
  bool m_records;
  // By level, and by kind and degree of the polynomial.
  std::map<std::tuple<std::size_t, ChebyshevKind, int>, Recording> m_recordings;
};

}  // namespace nekbone_k
