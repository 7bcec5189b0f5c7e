// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The metric of elements with straight edges, computed where it is needed.
#pragma once

#include "mesh/mapping.hpp"
#include "operators/axhelm/metric_factor.hpp"

namespace nekbone_k {

/// The trilinear map of the reference cube [-1, 1]³ to an element with the same corners,
///
///     x = c + c_r r + c_s s + c_t t + c_rs r s + c_rt r t + c_st s t + c_rst r s t,
///
/// without its constant, which no derivative sees. `T` is a number, or Lanes with one lane per
/// element.
template <class T>
struct TrilinearMap {
  static constexpr int n_coefficients = 7;
  enum Term { r, s, t, rs, rt, st, rst };
  T coefficients[n_coefficients][3];

  /// J (∇r)(∇r)ᵀ at a point of the reference cube. After arXiv 2504.07042 (2025), which
  /// recomputes the factors of such elements instead of reading them.
  KOKKOS_FORCEINLINE_FUNCTION SymmetricFactor<T> factor(double at_r, double at_s,
                                                        double at_t) const {
    const auto& c = coefficients;
    T x_r[3], x_s[3], x_t[3];
    NEKBONE_K_UNROLL
    for (int d = 0; d < 3; ++d) {
      x_t[d] = (c[t][d] + at_s * c[st][d]) + at_r * (c[rt][d] + at_s * c[rst][d]);
      x_r[d] = (c[r][d] + at_s * c[rs][d]) + at_t * (c[rt][d] + at_s * c[rst][d]);
      x_s[d] = (c[s][d] + at_r * c[rs][d]) + at_t * (c[st][d] + at_r * c[rst][d]);
    }
    T a_r[3], a_s[3], a_t[3];  // J ∇r, J ∇s, J ∇t
    cross(x_s, x_t, a_r);
    cross(x_t, x_r, a_s);
    cross(x_r, x_s, a_t);
    const T scale = 1.0 / dot(x_r, a_r);
    return {scale * dot(a_r, a_r), scale * dot(a_r, a_s), scale * dot(a_r, a_t),
            scale * dot(a_s, a_s), scale * dot(a_s, a_t), scale * dot(a_t, a_t)};
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void cross(const T (&a)[3], const T (&b)[3], T (&c)[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
  }
  KOKKOS_FORCEINLINE_FUNCTION static T dot(const T (&a)[3], const T (&b)[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
};

/// The map of the element with the corners corner(a, b, c), a, b, c ∈ {0, 1}.
template <class Corner>
KOKKOS_FUNCTION TrilinearMap<double> trilinear_map(const Corner& corner) {
  using Map = TrilinearMap<double>;
  Map map{};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 2; ++c) {
        const Point p = corner(a, b, c);
        const double x[] = {p.x / 8, p.y / 8, p.z / 8};
        const int r = 2 * a - 1, s = 2 * b - 1, t = 2 * c - 1;
        const int products[] = {r, s, t, r * s, r * t, s * t, r * s * t};
        for (int term = 0; term < Map::n_coefficients; ++term)
          for (int d = 0; d < 3; ++d) map.coefficients[term][d] += products[term] * x[d];
      }
  return map;
}

}  // namespace nekbone_k
