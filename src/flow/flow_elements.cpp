// SPDX-License-Identifier: BSD-3-Clause
#include "flow/flow_elements.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/config.hpp"
#include "core/errors.hpp"
#include "multigrid/interpolation.hpp"
#include "operators/axhelm/axhelm.hpp"
#include "operators/geometric_factors.hpp"

namespace nekbone_k {
namespace {

template <int... orders>
void run_compiled(int order, FlowKernel which, const FlowElementArguments& arguments,
                  std::integer_sequence<int, orders...>) {
  const bool found =
      ((order == orders && (run_flow_kernel<orders>(which, arguments), true)) || ...);
  require(found, "this build has no flow kernels for the order");
}

/// Energy and momentum: sums over the owned entries.
struct EnergyTerms {
  ConstDeviceVector<double> mass, x, y, z;

  KOKKOS_FUNCTION void operator()(const LocalIndex a, EntryValues<4>& sums) const {
    const double m = mass(a), u = x(a), v = y(a), w = z(a);
    sums += {{m * (u * u + v * v + w * w) / 2, m * u, m * v, m * w}};
  }
};

/// The mass of a node of an element.
struct NodalMass {
  FactorReader factors;

  KOKKOS_FUNCTION double operator()(LocalIndex position, int i, int j, int k) const {
    return factors.mass(position, i, j, k);
  }
};

/// Sets `inverse` to 1 / mass, and to 0 at padding. Returns the sum of the owned mass.
double invert(const ConstDeviceVector<double>& mass, const DeviceVector<double>& inverse,
              LocalIndex first_owned) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: inverse mass", Kokkos::RangePolicy<ExecutionSpace>(0, mass.extent(0)),
      KOKKOS_LAMBDA(const LocalIndex a, double& total) {
        inverse(a) = mass(a) != 0 ? 1 / mass(a) : 0;
        if (a >= first_owned) total += mass(a);
      },
      sum);
  return sum;
}

/// The sum and the maxima of the parts of all blocks.
struct BlockTerms {
  FlowBlockSums parts;

  KOKKOS_FUNCTION void operator()(const LocalIndex block, double& sum, double& divergence,
                                  double& speed) const {
    sum += parts(block, 0);
    divergence = Kokkos::max(divergence, parts(block, 1));
    speed = Kokkos::max(speed, parts(block, 2));
  }
};

/// Multiplies all components of a field by an assembled vector.
void multiply(const ConstDeviceVector<double>& by, const VectorField& field) {
  const double* const factor = by.data();
  double* const values = field.values.data();
  const LocalIndex size = field.size();
  Kokkos::parallel_for(
      "nekbone_k: multiply components", Kokkos::RangePolicy<ExecutionSpace>(0, size),
      KOKKOS_LAMBDA(const LocalIndex a) {
        for (int d = 0; d < n_components; ++d) values[a + d * size] *= factor[a];
      });
}

}  // namespace

std::vector<double> transpose(const std::vector<double>& a, int rows, int columns) {
  std::vector<double> transposed(a.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) transposed[j * rows + i] = a[i * columns + j];
  return transposed;
}

GaussPoints::GaussPoints(const GllBasis& basis) : rule(make_gauss_rule(points_for(basis.nq()))) {
  for (const double x : rule.nodes) {
    const std::vector<double> row = lagrange_values(basis, x);
    interpolation.insert(interpolation.end(), row.begin(), row.end());
  }
}

bool has_flow_kernels(int order) { return is_compiled_order(order); }

FlowElements::FlowElements(const Communicator& comm, AssembledSpace& space,
                           const GeometricFactors& factors, bool dealiasing)
    : m_comm(comm), m_space(space), m_metric(space) {
  const int order = space.mesh().order();
  if (!has_flow_kernels(order))
    throw InputError(
        fmt::format("this build has no kernels for a flow of order {}; configure with "
                    "-DNEKBONE_K_ORDERS={} or take another solver.order",
                    order, order));
  const double entries = comm.max(double{n_components} * space.size());
  if (entries > std::numeric_limits<LocalIndex>::max())
    throw InputError("a velocity field has too many entries on one rank; take more ranks");
  if (dealiasing) {
    m_gauss.emplace(space.mesh().basis());
    m_gauss_metric.emplace(space, m_gauss->rule.nodes);
  }
  const ElementLayout& layout = space.layout();
  m_surface =
      DeviceField<double>("nekbone_k: flow on surfaces", layout.n_surface_values(), n_components);
  m_sums = FlowBlockSums("nekbone_k: flow sums", layout.n_blocks());
  m_mass = space.make_vector("mass");
  m_inverse_mass = space.make_vector("inverse mass");
  space.assemble(NodalMass{FactorReader(factors, layout)}, m_mass);
  m_volume = comm.sum(invert(m_mass, m_inverse_mass, space.n_not_owned()));
}

FlowElementArguments FlowElements::arguments() const {
  FlowElementArguments arguments;
  arguments.space = &m_space;
  arguments.metric = &m_metric;
  arguments.gauss = m_gauss ? &*m_gauss : nullptr;
  arguments.gauss_metric = m_gauss_metric ? &*m_gauss_metric : nullptr;
  for (int c = 0; c < n_components; ++c)
    arguments.surface[c] = m_surface.data() + c * m_surface.extent(0);
  arguments.sums = m_sums;
  return arguments;
}

void FlowElements::run(FlowKernel which, FlowElementArguments arguments) const {
  run_compiled(m_space.mesh().order(), which, arguments, CompiledOrders{});
}

void FlowElements::sum_shares(const VectorField& out) {
  GatherScatter& gs = m_space.gs();
  const DeviceField<double> field = out.field();
  gs.gather_shared(m_surface, field, Reduction::add);
  gs.assembly().gather(m_surface, field, Reduction::add, gs.plan().n_shared(), gs.n_rows());
  gs.exchange(field, Reduction::add);
}

namespace {

template <class T>
void set_components(T* (&to)[n_components], const VectorField& of) {
  for (int c = 0; c < n_components; ++c) to[c] = of.values.data() + c * of.size();
}

}  // namespace

void FlowElements::advection(const VectorField& u, const VectorField& out) {
  FlowElementArguments a = arguments();
  set_components(a.u, u);
  set_components(a.out, out);
  run(m_gauss ? FlowKernel::advection : FlowKernel::nodal_advection, a);
  sum_shares(out);
}

void FlowElements::curl(const VectorField& u, const VectorField& out) {
  FlowElementArguments a = arguments();
  set_components(a.u, u);
  set_components(a.out, out);
  run(FlowKernel::curl, a);
  sum_shares(out);
}

void FlowElements::vorticity(const VectorField& u, const VectorField& out) {
  curl(u, out);
  multiply(m_inverse_mass, out);
}

void FlowElements::pressure_source(const VectorField& f, const VectorField& vorticity, double nu,
                                   const DeviceVector<double>& out) {
  FlowElementArguments a = arguments();
  set_components(a.u, f);
  set_components(a.other, vorticity);
  a.nu = nu;
  a.out[0] = out.data();
  a.surface[0] = m_space.surface_values().data();
  run(FlowKernel::pressure_source, a);
  m_space.gather_shared(out);
  m_space.gather_own_rows(out);
  m_space.gs().exchange(as_field(out), Reduction::add);
}

void FlowElements::gradient(const DeviceVector<double>& p, const VectorField& out) {
  FlowElementArguments a = arguments();
  a.u[0] = p.data();
  set_components(a.out, out);
  run(FlowKernel::gradient, a);
  sum_shares(out);
}

double FlowElements::least_bytes(FlowKernel which) const {
  const bool is_advection = which == FlowKernel::advection || which == FlowKernel::nodal_advection;
  const int inputs = which == FlowKernel::gradient          ? 1
                     : which == FlowKernel::pressure_source ? 2 * n_components
                                                            : n_components;
  const int outputs = which == FlowKernel::pressure_source ? 1 : n_components;
  const MetricTerms& metric = is_advection && m_gauss_metric ? *m_gauss_metric : m_metric;
  const ElementLayout& layout = m_space.layout();
  const Assembly& assembly = m_space.gs().assembly();
  const double interior = double{1} * layout.n_elements * layout.n_interior();
  const double surface = double{1} * layout.n_elements * layout.n_surface();
  const double rows = m_space.n_rows(), joined = assembly.n_joined_points();
  // All components share the lists of points.
  const double lists = assembly.least_bytes() - sizeof(double) * (joined + rows);
  return m_space.surface_entries().least_bytes() + lists +
         sizeof(double) *
             (static_cast<double>(metric.terms.extent(0)) + inputs * (rows + interior) +
              outputs * (interior + surface + joined + rows));
}

FlowSums FlowElements::sums(const VectorField& u) {
  FlowElementArguments a = arguments();
  set_components(a.u, u);
  run(FlowKernel::sums, a);
  FlowSums sums;
  double squares = 0;
  Kokkos::parallel_reduce("nekbone_k: sums of blocks",
                          Kokkos::RangePolicy<ExecutionSpace>(0, m_space.layout().n_blocks()),
                          BlockTerms{m_sums}, squares, Kokkos::Max<double>(sums.divergence),
                          Kokkos::Max<double>(sums.speed));
  EntryValues<4> of_entries;
  Kokkos::parallel_reduce(
      "nekbone_k: energy",
      Kokkos::RangePolicy<ExecutionSpace>(m_space.n_not_owned(), m_space.size()),
      EnergyTerms{m_mass, u.component(0), u.component(1), u.component(2)},
      JoinReducer<PlainSums<4>, 4>(of_entries));
  std::array<double, 5> totals{squares, of_entries.values[0], of_entries.values[1],
                               of_entries.values[2], of_entries.values[3]};
  m_comm.sum(totals);
  std::array<double, 2> largest{sums.divergence, sums.speed};
  m_comm.max(largest);
  sums.enstrophy = totals[0] / 2 / m_volume;
  sums.energy = totals[1] / m_volume;
  for (int c = 0; c < n_components; ++c) sums.momentum[c] = totals[2 + c] / m_volume;
  sums.divergence = largest[0];
  sums.speed = largest[1];
  return sums;
}

double FlowElements::estimated_bytes(const BoxMesh& mesh, bool dealiasing) {
  const auto estimate =
      ElementLayout::estimate(mesh.nq(), static_cast<double>(mesh.box().volume()));
  double bytes = MetricTerms::estimated_bytes(mesh, mesh.nq()) +
                 sizeof(double) * n_components * estimate.surface;
  if (dealiasing) bytes += MetricTerms::estimated_bytes(mesh, GaussPoints::points_for(mesh.nq()));
  return bytes + 2 * sizeof(double) * (mesh.lattice_volume() + estimate.interior);
}

}  // namespace nekbone_k
