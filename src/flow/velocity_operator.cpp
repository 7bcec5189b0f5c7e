// SPDX-License-Identifier: BSD-3-Clause
#include "flow/velocity_operator.hpp"

namespace nekbone_k {
namespace {

using PlainProduct = EntryReduction<DotTerms, PlainSums<1>>;

}  // namespace

VelocityOperator::VelocityOperator(const Communicator& comm, const EllipticOperator& a,
                                   const AllReduceStrategy& all_reduce)
    : m_a(a), m_range(vector_range(a.space())) {
  if (a.space().is_deterministic()) {
    const double terms = n_components * static_cast<double>(a.space().mesh().total_dofs());
    m_reproducible_sum.emplace(comm, m_range, terms, all_reduce);
  } else {
    m_parts = DeviceVector<EntryValues<1>>("nekbone_k: parts of velocity products",
                                           PlainProduct::n_teams(m_range));
    m_sum.emplace(comm, all_reduce);
  }
}

void VelocityOperator::apply_without_sum(const DeviceVector<double>& u,
                                         const DeviceVector<double>& au,
                                         const EntryWork& before) const {
  const VectorField from(u), to(au);
  for (int c = 0; c < n_components; ++c) {
    EntryWork of_component;
    if (before)
      of_component = [&before, begin = c * from.size()](LocalIndex first, LocalIndex last) {
        before(begin + first, begin + last);
      };
    if (m_reproducible_sum) {
      // Clears no rows: on a deterministic space, elements never add to them.
      m_a.apply_without_sum(from.component(c), to.component(c), of_component);
    } else {
      m_a.apply_here(from.component(c), to.component(c), of_component);
    }
  }
  if (!m_reproducible_sum) m_a.space().gs().exchange(to.field(), Reduction::add);
}

double VelocityOperator::apply(const DeviceVector<double>& u, const DeviceVector<double>& au,
                               const EntryWork& before) const {
  apply_without_sum(u, au, before);
  const DotTerms product{u.data(), au.data()};
  if (m_reproducible_sum) return m_reproducible_sum->sum("nekbone_k: velocity product", product)[0];
  PlainProduct{m_range, product, {}, m_parts}.run("nekbone_k: velocity product");
  m_sum->start(m_parts);
  return m_sum->wait().values[0];
}

}  // namespace nekbone_k
