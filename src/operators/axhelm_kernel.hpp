/// @file
/// The body of the element operator, for every order and backend.
#pragma once

#include "operators/axhelm.hpp"

namespace nekbone_k {

/// Nq known when compiling, so that loops unroll; or only when running.
template <int nq_value>
struct StaticNq {
  KOKKOS_FUNCTION constexpr operator int() const { return nq_value; }
};
struct DynamicNq {
  int value;
  KOKKOS_FUNCTION operator int() const { return value; }
};

/// One team applies the operator to one block of elements, a lane an element. The element lives in
/// team scratch; layer by layer in k the gradient is formed, multiplied by G and its transpose
/// applied, so only one layer of two of the three fluxes is ever stored.
template <class Nq>
class AxhelmKernel {
 public:
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Team = Policy::member_type;

  AxhelmKernel(const AxhelmArguments& arguments, Nq nq) : m_args(arguments), m_nq(nq) {}

  double run(const char* label) const {
    const LocalIndex blocks = m_args.last_block - m_args.first_block;
    double u_dot_au = 0;
    if (blocks > 0) {
      Policy policy(blocks, Kokkos::AUTO);
      const int level = scratch_level();
      // Room to align it, which Kokkos does not add.
      policy.set_scratch_size(level, Kokkos::PerTeam(scratch_bytes() + alignof(Lanes)));
      Kokkos::parallel_reduce(label, policy, *this, u_dot_au);
    }
    return u_dot_au;
  }

  KOKKOS_FUNCTION void operator()(const Team& team, double& u_dot_au) const {
    const Nq nq = m_nq;
    const int layer = nq * nq;
    const LocalIndex block = m_args.first_block + team.league_rank();
    auto* u = static_cast<Lanes*>(
        team.team_scratch(scratch_level()).get_shmem_aligned(scratch_bytes(), alignof(Lanes)));
    const int stride = layer_stride();
    Lanes* const au = u + stride * nq;
    Lanes* const flux_r = au + stride * nq;
    Lanes* const flux_s = flux_r + stride;
    const double* const D = m_args.derivative.data();

    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, layer), [&](int column) {
      const int i = column % nq, j = column / nq;
      for (int k = 0; k < nq; ++k) {
        u[k * stride + column] = load(block, i, j, k);
        au[k * stride + column] = Lanes(0.0);
      }
    });
    team.team_barrier();

    for (int k = 0; k < nq; ++k) {
      Lanes* const u_layer = u + k * stride;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, layer), [&](int column) {
        const int i = column % nq, j = column / nq;
        Lanes u_r(0.0), u_s(0.0), u_t(0.0);
        for (int m = 0; m < nq; ++m) {
          u_r += D[i * nq + m] * u_layer[j * nq + m];
          u_s += D[j * nq + m] * u_layer[m * nq + i];
          u_t += D[k * nq + m] * u[m * stride + column];
        }
        const int q = k * layer + column;
        const Lanes rr = factor(block, 0, q), rs = factor(block, 1, q), rt = factor(block, 2, q);
        const Lanes ss = factor(block, 3, q), st = factor(block, 4, q), tt = factor(block, 5, q);
        flux_r[column] = rr * u_r + rs * u_s + rt * u_t;
        flux_s[column] = rs * u_r + ss * u_s + st * u_t;
        const Lanes flux_t = rt * u_r + st * u_s + tt * u_t;
        for (int m = 0; m < nq; ++m) au[m * stride + column] += D[k * nq + m] * flux_t;
        if (m_args.lambda != 0) {
          const auto& w = m_args.inverse_weight_squared;
          const double scale = m_args.lambda * w(i) * w(j) * w(k);
          au[k * stride + column] += scale * determinant(rr, rs, rt, ss, st, tt) * u_layer[column];
        }
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
          const int i = column % nq, j = column / nq;
          Lanes dot(0.0);
          for (int k = 0; k < nq; ++k) {
            const Lanes value = au[k * stride + column];
            store(block, i, j, k, value);
            dot += u[k * stride + column] * value;
          }
          for (int lane = 0; lane < ElementLayout::lanes; ++lane) dot_of_thread += dot[lane];
        },
        dot_of_team);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { u_dot_au += dot_of_team; });
  }

 private:
  KOKKOS_FUNCTION std::size_t scratch_bytes() const {
    return sizeof(Lanes) * layer_stride() * (2 * m_nq + 2);
  }
  /// Lanes from one layer to the next. One more than a layer has: at Nq = 8 with 8 lanes a layer is
  /// 4096 bytes, and layers so far apart evict each other from the cache (half the speed).
  KOKKOS_FUNCTION int layer_stride() const { return m_nq * m_nq + 1; }
  /// Fast scratch where it surely fits (a GPU has 48 KB a team without asking), else ordinary
  /// memory.
  KOKKOS_FUNCTION int scratch_level() const { return scratch_bytes() <= 40'000 ? 0 : 1; }

  KOKKOS_FUNCTION Lanes factor(LocalIndex block, int c, int q) const {
    const int points = m_nq * m_nq * m_nq;
    return read(m_args.factors.data() +
                ElementLayout::offset(block, c * points + q, ElementLayout::n_factors * points));
  }

  KOKKOS_FUNCTION Lanes load(LocalIndex block, int i, int j, int k) const {
    if (!ElementLayout::on_surface(m_nq, i, j, k))
      return read(m_args.u.data() + interior_entry(block, i, j, k));
    const LocalIndex* entries = m_args.surface_entries.data() + surface_offset(block, i, j, k);
    const double* u = m_args.u.data();
    return Lanes([=](auto lane) { return u[entries[lane]]; });
  }

  KOKKOS_FUNCTION void store(LocalIndex block, int i, int j, int k, const Lanes& value) const {
    double* const to = ElementLayout::on_surface(m_nq, i, j, k)
                           ? m_args.au_surface.data() + surface_offset(block, i, j, k)
                           : m_args.au_interior.data() + interior_entry(block, i, j, k);
    value.copy_to(to, Kokkos::Experimental::simd_flag_default);
  }

  KOKKOS_FUNCTION static Lanes read(const double* from) {
    Lanes value;
    value.copy_from(from, Kokkos::Experimental::simd_flag_default);
    return value;
  }

  KOKKOS_FUNCTION std::size_t surface_offset(LocalIndex block, int i, int j, int k) const {
    return ElementLayout::offset(block, ElementLayout::surface_index(m_nq, i, j, k),
                                 ElementLayout::n_surface(m_nq));
  }
  KOKKOS_FUNCTION std::size_t interior_entry(LocalIndex block, int i, int j, int k) const {
    return m_args.interior_begin +
           ElementLayout::offset(block, ElementLayout::interior_index(m_nq, i, j, k),
                                 ElementLayout::n_interior(m_nq));
  }

  AxhelmArguments m_args;
  Nq m_nq;
};

template <int order>
double axhelm_compiled(const AxhelmArguments& arguments) {
  return AxhelmKernel(arguments, StaticNq<order + 1>{}).run("nekbone_k: axhelm");
}

}  // namespace nekbone_k
