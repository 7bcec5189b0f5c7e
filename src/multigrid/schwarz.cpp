// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/schwarz.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>

#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/launch_shape.hpp"
#include "multigrid/entry_ids.hpp"
#include "operators/axhelm/axhelm_elements.hpp"
#include "operators/trilinear.hpp"

namespace nekbone_k {
namespace {

constexpr int lanes = ElementLayout::lanes;
using Team = Kokkos::TeamPolicy<ExecutionSpace>::member_type;

/// One direction of the patches of a rank, on the lattice of the whole mesh.
struct PatchDirection {
  PatchDirection(const BoxMesh& mesh, int d)
      : order(mesh.order()),
        elements(mesh.spec().elements[d]),
        length(mesh.global_lattice_length(d)),
        periodic(mesh.spec().periodic[d]),
        begin(std::int64_t{1} * mesh.box().begin[d] * order - 1),
        n(std::int64_t{1} * mesh.box().length(d) * order + 3),
        is_shared(mesh.box().length(d) < elements) {
    if (periodic) n = std::min(n, length);
  }

  /// Neighbours of an element; -1 beyond a Dirichlet face.
  int left(int e) const { return e > 0 ? e - 1 : periodic ? elements - 1 : -1; }
  int right(int e) const { return e + 1 < elements ? e + 1 : periodic ? 0 : -1; }
  /// The line of an element with unit lengths.
  PatchLine line(int e) const {
    return {left(e) < 0 ? 0.0 : 1.0, 1, right(e) < 0 ? 0.0 : 1.0, periodic && elements == 1};
  }
  /// Lattice point of point p of an element's patch.
  std::int64_t point(int e, int p) const {
    const std::int64_t at = std::int64_t{1} * e * order + p - 1;
    return periodic ? (at + length) % length : at;
  }
  /// Position of a lattice point among the n points of this rank's patches; others give n or more.
  std::int64_t slot(std::int64_t at) const {
    return periodic ? (at - begin + length) % length : at - begin;
  }
  /// Whether another rank may have the points of a slot.
  bool near_others(std::int64_t at) const { return is_shared && (at < 3 || at >= n - 3); }

  int order, elements;
  std::int64_t length;
  bool periodic;
  std::int64_t begin, n;
  bool is_shared;
};

/// Lengths of the box that stands for an element with whole-mesh indices e: it has the diagonal of
/// the metric J (∇r)(∇r)ᵀ in the middle of the element. On skewed elements, edge lengths give
/// larger eigenvalues of S A (Kershaw's mesh with ε = 0.3 and order 7: 25.8 instead of 8.3).
std::array<double, 3> element_lengths(const BoxMesh& mesh, const std::array<int, 3>& e) {
  const auto& n = mesh.spec().elements;
  const BoxMapping mapping = mesh.mapping();
  const TrilinearMap<double> map = trilinear_map([&](int a, int b, int c) {
    return mapping(double(e[0] + a) / n[0], double(e[1] + b) / n[1], double(e[2] + c) / n[2]);
  });
  const SymmetricFactor<double> g = map.factor(0, 0, 0);
  // The trilinear map may be inside out where the element is not.
  const double rr = std::abs(g.rr), ss = std::abs(g.ss), tt = std::abs(g.tt);
  // A box with half lengths a, b, c has (rr, ss, tt) = (b c / a, a c / b, a b / c).
  return {2 * std::sqrt(ss * tt), 2 * std::sqrt(rr * tt), 2 * std::sqrt(rr * ss)};
}

/// A length without its last bits, in which elements of equal shape may differ.
double rounded(double length) {
  constexpr int bits = 42;
  int exponent = 0;
  const double mantissa = std::frexp(length, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, bits)), exponent - bits);
}

/// Elements of the whole mesh at the positions of the processing order.
std::vector<std::array<int, 3>> elements_of(const AssembledSpace& space) {
  const auto device = space.elements();
  const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), device);
  std::vector<std::array<int, 3>> elements(space.layout().n_elements);
  for (std::size_t e = 0; e < elements.size(); ++e)
    elements[e] = {host(e, 0), host(e, 1), host(e, 2)};
  return elements;
}

/// Builds AdditiveSchwarz::Modes.
template <class T>
class ModesBuilder {
 public:
  ModesBuilder(const GllBasis& basis, double scale)
      : m_basis(basis), m_n(patch_points(basis.order)), m_scale(scale) {}

  /// The next block and direction.
  void add(const std::array<PatchLine, lanes>& lines) {
    const auto [found, is_new] =
        m_numbers.try_emplace(lines, static_cast<LocalIndex>(m_numbers.size()));
    m_of_block.push_back(found->second);
    if (!is_new) return;
    std::array<const LineModes*, lanes> of_lane;
    for (int lane = 0; lane < lanes; ++lane) of_lane[lane] = &modes(lines[lane]);
    for (int at = 0; at < m_n * m_n; ++at)
      for (int lane = 0; lane < lanes; ++lane)
        m_vectors.push_back(static_cast<T>(
            of_lane[lane]->vectors[at] / std::sqrt(lines[lane].patches(m_basis.order, at / m_n))));
    for (int m = 0; m < m_n; ++m)
      for (const LineModes* modes : of_lane)
        m_values.push_back(static_cast<T>(m_scale * modes->values[m]));
  }
  typename AdditiveSchwarz<T>::Modes to_device() const {
    return {nekbone_k::to_device("nekbone_k: modes of blocks", m_of_block),
            nekbone_k::to_device("nekbone_k: modes of lines", m_vectors),
            nekbone_k::to_device("nekbone_k: eigenvalues of lines", m_values)};
  }

 private:
  const LineModes& modes(const PatchLine& line) {
    const auto [found, is_new] = m_modes.try_emplace(line);
    if (is_new) found->second = line_modes(m_basis, line);
    return found->second;
  }

  const GllBasis& m_basis;
  int m_n;
  double m_scale;
  std::map<PatchLine, LineModes> m_modes;
  std::map<std::array<PatchLine, lanes>, LocalIndex> m_numbers;
  std::vector<LocalIndex> m_of_block;
  std::vector<T> m_vectors, m_values;
};

/// The unit of length, so that floats hold the modes of boxes of any size.
double unit_length(const MeshSpec& mesh) {
  return std::cbrt(mesh.extent[0] * mesh.extent[1] * mesh.extent[2] /
                   static_cast<double>(mesh.total_elements()));
}

template <class T>
typename AdditiveSchwarz<T>::Modes make_modes(const AssembledSpace& space, double scale) {
  const BoxMesh& mesh = space.mesh();
  const std::array<PatchDirection, 3> along{PatchDirection(mesh, 0), PatchDirection(mesh, 1),
                                            PatchDirection(mesh, 2)};
  const double unit = unit_length(mesh.spec());
  const auto line = [&](const std::array<int, 3>& element, int d) {
    const auto length = [&](int at) {
      if (at < 0) return 0.0;
      auto other = element;
      other[d] = at;
      return rounded(element_lengths(mesh, other)[d] / unit);
    };
    const PatchDirection& direction = along[d];
    const int e = element[d];
    return PatchLine{length(direction.left(e)), length(e), length(direction.right(e)),
                     direction.line(e).closed};
  };
  ModesBuilder<T> builder(mesh.basis(), scale);
  const auto elements = elements_of(space);
  for (LocalIndex block = 0; block < space.layout().n_blocks(); ++block)
    for (int d = 0; d < 3; ++d) {
      std::array<PatchLine, lanes> lines;
      for (int lane = 0; lane < lanes; ++lane) {
        const LocalIndex position = block * lanes + lane;
        lines[lane] = position < space.layout().n_elements ? line(elements[position], d) : lines[0];
      }
      builder.add(lines);
    }
  return builder.to_device();
}

/// Applies the inverses of the patches. Each lane is an element. If it `adds`, results are added to
/// sums by one thread; otherwise they are stored.
template <class T, class Points, bool adds>
struct PatchKernel {
  using Lanes = LanesOf<T>;
  /// Lines that share the reads of a matrix.
  static constexpr int abreast = 2;
  static constexpr int most = std::is_same_v<Points, RunTimeNq> ? max_order + 3 : int(Points{});

  Points n;
  IndexLists::Reader value_of;
  ConstDeviceVector<T> values;
  DeviceVector<T> results;  ///< or sums
  ConstDeviceVector<LocalIndex> modes_of_block;
  ConstDeviceVector<T> mode_vectors, mode_values;
  T lambda;

  /// Distance of lines in scratch: odd, so that threads that read along them hit all banks.
  KOKKOS_FORCEINLINE_FUNCTION int row() const { return n + 1 - n % 2; }
  KOKKOS_FUNCTION std::size_t used_bytes() const { return sizeof(Lanes) * n * n * row(); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const LocalIndex block = team.league_rank();
    const IndexList entries = value_of(block);
    auto* const tile = static_cast<Lanes*>(
        team.team_scratch(scratch_level()).get_shmem_aligned(used_bytes(), alignof(Lanes)));
    const T *s[3], *eigenvalues[3];
    for (int d = 0; d < 3; ++d) {
      const std::size_t number = modes_of_block(3 * block + d);
      s[d] = mode_vectors.data() + number * n * n * lanes;
      eigenvalues[d] = mode_values.data() + number * n * lanes;
    }
    const auto in_tile = [=, this](int i, int j, int k) { return (k * n + j) * row() + i; };
    // Lines along z first and last, because neighbouring threads then have neighbouring points.
    for_lines(team, [&](auto& line, const auto& at) {
      line.read([&](int l, int k) { return get(entries, at(l), k); });
      line.template multiply<true>(s[2], [&](int l, int m, const Lanes& value) {
        tile[in_tile(at(l) % n, at(l) / n, m)] = value;
      });
    });
    for_lines(team, [&](auto& line, const auto& at) {
      const auto place = [&](int l, int j) { return in_tile(at(l) % n, j, at(l) / n); };
      line.read([&](int l, int j) { return tile[place(l, j)]; });
      line.template multiply<true>(
          s[1], [&](int l, int m, const Lanes& value) { tile[place(l, m)] = value; });
    });
    for_lines(team, [&](auto& line, const auto& at) {
      const auto place = [&](int l, int i) { return in_tile(i, at(l) % n, at(l) / n); };
      line.read([&](int l, int i) { return tile[place(l, i)]; });
      line.template multiply<true>(s[0], [&](int l, int m, const Lanes& value) {
        const Lanes sum = read_lanes(eigenvalues[0] + m * lanes) +
                          read_lanes(eigenvalues[1] + at(l) % n * lanes) +
                          read_lanes(eigenvalues[2] + at(l) / n * lanes) + Lanes(lambda);
        tile[place(l, m)] = divide(value, sum);
      });
      line.read([&](int l, int i) { return tile[place(l, i)]; });
      line.template multiply<false>(
          s[0], [&](int l, int i, const Lanes& value) { tile[place(l, i)] = value; });
    });
    for_lines(team, [&](auto& line, const auto& at) {
      const auto place = [&](int l, int j) { return in_tile(at(l) % n, j, at(l) / n); };
      line.read([&](int l, int j) { return tile[place(l, j)]; });
      line.template multiply<false>(
          s[1], [&](int l, int j, const Lanes& value) { tile[place(l, j)] = value; });
    });
    for_lines(team, [&](auto& line, const auto& at) {
      line.read([&](int l, int k) { return tile[in_tile(at(l) % n, at(l) / n, k)]; });
      line.template multiply<false>(
          s[2], [&](int l, int k, const Lanes& value) { put(block, entries, at(l), k, value); });
    });
  }

  void run() const {
    const auto blocks = static_cast<LocalIndex>(modes_of_block.extent(0) / 3);
    if (blocks == 0) return;
    const int pairs = (n * n + abreast - 1) / abreast;
    Kokkos::TeamPolicy<ExecutionSpace> policy(blocks, is_host_device ? 1 : (pairs + 31) / 32 * 32);
    policy.set_scratch_size(scratch_level(), Kokkos::PerTeam(used_bytes() + alignof(Lanes)));
    Kokkos::parallel_for("nekbone_k: Schwarz patches", light(policy), *this);
  }

 private:
  /// A GPU has fast scratch for patches up to order 18 on floats, or 14 on doubles.
  KOKKOS_FORCEINLINE_FUNCTION int scratch_level() const {
    constexpr std::size_t fast_bytes = 40000;
    return is_host_device || used_bytes() > fast_bytes ? 1 : 0;
  }

  /// Whether the points of all lanes at (c, k), c = j n + i, are inside their elements: their
  /// entries then follow each other.
  KOKKOS_FORCEINLINE_FUNCTION bool is_interior(int c, int k) const {
    const auto inside = [&](int p) { return p > 1 && p < n - 2; };
    return inside(c % n) && inside(c / n) && inside(k);
  }
  KOKKOS_FORCEINLINE_FUNCTION Lanes get(const IndexList& entries, int c, int k) const {
    const int point = (k * n * n + c) * lanes;
    if (is_interior(c, k)) return read_lanes(values.data() + entries[point]);
    return gather_lanes(values.data() + entries.base, entries.differences() + point);
  }
  KOKKOS_FORCEINLINE_FUNCTION void put(LocalIndex block, const IndexList& entries, int c, int k,
                                       const Lanes& value) const {
    const int point = (k * n * n + c) * lanes;
    if constexpr (!adds) {
      write_lanes(results.data() + ElementLayout::offset(block, 0, n * n * n) + point, value);
    } else if (is_interior(c, k)) {
      T* const to = results.data() + entries[point];
      write_lanes(to, read_lanes(to) + value);
    } else {
      // Where a patch has no DOF, its value is 0 and its entry the zero slot.
      alignas(Lanes) T of_lane[lanes];
      write_lanes(of_lane, value);
      for (int lane = 0; lane < lanes; ++lane) results(entries[point + lane]) += of_lane[lane];
    }
  }

  /// value / sum, or 0 if the patch has no such mode.
  KOKKOS_FORCEINLINE_FUNCTION static Lanes divide(const Lanes& value, const Lanes& sum) {
    Lanes quotient = value / sum;
    Kokkos::Experimental::where(sum <= Lanes(T(0)), quotient) = Lanes(T(0));
    return quotient;
  }

  /// Some lines of values.
  template <int count>
  struct Lines {
    Points n;
    Lanes x[count][most];

    /// Takes value(line, point).
    template <class Value>
    KOKKOS_FORCEINLINE_FUNCTION void read(const Value& value) {
      for (int l = 0; l < count; ++l)
        for (int p = 0; p < n; ++p) x[l][p] = value(l, p);
    }
    /// Calls put(line, m, value m of Sᵀ x or S x). put() may overwrite the source of x.
    template <bool transposed, class Put>
    KOKKOS_FORCEINLINE_FUNCTION void multiply(const T* s, const Put& put) const {
      for (int m = 0; m < n; ++m) {
        Lanes sum[count];
        for (int p = 0; p < n; ++p) {
          const Lanes entry = read_lanes(s + (transposed ? p * n + m : m * n + p) * lanes);
          for (int l = 0; l < count; ++l)
            sum[l] = p == 0 ? entry * x[l][p] : fused_multiply_add(entry, x[l][p], sum[l]);
        }
        for (int l = 0; l < count; ++l) put(l, m, sum[l]);
      }
    }
  };

  /// Calls work(lines, at) for all n² lines of a direction; at(l) is the number of line l.
  template <class Work>
  KOKKOS_FORCEINLINE_FUNCTION void for_lines(const Team& team, const Work& work) const {
    const int all = n * n, together = all / abreast;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, together), [&](int pair) {
      Lines<abreast> lines{n, {}};
      work(lines, [=](int l) { return pair + l * together; });
    });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, together * abreast, all), [&](int line) {
      Lines<1> lines{n, {}};
      work(lines, [=](int) { return line; });
    });
    team.team_barrier();
  }
};

/// Values of entries that this rank owns are those of r; others are 0.
template <class T>
void copy_owned(const ConstDeviceVector<T>& r, VectorRange range, const DeviceField<T>& values) {
  Kokkos::parallel_for(
      "nekbone_k: owned values",
      Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(values.extent(0))),
      KOKKOS_LAMBDA(const LocalIndex a) {
        values(a, 0) = a >= range.first_owned && a < range.size ? r(a) : T(0);
      });
}

/// sums(v) = the sum of the results of value v, in the order of `columns`.
template <class T>
void sum_results(const ConstDeviceVector<LocalIndex>& ends,
                 const ConstDeviceVector<LocalIndex>& columns, const ConstDeviceVector<T>& results,
                 const DeviceVector<T>& sums) {
  Kokkos::parallel_for(
      "nekbone_k: sums of patches",
      Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(sums.extent(0))),
      KOKKOS_LAMBDA(const LocalIndex v) {
        T sum = 0;
        for (LocalIndex at = v == 0 ? 0 : ends(v - 1); at < ends(v); ++at)
          sum += results(columns(at));
        sums(v) = sum;
      });
}

/// The results of each value, by ascending position.
struct ResultLists {
  explicit ResultLists(const SchwarzPatches& patches) : ends(patches.n_values + 1, 0) {
    // While the lists are filled, ends[v] moves from the start of list v to its end.
    for (const LocalIndex value : patches.value_of)
      if (value != SchwarzPatches::no_value) ++ends[value];
    LocalIndex begin = 0;
    for (LocalIndex& end : ends) begin += std::exchange(end, begin);
    columns.resize(begin);
    for (std::size_t at = 0; at < patches.value_of.size(); ++at)
      if (const LocalIndex value = patches.value_of[at]; value != SchwarzPatches::no_value)
        columns[ends[value]++] = static_cast<LocalIndex>(at);
    ends.pop_back();
  }
  std::vector<LocalIndex> ends, columns;
};

IndexLists index_lists(const SchwarzPatches& patches, const AssembledSpace& space) {
  std::vector<LocalIndex> readable = patches.value_of;
  std::replace(readable.begin(), readable.end(), SchwarzPatches::no_value, space.zero_slot());
  const LocalIndex n_blocks = space.layout().n_blocks();
  const int per_block = patches.points * patches.points * patches.points * lanes;
  IndexListsBuilder builder(n_blocks);
  for (LocalIndex block = 0; block < n_blocks; ++block)
    builder.add(readable.data() + std::size_t(block) * per_block, per_block);
  return builder.to_device("nekbone_k: values of patches");
}

/// Calls run(points of a patch) with a compile-time constant. Returns false and does nothing if the
/// order is not compiled, as for a level between compiled orders.
template <class Run, int... orders>
bool run_compiled(int order, const Run& run, std::integer_sequence<int, orders...>) {
  const auto run_if = [&]<int compiled>(std::integral_constant<int, compiled>) {
    if constexpr (compiled >= least_schwarz_order) {
      if (order != compiled) return false;
      run(StaticNq<patch_points(compiled)>{});
      return true;
    } else {
      return false;
    }
  };
  return (run_if(std::integral_constant<int, orders>{}) || ...);
}

}  // namespace

SchwarzPatches::SchwarzPatches(const AssembledSpace& space)
    : points(patch_points(space.mesh().order())) {
  const BoxMesh& mesh = space.mesh();
  require(mesh.order() >= least_schwarz_order, "an order too low for Schwarz patches");
  const std::array<PatchDirection, 3> along{PatchDirection(mesh, 0), PatchDirection(mesh, 1),
                                            PatchDirection(mesh, 2)};
  const Lattice lattice(mesh);
  // The value of each point of the rank's patches. The array is dense, as in AssembledSpace.
  std::vector<LocalIndex> values(along[0].n * along[1].n * along[2].n, no_value);
  const auto value_at = [&](const LatticePoint& slot) -> LocalIndex& {
    return values[(slot[2] * along[1].n + slot[1]) * along[0].n + slot[0]];
  };
  const auto slot_of = [&](const LatticePoint& p) {
    return LatticePoint{along[0].slot(p[0]), along[1].slot(p[1]), along[2].slot(p[2])};
  };
  const auto near_others = [&](const LatticePoint& slot) {
    return along[0].near_others(slot[0]) || along[1].near_others(slot[1]) ||
           along[2].near_others(slot[2]);
  };

  const std::vector<GlobalId> entries = entry_ids(space);
  n_values = space.size();
  ids.assign(n_values, -1);
  for (LocalIndex e = 0; e < n_values; ++e) {
    if (entries[e] < 0) continue;
    const LatticePoint p = lattice.point(entries[e]), slot = slot_of(p);
    value_at(slot) = e;
    if (near_others(slot)) ids[e] = entries[e];
  }

  const std::vector<std::array<int, 3>> elements = elements_of(space);
  const int n = points;
  value_of.assign(std::size_t(space.layout().n_blocks()) * lanes * n * n * n, no_value);
  for (std::size_t position = 0; position < elements.size(); ++position) {
    const std::array<int, 3>& e = elements[position];
    std::array<std::pair<int, int>, 3> active;
    for (int d = 0; d < 3; ++d) active[d] = along[d].line(e[d]).active(mesh.order());
    const auto block = static_cast<LocalIndex>(position / lanes);
    for (int k = active[2].first; k < active[2].second; ++k)
      for (int j = active[1].first; j < active[1].second; ++j)
        for (int i = active[0].first; i < active[0].second; ++i) {
          const LatticePoint p{along[0].point(e[0], i), along[1].point(e[1], j),
                               along[2].point(e[2], k)};
          LocalIndex& value = value_at(slot_of(p));
          if (value == no_value) {
            value = n_values++;
            ids.push_back(lattice.id(p[0], p[1], p[2]));
          }
          value_of[ElementLayout::offset(block, (k * n + j) * n + i, n * n * n) +
                   position % lanes] = value;
        }
  }
}

template <class T>
AdditiveSchwarz<T>::AdditiveSchwarz(const Communicator& comm, const AssembledSpace& space,
                                    double lambda, double scale)
    : AdditiveSchwarz(comm, space, lambda, scale, SchwarzPatches(space)) {}

template <class T>
AdditiveSchwarz<T>::AdditiveSchwarz(const Communicator& comm, const AssembledSpace& space,
                                    double lambda, double scale, const SchwarzPatches& patches)
    : m_comm(comm),
      m_range(space.range()),
      m_order(space.mesh().order()),
      m_gs(comm, patches.ids),
      m_values_of_patches(index_lists(patches, space)),
      m_sums("nekbone_k: sums of patches", patches.n_values, 1) {
  // With lengths in another unit, A = unit (stiffness + unit² λ mass).
  const double unit = unit_length(space.mesh().spec());
  m_modes = make_modes<T>(space, scale * unit);
  m_lambda = static_cast<T>(scale * unit * unit * unit * lambda);
  if (comm.size() > 1)
    m_values = DeviceField<T>("nekbone_k: values of patches", patches.n_values, 1);
  const bool adds = is_host_device && ExecutionSpace().concurrency() == 1;
  if (!adds) {
    const ResultLists lists(patches);
    m_row_ends = to_device("nekbone_k: ends of results", lists.ends);
    m_columns = to_device("nekbone_k: results of values", lists.columns);
    m_results = DeviceVector<T>("nekbone_k: results of patches", patches.value_of.size());
  }
}

template <class T>
ConstDeviceVector<T> AdditiveSchwarz<T>::operator()(const ConstDeviceVector<T>& r) {
  const bool is_alone = m_comm.size() == 1;
  ConstDeviceVector<T> values = r;
  if (!is_alone) {
    copy_owned<T>(r, m_range, m_values);
    m_gs.gs_op(m_values, Reduction::add);
    values = Kokkos::subview(m_values, Kokkos::ALL, 0);
  }
  const DeviceVector<T> sums = Kokkos::subview(m_sums, Kokkos::ALL, 0);
  const bool adds = m_results.extent(0) == 0;
  const auto run = [&](auto n) {
    const auto run_kernel = [&]<bool to_sums>(const DeviceVector<T>& to) {
      PatchKernel<T, decltype(n), to_sums>{n,
                                           m_values_of_patches.reader(),
                                           values,
                                           to,
                                           m_modes.of_block,
                                           m_modes.vectors,
                                           m_modes.values,
                                           m_lambda}
          .run();
    };
    if constexpr (is_host_device)
      if (adds) return run_kernel.template operator()<true>(sums);
    run_kernel.template operator()<false>(m_results);
  };
  if (adds) Kokkos::deep_copy(ExecutionSpace(), sums, T(0));
  if (!run_compiled(m_order, run, CompiledOrders{})) run(RunTimeNq{patch_points(m_order)});
  if (!adds) sum_results<T>(m_row_ends, m_columns, m_results, sums);
  if (!is_alone) m_gs.gs_op(m_sums, Reduction::add);
  return Kokkos::subview(sums, std::pair(LocalIndex{0}, m_range.size));
}

template class AdditiveSchwarz<double>;
template class AdditiveSchwarz<float>;

}  // namespace nekbone_k
