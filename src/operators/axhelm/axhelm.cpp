// SPDX-License-Identifier: BSD-3-Clause
#include "operators/axhelm/axhelm.hpp"

#include <utility>

#include "core/config.hpp"
#include "core/errors.hpp"
#include "operators/axhelm/axhelm_elements.hpp"
#include "operators/axhelm/axhelm_shape.hpp"

namespace nekbone_k {
namespace {

/// The operator at an order that was not compiled, point by point with a plain matrix. It works
/// layer by layer in team scratch, because a thread cannot keep a column of unknown length to
/// itself.
template <Geometry geometry, class T>
class RunTimeAxhelm {
  using Lanes = LanesOf<T>;

 public:
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Team = typename Policy::member_type;

  explicit RunTimeAxhelm(const AxhelmArgumentsOf<T>& arguments)
      : m_elements{arguments, {arguments.layout.nq}} {}

  void run(const ExecutionSpace& stream) const {
    const AxhelmArgumentsOf<T>& args = m_elements.args;
    const LocalIndex blocks = args.last_block - args.first_block;
    if (blocks <= 0) return;
    Policy policy(stream, blocks, Kokkos::AUTO);
    // Scratch for the alignment, which Kokkos does not add.
    policy.set_scratch_size(scratch_level(), Kokkos::PerTeam(scratch_bytes() + alignof(Lanes)));
    Kokkos::parallel_for("nekbone_k: axhelm (run-time order)", policy, *this);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const AxhelmArgumentsOf<T>& args = m_elements.args;
    const int nq = m_elements.nq, layer = nq * nq, stride = layer_stride();
    const LocalIndex block = args.first_block + team.league_rank();
    auto* u = static_cast<Lanes*>(
        team.team_scratch(scratch_level()).get_shmem_aligned(scratch_bytes(), alignof(Lanes)));
    Lanes* const au = u + stride * nq;
    Lanes* const flux_r = au + stride * nq;
    Lanes* const flux_s = flux_r + stride;
    const T* const D = args.scaled_derivative.data();
    const BlockFactors<geometry, T> computed(m_elements, block);
    const auto factor = [&](int column, int k) {
      if constexpr (geometry == Geometry::stored)
        return m_elements.read_factor(m_elements.factors(block, column), k * layer);
      else
        return computed(args.nodes(column % nq), args.nodes(column / nq), args.nodes(k));
    };
    const auto root_w = [&](int column, int k) {
      return args.root_weights(column % nq) * args.root_weights(column / nq) * args.root_weights(k);
    };

    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, layer), [&](int column) {
      m_elements.load(block, ElementLayout::column(nq, column % nq, column / nq),
                      [&](int k, const Lanes& value) {
                        u[k * stride + column] = root_w(column, k) * value;
                        au[k * stride + column] = Lanes(0.0);
                      });
    });
    team.team_barrier();

    for (int k = 0; k < nq; ++k) {
      const Lanes* const u_layer = u + k * stride;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, layer), [&](int column) {
        const int i = column % nq, j = column / nq;
        Lanes u_r(0.0), u_s(0.0), u_t(0.0);
        for (int m = 0; m < nq; ++m) {
          u_r += D[i * nq + m] * u_layer[j * nq + m];
          u_s += D[j * nq + m] * u_layer[m * nq + i];
          u_t += D[k * nq + m] * u[m * stride + column];
        }
        const auto at_point = factor(column, k);
        at_point.apply(u_r, u_s, u_t);
        flux_r[column] = u_r;
        flux_s[column] = u_s;
        for (int m = 0; m < nq; ++m) au[m * stride + column] += D[k * nq + m] * u_t;
        if (args.lambda != 0)
          au[k * stride + column] += args.lambda * at_point.determinant() * u_layer[column];
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, layer), [&](int column) {
        const int i = column % nq, j = column / nq;
        Lanes sum(0.0);
        for (int m = 0; m < nq; ++m)
          sum += D[m * nq + i] * flux_r[j * nq + m] + D[m * nq + j] * flux_s[m * nq + i];
        au[k * stride + column] += sum;
      });
      team.team_barrier();
    }

    double dot_of_team = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, layer),
        [&](int column, double& dot_of_thread) {
          Lanes dot(0.0);
          m_elements.store(block, ElementLayout::column(nq, column % nq, column / nq),
                           [&](int k) { return root_w(column, k) * au[k * stride + column]; });
          for (int k = 0; k < nq; ++k) dot += u[k * stride + column] * au[k * stride + column];
          for (int lane = 0; lane < ElementLayout::lanes; ++lane) dot_of_thread += dot[lane];
        },
        dot_of_team);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { args.partial_dots(block) = dot_of_team; });
  }

 private:
  KOKKOS_FUNCTION std::size_t scratch_bytes() const {
    return sizeof(Lanes) * layer_stride() * (2 * m_elements.nq + 2);
  }
  /// Distance of layers, in Lanes. It is one more than a layer has: layers of 4096 bytes, as at Nq
  /// = 8 with 8 lanes, evict each other from the cache.
  KOKKOS_FUNCTION int layer_stride() const { return m_elements.nq * m_elements.nq + 1; }
  /// Fast scratch where it surely fits (a GPU team has 48 KB without asking), otherwise ordinary
  /// memory.
  KOKKOS_FUNCTION int scratch_level() const { return scratch_bytes() <= 40'000 ? 0 : 1; }

  AxhelmElements<RunTimeNq, T> m_elements;
};

template <int... orders>
bool contains(int order, std::integer_sequence<int, orders...>) {
  return ((order == orders) || ...);
}

/// Runs the kernel of the order and returns true if that order was compiled.
template <Geometry geometry, class T, int... orders>
bool run_compiled(const AxhelmArgumentsOf<T>& arguments, const ExecutionSpace& stream,
                  std::integer_sequence<int, orders...>) {
  const int order = arguments.layout.nq - 1;
  return ((order == orders && (axhelm_compiled<orders, geometry>(arguments, stream), true)) || ...);
}

/// Calls action() with the geometry of `arguments` as a type.
template <class T, class Action>
void with_geometry(const AxhelmArgumentsOf<T>& arguments, const Action& action) {
  switch (arguments.geometry) {
    case Geometry::stored:
      return action(std::integral_constant<Geometry, Geometry::stored>{});
    case Geometry::trilinear:
      if constexpr (std::is_same_v<T, double>)
        return action(std::integral_constant<Geometry, Geometry::trilinear>{});
      else
        throw InternalError("an operator on floats needs stored or affine factors");
    case Geometry::affine:
      return action(std::integral_constant<Geometry, Geometry::affine>{});
  }
}

template <int... orders>
int blocks_per_team(int order, std::integer_sequence<int, orders...>) {
  int blocks = 1;
  ((blocks = order == orders ? AxhelmShape<ExecutionSpace, orders + 1>::blocks_per_team : blocks),
   ...);
  return blocks;
}

template <int... orders>
bool adds_surface_results(int order, std::integer_sequence<int, orders...>) {
  return ((order == orders && AxhelmShape<ExecutionSpace, orders + 1>::adds_surface_results) ||
          ...);
}

}  // namespace

bool is_compiled_order(int order) { return contains(order, CompiledOrders{}); }

bool can_add_surface_results(int order) {
  const bool could_lose_sums = is_host_device && ExecutionSpace().concurrency() > 1;
  return !could_lose_sums && adds_surface_results(order, CompiledOrders{});
}

LocalIndex n_partial_dots(const ElementLayout& layout) {
  // Each range of blocks begins with its own team. If teams have several blocks and the operator
  // has two ranges, the last team of the first range may be incomplete.
  return layout.n_blocks() / blocks_per_team(layout.nq - 1, CompiledOrders{}) + 2;
}

template <class T>
void axhelm(const AxhelmArgumentsOf<T>& arguments, const ExecutionSpace& stream) {
  require(arguments.surface_results == SurfaceResults::stored ||
              can_add_surface_results(arguments.layout.nq - 1),
          "surface results cannot be added at this order");
  bool done = false;
  with_geometry(arguments, [&](auto geometry) {
    done = run_compiled<decltype(geometry)::value>(arguments, stream, CompiledOrders{});
  });
  if (!done) axhelm_run_time(arguments, stream);
}

template <class T>
void axhelm_run_time(const AxhelmArgumentsOf<T>& arguments, const ExecutionSpace& stream) {
  with_geometry(arguments, [&](auto geometry) {
    RunTimeAxhelm<decltype(geometry)::value, T>(arguments).run(stream);
  });
}

template void axhelm(const AxhelmArgumentsOf<double>&, const ExecutionSpace&);
template void axhelm(const AxhelmArgumentsOf<float>&, const ExecutionSpace&);
template void axhelm_run_time(const AxhelmArgumentsOf<double>&, const ExecutionSpace&);
template void axhelm_run_time(const AxhelmArgumentsOf<float>&, const ExecutionSpace&);

}  // namespace nekbone_k
