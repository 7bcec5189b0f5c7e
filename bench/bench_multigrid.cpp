// SPDX-License-Identifier: BSD-3-Clause
// The V-cycle at order 7 on a mesh that fits in caches: one smoothing of the finest level, and the
// whole cycle by degree, smoother and precision.
#include "multigrid/multigrid.hpp"

#include <fmt/format.h>

#include "support/distributed_main.hpp"
#include "support/operator_case.hpp"

namespace nekbone_k {
namespace {

constexpr int order = 7;

template <class T>
struct CycleCase : OperatorCase {
  CycleCase(const Bench& bench, const MeshSpec& spec, SmootherKind smoother)
      : OperatorCase(bench, spec, order),
        multigrid(bench.comm(), space, geometry, bench.options().lambda,
                  {.orders = {}, .smoother = smoother}),
        au(space.make_vector("Au")) {
    Kokkos::deep_copy(multigrid.levels().front().v.b, b);
  }

  Multigrid<T> multigrid;
  DeviceVector<double> au;
};

/// Times `operation` and one application of A in double in the same rounds. Reports the former,
/// with its ratio to the latter and its rate of DOFs of the finest level.
template <class T>
void time_beside_operator(const Bench& bench, benchmark::State& state, const CycleCase<T>& c,
                          const std::function<void()>& operation) {
  const auto timings =
      bench.measure({bench.sample_of(operation), bench.sample_of([&] { c.a.apply(c.b, c.au); })});
  const double seconds = timings[0].seconds.median;
  Bench::report(state, timings[0]);
  state.counters["of_Ax"] = seconds / timings[1].seconds.median;
  state.counters["MDOF/s"] = c.total_dofs() / seconds / 1e6;
}

template <class T>
void add_cycles(const Bench& bench, const MeshSpec& mesh, SmootherKind smoother) {
  const auto cases = std::make_shared<LastCase<CycleCase<T>>>();
  const std::string suffix = size_suffix(mesh, order, bench.comm().size());
  const std::string kind = fmt::format("{}/{}", name(smoother), name(precision_of<T>));
  const auto get_case = [=, &bench]() -> CycleCase<T>& {
    return cases->get(kind, [&] { return std::make_unique<CycleCase<T>>(bench, mesh, smoother); });
  };
  const auto add = [&](const std::string& what, int degree, const auto& operation) {
    bench.add(fmt::format("{}/{}/degree:{}{}", what, kind, degree, suffix),
              [=, &bench](benchmark::State& state) {
                CycleCase<T>& c = get_case();
                c.multigrid.set_polynomial(ChebyshevKind::optimized_fourth, degree);
                time_beside_operator(bench, state, c, [&] { operation(c.multigrid); });
              });
  };
  for (const int degree : {1, 3, 6}) {
    add("smoother", degree, [](Multigrid<T>& m) {
      const auto& finest = m.levels().front();
      finest.smoother->smooth_from_zero(finest.v);
    });
    add("v_cycle", degree, [](Multigrid<T>& m) { m.cycle(0); });
  }
}

}  // namespace

void register_benchmarks(const Bench& bench) {
  const MeshSpec mesh =
      mesh_of_size(bench.comm().size(), order, point_counts(bench.options()).back());
  for (const SmootherKind smoother : {SmootherKind::jacobi, SmootherKind::schwarz}) {
    add_cycles<double>(bench, mesh, smoother);
    add_cycles<float>(bench, mesh, smoother);
  }
}

}  // namespace nekbone_k
