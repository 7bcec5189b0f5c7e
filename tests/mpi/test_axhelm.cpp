// SPDX-License-Identifier: BSD-3-Clause
// The versions of the element kernel agree with each other. EllipticOperator's tests compare it
// with plain loops.
#include "operators/axhelm/axhelm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/config.hpp"
#include "core/errors.hpp"
#include "operators/axhelm/axhelm_kernel.hpp"
#include "support/operator_case.hpp"

namespace nekbone_k {
namespace {

/// Element results and uᵀ A u of the rank's elements.
struct ElementResults {
  ById interior, surface;
  double dot = 0;
};

/// At order 1, each of up to seven ranks has more elements than a GPU's team and group.
MeshSpec kernel_mesh(int order) {
  MeshSpec spec = operator_spec(Deformation::sine);
  if (order == 1) spec.elements = {9, 8, 7};
  return spec;
}

struct KernelCase {
  explicit KernelCase(int order) : KernelCase(order, kernel_mesh(order)) {}
  KernelCase(int order, const MeshSpec& spec) : op(spec, order, 0.1) {
    const ElementLayout& layout = op.space.layout();
    arguments = {.layout = layout,
                 .first_block = 0,
                 .last_block = layout.n_blocks(),
                 .interior_begin = op.space.interior_begin(),
                 .lambda = 0.1,
                 .surface_entries = op.space.surface_entries().reader(),
                 .scaled_basis = &op.geometry.scaled_basis,
                 .geometry = op.geometry.geometry,
                 .factors = op.geometry.factors,
                 .scaled_derivative = op.geometry.scaled_derivative,
                 .root_weights = op.geometry.root_weights,
                 .nodes = op.geometry.nodes,
                 .u = to_assembled(op.space, op.reference.mesh(), op.reference.mesh().random(1)),
                 .au = op.space.make_vector("interior"),
                 .au_surface = DeviceVector<double>("s", layout.n_surface_values()),
                 .partial_dots = DeviceVector<double>("d", layout.n_blocks() + 2)};
  }

  /// The results of `kernel`, called with the arguments and a stream.
  template <class Kernel>
  ElementResults results(const Kernel& kernel) const {
    for (const auto& view : {arguments.au, arguments.au_surface, arguments.partial_dots})
      Kokkos::deep_copy(view, 0.0);
    kernel(arguments, ExecutionSpace());
    const ById dots = to_host(arguments.partial_dots);
    return {to_host(arguments.au), to_host(arguments.au_surface),
            std::accumulate(dots.begin(), dots.end(), 0.0)};
  }

  OperatorCase op;
  AxhelmArguments arguments;
};

void expect_equal(const ElementResults& results, const ElementResults& expected, int order) {
  EXPECT_NEAR(results.dot, expected.dot, 1e-13 * expected.dot) << "order " << order;
  EXPECT_LE(relative_difference(results.surface, expected.surface), 1e-14) << "order " << order;
  if (order > 1) {
    EXPECT_LE(relative_difference(results.interior, expected.interior), 1e-14) << "order " << order;
  }
}

template <int... orders>
void compare_with_run_time_kernel(std::integer_sequence<int, orders...>) {
  for (const Geometry geometry : {Geometry::stored, Geometry::trilinear, Geometry::affine})
    for (const int order : {orders...}) {
      MeshSpec spec = kernel_mesh(order);
      spec.geometry = geometry;
      if (geometry == Geometry::affine) spec.deformation = Deformation::none;
      const KernelCase c(order, spec);
      expect_equal(c.results(axhelm<double>), c.results(axhelm_run_time<double>), order);
    }
}
TEST(Axhelm, CompiledAndRunTimeKernelsAgree) { compare_with_run_time_kernel(CompiledOrders{}); }

/// The kernel body for a GPU, run by one thread per block of elements. The tiles hold all layers at
/// once, and ∂u/∂t is in the thread's own memory.
template <int nq, bool padded>
struct WholeElementShape {
  static constexpr AxhelmBody body = AxhelmBody::gpu;
  static constexpr int blocks_per_team = 1, threads_per_element_block = 1, least_teams = 0;
  static constexpr int layers = nq;
  static constexpr int scratch_banks = 16;
  static constexpr bool padded_rows = padded;
  static constexpr bool u_t_in_scratch = false, tiles_in_registers = false;
  static constexpr int factors_ahead = 0;
  static constexpr bool reads_factors_once = false;
};
template <int order, bool padded>
void apply_whole_elements(const AxhelmArguments& arguments, const ExecutionSpace& stream) {
  AxhelmKernel<order, Geometry::stored, SurfaceResults::stored,
               WholeElementShape<order + 1, padded>>(arguments)
      .run(stream);
}
template <int order>
void compare_bodies() {
  if constexpr (is_host_device) {
    const KernelCase c(order);
    const ElementResults expected = c.results(axhelm<double>);
    expect_equal(c.results(apply_whole_elements<order, false>), expected, order);
    expect_equal(c.results(apply_whole_elements<order, true>), expected, order);
  }
}
TEST(Axhelm, BodiesOfTheKernelAgree) {
  if (!is_host_device) GTEST_SKIP() << "one body runs on a CPU only";
  compare_bodies<1>();
  compare_bodies<2>();
  compare_bodies<3>();
  compare_bodies<5>();
  compare_bodies<7>();
  compare_bodies<9>();
}

// The operator works on two ranges of blocks, which must give the whole result.
TEST(Axhelm, RangesOfBlocksMakeTheWhole) {
  for (const int order : {1, 2, 3, 7}) {
    const KernelCase c(order);
    const ElementResults whole = c.results(axhelm<double>);
    const LocalIndex n_blocks = c.op.space.layout().n_blocks();
    for (LocalIndex end = 0; end <= n_blocks; ++end) {
      const auto in_two = [&](AxhelmArguments arguments, const ExecutionSpace& stream) {
        arguments.last_block = end;
        axhelm(arguments, stream);
        arguments.first_block = end;
        arguments.last_block = n_blocks;
        axhelm(arguments, stream);
      };
      expect_equal(c.results(in_two), whole, order);
    }
  }
}

// Rows to which the kernel adds results equal the sums of stored results.
template <int... orders>
void compare_surface_results(std::integer_sequence<int, orders...>) {
  for (const int order : {orders...}) {
    if (!can_add_surface_results(order)) continue;
    KernelCase c(order);
    const LocalIndex n_rows = c.op.space.n_rows();
    const ElementResults stored = c.results(axhelm<double>);
    const DeviceVector<double> rows("rows", n_rows);
    c.op.space.gs().assembly().gather(as_field(c.arguments.au_surface), as_field(rows),
                                      Reduction::add, 0, n_rows);
    c.arguments.surface_results = SurfaceResults::added;
    c.arguments.n_rows = n_rows;
    const ElementResults added = c.results(axhelm<double>);
    ById expected = stored.interior;
    const ById sums = to_host(rows);
    std::copy(sums.begin(), sums.end(), expected.begin());
    EXPECT_LE(relative_difference(added.interior, expected), 1e-14) << "order " << order;
    EXPECT_NEAR(added.dot, stored.dot, 1e-13 * stored.dot) << "order " << order;
    EXPECT_EQ(added.surface, ById(added.surface.size(), 0)) << "order " << order;
  }
}
TEST(Axhelm, AddsTheSurfaceResultsThatItElseStores) {
  if (is_host_device && ExecutionSpace().concurrency() > 1)
    GTEST_SKIP() << "threads of a CPU would write to one DOF at once";
  compare_surface_results(CompiledOrders{});
}

TEST(Axhelm, AddsSurfaceResultsOnlyWhereThatIsFaster) {
  const bool alone = ExecutionSpace().concurrency() == 1;
  for (int order = 0; order <= 64; ++order) {
    if (!is_compiled_order(order)) {
      EXPECT_FALSE(can_add_surface_results(order)) << order;
    } else if (is_host_device) {
      EXPECT_EQ(can_add_surface_results(order), alone) << order;
    }
  }
  if (!is_host_device && is_compiled_order(1)) {
    EXPECT_EQ(can_add_surface_results(1), (AxhelmShape<ExecutionSpace, 2>::adds_surface_results));
  }
  int order = 1;
  while (can_add_surface_results(order)) ++order;
  KernelCase c(order);
  c.arguments.surface_results = SurfaceResults::added;
  EXPECT_THROW(axhelm(c.arguments), InternalError);
}

TEST(EllipticOperator, KnowsItsCompiledOrders) {
  int count = 0;
  for (int order = -1; order <= 64; ++order) count += is_compiled_order(order);
  EXPECT_EQ(count, static_cast<int>(CompiledOrders::size()));
  EXPECT_FALSE(is_compiled_order(0));
  EXPECT_FALSE(is_compiled_order(17));
}

}  // namespace
}  // namespace nekbone_k
