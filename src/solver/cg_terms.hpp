// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The vector kernels of conjugate gradients with scalars in device memory. All but UpdateDirection
/// are Terms of an EntryReduction: they update vectors entry by entry, and form products of the new
/// entries.
#pragma once

#include "core/entry_reduction.hpp"
#include "solver/cg_state.hpp"

namespace nekbone_k {

/// x + a y, rounded once.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION Value plus(const Value& x, double a, const Value& y) {
  return fused_multiply_add(Value(a), y, x);
}

/// Rows of a vector that a kernel sets to zero on the way, because elements add to them next.
struct ClearedRows {
  double* vector;
  LocalIndex n;  ///< 0 on a CPU whose kernels clear rows themselves, so lanes are never cut

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a) const {
    if (a < n) store_entry(vector + a, Value(0.0));
  }
};

/// z = M r, kept in memory for the operator. With M = I it is r itself, and nothing is stored.
template <class Preconditioner>
struct Preconditioned {
  Preconditioner preconditioner;
  double* z;  ///< null: M = I

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value operator()(LocalIndex a, const Value& r) const {
    const Value value = preconditioner(a, r);
    if (z != nullptr) store_entry(z + a, value);
    return value;
  }
};

/// r = b, and the products r·r and r·z. Sets vectors to zero.
template <class Preconditioner>
struct BeginTerms {
  static constexpr int n_products = 2, most_zeros = 6;
  const double* b;
  double* r;
  Preconditioned<Preconditioner> z;
  double* zeros[most_zeros];  ///< null: none

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[2], Value (&y)[2]) const {
    const Value value = load_entry<Value>(b + a);
    store_entry(r + a, value);
    x[0] = x[1] = y[0] = value;
    y[1] = z(a, value);
    for (double* const vector : zeros)
      if (vector != nullptr) store_entry(vector + a, Value(0.0));
  }
};

/// x = x + alpha p, then p = z + beta p, at an entry. Forms no product.
template <class Preconditioner>
struct UpdateDirection {
  Kokkos::View<const CgState, DeviceMemory> state;
  Preconditioner z;
  const double* r;
  double *x, *p;
  ClearedRows clear;

  KOKKOS_FUNCTION void operator()(LocalIndex a) const {
    const double alpha = state().alpha, direction = p[a];
    if (alpha != 0) x[a] = plus(x[a], alpha, direction);  // a p that is not finite spoils no x
    p[a] = plus(z(a, r[a]), state().beta, direction);
    clear.template operator()<double>(a);
  }
};

/// alpha of a state in device memory.
struct AlphaOfState {
  Kokkos::View<const CgState, DeviceMemory> state;
  KOKKOS_FORCEINLINE_FUNCTION double operator()() const { return state().alpha; }
};

/// r = r - alpha Ap, and the products r·r and r·z. alpha() returns alpha.
template <class Preconditioner, class Alpha>
struct UpdateResidual {
  static constexpr int n_products = 2;
  Alpha alpha;
  Preconditioner z;
  const double* ap;
  double* r;

  template <class Value>
  struct Loaded {
    Value r, ap;
  };
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Loaded<Value> load(LocalIndex a) const {
    return {load_entry<Value>(r + a), load_entry<Value>(ap + a)};
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[2], Value (&y)[2]) const {
    (*this)(a, load<Value>(a), x, y);
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, const Loaded<Value>& loaded,
                                              Value (&x)[2], Value (&y)[2]) const {
    const double step = alpha();
    const Value value = plus(loaded.r, -step, loaded.ap);
    if (step != 0) store_entry(r + a, value);  // an Ap that is not finite spoils no r
    x[0] = x[1] = y[0] = value;
    y[1] = z(a, value);
  }
};

/// The single-reduction variant. It begins with w = A z of the previous z:
///
///     p = z + beta p;   s = w + beta s = A p
///     x = x + alpha p;  r = r - alpha s
///
/// Forms the products r·r and r·z of the new r.
template <class Preconditioner>
struct SingleReductionTerms {
  static constexpr int n_products = 2;
  Kokkos::View<const CgState, DeviceMemory> state;
  Preconditioned<Preconditioner> z;
  double *x, *r, *p, *s;
  const double* w;
  ClearedRows clear;  ///< of w

  template <class Value>
  struct Loaded {
    Value x, r, p, s, w;
  };
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Loaded<Value> load(LocalIndex a) const {
    return {load_entry<Value>(x + a), load_entry<Value>(r + a), load_entry<Value>(p + a),
            load_entry<Value>(s + a), load_entry<Value>(w + a)};
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&left)[2],
                                              Value (&right)[2]) const {
    (*this)(a, load<Value>(a), left, right);
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, const Loaded<Value>& old,
                                              Value (&left)[2], Value (&right)[2]) const {
    const double alpha = state().alpha, beta = state().beta;
    const Value direction = plus(z.preconditioner(a, old.r), beta, old.p);
    const Value energy = plus(old.w, beta, old.s);
    const Value next = plus(old.r, -alpha, energy);
    store_entry(p + a, direction);
    store_entry(s + a, energy);
    if (alpha != 0) {  // once the solve has ended, vectors that are not finite spoil no x and r
      store_entry(x + a, plus(old.x, alpha, direction));
      store_entry(r + a, next);
    }
    clear.template operator()<Value>(a);
    left[0] = left[1] = right[0] = next;
    right[1] = z(a, next);
  }
};

/// The pipelined variant. It begins with w = A z, m = M w and n = A m of the previous z:
///
///     p = z + beta p;   s = w + beta s = A p;  t = n + beta t = A M s
///     x = x + alpha p;  r = r - alpha s;       w = w - alpha t;  m = M w
///
/// Forms the products r·r, r·z and w·z of the new vectors.
template <class Preconditioner>
struct PipelinedTerms {
  static constexpr int n_products = 3;
  Kokkos::View<const CgState, DeviceMemory> state;
  Preconditioned<Preconditioner> m;
  double *x, *r, *p, *s, *t, *w;
  const double* n;
  ClearedRows clear;  ///< of n

  template <class Value>
  struct Loaded {
    Value x, r, p, s, t, w, n;
  };
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Loaded<Value> load(LocalIndex a) const {
    return {load_entry<Value>(x + a), load_entry<Value>(r + a), load_entry<Value>(p + a),
            load_entry<Value>(s + a), load_entry<Value>(t + a), load_entry<Value>(w + a),
            load_entry<Value>(n + a)};
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&left)[3],
                                              Value (&right)[3]) const {
    (*this)(a, load<Value>(a), left, right);
  }
  /// The new values, all but n, from the old ones and z = M r. x and r must not be stored if alpha
  /// is 0: see SingleReductionTerms.
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static Loaded<Value> next(const Loaded<Value>& old, const Value& z,
                                                        double alpha, double beta) {
    const Value p = plus(z, beta, old.p), s = plus(old.w, beta, old.s),
                t = plus(old.n, beta, old.t);
    return {plus(old.x, alpha, p), plus(old.r, -alpha, s), p, s, t, plus(old.w, -alpha, t), old.n};
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, const Loaded<Value>& old,
                                              Value (&left)[3], Value (&right)[3]) const {
    const double alpha = state().alpha;
    const Preconditioner& z = m.preconditioner;
    const Loaded<Value> now = next(old, z(a, old.r), alpha, state().beta);
    store_entry(p + a, now.p);
    store_entry(s + a, now.s);
    store_entry(t + a, now.t);
    if (alpha != 0) {
      store_entry(x + a, now.x);
      store_entry(r + a, now.r);
    }
    store_entry(w + a, now.w);
    clear.template operator()<Value>(a);
    m(a, now.w);
    left[0] = left[1] = right[0] = now.r;
    left[2] = now.w;
    right[1] = right[2] = z(a, now.r);
  }
};

/// m = M w, and the products r·r, r·z and w·z of unchanged vectors.
template <class Preconditioner>
struct PipelinedProducts {
  static constexpr int n_products = 3;
  Preconditioned<Preconditioner> m;
  const double *r, *w;
  ClearedRows clear;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&left)[3],
                                              Value (&right)[3]) const {
    const Value residual = load_entry<Value>(r + a), image = load_entry<Value>(w + a);
    m(a, image);
    clear.template operator()<Value>(a);
    left[0] = left[1] = right[0] = residual;
    left[2] = image;
    right[1] = right[2] = m.preconditioner(a, residual);
  }
};

/// r = b - w, where w = A x, while the solve runs. The products r·r and r·z of r.
template <class Preconditioner>
struct ReplaceResidual {
  static constexpr int n_products = 2;
  Kokkos::View<const CgState, DeviceMemory> state;
  Preconditioned<Preconditioner> z;
  const double* b;
  double* r;
  const double* w;
  ClearedRows clear;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[2], Value (&y)[2]) const {
    Value value = load_entry<Value>(b + a) - load_entry<Value>(w + a);
    if (state().status == CgStatus::running)
      store_entry(r + a, value);
    else  // r stays that of the iteration that ended the solve
      value = load_entry<Value>(r + a);
    clear.template operator()<Value>(a);
    x[0] = x[1] = y[0] = value;
    y[1] = z(a, value);
  }
};

}  // namespace nekbone_k
