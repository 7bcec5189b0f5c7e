// SPDX-License-Identifier: BSD-3-Clause
// Variants of the element kernel, each a shared library that bench/kernel_variants.py compiled,
// timed beside each other; without any, the program's own kernel beside itself.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "support/distributed_main.hpp"
#include "support/operator_case.hpp"

namespace nekbone_k {
namespace {

using Kernel = void (*)(const AxhelmArguments&, const ExecutionSpace&);

struct Variant {
  std::string name;
  int order;
  Kernel run;
};

/// The kernel in a library, which stays loaded: NAME-order-N.so.
Variant load(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw InputError(fmt::format("cannot load {}: {}", library, dlerror()));
  void* const kernel = dlsym(handle, "nekbone_k_axhelm");
  void* const order = dlsym(handle, "nekbone_k_axhelm_order");
  if (kernel == nullptr || order == nullptr)
    throw InputError(library + " has no element kernel; make it with bench/kernel_variants.py");
  const std::string name = std::filesystem::path(library).stem();
  return {name.substr(0, name.rfind("-order-")), *static_cast<const int*>(order),
          reinterpret_cast<Kernel>(kernel)};
}

/// By order, first the program's own kernel: at the orders of the libraries, or at order 7.
std::map<int, std::vector<Variant>> all_variants(const std::vector<std::string>& libraries) {
  std::map<int, std::vector<Variant>> variants;
  for (const std::string& library : libraries) {
    const Variant variant = load(library);
    variants[variant.order].push_back(variant);
  }
  if (variants.empty()) variants[7] = {};
  for (auto& [order, of_order] : variants)
    of_order.insert(of_order.begin(), {"own", order, axhelm});
  return variants;
}

/// ‖a - b‖ / ‖a‖, or 0 where they are equal.
double relative_difference(const DeviceVector<double>& a, const DeviceVector<double>& b) {
  const Kokkos::RangePolicy<ExecutionSpace> all(0, a.extent(0));
  double difference = 0, size = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: difference of vectors", all,
      KOKKOS_LAMBDA(LocalIndex i, double& of_difference, double& of_size) {
        of_difference += (a(i) - b(i)) * (a(i) - b(i));
        of_size += a(i) * a(i);
      },
      difference, size);
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

/// All variants of an order on one mesh.
struct VariantsCase {
  VariantsCase(const Bench& bench, const std::vector<Variant>& variants, const MeshSpec& mesh,
               int order, SurfaceResults surface_results)
      : c(bench, mesh, order) {
    const AxhelmArguments expected =
        c.all_elements(c.space.make_vector("expected"), surface_results);
    axhelm(expected);
    // Stored results on surfaces are the space's: they are kept aside, as each variant writes them.
    const DeviceVector<double> expected_surface("expected on surfaces",
                                                expected.au_surface.extent(0));
    Kokkos::deep_copy(expected_surface, expected.au_surface);
    const AxhelmArguments arguments = c.all_elements(c.space.make_vector("Au"), surface_results);
    std::vector<Bench::Sample> samples;
    for (const Variant& variant : variants) {
      Kokkos::deep_copy(arguments.au, 0.0);
      Kokkos::deep_copy(arguments.au_surface, 0.0);
      variant.run(arguments, ExecutionSpace());
      differences.push_back(relative_difference(expected.au, arguments.au));
      if (surface_results == SurfaceResults::stored)
        differences.back() += relative_difference(expected_surface, arguments.au_surface);
      samples.push_back(
          bench.sample_of([run = variant.run, arguments] { run(arguments, ExecutionSpace()); }));
    }
    timings = bench.measure(samples);
  }

  OperatorCase c;
  std::vector<double> differences;  ///< of each variant's results from axhelm()'s
  std::vector<Timing> timings;
};

using VariantsCases = LastCase<VariantsCase>;

void add_variants(const Bench& bench, const std::shared_ptr<VariantsCases>& cases,
                  const std::vector<Variant>& variants, std::int64_t points,
                  SurfaceResults surface_results) {
  const int order = variants.front().order, ranks = bench.comm().size();
  const MeshSpec mesh = mesh_of_size(ranks, order, points);
  const std::string key = (surface_results == SurfaceResults::added ? "added" : "stored") +
                          size_suffix(mesh, order, ranks);
  for (std::size_t v = 0; v < variants.size(); ++v)
    bench.add(fmt::format("{}/{}", variants[v].name, key), [=, &bench](benchmark::State& state) {
      const VariantsCase& all = cases->get(key, [&] {
        return std::make_unique<VariantsCase>(bench, variants, mesh, order, surface_results);
      });
      const double seconds = all.timings[v].seconds.median;
      Bench::report(state, all.timings[v]);
      state.counters["GFLOP/s"] = all.c.total_points() * (12.0 * (order + 1) + 15) / seconds / 1e9;
      state.counters["of_own"] = all.timings[0].seconds.median / seconds;
      state.counters["difference"] = all.differences[v];
    });
}

}  // namespace

void register_benchmarks(const Bench& bench) {
  const auto cases = std::make_shared<VariantsCases>();
  for (const auto& [order, variants] : all_variants(bench.options().variants)) {
    if (!is_compiled_order(order))
      throw InputError(fmt::format("order {} is not compiled here: see NEKBONE_K_ORDERS", order));
    for (const std::int64_t points : point_counts(bench.options())) {
      add_variants(bench, cases, variants, points, SurfaceResults::stored);
      if (can_add_surface_results(order))
        add_variants(bench, cases, variants, points, SurfaceResults::added);
    }
  }
}

}  // namespace nekbone_k
