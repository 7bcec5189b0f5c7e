// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/smoother.hpp"

#include "core/entry_loop.hpp"

namespace nekbone_k {

template <class T>
void Smoother<T>::smooth_from_zero(const LevelVectors<T>& v) const {
  run(v, ResidualFrom::right_hand_side, /*last_apply=*/true);
  update_residual(v, v.b);
}

template <class T>
void Smoother<T>::correct_and_smooth(const LevelVectors<T>& v) const {
  apply(v.x, v, [&](LocalIndex begin, LocalIndex end) { correct(v, begin, end); });
  run(v, ResidualFrom::right_hand_side_less_az, /*last_apply=*/false);
}

template <class T>
template <ResidualFrom from, bool is_first, bool is_last>
void Smoother<T>::jacobi_step(const LevelVectors<T>& v, const ChebyshevStep& by, LocalIndex begin,
                              LocalIndex end) const {
  const T direction = static_cast<T>(by.direction), residual = static_cast<T>(by.residual),
          solution = static_cast<T>(by.solution);
  const auto b = v.b, x = v.x, r = v.r, z = v.z, az = v.az;
  const auto inverse_diagonal = m_inverse_diagonal;
  const LocalIndex n_cleared = m_a.n_cleared_rows();
  for_entries(
      "nekbone_k: Jacobi step", begin, end,
      KOKKOS_LAMBDA(const LocalIndex a) {
        constexpr bool from_zero = from == ResidualFrom::right_hand_side;
        Kokkos::Array<T, 4> in;
        in[0] = from == ResidualFrom::residual_less_az ? r(a) : b(a);
        if (!from_zero) in[0] -= az(a);
        in[1] = residual * inverse_diagonal(a) * in[0];
        in[2] = is_first ? T(0) : direction * z(a);
        in[3] = from_zero ? T(0) : x(a);
        return in;
      },
      KOKKOS_LAMBDA(const LocalIndex a, const Kokkos::Array<T, 4>& in) {
        constexpr bool from_zero = from == ResidualFrom::right_hand_side;
        if (!from_zero && !is_last) r(a) = in[0];
        if (a < n_cleared) az(a) = 0;
        const T next = is_first ? in[1] : in[2] + in[1];
        if (!is_last) z(a) = next;
        x(a) = from_zero ? solution * next : in[3] + solution * next;
      });
}

template <class T>
void Smoother<T>::step_along(const ConstDeviceVector<T>& s_r, const LevelVectors<T>& v,
                             const ChebyshevStep& by, bool adds_to_x, LocalIndex begin,
                             LocalIndex end) const {
  const T direction = static_cast<T>(by.direction), residual = static_cast<T>(by.residual),
          solution = static_cast<T>(by.solution);
  const auto x = v.x, z = v.z, az = v.az;
  const LocalIndex n_cleared = m_a.n_cleared_rows();
  for_entries(
      "nekbone_k: Schwarz step", begin, end,
      KOKKOS_LAMBDA(const LocalIndex a) {
        Kokkos::Array<T, 2> in;
        const T change = residual * s_r(a);
        in[0] = direction == 0 ? change : direction * z(a) + change;
        in[1] = adds_to_x ? x(a) : T(0);
        return in;
      },
      KOKKOS_LAMBDA(const LocalIndex a, const Kokkos::Array<T, 2>& in) {
        if (a < n_cleared) az(a) = 0;
        z(a) = in[0];
        x(a) = adds_to_x ? in[1] + solution * in[0] : solution * in[0];
      });
}

template <class T>
void Smoother<T>::correct(const LevelVectors<T>& v, LocalIndex begin, LocalIndex end) const {
  const auto x = v.x, z = v.z, az = v.az;
  const LocalIndex n_cleared = m_a.n_cleared_rows();
  for_entries(
      "nekbone_k: coarse correction", begin, end,
      KOKKOS_LAMBDA(const LocalIndex a) { return Kokkos::Array<T, 1>{x(a) + z(a)}; },
      KOKKOS_LAMBDA(const LocalIndex a, const Kokkos::Array<T, 1>& in) {
        x(a) = in[0];
        if (a < n_cleared) az(a) = 0;
      });
}

template <class T>
void Smoother<T>::update_residual(const LevelVectors<T>& v, const DeviceVector<T>& from) const {
  const auto r = v.r, az = v.az;
  for_entries(
      "nekbone_k: smoothed residual", 0, static_cast<LocalIndex>(r.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex a) { return Kokkos::Array<T, 1>{from(a) - az(a)}; },
      KOKKOS_LAMBDA(const LocalIndex a, const Kokkos::Array<T, 1>& in) { r(a) = in[0]; });
}

template <class T>
void Smoother<T>::run(const LevelVectors<T>& v, ResidualFrom from, bool last_apply) const {
  const bool from_zero = from == ResidualFrom::right_hand_side;
  for (std::size_t k = 0; k < m_steps.size(); ++k) {
    // The first residual from zero is b, which stays; later ones are in r.
    const ResidualFrom source = k == 0                ? from
                                : k == 1 && from_zero ? ResidualFrom::right_hand_side_less_az
                                                      : ResidualFrom::residual_less_az;
    const bool adds_to_x = k > 0 || !from_zero;
    const ConstDeviceVector<T> s_r = m_schwarz ? apply_schwarz(v, source) : v.r;
    const auto work = [&, k](LocalIndex begin, LocalIndex end) {
      if (m_schwarz)
        step_along(s_r, v, m_steps[k], adds_to_x, begin, end);
      else
        jacobi_step(v, k, source, begin, end);
    };
    if (k + 1 < m_steps.size())
      apply(v.z, v, work);
    else if (last_apply)
      apply(v.x, v, work);
    else
      work(0, m_a.space().size());
  }
}

template <class T>
void Smoother<T>::jacobi_step(const LevelVectors<T>& v, std::size_t k, ResidualFrom from,
                              LocalIndex begin, LocalIndex end) const {
  using enum ResidualFrom;
  const ChebyshevStep& by = m_steps[k];
  const bool is_last = k + 1 == m_steps.size();
  if (from == right_hand_side)
    is_last ? jacobi_step<right_hand_side, true, true>(v, by, begin, end)
            : jacobi_step<right_hand_side, true, false>(v, by, begin, end);
  else if (from == residual_less_az)
    is_last ? jacobi_step<residual_less_az, false, true>(v, by, begin, end)
            : jacobi_step<residual_less_az, false, false>(v, by, begin, end);
  else if (k == 0)
    is_last ? jacobi_step<right_hand_side_less_az, true, true>(v, by, begin, end)
            : jacobi_step<right_hand_side_less_az, true, false>(v, by, begin, end);
  else
    is_last ? jacobi_step<right_hand_side_less_az, false, true>(v, by, begin, end)
            : jacobi_step<right_hand_side_less_az, false, false>(v, by, begin, end);
}

template <class T>
ConstDeviceVector<T> Smoother<T>::apply_schwarz(const LevelVectors<T>& v, ResidualFrom from) const {
  if (from == ResidualFrom::right_hand_side) return (*m_schwarz)(v.b);
  update_residual(v, from == ResidualFrom::right_hand_side_less_az ? v.b : v.r);
  return (*m_schwarz)(v.r);
}

template class Smoother<double>;
template class Smoother<float>;

}  // namespace nekbone_k
