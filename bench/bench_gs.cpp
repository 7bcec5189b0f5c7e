// SPDX-License-Identifier: BSD-3-Clause
// The gather-scatter on periodic boxes of about two million local points. It times the on-rank
// part, the exchange of shared DOFs by every strategy, and gs_op from plain ids.
#include <fmt/format.h>

#include <algorithm>

#include "support/distributed_main.hpp"
#include "support/operator_case.hpp"
#include "tuning/tuner.hpp"
#include "tuning/verify.hpp"

namespace nekbone_k {
namespace {

/// Element counts of the comparison with other codes: 64³ at order 1, and so on.
struct GsSize {
  int order, elements;
};
constexpr std::array sizes{GsSize{1, 64}, GsSize{3, 32}, GsSize{7, 16}, GsSize{11, 12}};

MeshSpec periodic_box(const Bench& bench, const GsSize& size) {
  const int side = bench.options().quick ? std::max(2, size.elements / 8) : size.elements;
  MeshSpec mesh;
  mesh.elements = {side, side, side};
  return mesh;
}

/// A mesh's numbering, and an assembled vector.
struct GsCase {
  GsCase(const Bench& bench, const MeshSpec& spec, int order)
      : mesh(spec, order, bench.comm().size(), bench.comm().rank()),
        space(bench.comm(), mesh),
        vector(space.make_vector("assembled")) {}

  BoxMesh mesh;
  AssembledSpace space;
  DeviceVector<double> vector;
};

/// On-rank QQᵀ of element surfaces, which is what the operator needs. Its least bytes are those of
/// the gather, twice.
void on_rank(benchmark::State& state, const Bench& bench, const GsCase& c) {
  const Assembly& assembly = c.space.gs().assembly();
  const DeviceField<double> rows = as_field(c.vector), points = as_field(c.space.surface_values());
  const Timing timing = bench.measure([&] {
    assembly.gather(points, rows, Reduction::add, 0, assembly.n_rows());
    assembly.scatter(rows, points, 0, assembly.n_rows());
  });
  Bench::report(state, timing);
  state.counters["GB/s"] =
      bench.comm().sum(2 * assembly.least_bytes()) / timing.seconds.median / 1e9;
}

/// One strategy's exchange: pack, messages, unpack. An overlapped one has the on-rank gather in
/// between, and what the exchange adds to the time of that is reported as well.
void exchange(benchmark::State& state, const Bench& bench, const GsCase& c,
              const Strategy& strategy) {
  const GatherScatter& gs = c.space.gs();
  std::string wrong = why_unavailable(bench.comm(), strategy);
  if (wrong.empty()) wrong = Verifier(bench.comm(), gs.message_plan()).verify(strategy);
  if (!wrong.empty()) return state.SkipWithError(wrong.c_str());

  HaloExchange<double> halo(bench.comm(), gs.message_plan(), strategy);
  const DeviceField<double> field = as_field(c.vector);
  const auto work = [&] { c.space.gather_rows(c.vector, gs.plan().n_shared(), gs.n_rows()); };
  std::vector<Bench::Sample> samples{bench.sample_of([&] {
    halo.pack(field);
    halo.post();
    if (strategy.overlapped) work();
    halo.wait();
    halo.unpack(field, Reduction::add);
  })};
  if (strategy.overlapped) samples.push_back(bench.sample_of(work));
  const std::vector<Timing> timings = bench.measure(samples);
  Bench::report(state, timings.front());
  if (strategy.overlapped) {
    std::vector<double> added = timings.front().samples;
    for (std::size_t s = 0; s < added.size(); ++s) added[s] -= timings.back().samples[s];
    state.counters["added_s"] = median(added);
  }
  const double bytes = double{sizeof(double)} * gs.plan().n_slots();
  state.counters["message_B"] = bench.comm().max(bytes);
  state.counters["neighbours"] = bench.comm().max(static_cast<double>(gs.plan().neighbours.size()));
}

/// The global ids of all local points, element by element, first direction fastest.
std::vector<GlobalId> point_ids(const BoxMesh& mesh) {
  const int nq = mesh.nq();
  std::vector<GlobalId> ids;
  ids.reserve(std::size_t{1} * mesh.n_elements() * nq * nq * nq);
  for (LocalIndex e = 0; e < mesh.n_elements(); ++e)
    for (int k = 0; k < nq; ++k)
      for (int j = 0; j < nq; ++j)
        for (int i = 0; i < nq; ++i)
          ids.push_back(mesh.global_id(mesh.lattice_point(mesh.element(e), i, j, k)));
  return ids;
}

/// Has `gs` exchange by what the tuner chooses for gs_op().
void tune_gs_op(const Bench& bench, GatherScatter& gs, const DeviceField<double>& points) {
  const LocalIndex begin = gs.plan().n_shared();
  const OverlapWork work{"QQᵀ of what no other rank has", [&](double portion) {
                           const auto end =
                               static_cast<LocalIndex>(portion * (gs.n_rows() - begin));
                           gs.assembly().gather_scatter(points, Reduction::add, begin, begin + end);
                         }};
  NoGuard guard;
  tune(gs, {}, all_strategies(), work, {.budget_seconds = bench.options().seconds}, guard);
}

/// QQᵀ of all local points from a plain list of ids, as gslib's gs_op does it.
void gs_op(benchmark::State& state, const Bench& bench, const MeshSpec& spec, int order,
           bool tuned) {
  const BoxMesh mesh(spec, order, bench.comm().size(), bench.comm().rank());
  const std::vector<GlobalId> ids = point_ids(mesh);
  GatherScatter gs(bench.comm(), ids);
  const DeviceField<double> points("nekbone_k: points", ids.size(), 1);
  if (tuned)
    tune_gs_op(bench, gs, points);
  else
    gs.select(bench.options().strategy);
  // Many calls a sample: of one after a barrier, ranks that share a core time what they find done
  // when the others have let them go on.
  constexpr double least_seconds = 20e-3;
  const Timing timing = bench.measure([&] { gs.gs_op(points, Reduction::add); }, least_seconds);
  Bench::report(state, timing);
  state.SetLabel(gs.strategy().name);
  const double total = bench.comm().sum(static_cast<double>(ids.size()));
  state.counters["Mpoint/s"] = total / timing.seconds.median / 1e6;
}

}  // namespace

void register_benchmarks(const Bench& bench) {
  const auto cases = std::make_shared<LastCase<GsCase>>();
  for (const GsSize& size : sizes) {
    const MeshSpec mesh = periodic_box(bench, size);
    const int order = size.order;
    const std::string suffix = fmt::format("/order:{}/elements:{}", order, mesh.total_elements());
    const auto get_case = [=, &bench]() -> GsCase& {
      return cases->get(suffix, [&] { return std::make_unique<GsCase>(bench, mesh, order); });
    };
    bench.add("on_rank" + suffix,
              [=, &bench](benchmark::State& state) { on_rank(state, bench, get_case()); });
    if (bench.comm().size() > 1)  // one rank shares nothing
      for (const Strategy& strategy : all_strategies())
        bench.add("exchange/" + strategy.name + suffix, [=, &bench](benchmark::State& state) {
          exchange(state, bench, get_case(), strategy);
        });
    for (const bool tuned : {false, true})
      bench.add((tuned ? "gs_op_tuned" : "gs_op") + suffix,
                [=, &bench](benchmark::State& state) { gs_op(state, bench, mesh, order, tuned); });
  }
}

}  // namespace nekbone_k
