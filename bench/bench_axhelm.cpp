// SPDX-License-Identifier: BSD-3-Clause
// The operator at every compiled order, and at one order with the run-time kernel:
// - the element kernel alone, by each geometry, with surface results stored and, if it can, added;
// - the element kernel on floats;
// - all of Ax, with the gather-scatter.
#include <fmt/format.h>

#include "mesh/gll.hpp"
#include "mesh/mapping.hpp"
#include "support/distributed_main.hpp"
#include "support/operator_case.hpp"

namespace nekbone_k {
namespace {

using OperatorCases = LastCase<OperatorCase>;

/// The rates of applying the operator once; `points` and `dofs` of all ranks. Factors are numbers
/// of `bytes` bytes.
void count(benchmark::State& state, const OperatorCase& c, double seconds,
           int bytes = sizeof(double)) {
  const double point_rate = c.total_points() / seconds;
  state.counters["GFLOP/s"] = point_rate * (12.0 * c.mesh.nq() + 15) / 1e9;
  // u, Au, and what is read of the geometry: 64 bytes a point with stored factors.
  const double geometry = 1.0 *
                          GeometricFactors::values_per_element(c.geometry.geometry, c.mesh.nq()) /
                          c.space.layout().points();
  state.counters["GB/s"] = point_rate * bytes * (2 + geometry) / 1e9;
  state.counters["MDOF/s"] = c.total_dofs() / seconds / 1e6;
  state.counters["compiled"] = is_compiled_order(c.mesh.order());
}

void add_order(const Bench& bench, const std::shared_ptr<OperatorCases>& cases, int order,
               std::int64_t points, Geometry geometry) {
  const int ranks = bench.comm().size();
  MeshSpec mesh = mesh_of_size(ranks, order, points);
  mesh.geometry = geometry;
  if (geometry == Geometry::affine) mesh.deformation = Deformation::none;
  const std::string suffix = size_suffix(mesh, order, ranks);
  const std::string name =
      geometry == Geometry::stored ? "axhelm" : fmt::format("axhelm_{}", nekbone_k::name(geometry));
  const auto get_case = [=, &bench]() -> OperatorCase& {
    return cases->get(name + suffix,
                      [&] { return std::make_unique<OperatorCase>(bench, mesh, order); });
  };
  const auto add_elements = [&](const std::string& label, SurfaceResults surface_results) {
    bench.add(label + suffix, [=, &bench](benchmark::State& state) {
      const OperatorCase& c = get_case();
      const AxhelmArguments arguments = c.all_elements(c.space.make_vector("Au"), surface_results);
      const Timing timing = bench.measure([&] { axhelm(arguments); });
      Bench::report(state, timing);
      count(state, c, timing.seconds.median);
    });
  };
  add_elements(name, SurfaceResults::stored);
  if (can_add_surface_results(order)) add_elements(name + "_added", SurfaceResults::added);
  if (geometry != Geometry::stored) return;
  const auto add_elements_on_floats = [&](const std::string& label,
                                          SurfaceResults surface_results) {
    bench.add(label + suffix, [=, &bench](benchmark::State& state) {
      OperatorCase& c = get_case();
      const SingleFactors factors(c.geometry, c.space, 1);
      const EllipticOperatorOf<float> a(c.space, factors, bench.options().lambda);
      const auto u = c.space.make_vector<float>("b"), au = c.space.make_vector<float>("Au");
      Kokkos::deep_copy(u, c.b);
      auto arguments = a.element_arguments(u, au, 0, c.space.layout().n_blocks());
      arguments.surface_results = surface_results;
      arguments.au_surface = c.space.surface_values<float>();
      const Timing timing = bench.measure([&] { axhelm(arguments); });
      Bench::report(state, timing);
      count(state, c, timing.seconds.median, sizeof(float));
    });
  };
  add_elements_on_floats(name + "_float", SurfaceResults::stored);
  if (can_add_surface_results(order))
    add_elements_on_floats(name + "_float_added", SurfaceResults::added);
  bench.add("operator" + suffix, [=, &bench](benchmark::State& state) {
    const OperatorCase& c = get_case();
    const DeviceVector<double> au = c.space.make_vector("Au");
    const Timing timing = bench.measure([&] { c.a.apply(c.b, au); });
    Bench::report(state, timing);
    count(state, c, timing.seconds.median);
  });
}

/// Every compiled order, and the first from 8 on that runs the kernel with a run-time order.
std::vector<int> orders() {
  std::vector<int> chosen;
  for (int order = 1; order <= max_order; ++order)
    if (is_compiled_order(order)) chosen.push_back(order);
  for (int order = 8; order <= max_order; ++order)
    if (!is_compiled_order(order)) {
      chosen.push_back(order);
      break;
    }
  return chosen;
}

}  // namespace

void register_benchmarks(const Bench& bench) {
  const auto cases = std::make_shared<OperatorCases>();
  for (const std::int64_t points : point_counts(bench.options()))
    for (const Geometry geometry : {Geometry::stored, Geometry::trilinear, Geometry::affine})
      for (const int order : orders()) add_order(bench, cases, order, points, geometry);
}

}  // namespace nekbone_k
