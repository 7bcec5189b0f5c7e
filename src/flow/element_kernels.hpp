// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The element kernels of the flow: advection, curl, pressure source, gradient.
///
/// All results are weak: integrals with the test functions of the GLL nodes, which the
/// gather–scatter then sums. A team works on a block of elements, on a CPU one per SIMD lane.
#pragma once

#include "flow/element_lines.hpp"
#include "flow/flow_elements.hpp"

namespace nekbone_k {

/// along[a] = w Σ_d J ∂r_a/∂x_d v[d]: the fluxes of a vector field along the reference directions.
/// Components are `stride` apart; `along` may be `v`.
template <bool is_diagonal, int stride>
KOKKOS_FORCEINLINE_FUNCTION void along_reference_directions(const MetricAt<Lanes>& at,
                                                            const Lanes& weight, const Lanes* v,
                                                            Lanes* along) {
  const Lanes x = weight * v[0], y = weight * v[stride], z = weight * v[2 * stride];
  if constexpr (is_diagonal) {
    along[0] = at.adjugate[0][0] * x;
    along[stride] = at.adjugate[1][1] * y;
    along[2 * stride] = at.adjugate[2][2] * z;
  } else {
    for (int a = 0; a < 3; ++a)
      along[a * stride] = at.adjugate[a][0] * x + at.adjugate[a][1] * y + at.adjugate[a][2] * z;
  }
}

/// What kernels on GLL nodes share.
template <int nq, bool per_element>
struct NodalKernel {
  static constexpr int points = nq * nq * nq;
  static constexpr bool is_diagonal = MetricReader<per_element>::is_diagonal;
  /// Threads of a team on a GPU: one per line.
  static constexpr int team_size = is_host_device ? 1 : (nq * nq + 31) / 32 * 32;

  explicit NodalKernel(const FlowElementArguments& args)
      : nodes(*args.space),
        metric(*args.metric),
        derivative(args.space->mesh().basis().derivative),
        nu(args.nu) {
    for (int i = 0; i < nq; ++i) weight[i] = args.space->mesh().basis().weights[i];
    for (int c = 0; c < n_components; ++c) {
      u[c] = args.u[c];
      other[c] = args.other[c];
      out[c] = args.out[c];
      surface[c] = args.surface[c];
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION double weight_at(int q) const {
    return weight[q % nq] * weight[q / nq % nq] * weight[q / (nq * nq)];
  }

  /// Adds J times the curl of the vector field in `u` to `curl`, both of shape (component, point).
  /// Uses `component` to load a component into.
  KOKKOS_FORCEINLINE_FUNCTION void add_curl(const FlowTeam& team, LocalIndex block,
                                            const double* const (&field)[n_components],
                                            Lanes* component, Lanes* curl) const {
    for_team(team, points, [&](int q) NEKBONE_K_INLINED {
      for (int c = 0; c < n_components; ++c) curl[c * points + q] = Lanes(0.0);
    });
    for_directions([&](auto c) NEKBONE_K_INLINED {
      nodes.load(team, block, field[c], component);
      // Component c is in two components of the curl.
      constexpr int one = (c + 1) % 3, two = (c + 2) % 3;
      for_directions([&](auto a) NEKBONE_K_INLINED {
        if constexpr (is_diagonal && a == c) return;
        differentiate<a>(team, derivative, component, [&](int q, const Lanes& d) NEKBONE_K_INLINED {
          const MetricAt<Lanes> at = metric(block, q);
          if constexpr (!is_diagonal || a == two) curl[one * points + q] += at.adjugate[a][two] * d;
          if constexpr (!is_diagonal || a == one) curl[two * points + q] -= at.adjugate[a][one] * d;
        });
      });
    });
  }

  BlockNodes<nq> nodes;
  MetricReader<per_element> metric;
  LineMatrix<nq, nq, Mirror::opposite> derivative;
  double weight[nq];
  double nu;
  const double *u[n_components], *other[n_components];
  double *out[n_components], *surface[n_components];
};

/// out = (v, ∇×u) for three components.
template <int nq, bool per_element>
struct CurlKernel : NodalKernel<nq, per_element> {
  using Base = NodalKernel<nq, per_element>;
  using Base::points;
  static constexpr int scratch = (1 + n_components) * points;  ///< in Lanes

  using Base::Base;
  KOKKOS_FUNCTION void operator()(const FlowTeam& team, LocalIndex block, Lanes* work) const {
    Lanes* const curl = work + points;
    this->add_curl(team, block, this->u, work, curl);
    for (int c = 0; c < n_components; ++c)
      this->nodes.store(team, block, this->out[c], this->surface[c], [&](int q) NEKBONE_K_INLINED {
        return Lanes(this->weight_at(q)) * curl[c * points + q];
      });
  }
};

/// out[0] = (∇q, u - ν ∇×other).
template <int nq, bool per_element>
struct PressureSourceKernel : NodalKernel<nq, per_element> {
  using Base = NodalKernel<nq, per_element>;
  using Base::points;
  static constexpr int scratch = (1 + n_components) * points;

  using Base::Base;
  KOKKOS_FUNCTION void operator()(const FlowTeam& team, LocalIndex block, Lanes* work) const {
    Lanes *const component = work, *const f = work + points;
    this->add_curl(team, block, this->other, component, f);
    // f becomes the field, and then its fluxes along the reference directions.
    for (int c = 0; c < n_components; ++c) {
      this->nodes.load(team, block, this->u[c], component);
      for_team(team, points, [&](int q) NEKBONE_K_INLINED {
        Lanes& value = f[c * points + q];
        value = component[q] - Lanes(this->nu) * this->metric(block, q).inverse_jacobian * value;
      });
    }
    for_team(team, points, [&](int q) NEKBONE_K_INLINED {
      along_reference_directions<Base::is_diagonal, points>(
          this->metric(block, q), Lanes(this->weight_at(q)), f + q, f + q);
      component[q] = Lanes(0.0);
    });
    for_directions([&](auto a) NEKBONE_K_INLINED {
      differentiate_transposed<a>(team, f + a * points, component);
    });
    this->nodes.store(team, block, this->out[0], this->surface[0],
                      [&](int q) NEKBONE_K_INLINED { return component[q]; });
  }

  explicit PressureSourceKernel(const FlowElementArguments& args)
      : Base(args), transposed(transpose(args.space->mesh().basis().derivative, nq, nq)) {}

 private:
  template <int a>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate_transposed(const FlowTeam& team, const Lanes* flux,
                                                            Lanes* sum) const {
    differentiate<a>(team, transposed, flux,
                     [&](int q, const Lanes& value) NEKBONE_K_INLINED { sum[q] += value; });
  }

  LineMatrix<nq, nq, Mirror::opposite> transposed;
};

/// out = (v, ∇u[0]) for three components.
template <int nq, bool per_element>
struct GradientKernel : NodalKernel<nq, per_element> {
  using Base = NodalKernel<nq, per_element>;
  using Base::points;
  static constexpr int scratch = (1 + n_components) * points;

  using Base::Base;
  KOKKOS_FUNCTION void operator()(const FlowTeam& team, LocalIndex block, Lanes* work) const {
    Lanes* const along = work + points;  // derivatives along the reference directions
    this->nodes.load(team, block, this->u[0], work);
    for_directions([&](auto a) NEKBONE_K_INLINED {
      differentiate<a>(team, this->derivative, work,
                       [&](int q, const Lanes& d) NEKBONE_K_INLINED { along[a * points + q] = d; });
    });
    for_directions([&](auto c) NEKBONE_K_INLINED {
      this->nodes.store(team, block, this->out[c], this->surface[c], [&](int q) NEKBONE_K_INLINED {
        const MetricAt<Lanes> at = this->metric(block, q);
        const Lanes w(this->weight_at(q));
        if constexpr (Base::is_diagonal)
          return w * at.adjugate[c][c] * along[c * points + q];
        else
          return w * (at.adjugate[0][c] * along[q] + at.adjugate[1][c] * along[points + q] +
                      at.adjugate[2][c] * along[2 * points + q]);
      });
    });
  }
};

/// out = (v, (u·∇)u) for three components, integrated on the GLL points themselves.
template <int nq, bool per_element>
struct NodalAdvectionKernel : NodalKernel<nq, per_element> {
  using Base = NodalKernel<nq, per_element>;
  using Base::points;
  static constexpr int scratch = (2 * n_components + 1) * points;

  using Base::Base;
  KOKKOS_FUNCTION void operator()(const FlowTeam& team, LocalIndex block, Lanes* work) const {
    Lanes *const velocity = work, *const along = work + n_components * points;
    Lanes* const sum = along + n_components * points;
    for (int c = 0; c < n_components; ++c)
      this->nodes.load(team, block, this->u[c], velocity + c * points);
    for_team(team, points, [&](int q) NEKBONE_K_INLINED {
      along_reference_directions<Base::is_diagonal, points>(
          this->metric(block, q), Lanes(this->weight_at(q)), velocity + q, along + q);
    });
    for (int c = 0; c < n_components; ++c) {
      for_team(team, points, [&](int q) NEKBONE_K_INLINED { sum[q] = Lanes(0.0); });
      for_directions([&](auto a) NEKBONE_K_INLINED {
        differentiate<a>(team, this->derivative, velocity + c * points,
                         [&](int q, const Lanes& d)
                             NEKBONE_K_INLINED { sum[q] += along[a * points + q] * d; });
      });
      this->nodes.store(team, block, this->out[c], this->surface[c],
                        [&](int q) NEKBONE_K_INLINED { return sum[q]; });
    }
  }
};

/// out = (v, (u·∇)u) for three components, integrated on m Gauss points per direction.
///
/// On a GPU whose fast scratch holds the velocity at the Gauss points, each thread owns a column of
/// them, whose fluxes and sums stay in registers. Otherwise the team works line by line.
template <int nq, int m, bool per_element>
struct AdvectionKernel {
  static constexpr int fine = m * m * m;
  static constexpr int team_size = is_host_device ? 1 : (m * m + 31) / 32 * 32;
  /// Distance of rows in the scratch of columns. It is odd, so that threads that each read a row
  /// use different banks of the memory.
  static constexpr int row = m | 1;
  static constexpr int layer = row * m;
  /// The velocity, and the derivative matrix.
  static constexpr int column_scratch = n_components * layer * m + m * m;
  static constexpr bool has_columns =
      !is_host_device && fits_fast_scratch(column_scratch, team_size);
  /// Velocity, its part along the reference directions, a sum, and two steps of interpolation.
  static constexpr int line_scratch = (2 * n_components + 1) * fine + nq * m * (nq + m);
  static constexpr int scratch = has_columns ? column_scratch : line_scratch;

  explicit AdvectionKernel(const FlowElementArguments& args)
      : nodes(*args.space),
        metric(*args.gauss_metric),
        interpolate(args.gauss->interpolation),
        test(transpose(args.gauss->interpolation, m, nq)),
        derivative(args.gauss->rule.derivative) {
    for (int i = 0; i < m; ++i) weight[i] = args.gauss->rule.weights[i];
    for (int c = 0; c < n_components; ++c) {
      u[c] = args.u[c];
      out[c] = args.out[c];
      surface[c] = args.surface[c];
    }
  }

  KOKKOS_FUNCTION void operator()(const FlowTeam& team, LocalIndex block, Lanes* work) const {
    if constexpr (has_columns)
      by_columns(team, block, work);
    else
      by_lines(team, block, work);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void by_lines(const FlowTeam& team, LocalIndex block,
                                            Lanes* work) const {
    Lanes *const velocity = work, *const along = work + n_components * fine;
    Lanes *const sum = along + n_components * fine, *const one = sum + fine,
                 *const two = one + nq * nq * m;
    for (int c = 0; c < n_components; ++c) {
      nodes.load(team, block, u[c], sum);
      to_fine(team, sum, one, two, velocity + c * fine);
    }
    for_team(team, fine, [&](int q) NEKBONE_K_INLINED {
      const Lanes w(weight[q % m] * weight[q / m % m] * weight[q / (m * m)]);
      along_reference_directions<MetricReader<per_element>::is_diagonal, fine>(
          metric(block, q), w, velocity + q, along + q);
    });
    for (int c = 0; c < n_components; ++c) {
      const Lanes* const v = velocity + c * fine;
      differentiate<2>(team, derivative, v, [&](int q, const Lanes& d) NEKBONE_K_INLINED {
        sum[q] = along[2 * fine + q] * d;
      });
      differentiate<1>(team, derivative, v, [&](int q, const Lanes& d) NEKBONE_K_INLINED {
        sum[q] += along[fine + q] * d;
      });
      differentiate<0>(team, derivative, v,
                       [&](int q, const Lanes& d) NEKBONE_K_INLINED { sum[q] += along[q] * d; });
      to_nodes(team, sum, one, two);
      nodes.store(team, block, out[c], surface[c], [&](int q) NEKBONE_K_INLINED { return sum[q]; });
    }
  }

  /// Thread j m + i owns the points (i, j, k), which are at i + j row + k layer.
  KOKKOS_FORCEINLINE_FUNCTION void by_columns(const FlowTeam& team, LocalIndex block,
                                              Lanes* work) const {
    Lanes *const velocity = work, *const rows = work + n_components * layer * m;
    const int item = team.team_rank(), i = item % m, j = item / m, own = i + j * row;
    const bool owns = item < m * m;
    if (owns) rows[item] = Lanes(derivative(i, j));  // column j of row i, at j m + i
    for (int c = 0; c < n_components; ++c)
      to_fine_in_place(team, block, u[c], velocity + c * layer * m);
    Lanes along[n_components][m];
    if (owns) {
      const double of_column = weight[i] * weight[j];
      NEKBONE_K_UNROLL
      for (int k = 0; k < m; ++k) {
        Lanes v[n_components];
        for (int c = 0; c < n_components; ++c) v[c] = velocity[c * layer * m + own + k * layer];
        along_reference_directions<MetricReader<per_element>::is_diagonal, 1>(
            metric(block, item + k * m * m), Lanes(of_column * weight[k]), v, v);
        for (int a = 0; a < n_components; ++a) along[a][k] = v[a];
      }
    }
    for (int c = 0; c < n_components; ++c) {
      Lanes* const v = velocity + c * layer * m;
      Lanes sum[m];
      if (owns) {
        Lanes d[m];
        NEKBONE_K_UNROLL
        for (int k = 0; k < m; ++k) d[k] = v[own + k * layer];
        derivative(
            d, [&](int k, const Lanes& value) NEKBONE_K_INLINED { sum[k] = along[2][k] * value; });
        add_derivative(v + i, row, rows + j, along[1], sum);
        add_derivative(v + j * row, 1, rows + i, along[0], sum);
      }
      team.team_barrier();
      to_nodes_in_place(team, sum, v);
      nodes.store(team, block, out[c], surface[c], [&](int q) NEKBONE_K_INLINED {
        return v[q % nq + q / nq % nq * row + q / (nq * nq) * layer];
      });
    }
  }

  /// Adds a flux times a derivative at the points of a column. It reads the points of a line at
  /// `stride` in each layer. `of_row` is a row of the derivative matrix, with a distance of m.
  KOKKOS_FORCEINLINE_FUNCTION static void add_derivative(const Lanes* line, int stride,
                                                         const Lanes* of_row,
                                                         const Lanes (&flux)[m], Lanes (&sum)[m]) {
    Lanes d[m];
    NEKBONE_K_UNROLL
    for (int k = 0; k < m; ++k) d[k] = Lanes(0.0);
    NEKBONE_K_UNROLL
    for (int n = 0; n < m; ++n) {
      const Lanes factor = of_row[n * m];
      NEKBONE_K_UNROLL
      for (int k = 0; k < m; ++k) d[k] += factor * line[n * stride + k * layer];
    }
    NEKBONE_K_UNROLL
    for (int k = 0; k < m; ++k) sum[k] += flux[k] * d[k];
  }

  /// Applies a matrix to a line of the scratch of columns, in place. For one thread.
  template <int rows, int columns>
  KOKKOS_FORCEINLINE_FUNCTION static void apply_in_place(
      const LineMatrix<rows, columns, Mirror::same>& matrix, Lanes* line, int stride) {
    Lanes x[columns];
    NEKBONE_K_UNROLL
    for (int n = 0; n < columns; ++n) x[n] = line[n * stride];
    matrix(x, [&](int n, const Lanes& value) NEKBONE_K_INLINED { line[n * stride] = value; });
  }

  /// Reads the nodes of a vector and interpolates them to the Gauss points.
  KOKKOS_FORCEINLINE_FUNCTION void to_fine_in_place(const FlowTeam& team, LocalIndex block,
                                                    const double* vector, Lanes* v) const {
    const int item = team.team_rank();
    if (item < nq * nq) {
      Lanes x[nq];
      nodes.load_column(block, vector, item, x);
      Lanes* const column = v + item % nq + item / nq * row;
      interpolate(x,
                  [&](int k, const Lanes& value) NEKBONE_K_INLINED { column[k * layer] = value; });
    }
    team.team_barrier();
    if (item < nq * m) apply_in_place(interpolate, v + item % nq + item / nq * layer, row);
    team.team_barrier();
    if (item < m * m) apply_in_place(interpolate, v + item % m * row + item / m * layer, 1);
    team.team_barrier();
  }
  /// The transpose of the interpolation, of sums at the points of the columns.
  KOKKOS_FORCEINLINE_FUNCTION void to_nodes_in_place(const FlowTeam& team, const Lanes (&sum)[m],
                                                     Lanes* v) const {
    const int item = team.team_rank();
    if (item < m * m) {
      Lanes* const column = v + item % m + item / m * row;
      test(sum, [&](int k, const Lanes& value) NEKBONE_K_INLINED { column[k * layer] = value; });
    }
    team.team_barrier();
    if (item < m * nq) apply_in_place(test, v + item % m + item / m * layer, row);
    team.team_barrier();
    if (item < nq * nq) apply_in_place(test, v + item % nq * row + item / nq * layer, 1);
    team.team_barrier();
  }

  /// y = A x along direction `a`, where x has n0 × n1 × n2 points.
  template <int a, int n0, int n1, int n2, int rows, int columns>
  KOKKOS_FORCEINLINE_FUNCTION static void apply(
      const FlowTeam& team, const LineMatrix<rows, columns, Mirror::same>& matrix, const Lanes* x,
      Lanes* y) {
    for_lines<a, n0, n1, n2>(team, [&](int first, int stride) NEKBONE_K_INLINED {
      Lanes line[columns];
      NEKBONE_K_UNROLL
      for (int i = 0; i < columns; ++i) line[i] = x[first + i * stride];
      // The line begins at the same place of its layer, and layers change their size.
      const int layer = n0 * n1;
      const int to = a == 0   ? first / n0 * rows
                     : a == 1 ? first / layer * (n0 * rows) + first % layer
                              : first;
      matrix(line,
             [&](int i, const Lanes& value) NEKBONE_K_INLINED { y[to + i * stride] = value; });
    });
  }
  /// From nq³ nodes to m³ Gauss points.
  KOKKOS_FORCEINLINE_FUNCTION void to_fine(const FlowTeam& team, const Lanes* x, Lanes* one,
                                           Lanes* two, Lanes* y) const {
    apply<2, nq, nq, nq>(team, interpolate, x, one);
    apply<1, nq, nq, m>(team, interpolate, one, two);
    apply<0, nq, m, m>(team, interpolate, two, y);
  }
  /// The transpose of to_fine(), in place.
  KOKKOS_FORCEINLINE_FUNCTION void to_nodes(const FlowTeam& team, Lanes* x, Lanes* one,
                                            Lanes* two) const {
    apply<0, m, m, m>(team, test, x, two);
    apply<1, nq, m, m>(team, test, two, one);
    apply<2, nq, nq, m>(team, test, one, x);
  }

  BlockNodes<nq> nodes;
  MetricReader<per_element> metric;
  LineMatrix<m, nq, Mirror::same> interpolate;
  LineMatrix<nq, m, Mirror::same> test;
  LineMatrix<m, m, Mirror::opposite> derivative;
  double weight[m];
  const double* u[n_components];
  double *out[n_components], *surface[n_components];
};

/// Parts of integrals and maxima of a block of elements, see FlowSums.
template <int nq, bool per_element>
struct FlowSumsKernel : NodalKernel<nq, per_element> {
  using Base = NodalKernel<nq, per_element>;
  using Base::points;
  static constexpr int scratch = (1 + 2 * n_components) * points;

  explicit FlowSumsKernel(const FlowElementArguments& args) : Base(args), sums(args.sums) {
    const GllBasis& basis = args.space->mesh().basis();
    for (int i = 0; i < nq; ++i) {
      double gap = 2;
      if (i > 0) gap = basis.nodes[i] - basis.nodes[i - 1];
      if (i < nq - 1) gap = std::min(gap, basis.nodes[i + 1] - basis.nodes[i]);
      inverse_gap[i] = 1 / gap;
    }
  }

  KOKKOS_FUNCTION void operator()(const FlowTeam& team, LocalIndex block, Lanes* work) const {
    Lanes *const component = work, *const curl = work + points, *const rates = curl + 3 * points;
    this->add_curl(team, block, this->u, component, curl);
    // Divergence, speed against the mesh, and energy.
    for_team(team, points, [&](int q) NEKBONE_K_INLINED {
      for (int i = 0; i < 3; ++i) rates[i * points + q] = Lanes(0.0);
    });
    for_directions([&](auto c) NEKBONE_K_INLINED {
      this->nodes.load(team, block, this->u[c], component);
      for_directions([&](auto a) NEKBONE_K_INLINED {
        if constexpr (Base::is_diagonal && a != c) return;
        differentiate<a>(team, this->derivative, component,
                         [&](int q, const Lanes& d) NEKBONE_K_INLINED {
                           rates[q] += this->metric(block, q).adjugate[a][c] * d;
                         });
      });
    });
    // Each thread has its own sums, one lane per element.
    Lanes enstrophy(0.0), divergence(0.0), speed(0.0);
    const auto visit = [&](int q) NEKBONE_K_INLINED {
      const MetricAt<Lanes> at = this->metric(block, q);
      Lanes squares(0.0);
      for (int c = 0; c < n_components; ++c) squares += curl[c * points + q] * curl[c * points + q];
      enstrophy += Lanes(this->weight_at(q)) * at.inverse_jacobian * squares;
      divergence = larger(divergence, Kokkos::abs(at.inverse_jacobian * rates[q]));
    };
    const auto visit_speed = [&](int q, const Lanes(&v)[n_components]) NEKBONE_K_INLINED {
      const MetricAt<Lanes> at = this->metric(block, q);
      const double gaps[3] = {inverse_gap[q % nq], inverse_gap[q / nq % nq],
                              inverse_gap[q / (nq * nq)]};
      Lanes sum(0.0);
      for (int a = 0; a < 3; ++a) {
        const Lanes along =
            at.adjugate[a][0] * v[0] + at.adjugate[a][1] * v[1] + at.adjugate[a][2] * v[2];
        sum += Lanes(gaps[a]) * Kokkos::abs(at.inverse_jacobian * along);
      }
      speed = larger(speed, sum);
    };
    for_each_own(team, visit);
    // The curl is no longer needed.
    if constexpr (!is_host_device) team.team_barrier();
    for (int c = 0; c < n_components; ++c)
      this->nodes.load(team, block, this->u[c], curl + c * points);
    for_each_own(team, [&](int q) NEKBONE_K_INLINED {
      visit_speed(q, {curl[q], curl[points + q], curl[2 * points + q]});
    });
    double total = 0, largest_divergence = 0, largest_speed = 0;
    for (int lane = 0; lane < ElementLayout::lanes; ++lane) {
      total += enstrophy[lane];
      largest_divergence = Kokkos::max(largest_divergence, double(divergence[lane]));
      largest_speed = Kokkos::max(largest_speed, double(speed[lane]));
    }
    if constexpr (!is_host_device) {
      team.team_reduce(Kokkos::Sum<double>(total));
      team.team_reduce(Kokkos::Max<double>(largest_divergence));
      team.team_reduce(Kokkos::Max<double>(largest_speed));
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      sums(block, 0) = total;
      sums(block, 1) = largest_divergence;
      sums(block, 2) = largest_speed;
    });
  }

 private:
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_own(const FlowTeam& team, const F& f) {
    for (int q = team.team_rank(); q < points; q += team.team_size()) f(q);
  }

  double inverse_gap[nq];
  FlowBlockSums sums;
};

}  // namespace nekbone_k
