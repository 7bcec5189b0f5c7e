// SPDX-License-Identifier: BSD-3-Clause
#include "selection/flow_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "core/statistics.hpp"
#include "core/system.hpp"
#include "core/whole_file.hpp"
#include "selection/multigrid_run.hpp"
#include "tuning/all_reduce_tuner.hpp"

namespace nekbone_k {
namespace {

/// A step that follows a CFL number grows by at most this factor.
constexpr double most_growth = 1.2;
/// Rows that a report keeps, at most; the file has all.
constexpr std::size_t most_rows = 2000;

/// Steps between the beginning and the end of a flow.
class StepLengths {
 public:
  explicit StepLengths(const FlowCase& flow) : m_flow(flow) {
    // At least three steps, of which the first two are the short ones together.
    const double n = std::max(3.0, std::ceil(flow.end_time / flow.dt - 1e-9));
    m_dt = flow.steps > 0 ? flow.dt : flow.end_time / n;
    if (flow.cfl == 0) m_left = flow.steps > 0 ? flow.steps : static_cast<std::int64_t>(n) - 2;
  }

  /// Begins at the largest speed in units of nodes per time.
  void begin(double speed) {
    if (m_flow.cfl > 0) m_dt = std::min(m_flow.dt, m_flow.cfl / speed);
    m_start = starting_steps(m_flow.time_order, m_dt);
    if (m_start.empty() && m_flow.cfl == 0 && m_flow.steps == 0) m_left += 2;
    if (m_flow.cfl > 0 && m_flow.steps > 0) m_left = m_flow.steps;
  }
  int n_start() const { return static_cast<int>(m_start.size()); }
  /// All steps, as far as they are known.
  int total() const {
    if (m_left >= 0) return n_start() + static_cast<int>(m_left);
    return n_start() + static_cast<int>(std::ceil(m_flow.end_time / m_dt));
  }

  /// The length of the next step, number `done` from 0 on; 0 at the end.
  double next(int done, double time, double speed) {
    if (done < n_start()) return m_start[done];
    if (m_left >= 0) {
      if (done >= n_start() + m_left) return 0;
      if (m_flow.cfl == 0) return m_dt;
    }
    const double rest = m_flow.steps > 0 ? m_flow.dt : m_flow.end_time - time;
    if (m_flow.steps == 0 && rest <= 1e-9 * m_flow.end_time) return 0;
    m_dt = std::min({m_flow.dt, m_flow.cfl / speed, most_growth * m_dt});
    // The last steps are equal, so that none is very short.
    return m_flow.steps > 0 ? m_dt : rest / std::ceil(rest / m_dt - 1e-9);
  }

 private:
  const FlowCase& m_flow;
  double m_dt = 0;
  std::int64_t m_left = -1;  // after the short ones; -1: not known
  std::vector<double> m_start;
};

/// The text of a file, or nothing.
std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) return {};
  return text.str();
}

/// Why a step failed. `cfl` is the CFL number of its beginning.
std::string what_failed(const FlowStep& step, double cfl) {
  const bool is_pressure = !step.pressure.converged;
  const FlowSolve& solve = is_pressure ? step.pressure : step.velocity;
  return fmt::format(
      "step {} to time {:.6g}, CFL number {:.2g}: the {} solve {}; try a smaller flow.dt or "
      "flow.cfl, or a larger flow.{}_tolerance",
      step.number, step.time, cfl, is_pressure ? "pressure" : "velocity",
      std::isfinite(solve.residual)
          ? fmt::format("is at a residual of {:.2e} after {}", solve.residual,
                        counted(solve.iterations, "iteration"))
          : "has no finite residual",
      is_pressure ? "pressure" : "velocity");
}

/// The rows and the steps of a flow, as they come.
class FlowHistory {
 public:
  FlowHistory(const Communicator& comm, const Case& input, FlowElements& elements, FlowFiles& files,
              FlowRecord& record)
      : m_comm(comm), m_input(input), m_elements(elements), m_files(files), m_record(record) {}

  /// Adds the row of the newest velocity. Returns whether it is finite.
  bool add_row(const NavierStokes& flow, const FlowStep& step) {
    const FlowSums sums = m_elements.sums(flow.velocity());
    m_speed = sums.speed;
    FlowRow row;
    row.step = step.number;
    row.time = flow.time();
    row.dt = step.dt;
    row.energy = sums.energy;
    row.enstrophy = sums.enstrophy;
    row.dissipation = 2 * m_input.flow.viscosity * sums.enstrophy;
    row.divergence = sums.divergence;
    row.cfl = sums.speed * step.dt;
    for (int d = 0; d < n_components; ++d) row.momentum[d] = sums.momentum[d];
    row.pressure_iterations = step.pressure.iterations;
    row.velocity_iterations = step.velocity.iterations;
    if (m_last_row.step < row.step) {
      row.energy_loss = (m_last_row.energy - row.energy) / (row.time - m_last_row.time);
      row.step_seconds = m_seconds_since_row / (row.step - m_last_row.step);
    }
    m_seconds_since_row = 0;
    if (m_files.reference) row.reference = m_files.reference->enstrophy(row.time);
    if (row.reference && *row.reference > 0) {
      const double relative = std::abs(row.enstrophy / *row.reference - 1);
      if (!m_record.reference_difference || !(relative <= *m_record.reference_difference)) {
        m_record.reference_difference = relative;
        m_record.reference_time = row.time;
      }
    }
    if (m_files.series) m_files.series->add(row);
    m_last_row = row;
    keep(row);
    return std::isfinite(row.energy) && std::isfinite(row.enstrophy);
  }

  void add_step(const FlowStep& step) {
    const std::array<double, 4> here{step.advection_seconds, step.pressure_seconds,
                                     step.velocity_seconds, step.other_seconds};
    std::array<double, 4> slowest = here;
    m_comm.max(slowest);
    m_parts.push_back({slowest[0], slowest[1], slowest[2], slowest[3]});
    m_steps.push_back(step);
    m_record.seconds += m_parts.back().total();
    m_seconds_since_row += m_parts.back().total();
  }

  double speed() const { return m_speed; }
  int last_row() const { return m_last_row.step; }

  /// Medians and means over the later half of the steps.
  void sum_up() {
    m_record.steps = static_cast<int>(m_steps.size());
    const std::size_t n = m_steps.size(), begin = n / 2;
    m_record.counted_steps = static_cast<int>(n - begin);
    if (n == 0) return;
    const auto usual = [&](const auto& value) {
      std::vector<double> values;
      for (std::size_t s = begin; s < n; ++s) values.push_back(value(s));
      return median(values);
    };
    const auto mean = [&](const auto& value) {
      double sum = 0;
      for (std::size_t s = begin; s < n; ++s) sum += value(s);
      return sum / static_cast<double>(n - begin);
    };
    m_record.step_seconds = usual([&](std::size_t s) { return m_parts[s].total(); });
    m_record.parts.advection = usual([&](std::size_t s) { return m_parts[s].advection; });
    m_record.parts.pressure = usual([&](std::size_t s) { return m_parts[s].pressure; });
    m_record.parts.velocity = usual([&](std::size_t s) { return m_parts[s].velocity; });
    m_record.parts.other = usual([&](std::size_t s) { return m_parts[s].other; });
    m_record.pressure_iterations =
        mean([&](std::size_t s) { return m_steps[s].pressure.iterations; });
    m_record.velocity_iterations =
        mean([&](std::size_t s) { return m_steps[s].velocity.iterations; });
    m_record.pressure_first_residual =
        mean([&](std::size_t s) { return m_steps[s].pressure.first_residual; });
    m_record.velocity_first_residual =
        mean([&](std::size_t s) { return m_steps[s].velocity.first_residual; });
  }

 private:
  void keep(const FlowRow& row) {
    // Every second row goes when there are too many.
    if (m_record.rows.size() >= most_rows) {
      std::vector<FlowRow> kept;
      for (std::size_t r = 0; r < m_record.rows.size(); r += 2) kept.push_back(m_record.rows[r]);
      m_record.rows = std::move(kept);
    }
    m_record.rows.push_back(row);
  }

  const Communicator& m_comm;
  const Case& m_input;
  FlowElements& m_elements;
  FlowFiles& m_files;
  FlowRecord& m_record;
  FlowRow m_last_row;
  double m_speed = 0, m_seconds_since_row = 0;
  std::vector<FlowStep> m_steps;
  std::vector<FlowParts> m_parts;
};

void judge(const Case& input, FlowRecord& record) {
  const auto within = [&](double difference) { return difference <= input.error_bound; };
  if (record.reference_difference && !within(*record.reference_difference)) {
    record.verdict = fmt::format(
        "the enstrophy differs by {:.3g} from the reference at time {:.4g}, more than "
        "verification.error_bound {:g}",
        *record.reference_difference, record.reference_time, input.error_bound);
  } else if (record.error_l2 && !within(*record.error_l2)) {
    record.verdict = fmt::format(
        "the error is {:.3g}, more than verification.error_bound {:g}; try a higher solver.order, "
        "more elements, or a smaller flow.dt",
        *record.error_l2, input.error_bound);
  } else {
    record.passed = true;
    record.verdict = record.reference_difference ? "all steps converged, near the reference"
                     : record.error_l2           ? "all steps converged, near the exact solution"
                                                 : "all steps converged";
  }
}

}  // namespace

void require_flow(const Communicator& comm, const Case& input) {
  if (!has_flow_kernels(input.solver_order))
    throw InputError(
        fmt::format("{}: this build has no kernels for a flow of order {}; take another "
                    "solver.order, or configure with -DNEKBONE_K_ORDERS={}",
                    input.input, input.solver_order, input.solver_order));
  std::string complaint;
  if (comm.is_root()) complaint = why_not_replaceable(input.flow.series);
  complaint = comm.broadcast(complaint);
  if (!complaint.empty())
    throw InputError(fmt::format("{}: '{}' cannot be written: {}; name another file",
                                 input.series_place, input.flow.series, complaint));
}

std::optional<FlowReference> read_reference(const Communicator& comm, const Case& input) {
  if (input.reference.empty()) return {};
  std::optional<std::string> found;
  if (comm.is_root()) found = text_of(input.reference);
  if (comm.broadcast(std::int64_t{found.has_value()}) == 0)
    throw InputError(fmt::format("{}: '{}' cannot be read; give the path of a file, or \"\"",
                                 input.reference_place, input.reference));
  return FlowReference(comm.broadcast(found.value_or("")), input.reference);
}

FlowFiles::FlowFiles(const Communicator& comm, const Case& input)
    : reference(read_reference(comm, input)) {
  require_flow(comm, input);
  std::string complaint;
  if (comm.is_root()) {
    try {
      series = std::make_unique<SeriesFile>(input.flow.series);
    } catch (const InputError& error) {
      complaint = fmt::format("{}: {}", input.series_place, error.what());
    }
  }
  complaint = comm.broadcast(complaint);
  if (!complaint.empty()) throw InputError(complaint);
}

FlowRecord run_flow(const Communicator& comm, const Case& input, AssembledSpace& space,
                    const GeometricFactors& factors, const FlowStrategies& strategies,
                    const MachineRecord& machine, const MemoryBudget& memory, TuningGuard& guard,
                    Progress& progress, FlowFiles& files) {
  FlowRecord record;
  record.order = space.mesh().order();
  record.elements = input.mesh.total_elements();
  record.total_dofs = space.mesh().total_dofs();
  record.viscosity = input.flow.viscosity;
  record.vector_strategy = strategies.vectors.name;
  record.scalar_strategy = strategies.scalars.name;
  record.all_reduce = strategies.all_reduce.name;
  const std::string sum = guarded_name(strategies.all_reduce);
  // Any of these may hang.
  const auto communicating = [&](const std::function<void()>& action) {
    guarded(guard, strategies.vectors.name,
            [&] { guarded(guard, strategies.scalars.name, [&] { guarded(guard, sum, action); }); });
  };

  progress.stage(fmt::format("order {}: setting up the flow", record.order));
  const double begin = wall_seconds();
  std::optional<EllipticOperator> stiffness;
  std::optional<FusedVectorOps> ops;
  std::optional<FlowElements> elements;
  std::optional<NavierStokes> flow;
  MultigridRun::Inverse inverse;  // set when one is selected
  StepLengths lengths(input.flow);
  FlowStep none;
  DeviceVector<double> source;
  std::optional<FlowHistory> history;
  communicating([&] {
    space.gs().select(FieldKind{n_components, Precision::double_}, strategies.vectors);
    space.gs().select(FieldKind{}, strategies.scalars);
    stiffness.emplace(space, factors, 0, strategies.all_reduce);
    ops.emplace(fused_ops(comm, space, {}, strategies.all_reduce));
    elements.emplace(comm, space, factors, input.flow.dealiasing);
    flow.emplace(
        comm, *elements, factors, *stiffness,
        [&](const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
          inverse(r, z, norm);
        },
        input.flow.options(), strategies.all_reduce);
    set_velocity(*elements, factors, input.flow.field(input.mesh.extent), 0, flow->velocity());
    flow->begin(0);
    history.emplace(comm, input, *elements, files, record);
    history->add_row(*flow, none);
    lengths.begin(history->speed());
    source = flow->first_pressure_source(input.flow.dt);
  });
  record.start_steps = lengths.n_start();
  record.setup_seconds = comm.max(wall_seconds() - begin);

  progress.stage(fmt::format("order {}: selecting the V-cycle", record.order));
  MultigridRun multigrid({comm, input, space, factors, *stiffness, *ops, source,
                          flow->pressure_vectors(), machine, sum},
                         guard);
  record.multigrid = multigrid.select(input.tuning.budget_seconds, memory);
  if (record.multigrid->selected() == nullptr) {
    record.verdict = fmt::format(
        "no V-cycle helps with the pressure, the default because {}; try "
        "solver.multigrid.precision double or another "
        "solver.multigrid.smoother",
        record.multigrid->candidates.front().failure);
    return record;
  }

  progress.stage(fmt::format("order {}: time steps", record.order), lengths.total());
  communicating([&] {
    multigrid.with_selected([&](const MultigridRun::Inverse& selected) {
      inverse = selected;
      for (int done = 0;; ++done) {
        const double dt = lengths.next(done, flow->time(), history->speed());
        if (dt == 0) break;
        const FlowStep step = flow->step(dt);
        guard.go_on();
        history->add_step(step);
        const bool ends = lengths.next(done + 1, flow->time(), history->speed()) == 0;
        const bool has_row = ends || input.flow.cfl > 0 ||
                             (step.number > lengths.n_start() &&
                              (step.number - lengths.n_start()) % input.flow.series_every == 0);
        if (!step.converged()) {
          const double speed = elements->sums(flow->velocity_before()).speed;
          record.verdict = what_failed(step, speed * step.dt);
          break;
        }
        if (has_row && !history->add_row(*flow, step)) {
          record.verdict = fmt::format(
              "step {} to time {:.6g}: the velocity is not finite; try a smaller flow.dt or "
              "flow.cfl",
              step.number, step.time);
          break;
        }
        progress.update(std::min(done + 1, lengths.total()));
      }
    });
    space.gs().check();
  });
  history->sum_up();
  if (!record.verdict.empty()) return record;
  const FlowField field = input.flow.field(input.mesh.extent);
  if (field.is_exact() && input.flow.forcing == std::array<double, 3>{0, 0, 0})
    communicating([&] {
      const VectorField exact("exact velocity", space);
      set_velocity(*elements, factors, field, flow->time(), exact);
      const FlowError error = difference(comm, *elements, flow->velocity(), exact);
      record.error_max = error.max;
      record.error_l2 = error.l2;
    });
  judge(input, record);
  return record;
}

}  // namespace nekbone_k
