// SPDX-License-Identifier: BSD-3-Clause
#include "flow/projection.hpp"

#include <cmath>

#include "core/errors.hpp"
#include "core/large_vector.hpp"

namespace nekbone_k {
namespace {

constexpr int at_once = ProjectionSpace::at_once;

/// The products of a vector with several others.
struct ProductsOfMany {
  static constexpr int n_products = at_once;
  const double* v;
  Kokkos::Array<const double*, at_once> others;

  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(LocalIndex a, Value (&x)[at_once],
                                              Value (&y)[at_once]) const {
    const Value value = load_entry<Value>(v + a);
    for (int i = 0; i < at_once; ++i) {
      x[i] = value;
      y[i] = load_entry<Value>(others[i] + a);
    }
  }
};

/// Kernels that handle `vectors` vectors, a few at once.
int passes(int vectors) { return (vectors + at_once - 1) / at_once; }

/// x = keep x + Σ factors[i] vectors[i].
struct Combination {
  double keep;
  Kokkos::Array<double, at_once> factors;
  Kokkos::Array<const double*, at_once> vectors;
  double* x;

  KOKKOS_FUNCTION void operator()(const LocalIndex a) const {
    double sum = keep == 0 ? 0 : keep * x[a];
    for (int i = 0; i < at_once; ++i) sum += factors[i] * vectors[i][a];
    x[a] = sum;
  }
};

}  // namespace

ProjectionSpace::ProjectionSpace(const Communicator& comm, const std::string& label,
                                 VectorRange range, int most, const AllReduceStrategy& all_reduce,
                                 std::optional<double> reproducible_terms)
    : m_range(range), m_most(most), m_label(label) {
  for (int pass = 0; pass < passes(most + 1) && most > 0; ++pass)
    m_products.emplace_back(comm, range, all_reduce, reproducible_terms);
}

std::vector<double> ProjectionSpace::products(const DeviceVector<double>& v,
                                              const DeviceVector<double>& last) const {
  std::vector<double> all;
  const int n = m_size + 1;
  for (int pass = 0; pass < passes(n); ++pass) {
    ProductsOfMany terms{v.data(), {}};
    for (int i = 0; i < at_once; ++i) {
      const int other = pass * at_once + i;
      terms.others[i] = other < m_size ? m_vectors[other].data() : last.data();
    }
    m_products[pass].start("nekbone_k: projections", terms, terms);
  }
  for (int pass = 0; pass < passes(n); ++pass) {
    const auto sums = m_products[pass].wait();
    all.insert(all.end(), sums.begin(), sums.end());
  }
  all.resize(n);
  return all;
}

void ProjectionSpace::combine(double keep, const std::vector<double>& factors,
                              const DeviceVector<double>& x) const {
  for (int first = 0; first < m_size; first += at_once) {
    Combination kernel{first == 0 ? keep : 1, {}, {}, x.data()};
    for (int i = 0; i < at_once; ++i) {
      const int at = first + i < m_size ? first + i : first;
      kernel.vectors[i] = m_vectors[at].data();
      kernel.factors[i] = first + i < m_size ? factors[at] : 0;
    }
    Kokkos::parallel_for("nekbone_k: combine solutions",
                         Kokkos::RangePolicy<ExecutionSpace>(0, m_range.size), kernel);
  }
}

const DeviceVector<double>& ProjectionSpace::vector(int i) {
  if (m_vectors.size() <= std::size_t(i))
    m_vectors.push_back(large_vector("nekbone_k: " + m_label, m_range.size));
  return m_vectors[i];
}

void ProjectionSpace::prepare_to_add() { vector(m_size); }

void ProjectionSpace::archive(const std::string& name, FlowArchive& archive) {
  archive.count(name + "/size", m_size);
  if (m_size > m_most) return clear();
  for (int i = 0; i < m_size; ++i) archive.field(name + "/" + std::to_string(i), vector(i));
}

int ProjectionSpace::traffic_of_project() const {
  if (m_size == 0) return 1;
  return passes(m_size + 1) + m_size + 2 * passes(m_size) - 1 + m_size;
}

int ProjectionSpace::traffic_of_add() const {
  const int products = passes(m_size + 1) + m_size + 1;
  return products + (m_size > 0 ? m_size + 2 * passes(m_size) : 0) + 2;
}

void ProjectionSpace::project(const DeviceVector<double>& b, const DeviceVector<double>& x) const {
  if (m_size == 0) return Kokkos::deep_copy(ExecutionSpace(), x, 0.0);
  combine(0, products(b, b), x);
}

void ProjectionSpace::add(const DeviceVector<double>& x, const DeviceVector<double>& ax) {
  require(m_size < m_most, "the projection space is full");
  std::vector<double> found = products(ax, x);
  const double square = found.back();
  double rest = square;
  for (int i = 0; i < m_size; ++i) {
    rest -= found[i] * found[i];
    found[i] = -found[i];
  }
  // Little but rounding may be left of a vector that depends on the others.
  if (!(rest > 1e-14 * square)) return;
  if (m_size > 0) combine(1, found, x);
  const double scale = 1 / std::sqrt(rest);
  const auto to = vector(m_size);
  Kokkos::parallel_for(
      "nekbone_k: add to projections", Kokkos::RangePolicy<ExecutionSpace>(0, m_range.size),
      KOKKOS_LAMBDA(const LocalIndex a) { to(a) = scale * x(a); });
  ++m_size;
}

}  // namespace nekbone_k
