// SPDX-License-Identifier: BSD-3-Clause
// One iteration of conjugate gradients, with our own vector kernels and with Kokkos Kernels, plain
// and with Jacobi's preconditioner.
#include "solver/conjugate_gradients.hpp"
#include "solver/solver_options.hpp"
#include "support/distributed_main.hpp"
#include "support/operator_case.hpp"

namespace nekbone_k {
namespace {

constexpr int iterations_a_sample = 20;

struct CgCase : OperatorCase {
  CgCase(const Bench& bench, const MeshSpec& spec, int order)
      : OperatorCase(bench, spec, order),
        vectors{space.make_vector("x"), space.make_vector("r"), space.make_vector("p"),
                space.make_vector("Ap")},
        inverse_diagonal(a.inverse_diagonal()) {}

  CgVectors vectors;
  DeviceVector<double> inverse_diagonal;
};

/// Seconds an iteration, and the doubles that its vector kernels move an entry.
struct CgTiming {
  Timing timing;
  int traffic = 0;
  bool broke_down = false;
};

template <class Ops>
CgTiming time_cg(const Bench& bench, const CgCase& c, const Ops& ops) {
  CgTiming result;
  result.traffic = ops.traffic();
  const int iterations = bench.options().quick ? 2 : iterations_a_sample;
  const auto sample = [&](int) {
    Kokkos::deep_copy(c.vectors.r, c.b);
    Kokkos::fence("nekbone_k: right-hand side copied");
    const CgResult cg = timed_solve(bench.comm(), [&] {
      return conjugate_gradients(c.a, ops, c.vectors, {.iterations = iterations});
    });
    result.broke_down = result.broke_down || cg.broke_down;
    return cg.seconds / iterations;
  };
  result.timing = bench.measure({sample}).front();
  result.timing.repetitions *= iterations;
  return result;
}

CgTiming time_cg(const Bench& bench, const CgCase& c, VectorOps kind,
                 Preconditioner preconditioner) {
  const VectorRange range{c.space.size(), c.space.n_not_owned()};
  const ConstDeviceVector<double> inverse_diagonal =
      preconditioner == Preconditioner::jacobi ? ConstDeviceVector<double>(c.inverse_diagonal)
                                               : ConstDeviceVector<double>();
  return kind == VectorOps::fused
             ? time_cg(bench, c, FusedVectorOps(bench.comm(), range, inverse_diagonal))
             : time_cg(bench, c, KokkosKernelsVectorOps(bench.comm(), range, inverse_diagonal));
}

/// The formulas of the program's own report.
void count(benchmark::State& state, const Communicator& comm, const CgCase& c, const CgTiming& cg) {
  const double seconds = cg.timing.seconds.median;
  const double bytes =
      comm.sum(c.a.least_bytes() + double{sizeof(double)} * cg.traffic * c.space.size());
  state.counters["GFLOP/s"] = c.total_points() * (12.0 * c.mesh.nq() + 34) / seconds / 1e9;
  state.counters["GDOF/s"] = c.total_dofs() / seconds / 1e9;
  state.counters["B/DOF"] = bytes / c.total_dofs();
  state.counters["GB/s"] = bytes / seconds / 1e9;
}

}  // namespace

void register_benchmarks(const Bench& bench) {
  const auto cases = std::make_shared<LastCase<CgCase>>();
  const int ranks = bench.comm().size();
  const std::int64_t points = point_counts(bench.options()).front();
  for (const int order : {3, 7, 11}) {
    const MeshSpec mesh = mesh_of_size(ranks, order, points);
    const std::string suffix = size_suffix(mesh, order, ranks);
    for (const auto preconditioner : {Preconditioner::none, Preconditioner::jacobi})
      for (const auto kind : {VectorOps::fused, VectorOps::kokkos_kernels}) {
        const std::string title = std::string("cg/") + name(kind) + "/" + name(preconditioner);
        bench.add(title + suffix, [=, &bench](benchmark::State& state) {
          const CgCase& c =
              cases->get(suffix, [&] { return std::make_unique<CgCase>(bench, mesh, order); });
          const CgTiming cg = time_cg(bench, c, kind, preconditioner);
          if (cg.broke_down) return state.SkipWithError("the iteration broke down");
          Bench::report(state, cg.timing);
          count(state, bench.comm(), c, cg);
        });
      }
  }
}

}  // namespace nekbone_k
