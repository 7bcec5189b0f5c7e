// SPDX-License-Identifier: BSD-3-Clause
#include "flow/velocity_operator.hpp"

namespace nekbone_k {

VelocityOperator::VelocityOperator(const Communicator& comm, const EllipticOperator& a,
                                   const AllReduceStrategy& all_reduce)
    : m_a(a),
      m_product(comm, vector_range(a.space()), all_reduce,
                a.space().reproducible_terms(n_components)) {}

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
    if (m_product.is_reproducible()) {
      // Clears no rows: on a deterministic space, elements never add to them.
      m_a.apply_without_sum(from.component(c), to.component(c), of_component);
    } else {
      m_a.apply_here(from.component(c), to.component(c), of_component);
    }
  }
  if (!m_product.is_reproducible()) m_a.space().gs().exchange(to.field(), Reduction::add);
}

double VelocityOperator::apply(const DeviceVector<double>& u, const DeviceVector<double>& au,
                               const EntryWork& before) const {
  apply_without_sum(u, au, before);
  return m_product.sum("nekbone_k: velocity product", DotTerms{u.data(), au.data()})[0];
}

}  // namespace nekbone_k
