// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/order_transfer.hpp"

#include "core/launch_shape.hpp"
#include "multigrid/interpolation.hpp"
#include "operators/axhelm/axhelm_elements.hpp"

namespace nekbone_k {
namespace {

using Team = Kokkos::TeamPolicy<ExecutionSpace>::member_type;

/// Nq if it is known at compile time, else 0.
template <int nq>
constexpr int known(StaticNq<nq>) {
  return nq;
}
constexpr int known(RunTimeNq) { return 0; }

/// Applies a matrix (n_to, n_from) along all three directions of a block of elements, or of two
/// blocks that share a register, one direction at a time.
template <class T, class From, class To>
struct TransferKernel {
  static constexpr int blocks_at_once = blocks_of_register<T>;
  using Lanes = typename AxhelmLanes<T, blocks_at_once>::Type;
  /// Values of a line that a CPU copies to registers.
  static constexpr int copied = is_host_device ? known(From{}) : 0;

  AxhelmElements<From, T> from;  ///< reads args.u
  AxhelmElements<To, T> to;      ///< writes args.au and args.au_surface
  ConstDeviceVector<T> matrix;
  bool to_rows;  ///< writes surface values to their rows, where elements agree on them

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int n_from = from.nq, n_to = to.nq;
    const LocalIndex block = team.league_rank() * blocks_at_once;
    const auto blocks = blocks_from<blocks_at_once>(block, from.args.last_block);
    auto* const values =
        static_cast<Lanes*>(team.team_scratch(scratch_level(n_from, n_to))
                                .get_shmem_aligned(used_bytes(n_from, n_to), alignof(Lanes)));
    Lanes* const one = values;
    Lanes* const other = values + largest(n_from, n_to);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n_from * n_from), [&](int column) {
      from.load(blocks, ElementLayout::column(n_from, column % n_from, column / n_from),
                [&](int k, const Lanes& value) { one[k * n_from * n_from + column] = value; });
    });
    team.team_barrier();
    // (k, j, i): along i, then j, then k.
    contract(
        team, one, other, n_from * n_from, [=](int line) { return line * n_from; }, 1,
        [=](int line) { return line * n_to; }, 1);
    contract(
        team, other, one, n_from * n_to,
        [=](int line) { return line / n_to * n_from * n_to + line % n_to; }, n_to,
        [=](int line) { return line / n_to * n_to * n_to + line % n_to; }, n_to);
    contract(
        team, one, other, n_to * n_to, [=](int line) { return line; }, n_to * n_to,
        [=](int line) { return line; }, n_to * n_to);
    write<0>(team, block, other);
    if constexpr (blocks_at_once == 2)
      if (last_of(blocks) != block) write<1>(team, last_of(blocks), other);
  }

  /// Writes the values of the block that is `part` of the register.
  template <int part>
  KOKKOS_FORCEINLINE_FUNCTION void write(const Team& team, LocalIndex block,
                                         const Lanes* values) const {
    const int n_to = to.nq;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n_to * n_to), [&](int column) {
      const auto at = ElementLayout::column(n_to, column % n_to, column / n_to);
      const auto get = [&](int k) {
        return AxhelmLanes<T, blocks_at_once>::template of<part>(values[k * n_to * n_to + column]);
      };
      if (to_rows)
        to.put(block, at, get);
      else
        to.store(block, at, get);
    });
  }

  /// to(line) = matrix from(line) for all lines, whose values are `step` apart.
  template <class FromLine, class ToLine>
  KOKKOS_FORCEINLINE_FUNCTION void contract(const Team& team, const Lanes* in, Lanes* out,
                                            int lines, const FromLine& from_line, int from_step,
                                            const ToLine& to_line, int to_step) const {
    const int n_from = from.nq, n_to = to.nq;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, lines), [&](int line) {
      const Lanes* x = in + from_line(line);
      Lanes* const y = out + to_line(line);
      int step = from_step;
      // In registers, because a compiler cannot know that writing y leaves x as it is.
      [[maybe_unused]] Lanes line_of_x[copied > 0 ? copied : 1];
      if constexpr (copied > 0) {
        for (int m = 0; m < copied; ++m) line_of_x[m] = x[m * from_step];
        x = line_of_x;
        step = 1;
      }
      for (int a = 0; a < n_to; ++a) {
        Lanes sum = Lanes(matrix(a * n_from)) * x[0];
        for (int m = 1; m < n_from; ++m)
          sum = fused_multiply_add(Lanes(matrix(a * n_from + m)), x[m * step], sum);
        y[a * to_step] = sum;
      }
    });
    team.team_barrier();
  }

  /// Lanes that the values need after any number of contractions.
  KOKKOS_FUNCTION static int largest(int n_from, int n_to) {
    const int n = n_from > n_to ? n_from : n_to;
    return n * n * n;
  }
  KOKKOS_FUNCTION static std::size_t used_bytes(int n_from, int n_to) {
    return sizeof(Lanes) * 2 * largest(n_from, n_to);
  }

  /// The values of an element usually fit into the fast scratch of a GPU.
  KOKKOS_FUNCTION static int scratch_level(int n_from, int n_to) {
    constexpr std::size_t fast_bytes = 40000;
    return is_host_device || used_bytes(n_from, n_to) > fast_bytes ? 1 : 0;
  }

  void run(const char* label) const {
    const LocalIndex teams = (from.args.last_block + blocks_at_once - 1) / blocks_at_once;
    if (teams == 0) return;
    const int n_from = from.nq, n_to = to.nq, lines = n_from > n_to ? n_from * n_from : n_to * n_to;
    Kokkos::TeamPolicy<ExecutionSpace> policy(teams, is_host_device ? 1 : (lines + 31) / 32 * 32);
    policy.set_scratch_size(scratch_level(n_from, n_to),
                            Kokkos::PerTeam(used_bytes(n_from, n_to) + alignof(Lanes)));
    Kokkos::parallel_for(label, light(policy), *this);
  }
};

template <class T>
AxhelmArgumentsOf<T> reads(const AssembledSpace& space, const DeviceVector<T>& from) {
  AxhelmArgumentsOf<T> arguments;
  arguments.layout = space.layout();
  arguments.last_block = space.layout().n_blocks();
  arguments.interior_begin = space.interior_begin();
  arguments.surface_entries = space.surface_entries().reader();
  arguments.u = from;
  arguments.n_rows = space.n_rows();
  return arguments;
}

template <class T>
AxhelmArgumentsOf<T> writes(const AssembledSpace& space, const DeviceVector<T>& to) {
  AxhelmArgumentsOf<T> arguments = reads(space, to);
  arguments.au = to;
  arguments.au_surface = space.template surface_values<T>();
  return arguments;
}

/// Runs the kernel for the numbers of nodes of two spaces: compiled for common ones.
template <class T>
void transfer(const char* label, const AxhelmArgumentsOf<T>& from, const AxhelmArgumentsOf<T>& to,
              const ConstDeviceVector<T>& matrix, bool to_rows) {
  const auto run = [&](auto n_from, auto n_to) {
    TransferKernel<T, decltype(n_from), decltype(n_to)>{{from, n_from}, {to, n_to}, matrix, to_rows}
        .run(label);
  };
  const int n_from = from.layout.nq, n_to = to.layout.nq;
  if (n_from == 8 && n_to == 4) return run(StaticNq<8>{}, StaticNq<4>{});
  if (n_from == 4 && n_to == 8) return run(StaticNq<4>{}, StaticNq<8>{});
  if (n_from == 4 && n_to == 2) return run(StaticNq<4>{}, StaticNq<2>{});
  if (n_from == 2 && n_to == 4) return run(StaticNq<2>{}, StaticNq<4>{});
  run(RunTimeNq{n_from}, RunTimeNq{n_to});
}

}  // namespace

template <class T>
OrderTransfer<T>::OrderTransfer(AssembledSpace& fine, AssembledSpace& coarse)
    : m_fine(fine), m_coarse(coarse) {
  const std::vector<double> p = interpolation_matrix(coarse.mesh().basis(), fine.mesh().basis());
  const int n_fine = fine.layout().nq, n_coarse = coarse.layout().nq;
  std::vector<T> prolongation(p.begin(), p.end()), restriction(p.size());
  for (int i = 0; i < n_fine; ++i)
    for (int m = 0; m < n_coarse; ++m)
      restriction[m * n_fine + i] =
          static_cast<T>(p[i * n_coarse + m] * (i == 0 || i == n_fine - 1 ? 0.5 : 1));
  m_prolongation = to_device("nekbone_k: prolongation", prolongation);
  m_restriction = to_device("nekbone_k: restriction", restriction);
}

template <class T>
void OrderTransfer<T>::restrict_to(const DeviceVector<T>& fine, const DeviceVector<T>& coarse) {
  transfer<T>("nekbone_k: restrict order", reads(m_fine, fine), writes(m_coarse, coarse),
              m_restriction, /*to_rows=*/false);
  m_coarse.gather_shared(coarse);
  m_coarse.gather_own_rows(coarse);
  m_coarse.gs().exchange(as_field(coarse), Reduction::add);
}

template <class T>
void OrderTransfer<T>::prolong_to(const DeviceVector<T>& coarse, const DeviceVector<T>& fine) {
  transfer<T>("nekbone_k: prolong order", reads(m_coarse, coarse), writes(m_fine, fine),
              m_prolongation, /*to_rows=*/true);
}

template class OrderTransfer<double>;
template class OrderTransfer<float>;

}  // namespace nekbone_k
