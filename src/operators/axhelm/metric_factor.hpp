// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The metric factor of the stiffness matrix at a point, which turns a gradient into a flux.
#pragma once

#include <type_traits>

#include "core/types.hpp"

namespace nekbone_k {

/// The six distinct entries of the symmetric factor G = J (∇r)(∇r)ᵀ. `T` is a number, or Lanes with
/// one lane per element.
template <class T>
struct SymmetricFactor {
  T rr, rs, rt, ss, st, tt;

  /// (r, s, t) = G (r, s, t).
  KOKKOS_FORCEINLINE_FUNCTION void apply(T& r, T& s, T& t) const {
    const T x = r, y = s, z = t;
    r = rr * x + rs * y + rt * z;
    s = rs * x + ss * y + st * z;
    t = rt * x + st * y + tt * z;
  }
  /// The Jacobian J.
  KOKKOS_FORCEINLINE_FUNCTION T determinant() const {
    return rr * (ss * tt - st * st) - rs * (rs * tt - st * rt) + rt * (rs * st - ss * rt);
  }
};

/// The factor as G = L D Lᵀ, L with a unit diagonal. It also takes six numbers and the same number
/// of operations to apply, but J is a product of three numbers. The determinant of six entries
/// takes nine operations and loses more digits the more an element is distorted.
template <class T>
struct LdlFactor {
  T d_r, d_s, d_t;     ///< D
  T l_sr, l_tr, l_ts;  ///< below the diagonal of L

  /// (r, s, t) = G (r, s, t).
  KOKKOS_FORCEINLINE_FUNCTION void apply(T& r, T& s, T& t) const {
    r = d_r * (r + l_sr * s + l_tr * t);
    const T of_s = d_s * (s + l_ts * t);
    s = of_s + l_sr * r;
    t = d_t * t + l_tr * r + l_ts * of_s;
  }
  /// The Jacobian J.
  KOKKOS_FORCEINLINE_FUNCTION T determinant() const { return d_r * d_s * d_t; }
};

/// The factor of a brick along the axes, which is diagonal.
template <class T>
struct DiagonalFactor {
  T rr, ss, tt;

  DiagonalFactor() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit DiagonalFactor(const SymmetricFactor<T>& g)
      : rr(g.rr), ss(g.ss), tt(g.tt) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit DiagonalFactor(const LdlFactor<T>& f)
      : rr(f.d_r), ss(f.d_s), tt(f.d_t) {}

  /// (r, s, t) = G (r, s, t).
  KOKKOS_FORCEINLINE_FUNCTION void apply(T& r, T& s, T& t) const {
    r = rr * r;
    s = ss * s;
    t = tt * t;
  }
  /// The Jacobian J.
  KOKKOS_FORCEINLINE_FUNCTION T determinant() const { return rr * ss * tt; }
};

/// The form to store. A GPU thread waits longer than a CPU for a chain of dependent results,
/// because a CPU works on the next points meanwhile. A GPU has operations to spare
/// (docs/measurements/2026-11-25-element-kernel-gpu.md).
template <class T>
using StoredFactor = std::conditional_t<is_host_device, LdlFactor<T>, SymmetricFactor<T>>;

/// G = L D Lᵀ with determinant `jacobian`.
KOKKOS_INLINE_FUNCTION LdlFactor<double> factorized(const SymmetricFactor<double>& g,
                                                    double jacobian) {
  LdlFactor<double> f{};
  f.d_r = g.rr;
  f.l_sr = g.rs / g.rr;
  f.l_tr = g.rt / g.rr;
  f.d_s = g.ss - f.l_sr * g.rs;
  f.l_ts = (g.st - f.l_sr * g.rt) / f.d_s;
  f.d_t = jacobian / (f.d_r * f.d_s);
  return f;
}

/// A factor with determinant `jacobian` in the form to store.
template <class Factor>
KOKKOS_INLINE_FUNCTION StoredFactor<double> as_stored(const Factor& factor,
                                                      [[maybe_unused]] double jacobian) {
  if constexpr (std::is_same_v<Factor, StoredFactor<double>>) {
    return factor;
  } else {
    return factorized(factor, jacobian);
  }
}

/// c G, whose determinant is c³ times that of G.
KOKKOS_INLINE_FUNCTION SymmetricFactor<double> scaled(const SymmetricFactor<double>& g, double c) {
  return {c * g.rr, c * g.rs, c * g.rt, c * g.ss, c * g.st, c * g.tt};
}
KOKKOS_INLINE_FUNCTION LdlFactor<double> scaled(const LdlFactor<double>& f, double c) {
  return {c * f.d_r, c * f.d_s, c * f.d_t, f.l_sr, f.l_tr, f.l_ts};
}

/// The entries of a factor in either form.
KOKKOS_INLINE_FUNCTION SymmetricFactor<double> multiplied_out(const LdlFactor<double>& f) {
  const double rs = f.l_sr * f.d_r, rt = f.l_tr * f.d_r;
  return {f.d_r,
          rs,
          rt,
          f.d_s + f.l_sr * rs,
          f.l_ts * f.d_s + f.l_sr * rt,
          f.d_t + f.l_tr * rt + f.l_ts * f.l_ts * f.d_s};
}
KOKKOS_INLINE_FUNCTION SymmetricFactor<double> multiplied_out(const SymmetricFactor<double>& g) {
  return g;
}

}  // namespace nekbone_k
