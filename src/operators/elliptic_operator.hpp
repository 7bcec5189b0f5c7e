/// @file
/// A = stiffness + λ mass on assembled vectors.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "core/event_log.hpp"
#include "core/streams.hpp"
#include "gs/rank_sum.hpp"
#include "gs/reproducible_sum.hpp"
#include "operators/assembled_space.hpp"
#include "operators/axhelm.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {

/// Something to be done to the entries [begin, end) of assembled vectors.
using EntryWork = std::function<void(LocalIndex begin, LocalIndex end)>;

/// A = Qᵀ (stiffness + λ mass) Q, with homogeneous Dirichlet points left out. Symmetric; positive
/// definite unless λ = 0 on a fully periodic box, where constants are its null space. On a
/// deterministic space neither Au nor uᵀ A u depends on the division of the elements among ranks;
/// on others it does. On a GPU that adds surface results (SurfaceResults::added) Au may differ in
/// its last bits from one time to the next, and on any uᵀ A u with and without overlap.
class EllipticOperator {
 public:
  /// Keeps references to both, which outlive it. Products are summed over the ranks by
  /// `all_reduce`. Collective, as is its end.
  EllipticOperator(AssembledSpace& space, const GeometricFactors& geometry, double lambda,
                   const AllReduceStrategy& all_reduce = all_reduce_strategies().front());

  AssembledSpace& space() const { return m_space; }
  double lambda() const { return m_lambda; }
  bool is_singular() const { return m_lambda == 0 && m_space.mesh().spec().fully_periodic(); }

  /// au = A u, exchanged by the strategy selected in the space's gather-scatter: with an overlapped
  /// one the interior elements are worked on while messages fly, with another all elements before.
  /// Returns uᵀ A u, the same on every rank; kernels may then still be running. Collective.
  ///
  /// `before`, where given, is done to every entry that is not padding once before it is read: it
  /// may make u. A CPU rank of one thread, where elements add to rows, takes some blocks of
  /// elements at a time, each after the entries that they are the first to read, so that these are
  /// then in its cache; else all entries come first.
  double apply(const DeviceVector<double>& u, const DeviceVector<double>& au,
               const EntryWork& before = {}, EventLog* log = nullptr) const;

  /// The two parts of apply() around the exchange: elements and rows that the exchange needs, and
  /// those that it does not. They return before their kernels end. The elements of the second,
  /// which run on the default instance, do not wait for the first. The first is to be called first,
  /// as it clears rows that elements of both add to; both do their parts of `before`. Collective,
  /// with u_dot_au().
  void apply_boundary(const DeviceVector<double>& u, const DeviceVector<double>& au,
                      const EntryWork& before = {}, const ExecutionSpace& stream = {}) const;
  void apply_interior(const DeviceVector<double>& u, const DeviceVector<double>& au,
                      const EntryWork& before = {}) const;
  /// uᵀ A u, to be asked for once after both. Waits for the elements, not for the rows. Collective.
  /// Not on a deterministic space, where only apply() has it.
  double u_dot_au() const { return m_u_dot_au->wait(); }

  /// The element kernel, rows cleared first where apply() does, on a portion in (0, 1] of the
  /// boundary blocks, which an overlapped exchange waits for, of the interior ones, which it can
  /// hide behind, and on both at once, which another waits for, for timing exchanges among them; au
  /// is left with no meaning. The first runs on `stream`, after what was launched on the default
  /// instance. Not collective.
  void apply_some_boundary(const DeviceVector<double>& u, const DeviceVector<double>& au,
                           double portion, const ExecutionSpace& stream = {}) const;
  void apply_some_interior(const DeviceVector<double>& u, const DeviceVector<double>& au,
                           double portion) const;
  void apply_some(const DeviceVector<double>& u, const DeviceVector<double>& au,
                  double portion) const;
  /// Begins the sum over the ranks that apply_interior() begins behind its elements, for timing it
  /// with the portions, of which it has the sum of all parts as they are; u_dot_au() is to be asked
  /// for once after each. The host waits for nothing. On a deterministic space there is none.
  /// Collective, with u_dot_au().
  void start_u_dot_au() const;

  /// What apply() hands the element kernel for blocks [first_block, last_block), for those who run
  /// the kernel alone. Not collective.
  AxhelmArguments element_arguments(const DeviceVector<double>& u, const DeviceVector<double>& au,
                                    LocalIndex first_block, LocalIndex last_block) const;

  /// Least bytes that one apply() on this rank reads and writes, each kernel's data once: the
  /// factors (48 a local point where they are stored); u; the results of elements, those on
  /// surfaces once more to form rows; the rows; and the lists of entries and of points. Where the
  /// element kernel adds to rows: these three times, to clear, read and write them.
  double least_bytes() const;

  /// The inverse of A's diagonal, zero in padding: the Jacobi preconditioner. Collective.
  DeviceVector<double> inverse_diagonal() const;

 private:
  /// Before and after the exchange: elements of blocks [0, last_block), those on the boundary among
  /// them, and those of the rest.
  void begin_apply(const DeviceVector<double>& u, const DeviceVector<double>& au,
                   LocalIndex last_block, const EntryWork& before,
                   const ExecutionSpace& stream) const;
  void end_apply(const DeviceVector<double>& u, const DeviceVector<double>& au,
                 LocalIndex first_block, const EntryWork& before) const;
  /// Of the boundary and of the interior such a portion, next to each other: the first block, the
  /// one between them, and the end.
  std::array<LocalIndex, 3> some_blocks(double portion) const;
  /// Clears such a portion of the rows, on the default instance, where all are cleared before the
  /// elements: interior ones come behind that there, boundary ones on another stream wait for it.
  void begin_some_rows(const DeviceVector<double>& au, double portion) const;
  /// Whether `before` is done to a part of the entries at a time.
  bool sweeps() const;
  void sweep(const DeviceVector<double>& u, const DeviceVector<double>& au, LocalIndex first_block,
             LocalIndex last_block, const EntryWork& before) const;
  void elements(const DeviceVector<double>& u, const DeviceVector<double>& au,
                LocalIndex first_block, LocalIndex last_block,
                const ExecutionSpace& stream = {}) const;

  AssembledSpace& m_space;
  const GeometricFactors& m_geometry;
  double m_lambda;
  DeviceVector<double> m_partial_dots;
  SurfaceResults m_surface_results;
  std::optional<RankSum<double>> m_u_dot_au;  // of elements: not the same for other ranks' elements
  std::optional<ReproducibleSums<1>> m_reproducible_dot;
  mutable LocalIndex m_divided_at = 0;  ///< the block where the elements of the last apply() were
  mutable StreamEvent m_boundary_applied;
};

}  // namespace nekbone_k
