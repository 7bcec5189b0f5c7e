// SPDX-License-Identifier: BSD-3-Clause
#include "operators/elliptic_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/entry_reduction.hpp"
#include "core/errors.hpp"
#include "core/region.hpp"
#include "gs/run_overlapped.hpp"

namespace nekbone_k {
namespace {

constexpr LocalIndex points_at_a_time = LaunchShape<ExecutionSpace>::points_at_a_time;

/// Prepares rows [begin, end) of au for elements to add to: calls `before` and clears the rows.
template <class T>
void begin_rows(const DeviceVector<T>& au, LocalIndex begin, LocalIndex end,
                const EntryWork& before) {
  if (begin == end) return;
  if (before) before(begin, end);
  Kokkos::deep_copy(ExecutionSpace(), Kokkos::subview(au, std::pair(begin, end)), T(0));
}

}  // namespace

template <class T>
bool EllipticOperatorOf<T>::sweeps() const {
  return points_at_a_time > 0 && m_surface_results == SurfaceResults::added;
}

template <class T>
EllipticOperatorOf<T>::EllipticOperatorOf(AssembledSpace& space, const FactorsOf<T>& geometry)
    : m_space(space),
      m_geometry(geometry),
      m_partial_dots("nekbone_k: partial dots", n_partial_dots(space.layout())),
      m_surface_results(!space.is_deterministic() && can_add_surface_results(space.mesh().order())
                            ? SurfaceResults::added
                            : SurfaceResults::stored) {
  if (has_products || !adds_to_rows()) m_au_surface = space.template surface_values<T>();
}

template <class T>
EllipticOperatorOf<T>::EllipticOperatorOf(
    AssembledSpace& space, const FactorsOf<T>& geometry, double lambda,
    const AllReduceStrategy& all_reduce) requires(has_products)
    : EllipticOperatorOf(space, geometry) {
  set_lambda(lambda);
  const Communicator& comm = space.gs().communicator();
  if (const auto n_terms = space.reproducible_terms()) {
    m_reproducible_dot.emplace(comm, space.range(), *n_terms, all_reduce);
  } else {
    m_u_dot_au.emplace(comm, all_reduce);
  }
}

template <class T>
EllipticOperatorOf<T>::EllipticOperatorOf(AssembledSpace& space, const FactorsOf<T>& geometry,
                                          double lambda) requires(!has_products)
    : EllipticOperatorOf(space, geometry) {
  set_lambda(lambda);
}

template <class T>
void EllipticOperatorOf<T>::set_lambda(double lambda) {
  m_kernel_lambda = m_geometry.kernel_lambda(lambda);
  m_lambda = lambda;
}

template <class T>
AxhelmArgumentsOf<T> EllipticOperatorOf<T>::element_arguments(const DeviceVector<T>& u,
                                                              const DeviceVector<T>& au,
                                                              LocalIndex first_block,
                                                              LocalIndex last_block) const {
  return {.layout = m_space.layout(),
          .first_block = first_block,
          .last_block = last_block,
          .interior_begin = m_space.interior_begin(),
          .lambda = m_kernel_lambda,
          .surface_entries = m_space.surface_entries().reader(),
          .scaled_basis = &m_geometry.scaled_basis,
          .geometry = m_geometry.geometry,
          .factors = m_geometry.factors,
          .scaled_derivative = m_geometry.scaled_derivative,
          .root_weights = m_geometry.root_weights,
          .nodes = m_geometry.nodes,
          .u = u,
          .au = au,
          .surface_results = m_surface_results,
          .n_rows = m_space.n_rows(),
          .au_surface = m_au_surface,
          .partial_dots = m_partial_dots};
}

template <class T>
void EllipticOperatorOf<T>::elements(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                     LocalIndex first_block, LocalIndex last_block,
                                     const ExecutionSpace& stream) const {
  axhelm(element_arguments(u, au, first_block, last_block), stream);
}

template <class T>
void EllipticOperatorOf<T>::sweep(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                  LocalIndex first_block, LocalIndex last_block,
                                  const EntryWork& before) const {
  const int points_of_block = m_space.layout().points() * ElementLayout::lanes;
  const LocalIndex some = std::max(LocalIndex{1}, points_at_a_time / points_of_block);
  for (LocalIndex block = first_block; block < last_block;) {
    const LocalIndex next = std::min(block + some, last_block);
    begin_rows(au, m_space.first_row(block), m_space.first_row(next), before);
    if (before) before(m_space.first_interior(block), m_space.first_interior(next));
    elements(u, au, block, next);
    block = next;
  }
}

template <class T>
void EllipticOperatorOf<T>::apply_boundary(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                           const EntryWork& before,
                                           const ExecutionSpace& stream) const
    requires(has_products) {
  begin_apply(u, au, m_space.n_boundary_blocks(), {.before = before}, stream);
}

template <class T>
void EllipticOperatorOf<T>::apply_interior(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                           const EntryWork& before) const requires(has_products) {
  end_apply(u, au, m_space.n_boundary_blocks(), {.before = before});
}

template <class T>
void EllipticOperatorOf<T>::begin_apply(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                        LocalIndex last_block, const Parts& parts,
                                        const ExecutionSpace& stream) const {
  if (sweeps()) {
    begin_rows(au, 0, m_space.first_row(0), parts.before);
    return sweep(u, au, 0, last_block, parts.before);
  }
  // A different division of the elements may write one part less, which would leave an old part.
  if (std::exchange(m_divided_at, last_block) != last_block)
    Kokkos::deep_copy(ExecutionSpace(), m_partial_dots, 0.0);
  if (parts.before) parts.before(0, m_space.size());
  if (parts.clears && m_surface_results == SurfaceResults::added)
    begin_rows(au, 0, m_space.n_rows(), {});
  run_after(stream, ExecutionSpace());
  elements(u, au, 0, last_block, stream);
  if (m_surface_results == SurfaceResults::stored) m_space.gather_shared(au, stream);
  if (stream != ExecutionSpace())
    m_boundary_applied.record(stream);
  else
    m_boundary_applied.forget();
}

template <class T>
void EllipticOperatorOf<T>::end_apply(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                      LocalIndex first_block, const Parts& parts) const {
  if (sweeps()) {
    sweep(u, au, first_block, m_space.layout().n_blocks(), parts.before);
  } else {
    elements(u, au, first_block, m_space.layout().n_blocks());
  }
  m_boundary_applied.wait(ExecutionSpace());
  if (parts.sums && m_u_dot_au) m_u_dot_au->start(m_partial_dots);
  if (m_surface_results == SurfaceResults::stored) m_space.gather_own_rows(au);
}

template <class T>
void EllipticOperatorOf<T>::start_u_dot_au() const requires(has_products) {
  m_boundary_applied.wait(ExecutionSpace());
  if (m_u_dot_au) m_u_dot_au->start(m_partial_dots);
}

template <class T>
void EllipticOperatorOf<T>::apply_some_boundary(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                                double portion,
                                                const ExecutionSpace& stream) const {
  begin_some_rows(au, portion);
  run_after(stream, ExecutionSpace());
  const auto [first, divided, last] = some_blocks(portion);
  elements(u, au, first, divided, stream);
  if (stream != ExecutionSpace()) m_boundary_applied.record(stream);
}

template <class T>
void EllipticOperatorOf<T>::apply_some_interior(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                                double portion) const {
  const auto [first, divided, last] = some_blocks(portion);
  elements(u, au, divided, last);
}

template <class T>
void EllipticOperatorOf<T>::apply_some(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                       double portion) const {
  begin_some_rows(au, portion);
  const auto [first, divided, last] = some_blocks(portion);
  elements(u, au, first, last);
}

template <class T>
void EllipticOperatorOf<T>::begin_some_rows(const DeviceVector<T>& au, double portion) const {
  // A sweep clears the rows between the elements.
  if (m_surface_results == SurfaceResults::added && !sweeps())
    begin_rows(au, 0, static_cast<LocalIndex>(std::ceil(portion * m_space.n_rows())), {});
}

template <class T>
std::array<LocalIndex, 3> EllipticOperatorOf<T>::some_blocks(double portion) const {
  m_divided_at = -1;  // so that the next apply() clears the parts of the product
  const LocalIndex boundary = m_space.n_boundary_blocks();
  const LocalIndex interior = m_space.layout().n_blocks() - boundary;
  return {boundary - static_cast<LocalIndex>(std::ceil(portion * boundary)), boundary,
          boundary + static_cast<LocalIndex>(std::ceil(portion * interior))};
}

template <class T>
void EllipticOperatorOf<T>::apply_and_exchange(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                               const Parts& parts, EventLog* log) const {
  const Region region("Ax");
  const FieldExchange<T> exchange = m_space.gs().exchange_of(as_field(au), Reduction::add, log);
  const LocalIndex all = m_space.layout().n_blocks(), boundary = m_space.n_boundary_blocks();
  const bool is_alone = m_space.gs().communicator().size() == 1;
  if (m_space.gs().strategy({1, precision_of<T>}).overlapped && !is_alone) {
    run_overlapped(
        [&](const ExecutionSpace& stream) {
          begin_apply(u, au, boundary, parts, stream);
          record(log, "boundary elements");
        },
        exchange,
        [&] {
          end_apply(u, au, boundary, parts);
          record(log, "interior elements");
        });
  } else {
    // One kernel for all elements. With two, the second would start when the first no longer fills
    // the device.
    begin_apply(u, au, all, parts, ExecutionSpace());
    end_apply(u, au, all, parts);
    record(log, "elements");
    if (!is_alone) exchange.run();
  }
}

template <class T>
double EllipticOperatorOf<T>::apply(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                    const EntryWork& before, EventLog* log) const
    requires(has_products) {
  apply_and_exchange(u, au, {.before = before}, log);
  if (m_reproducible_dot)
    return m_reproducible_dot->sum("nekbone_k: u . Au", DotTerms{u.data(), au.data()})[0];
  return u_dot_au();
}

template <class T>
void EllipticOperatorOf<T>::apply_without_sum(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                              const EntryWork& before) const {
  apply_and_exchange(u, au, {.before = before, .clears = false, .sums = false}, nullptr);
}

template <class T>
void EllipticOperatorOf<T>::apply_here(const DeviceVector<T>& u, const DeviceVector<T>& au,
                                       const EntryWork& before) const {
  require(!m_space.is_deterministic(), "a deterministic space exchanges contributions, not shares");
  const Region region("Ax");
  const Parts parts{.before = before, .clears = true, .sums = false};
  const LocalIndex all = m_space.layout().n_blocks();
  begin_apply(u, au, all, parts, ExecutionSpace());
  end_apply(u, au, all, parts);
}

template <class T>
LocalIndex EllipticOperatorOf<T>::n_cleared_rows() const {
  return m_surface_results == SurfaceResults::added && !sweeps() ? m_space.n_rows() : 0;
}

template <class T>
bool EllipticOperatorOf<T>::is_queued() const {
  return m_space.gs().template is_queued<T>();
}

template <class T>
double EllipticOperatorOf<T>::least_bytes() const {
  const double elements = m_space.layout().n_elements;
  const double interior = elements * m_space.layout().n_interior(), rows = m_space.n_rows();
  const int factors =
      GeometricFactors::values_per_element(m_geometry.geometry, m_space.layout().nq);
  constexpr int value = sizeof(T);
  const double dot = m_reproducible_dot ? value * 4 * double{1} * m_space.size() : 0;
  const double to_rows = m_surface_results == SurfaceResults::added
                             ? value * 3 * rows
                             : value * elements * m_space.layout().n_surface() +
                                   m_space.gs().assembly().template least_bytes<T>();
  return dot + value * elements * factors + value * (rows + interior) + value * interior + to_rows +
         m_space.surface_entries().least_bytes();
}

template <class T>
DeviceVector<double> EllipticOperatorOf<T>::inverse_diagonal() const requires(has_products) {
  const FactorReader g(m_geometry, m_space.layout());
  const double lambda = m_lambda;
  const auto inverse = m_space.make_vector("inverse diagonal");
  m_space.assemble(
      KOKKOS_LAMBDA(LocalIndex e, int i, int j, int k) {
        const auto d = [&](int a, int b) { return g.derivative(a * g.nq + b); };
        double sum = lambda * g.mass(e, i, j, k);
        for (int m = 0; m < g.nq; ++m)
          sum += d(m, i) * d(m, i) * g.factor(e, 0, m, j, k) +
                 d(m, j) * d(m, j) * g.factor(e, 3, i, m, k) +
                 d(m, k) * d(m, k) * g.factor(e, 5, i, j, m);
        return sum + 2 * (d(i, i) * d(j, j) * g.factor(e, 1, i, j, k) +
                          d(i, i) * d(k, k) * g.factor(e, 2, i, j, k) +
                          d(j, j) * d(k, k) * g.factor(e, 4, i, j, k));
      },
      inverse);
  Kokkos::parallel_for(
      "nekbone_k: invert", Kokkos::RangePolicy<ExecutionSpace>(0, m_space.size()),
      KOKKOS_LAMBDA(const LocalIndex a) {
        if (inverse(a) != 0) inverse(a) = 1 / inverse(a);
      });
  return inverse;
}

template class EllipticOperatorOf<double>;
template class EllipticOperatorOf<float>;

}  // namespace nekbone_k
