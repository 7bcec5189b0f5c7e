// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The Chebyshev smoother of one level.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "multigrid/chebyshev.hpp"
#include "multigrid/schwarz.hpp"
#include "operators/elliptic_operator.hpp"

namespace nekbone_k {

/// The vectors of a level, assembled, in device memory.
template <class T>
struct LevelVectors {
  DeviceVector<T> b;   ///< right-hand side
  DeviceVector<T> x;   ///< solution
  DeviceVector<T> r;   ///< residual
  DeviceVector<T> z;   ///< direction of the smoother; a correction from the coarser level
  DeviceVector<T> az;  ///< A applied to z or x
};

/// Where a step takes the residual from.
enum class ResidualFrom {
  right_hand_side,          ///< r = b
  right_hand_side_less_az,  ///< r = b - A z
  residual_less_az,         ///< r = r - A z
};

/// Smooths A x = b by Chebyshev steps with a preconditioner S of A: its inverse diagonal (Jacobi),
/// or additive Schwarz. All kernels are launched in the default stream; updates of x and z run in
/// the sweep of the operator that reads them, and so do updates of r with Jacobi. There is no
/// all-reduce, and no host wait if the exchanges of the operator and of S need none.
template <class T>
class Smoother {
 public:
  /// Jacobi. `inverse_diagonal` is zero in padding. Keeps a reference to `a`. Not collective.
  Smoother(const EllipticOperatorOf<T>& a, DeviceVector<T> inverse_diagonal,
           std::vector<ChebyshevStep> steps)
      : m_a(a), m_inverse_diagonal(std::move(inverse_diagonal)), m_steps(std::move(steps)) {}
  /// Schwarz, whose exchanges make destruction collective. Keeps a reference to `a`. Not
  /// collective.
  Smoother(const EllipticOperatorOf<T>& a, std::unique_ptr<AdditiveSchwarz<T>> schwarz,
           std::vector<ChebyshevStep> steps)
      : m_a(a), m_schwarz(std::move(schwarz)), m_steps(std::move(steps)) {}

  /// Smooths from x = 0, then v.r = b - A x. Collective.
  void smooth_from_zero(const LevelVectors<T>& v) const;
  /// x = x + z, then smooths from there. Collective.
  void correct_and_smooth(const LevelVectors<T>& v) const;

  int degree() const { return static_cast<int>(m_steps.size()); }
  void set_steps(std::vector<ChebyshevStep> steps) { m_steps = std::move(steps); }
  /// Null with Jacobi.
  AdditiveSchwarz<T>* schwarz() const { return m_schwarz.get(); }

  // Public because nvcc rejects kernels in private members. Defined in the source file, because
  // nvcc mixes up lambdas of a header in several files.

  /// One step with Jacobi at entries [begin, end). The first step has no direction before it; x = 0
  /// before it if the residual is the right-hand side. The last one leaves r and z as they are,
  /// because nothing reads them before they are overwritten. Every kind of step is compiled, so
  /// that a CPU can use SIMD lanes.
  template <ResidualFrom from, bool is_first, bool is_last>
  void jacobi_step(const LevelVectors<T>& v, const ChebyshevStep& by, LocalIndex begin,
                   LocalIndex end) const;
  /// The same with s_r = S r.
  void step_along(const ConstDeviceVector<T>& s_r, const LevelVectors<T>& v,
                  const ChebyshevStep& by, bool adds_to_x, LocalIndex begin, LocalIndex end) const;
  /// x = x + z at entries [begin, end).
  void correct(const LevelVectors<T>& v, LocalIndex begin, LocalIndex end) const;
  /// r = from - az.
  void update_residual(const LevelVectors<T>& v, const DeviceVector<T>& from) const;

 private:
  /// All steps; the first takes its residual `from`. The operator is applied to z between steps
  /// and, if `last_apply`, to x after the last.
  void run(const LevelVectors<T>& v, ResidualFrom from, bool last_apply) const;
  /// Step k, whose residual is taken `from` its source.
  void jacobi_step(const LevelVectors<T>& v, std::size_t k, ResidualFrom from, LocalIndex begin,
                   LocalIndex end) const;
  /// S r, after r was taken `from` its source.
  ConstDeviceVector<T> apply_schwarz(const LevelVectors<T>& v, ResidualFrom from) const;
  /// az = A u, after `before` has updated u.
  void apply(const DeviceVector<T>& u, const LevelVectors<T>& v, const EntryWork& before) const {
    m_a.apply_without_sum(u, v.az, before);
  }

  const EllipticOperatorOf<T>& m_a;
  DeviceVector<T> m_inverse_diagonal;             // with Jacobi
  std::unique_ptr<AdditiveSchwarz<T>> m_schwarz;  // otherwise
  std::vector<ChebyshevStep> m_steps;
};

}  // namespace nekbone_k
