// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The operator A = stiffness + λ mass on assembled vectors.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <type_traits>

#include "core/event_log.hpp"
#include "core/streams.hpp"
#include "operators/assembled_space.hpp"
#include "operators/axhelm/axhelm.hpp"
#include "operators/geometric_factors.hpp"
#include "reduce/rank_sum.hpp"
#include "reduce/reproducible_sum.hpp"

namespace nekbone_k {

/// Work on the entries [begin, end) of assembled vectors.
using EntryWork = std::function<void(LocalIndex begin, LocalIndex end)>;

/// A = Qᵀ (stiffness + λ mass) Q, without homogeneous Dirichlet points. Symmetric, and positive
/// definite unless λ = 0 on a fully periodic box, where constants are its null space.
///
/// On a deterministic space, Au and uᵀ A u do not depend on the division of the elements among
/// ranks; on other spaces they do. On a GPU that adds surface results (SurfaceResults::added), the
/// last bits of Au may differ from call to call. On any GPU, those of uᵀ A u may differ with and
/// without overlap.
///
/// `T`, double or float, is the type of the vectors. An operator on floats is SingleFactors::scale
/// times A, has Au alone, and no product uᵀ A u.
template <class T>
class EllipticOperatorOf {
  static constexpr bool has_products = std::is_same_v<T, double>;
  using Vector = DeviceVector<T>;

 public:
  /// Keeps references to `space` and `geometry`, which must outlive it. `all_reduce` is the
  /// strategy for the products. The constructor and the destructor are collective.
  EllipticOperatorOf(
      AssembledSpace& space, const FactorsOf<T>& geometry, double lambda,
      const AllReduceStrategy& all_reduce = all_reduce_strategies().front()) requires(has_products);
  /// For floats. Throws as set_lambda() does. Not collective, nor is the destructor.
  EllipticOperatorOf(AssembledSpace& space, const FactorsOf<T>& geometry,
                     double lambda) requires(!has_products);

  AssembledSpace& space() const { return m_space; }
  double lambda() const { return m_lambda; }
  /// Changes λ; an operator on floats scales it for its factors. Kernels that a graph has recorded
  /// keep the old one. Throws InternalError if the scaled λ is beyond the range of a float. Not
  /// collective.
  void set_lambda(double lambda);
  bool is_singular() const { return m_lambda == 0 && m_space.mesh().spec().fully_periodic(); }

  /// Computes au = A u with the exchange strategy selected in the space's gather–scatter, and
  /// returns uᵀ A u, the same on every rank. Kernels may still be running on return. Collective.
  ///
  /// An overlapped strategy processes the interior elements while messages are in flight; a plain
  /// strategy processes all elements first.
  ///
  /// `before`, if given, is called once for every entry that is not padding, before it is read; it
  /// may write u. If a CPU rank with one thread adds to rows, it processes a batch of blocks at a
  /// time. It calls `before` for the entries that a batch is the first to read, so they are then in
  /// its cache. Otherwise `before` covers all entries first.
  double apply(const Vector& u, const Vector& au, const EntryWork& before = {},
               EventLog* log = nullptr) const requires(has_products);

  /// apply() without uᵀ A u. Except on a deterministic space, its parts are in product_parts()
  /// afterwards. The caller has set the first n_cleared_rows() rows of `au` to zero, at the latest
  /// in `before`. Does not wait for the device if is_queued(). Collective.
  void apply_without_sum(const Vector& u, const Vector& au, const EntryWork& before = {}) const;
  LocalIndex n_cleared_rows() const;
  /// Whether elements add to the rows; otherwise a kernel sums them.
  bool adds_to_rows() const { return m_surface_results == SurfaceResults::added; }
  /// The values whose sum over the entries and over all ranks is uᵀ A u, in device memory.
  const DeviceVector<double>& product_parts() const { return m_partial_dots; }
  /// Whether apply_without_sum() launches kernels alone: one kernel exchanges by the selected
  /// strategy, or there is one rank. The same on every rank. Collective at the first call after a
  /// selection.
  bool is_queued() const;

  /// Qᵀ A Q u of this rank alone: shared DOFs hold its share, which an exchange then sums. Not on a
  /// deterministic space. `before` is as for apply(). Not collective.
  void apply_here(const Vector& u, const Vector& au, const EntryWork& before = {}) const;

  /// The two parts of apply() around the exchange: the elements and rows that the exchange needs,
  /// then the others. Call apply_boundary() first, because it clears rows that both add to. Each
  /// calls `before` for its entries. Both return before their kernels end. The elements of
  /// apply_interior() run on the default instance and do not wait for those of apply_boundary().
  /// Collective, with u_dot_au().
  void apply_boundary(const Vector& u, const Vector& au, const EntryWork& before = {},
                      const ExecutionSpace& stream = {}) const requires(has_products);
  void apply_interior(const Vector& u, const Vector& au, const EntryWork& before = {}) const
      requires(has_products);
  /// uᵀ A u; call it once, after both parts. Waits for the elements, but not for the rows.
  /// Unavailable on a deterministic space, where only apply() returns it. Collective.
  double u_dot_au() const requires(has_products) { return m_u_dot_au->wait(); }

  /// Parts of the element work, for timing exchanges among them. They process a portion in (0, 1]
  /// of
  /// - the boundary blocks, which an overlapped exchange waits for,
  /// - the interior blocks, which can hide an overlapped exchange,
  /// - both at once, which a plain exchange waits for.
  ///
  /// They clear rows first where apply() does. The contents of au are undefined afterwards.
  /// apply_some_boundary() runs on `stream`, after everything launched on the default instance. Not
  /// collective.
  void apply_some_boundary(const Vector& u, const Vector& au, double portion,
                           const ExecutionSpace& stream = {}) const;
  void apply_some_interior(const Vector& u, const Vector& au, double portion) const;
  void apply_some(const Vector& u, const Vector& au, double portion) const;
  /// Starts the all-reduce that apply_interior() starts after its elements, for timing it with the
  /// portions. It sums all parts as they are. Call u_dot_au() once after each call. The host does
  /// not wait. Does nothing on a deterministic space. Collective, with u_dot_au().
  void start_u_dot_au() const requires(has_products);

  /// The arguments with which apply() calls the element kernel for blocks [first_block,
  /// last_block), for running that kernel alone. Not collective.
  AxhelmArgumentsOf<T> element_arguments(const Vector& u, const Vector& au, LocalIndex first_block,
                                         LocalIndex last_block) const;

  /// Minimum traffic of one apply() on this rank, in bytes. It counts the data of each kernel once:
  /// - the factors (six values per local point if stored), and u;
  /// - the element results; those on surfaces once more, to form rows;
  /// - the rows; three times if the element kernel adds to them: to clear, read and write them;
  /// - the lists of entries and points.
  double least_bytes() const;

  /// The inverse of A's diagonal, for the Jacobi preconditioner; zero in padding. In device memory.
  /// In a periodic direction of one element, both ends of the element are one DOF. There it is the
  /// inverse of the sum of the diagonals of element matrices, without products of both ends.
  /// Collective.
  DeviceVector<double> inverse_diagonal() const requires(has_products);

 private:
  EllipticOperatorOf(AssembledSpace& space, const FactorsOf<T>& geometry);
  /// What begin_apply() and end_apply() do beside the elements.
  struct Parts {
    EntryWork before = {};  ///< see apply()
    bool clears = true;     ///< clears the rows that elements add to
    bool sums = true;       ///< starts the all-reduce of uᵀ A u
  };
  void apply_and_exchange(const Vector& u, const Vector& au, const Parts& parts,
                          EventLog* log) const;
  /// The parts before and after the exchange: elements of blocks [0, last_block), which include
  /// those on the boundary, and the remaining elements.
  void begin_apply(const Vector& u, const Vector& au, LocalIndex last_block, const Parts& parts,
                   const ExecutionSpace& stream) const;
  void end_apply(const Vector& u, const Vector& au, LocalIndex first_block,
                 const Parts& parts) const;
  /// The blocks of such portions of boundary and interior, next to each other: the first block, the
  /// block between boundary and interior, and the end.
  std::array<LocalIndex, 3> some_blocks(double portion) const;
  /// Clears such a portion of the rows, on the default instance, if all rows are cleared before the
  /// elements. Interior elements follow on the default instance; boundary elements on another
  /// stream wait for it.
  void begin_some_rows(const Vector& au, double portion) const;
  /// Whether `before` is called for a part of the entries at a time.
  bool sweeps() const;
  void sweep(const Vector& u, const Vector& au, LocalIndex first_block, LocalIndex last_block,
             const EntryWork& before) const;
  void elements(const Vector& u, const Vector& au, LocalIndex first_block, LocalIndex last_block,
                const ExecutionSpace& stream = {}) const;

  AssembledSpace& m_space;
  const FactorsOf<T>& m_geometry;
  double m_lambda = 0;
  T m_kernel_lambda = 0;
  DeviceVector<double> m_partial_dots;
  SurfaceResults m_surface_results;
  Vector m_au_surface;                        ///< of floats only if results are stored
  std::optional<RankSum<double>> m_u_dot_au;  // depends on the division among ranks
  std::optional<ReproducibleSums<1>> m_reproducible_dot;
  mutable LocalIndex m_divided_at = 0;  ///< where the last apply() divided the blocks
  mutable StreamEvent m_boundary_applied;
};
using EllipticOperator = EllipticOperatorOf<double>;

}  // namespace nekbone_k
