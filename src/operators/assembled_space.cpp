// SPDX-License-Identifier: BSD-3-Clause
#include "operators/assembled_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

using Node = std::array<int, 3>;
constexpr int max_nq = 64;

std::vector<Node> surface_nodes(int nq) {
  std::vector<Node> nodes(ElementLayout::n_surface(nq));
  for (int k = 0; k < nq; ++k)
    for (int j = 0; j < nq; ++j)
      for (int i = 0; i < nq; ++i)
        if (ElementLayout::on_surface(nq, i, j, k))
          nodes[ElementLayout::surface_index(nq, i, j, k)] = {i, j, k};
  return nodes;
}

/// The row of every point of the rank's lattice. The array is dense: the lattice is a box, and
/// finding a point by its position is several times faster than hashing its id.
class LatticeRows {
 public:
  static constexpr LocalIndex masked = -1, unnumbered = -2;

  explicit LatticeRows(const BoxMesh& mesh)
      : m_mesh(mesh),
        m_length{mesh.lattice_length(0), mesh.lattice_length(1), mesh.lattice_length(2)},
        m_rows(m_length[0] * m_length[1] * m_length[2], unnumbered) {
    for_each_face_point([&](const LatticePoint& p) {
      if (m_mesh.is_masked(p)) at(p) = masked;
    });
  }

  LocalIndex& at(const LatticePoint& p) {
    return m_rows[(p[2] * m_length[1] + p[1]) * m_length[0] + p[0]];
  }

  /// Offsets of an element's nodes per direction, so that finding (i, j, k) costs two additions.
  using NodeOffsets = std::array<std::array<std::int64_t, max_nq>, 3>;
  NodeOffsets node_offsets(const std::array<int, 3>& element) const {
    NodeOffsets offsets;
    for (int a = 0; a < m_mesh.nq(); ++a) {
      const LatticePoint p = m_mesh.lattice_point(element, a, a, a);
      offsets[0][a] = p[0];
      offsets[1][a] = p[1] * m_length[0];
      offsets[2][a] = p[2] * m_length[0] * m_length[1];
    }
    return offsets;
  }
  LocalIndex& at(const NodeOffsets& offsets, const Node& node) {
    return m_rows[offsets[0][node[0]] + offsets[1][node[1]] + offsets[2][node[2]]];
  }

 private:
  template <class Action>
  void for_each_face_point(const Action& action) {
    for (int d = 0; d < 3; ++d) {
      if (m_mesh.wraps(d)) continue;
      // In the order of global ids, so that messages traverse data with that numbering.
      const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
      for (const std::int64_t side : {std::int64_t{0}, m_length[d] - 1}) {
        LatticePoint p;
        p[d] = side;
        for (p[b] = 0; p[b] < m_length[b]; ++p[b])
          for (p[a] = 0; p[a] < m_length[a]; ++p[a]) action(p);
      }
    }
  }

  const BoxMesh& m_mesh;
  LatticePoint m_length;
  std::vector<LocalIndex> m_rows;
};

/// Elements in processing order; those that touch a shared DOF come first.
std::vector<LocalIndex> processing_order(const BoxMesh& mesh, LatticeRows& rows,
                                         const std::vector<Node>& nodes, LocalIndex& n_boundary) {
  std::vector<LocalIndex> boundary, interior;
  for (LocalIndex e = 0; e < mesh.n_elements(); ++e) {
    const auto element = mesh.element(e);
    bool on_face = false, touches_shared = false;
    for (int d = 0; d < 3; ++d)
      on_face |= element[d] == mesh.box().begin[d] || element[d] == mesh.box().end[d] - 1;
    if (on_face) {
      const auto offsets = rows.node_offsets(element);
      touches_shared = std::any_of(nodes.begin(), nodes.end(),
                                   [&](const Node& node) { return rows.at(offsets, node) >= 0; });
    }
    (touches_shared ? boundary : interior).push_back(e);
  }
  n_boundary = static_cast<LocalIndex>(boundary.size());
  boundary.insert(boundary.end(), interior.begin(), interior.end());
  return boundary;
}

/// Surface entries as rows of an Assembly; the zero slot belongs to no row.
struct EntriesAsRows {
  const LocalIndex* entries;
  std::size_t count;
  LocalIndex zero_slot;

  std::size_t size() const { return count; }
  LocalIndex operator[](std::size_t p) const {
    return entries[p] == zero_slot ? Assembly::no_row : entries[p];
  }
};

/// The order of adding contributions, independent of the ranks: by element of the whole mesh and,
/// if an element touches a DOF twice, by point.
struct ByElement {
  const BoxMesh& mesh;
  const std::vector<LocalIndex>& order;  ///< the rank's element at each position

  GlobalId operator()(LocalIndex point) const {
    constexpr int lanes = ElementLayout::lanes;
    const int n_surface = ElementLayout::n_surface(mesh.nq());
    const LocalIndex block = point / (n_surface * lanes), lane = point % lanes;
    const auto element = mesh.element(order[block * lanes + lane]);
    const auto& lengths = mesh.spec().elements;
    const GlobalId number =
        (GlobalId{element[2]} * lengths[1] + element[1]) * lengths[0] + element[0];
    return number * n_surface + point / lanes % n_surface;
  }
};

/// The points of shared rows, sorted by row and key.
SharedPoints find_shared_points(LocalIndex n_shared, const EntriesAsRows& point_rows,
                                const ByElement& key) {
  struct Point {
    LocalIndex row;
    GlobalId key;
    LocalIndex point;
    auto operator<=>(const Point&) const = default;
  };
  std::vector<Point> found;
  for (std::size_t p = 0; p < point_rows.size(); ++p) {
    const LocalIndex row = point_rows[p], point = static_cast<LocalIndex>(p);
    if (row != Assembly::no_row && row < n_shared) found.push_back({row, key(point), point});
  }
  std::sort(found.begin(), found.end());
  SharedPoints shared;
  shared.offsets.assign(n_shared + 1, 0);
  for (const Point& point : found) {
    ++shared.offsets[point.row + 1];
    shared.points.push_back(point.point);
    shared.keys.push_back(point.key);
  }
  std::partial_sum(shared.offsets.begin(), shared.offsets.end(), shared.offsets.begin());
  return shared;
}

}  // namespace

void AssembledSpace::require_indexable(const Communicator& comm, const BoxMesh& mesh) {
  // Computed in doubles, because the integers could overflow.
  const auto elements = static_cast<double>(mesh.box().volume());
  const auto size = ElementLayout::estimate(mesh.nq(), elements);
  const double vector_length =
      mesh.lattice_volume() - elements * ElementLayout::n_interior(mesh.nq()) + size.interior;
  const double largest = comm.max(std::max(vector_length, size.surface + size.interior));
  // The limit leaves space for the padding of a vector.
  constexpr double most = std::numeric_limits<LocalIndex>::max() - 2.0 * ElementLayout::lanes;
  if (largest > most)
    throw InputError(fmt::format(
        "order {} puts {:.3g} local points on one rank, more than the 2^31 it can number; use at "
        "least {:.0f} ranks",
        mesh.order(), largest, std::ceil(comm.size() * largest / 2e9)));
}

AssembledSpace::AssembledSpace(const Communicator& comm, const BoxMesh& mesh, Summation summation,
                               const AssembledSpace* higher)
    : m_mesh(mesh), m_summation(summation), m_layout{mesh.nq(), mesh.n_elements()} {
  require_indexable(comm, m_mesh);
  number(comm, higher);
  m_surface_values = large_vector("nekbone_k: surface values", m_layout.n_surface_values());
}

void AssembledSpace::number(const Communicator& comm, const AssembledSpace* higher) {
  LatticeRows rows(m_mesh);
  const auto nodes = surface_nodes(m_layout.nq);

  const std::vector<LatticePoint> candidates = m_mesh.sharing_candidates();
  std::vector<GlobalId> ids;
  ids.reserve(candidates.size());
  for (const LatticePoint& p : candidates) ids.push_back(m_mesh.global_id(p));
  HaloPlan plan = make_halo_plan(comm, ids);
  LocalIndex n_rows = 0;
  for (const LocalIndex candidate : plan.candidate) rows.at(candidates[candidate]) = n_rows++;

  // Elements that touch a shared DOF do so at every higher order, too.
  if (higher)
    std::tie(m_order, m_n_boundary) = std::tie(higher->m_order, higher->m_n_boundary);
  else
    m_order = processing_order(m_mesh, rows, nodes, m_n_boundary);
  const std::vector<LocalIndex>& order = m_order;
  m_elements = decltype(m_elements)("nekbone_k: elements", order.size());
  const auto elements = Kokkos::create_mirror_view(m_elements);
  constexpr LocalIndex no_entry = -1;
  std::vector<LocalIndex> entries(m_layout.n_surface_values(), no_entry);
  constexpr int lanes = ElementLayout::lanes;
  for (LocalIndex block = 0; block < m_layout.n_blocks(); ++block) {
    m_first_rows.push_back(n_rows);
    const int used_lanes = std::min(lanes, m_layout.n_elements - block * lanes);
    std::array<LatticeRows::NodeOffsets, lanes> offsets;
    for (int lane = 0; lane < used_lanes; ++lane) {
      const LocalIndex position = block * lanes + lane;
      const auto element = m_mesh.element(order[position]);
      for (int d = 0; d < 3; ++d) elements(position, d) = element[d];
      offsets[lane] = rows.node_offsets(element);
    }
    // In memory order, so that the entries of neighbouring lanes are mostly neighbours too.
    for (std::size_t s = 0; s < nodes.size(); ++s)
      for (int lane = 0; lane < used_lanes; ++lane) {
        LocalIndex& row = rows.at(offsets[lane], nodes[s]);
        if (row == LatticeRows::unnumbered) row = n_rows++;
        if (row >= 0) entries[ElementLayout::offset(block, s, m_layout.n_surface()) + lane] = row;
      }
  }

  m_first_rows.push_back(n_rows);

  m_zero_slot = n_rows;
  m_interior_begin = (n_rows + 1 + lanes - 1) / lanes * lanes;
  std::replace(entries.begin(), entries.end(), no_entry, m_zero_slot);
  IndexListsBuilder lists(m_layout.n_blocks());
  const int block_size = m_layout.n_surface() * lanes;
  for (LocalIndex block = 0; block < m_layout.n_blocks(); ++block)
    lists.add(entries.data() + ElementLayout::offset(block, 0, m_layout.n_surface()), block_size);
  m_surface_entries = lists.to_device("nekbone_k: surface entries");
  Kokkos::deep_copy(m_elements, elements);
  const EntriesAsRows point_rows{entries.data(), entries.size(), m_zero_slot};
  if (is_deterministic()) {
    const ByElement key{m_mesh, order};
    auto contributions =
        make_contribution_plan(comm, plan, find_shared_points(plan.n_shared(), point_rows, key));
    m_gs = std::make_unique<GatherScatter>(comm, std::move(plan), Assembly(n_rows, point_rows, key),
                                           std::move(contributions));
  } else {
    m_gs = std::make_unique<GatherScatter>(comm, std::move(plan), Assembly(n_rows, point_rows));
  }
}

double AssembledSpace::estimated_bytes(const BoxMesh& mesh) {
  const auto size = ElementLayout::estimate(mesh.nq(), static_cast<double>(mesh.box().volume()));
  const double lattice = mesh.lattice_volume();
  const double kept = size.surface * (sizeof(double) + 2 * sizeof(LocalIndex)) +
                      std::max(lattice - size.interior, 0.0) * sizeof(LocalIndex);
  return kept + lattice * sizeof(LocalIndex);
}

}  // namespace nekbone_k
