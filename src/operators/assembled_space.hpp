// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Assembled vectors, on which the solver works.
#pragma once

#include <optional>

#include "core/communicator.hpp"
#include "core/entry_reduction.hpp"
#include "core/large_vector.hpp"
#include "gs/gather_scatter.hpp"
#include "mesh/box_mesh.hpp"
#include "operators/element_layout.hpp"
#include "operators/summation.hpp"

namespace nekbone_k {

/// Numbers the DOFs of one rank and joins its elements with each other and with other ranks.
///
/// An assembled vector has the entries
///
///     [ shared, owned elsewhere | shared, owned here | on element surfaces | 0 … 0 | interior ]
///
/// - The first three parts are the rows of the gather–scatter. Each rank has its own copy of a
///   shared DOF.
/// - The zeros are padding. The first of them is the *zero slot*, which every Dirichlet point
///   reads.
/// - Interior DOFs are ordered by block and lane as in ElementLayout, so that kernels read them
///   without an index.
///
/// Padding and the lanes of empty elements always hold zero. Vector kernels therefore run over
/// whole vectors, and dot products over [n_not_owned, size).
///
/// Elements that touch shared DOFs are processed first, so that their results travel while the
/// other elements are processed.
class AssembledSpace {
 public:
  /// Collective. Throws InputError on every rank if the part of some rank is too large to index. If
  /// `higher`, a space of a higher order on the same mesh, is given, elements have its order.
  AssembledSpace(const Communicator& comm, const BoxMesh& mesh,
                 Summation summation = Summation::ordinary, const AssembledSpace* higher = nullptr);

  /// Throws the same InputError before anything is allocated. Collective.
  static void require_indexable(const Communicator& comm, const BoxMesh& mesh);

  const BoxMesh& mesh() const { return m_mesh; }
  bool is_deterministic() const { return m_summation == Summation::deterministic; }
  /// For ProductSums of vectors with that many components: empty unless deterministic.
  std::optional<double> reproducible_terms(int components = 1) const {
    if (!is_deterministic()) return {};
    return components * static_cast<double>(m_mesh.total_dofs());
  }
  const ElementLayout& layout() const { return m_layout; }
  GatherScatter& gs() { return *m_gs; }
  const GatherScatter& gs() const { return *m_gs; }

  /// Length of an assembled vector with its padding.
  LocalIndex size() const { return m_interior_begin + LocalIndex(m_layout.n_interior_values()); }
  /// The range of vector kernels and dot products.
  VectorRange range() const { return {size(), n_not_owned()}; }
  LocalIndex n_rows() const { return m_zero_slot; }
  LocalIndex n_not_owned() const { return m_gs->plan().n_not_owned; }
  LocalIndex zero_slot() const { return m_zero_slot; }
  LocalIndex interior_begin() const { return m_interior_begin; }
  /// DOFs owned by this rank; their sum over all ranks is BoxMesh::total_dofs().
  std::int64_t n_owned() const {
    return std::int64_t{n_rows()} - n_not_owned() +
           std::int64_t{m_layout.n_elements} * m_layout.n_interior();
  }

  /// Rows [first_row(b), first_row(c)) are on elements of blocks [b, c) but on no earlier block.
  /// Rows below first_row(0) are shared. `block` is in [0, n_blocks].
  LocalIndex first_row(LocalIndex block) const { return m_first_rows[block]; }
  /// The first entry of a block's interior DOFs.
  LocalIndex first_interior(LocalIndex block) const {
    return m_interior_begin +
           static_cast<LocalIndex>(ElementLayout::offset(block, 0, m_layout.n_interior()));
  }

  LocalIndex n_boundary_elements() const { return m_n_boundary; }
  /// Blocks that hold boundary elements; the last one may also hold interior elements.
  LocalIndex n_boundary_blocks() const {
    return (m_n_boundary + ElementLayout::lanes - 1) / ElementLayout::lanes;
  }

  /// For each block, the list of the assembled entries of its surface points, shape (surface point,
  /// lane), in device memory. Dirichlet points and empty elements have the zero slot.
  const IndexLists& surface_entries() const { return m_surface_entries; }
  /// Whole-mesh indices of the element at each position, shape (n_elements, 3), in device memory.
  Kokkos::View<const int* [3], Kokkos::LayoutRight, DeviceMemory> elements() const {
    return m_elements;
  }
  /// Scratch for element results on surfaces, shape (block, surface point, lane), in device memory.
  /// That of floats is allocated at the first call.
  template <class T = double>
  const DeviceVector<T>& surface_values() const {
    if constexpr (std::is_same_v<T, float>) {
      if (!m_single_surface_values.is_allocated())
        m_single_surface_values =
            large_vector<float>("nekbone_k: surface floats", m_layout.n_surface_values());
      return m_single_surface_values;
    } else {
      return m_surface_values;
    }
  }

  /// A vector of zeros in device memory.
  template <class T = double>
  DeviceVector<T> make_vector(const std::string& label) const {
    return large_vector<T>("nekbone_k: " + label, size());
  }

  /// Sets rows [begin, end) of `vector` to the sum of surface_values() over this rank's elements.
  template <class T>
  void gather_rows(const DeviceVector<T>& vector, LocalIndex begin, LocalIndex end) const {
    m_gs->assembly().gather(as_field(surface_values<T>()), as_field(vector), Reduction::add, begin,
                            end);
  }
  /// Does so for the rows of `vector` that no other rank shares.
  template <class T>
  void gather_own_rows(const DeviceVector<T>& vector) const {
    gather_rows(vector, m_gs->plan().n_shared(), n_rows());
  }
  /// Prepares `vector` for the exchange; see GatherScatter::gather_shared().
  template <class T>
  void gather_shared(const DeviceVector<T>& vector, const ExecutionSpace& stream = {}) const {
    m_gs->gather_shared(as_field(surface_values<T>()), as_field(vector), Reduction::add, stream);
  }

  /// vector = Qᵀ f over all ranks. f(position, i, j, k) is the value at node (i, j, k) of the
  /// element at a position of the processing order. Collective.
  template <class NodalValue>
  void assemble(const NodalValue& f, const DeviceVector<double>& vector) {
    assemble_here(f, vector);
    m_gs->exchange(as_field(vector), Reduction::add);
  }

  /// Does so for this rank's elements alone: shared DOFs hold the values before the exchange.
  /// Collective if GatherScatter::gather_shared() is.
  template <class NodalValue>
  void assemble_here(const NodalValue& f, const DeviceVector<double>& vector) {
    const ElementLayout layout = m_layout;
    const int nq = layout.nq, points = layout.points();
    const auto surface = m_surface_values;
    const LocalIndex interior_begin = m_interior_begin;
    using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(
        "nekbone_k: nodal values", Policy(0, std::int64_t{layout.n_elements} * points),
        KOKKOS_LAMBDA(const std::int64_t at) {
          const auto position = static_cast<LocalIndex>(at / points);
          const int q = static_cast<int>(at % points), i = q % nq, j = q / nq % nq,
                    k = q / (nq * nq);
          const LocalIndex block = position / ElementLayout::lanes;
          const int lane = position % ElementLayout::lanes;
          const double value = f(position, i, j, k);
          if (ElementLayout::on_surface(nq, i, j, k)) {
            const int s = ElementLayout::surface_index(nq, i, j, k);
            surface(ElementLayout::offset(block, s, ElementLayout::n_surface(nq)) + lane) = value;
          } else {
            const int r = ElementLayout::interior_index(nq, i, j, k);
            vector(interior_begin + ElementLayout::offset(block, r, ElementLayout::n_interior(nq)) +
                   lane) = value;
          }
        });
    gather_shared(vector);
    gather_own_rows(vector);
  }

  /// Memory of such a space on one rank, in bytes, including temporary memory of the set-up.
  static double estimated_bytes(const BoxMesh& mesh);

 private:
  void number(const Communicator& comm, const AssembledSpace* higher);

  BoxMesh m_mesh;
  Summation m_summation;
  ElementLayout m_layout;
  LocalIndex m_zero_slot = 0, m_interior_begin = 0, m_n_boundary = 0;
  std::vector<LocalIndex> m_order;       // the rank's element at each position
  std::vector<LocalIndex> m_first_rows;  // by block
  IndexLists m_surface_entries;
  Kokkos::View<int* [3], Kokkos::LayoutRight, DeviceMemory> m_elements;
  DeviceVector<double> m_surface_values;
  mutable DeviceVector<float> m_single_surface_values;
  std::unique_ptr<GatherScatter> m_gs;
};

/// Reads assembled vectors at element nodes, in kernels.
struct NodeReader {
  explicit NodeReader(const AssembledSpace& space)
      : nq(space.layout().nq),
        interior_begin(space.interior_begin()),
        surface_entries(space.surface_entries().reader()) {}

  /// Entry of node (i, j, k) of the element at lane `lane` of block `block`.
  KOKKOS_FUNCTION LocalIndex entry(LocalIndex block, int lane, int i, int j, int k) const {
    if (ElementLayout::on_surface(nq, i, j, k)) {
      const int s = ElementLayout::surface_index(nq, i, j, k);
      return surface_entries(block)[s * ElementLayout::lanes + lane];
    }
    const int r = ElementLayout::interior_index(nq, i, j, k);
    return interior_begin +
           LocalIndex(ElementLayout::offset(block, r, ElementLayout::n_interior(nq))) + lane;
  }

  int nq;
  LocalIndex interior_begin;
  IndexLists::Reader surface_entries;
};

}  // namespace nekbone_k
