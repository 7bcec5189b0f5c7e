// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/flow_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "flow/step_lengths.hpp"
#include "flow_run/field_files.hpp"
#include "flow_run/flow_checkpoints.hpp"
#include "flow_run/flow_history.hpp"
#include "machine/energy.hpp"
#include "operators/checksum.hpp"
#include "output/velocity_file.hpp"
#include "selection/multigrid_run.hpp"
#include "tuning/all_reduce_tuner.hpp"

namespace nekbone_k {
namespace {

/// Where a flow was at the beginning of its last step.
struct LastState {
  double cfl;  ///< CFL number of the step
  FastestNode fastest;
};

/// Which step failed, and where to look.
std::string place_of(const FlowStep& step, const LastState& before) {
  const auto& [at, speed] = before.fastest;
  return fmt::format(
      "step {} to time {:.6g}, from a CFL number of {:.2g} and a largest speed of "
      "{:.3g} at ({:.4g}, {:.4g}, {:.4g})",
      step.number, step.time, before.cfl, speed, at[0], at[1], at[2]);
}

/// Why a step failed.
std::string what_failed(const FlowStep& step, const LastState& before) {
  const bool is_pressure = !step.pressure.converged;
  const FlowSolve& solve = is_pressure ? step.pressure : step.velocity;
  return fmt::format(
      "{}: the {} solve {}; try a smaller flow.dt or flow.cfl, or a larger flow.{}_tolerance",
      place_of(step, before), is_pressure ? "pressure" : "velocity",
      std::isfinite(solve.residual)
          ? fmt::format("is at a residual of {:.2e} after {}", solve.residual,
                        counted(solve.iterations, "iteration"))
          : "has no finite residual",
      is_pressure ? "pressure" : "velocity");
}

std::uint64_t checksum_of(const Communicator& comm, const AssembledSpace& space,
                          const VectorField& velocity) {
  std::uint64_t all = 0;
  for (int d = 0; d < n_components; ++d)
    all = std::rotl(all, 1) ^ checksum(comm, space, velocity.component(d));
  return all;
}

/// The text on a stop, and how to continue.
std::string stopped_text(const FlowRecord& record) {
  return record.checkpoint_failure.empty()
             ? fmt::format("{} after step {}; continue with --restart {}", record.stopped,
                           record.checkpoint_step, record.checkpoint_file)
             : fmt::format("{}, and {}", record.stopped, record.checkpoint_failure);
}

void judge(const Case& input, FlowRecord& record) {
  const auto within = [&](double difference) { return difference <= input.error_bound; };
  if (!input.reference.empty() && !record.reference_difference) {
    record.verdict =
        "no row of the series is within the times of verification.reference; name a file that "
        "covers the run, or none";
  } else if (record.reference_difference && !within(*record.reference_difference)) {
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
    record.verdict = record.steps == 0             ? "no step was left after the checkpoint"
                     : record.reference_difference ? "all steps converged, near the reference"
                     : record.error_l2             ? "all steps converged, near the exact solution"
                                                   : "all steps converged";
  }
}

/// A flow from the beginning, or from a checkpoint, to the verdict.
class FlowRun {
 public:
  FlowRun(const Communicator& comm, const Case& input, AssembledSpace& space,
          const GeometricFactors& factors, const FlowStrategies& strategies,
          const FlowConditions& conditions, TuningGuard& guard, Progress& progress,
          FlowFiles& files)
      : m_comm(comm),
        m_input(input),
        m_space(space),
        m_factors(factors),
        m_strategies(strategies),
        m_conditions(conditions),
        m_guard(guard),
        m_progress(progress),
        m_files(files),
        m_lengths(input.flow),
        m_is_exact(input.flow.initial_file.empty() &&
                   input.flow.field(input.mesh.extent).is_exact() &&
                   input.flow.forcing == std::array<double, 3>{0, 0, 0}) {}

  /// Frees what the strategies use, which may hang.
  ~FlowRun() {
    guarded(m_guard, in_use(), [&] {
      m_history.reset();
      m_flow.reset();
      m_elements.reset();
      m_ops.reset();
      m_stiffness.reset();
    });
  }
  FlowRun(const FlowRun&) = delete;
  FlowRun& operator=(const FlowRun&) = delete;

  FlowRecord run() {
    describe();
    m_progress.stage(fmt::format("order {}: setting up the flow", m_record.order));
    const double begin = wall_seconds();
    guarded(m_guard, in_use(), [&] { set_up(); });
    m_record.setup_seconds = m_comm.max(wall_seconds() - begin);
    m_progress.stage(fmt::format("order {}: selecting the V-cycle", m_record.order));
    MultigridRun multigrid(
        {m_comm, m_input, m_space, m_factors, *m_stiffness, *m_ops, m_source,
         m_flow->pressure_vectors(), m_conditions.machine, guarded_name(m_strategies.all_reduce)},
        m_guard);
    if (!select_v_cycle(multigrid)) return m_record;
    m_progress.stage(fmt::format("order {}: time steps", m_record.order), m_lengths.total());
    guarded(m_guard, in_use(), [&] {
      multigrid.with_selected([&](const MultigridRun::Inverse& selected) {
        m_inverse = selected;
        m_cycle_bytes = multigrid.least_bytes();
        EnergyMeter energy(m_comm);
        energy.begin();
        take_steps(energy);
        m_record.energy = energy.end();
      });
      m_space.gs().check();
    });
    m_history->sum_up();
    const int first = m_conditions.restart ? m_conditions.restart->step : 0;
    m_record.start_steps = std::max(0, std::min(m_lengths.n_start(), m_done) - first);
    if (m_record.verdict.empty()) {
      guarded(m_guard, in_use(), [&] { compare(); });
      judge(m_input, m_record);
    }
    return m_record;
  }

 private:
  /// The strategies that it uses, for the guard.
  std::vector<std::string> in_use() const {
    return {m_strategies.vectors.name, m_strategies.scalars.name,
            guarded_name(m_strategies.all_reduce)};
  }

  void describe() {
    m_record.order = m_space.mesh().order();
    m_record.elements = m_input.mesh.total_elements();
    m_record.total_dofs = m_space.mesh().total_dofs();
    m_record.viscosity = m_input.flow.viscosity;
    m_record.series = m_input.flow.series;
    m_record.vector_strategy = m_strategies.vectors.name;
    m_record.scalar_strategy = m_strategies.scalars.name;
    m_record.all_reduce = m_strategies.all_reduce.name;
    if (m_input.checkpoint.is_on()) m_record.checkpoint_file = m_input.checkpoint.file;
    if (m_conditions.restart)
      m_record.restart = {m_conditions.restart->file, m_conditions.restart->step,
                          m_conditions.restart->time};
  }

  void set_up() {
    m_space.gs().select(FieldKind{n_components, Precision::double_}, m_strategies.vectors);
    m_space.gs().select(FieldKind{}, m_strategies.scalars);
    m_stiffness.emplace(m_space, m_factors, 0, m_strategies.all_reduce);
    m_ops.emplace(fused_ops(m_comm, m_space, {}, m_strategies.all_reduce));
    m_elements.emplace(m_comm, m_space, m_factors, m_input.flow.dealiasing);
    m_flow.emplace(
        m_comm, *m_elements, m_factors, *m_stiffness,
        [this](const DeviceVector<double>& r, const DeviceVector<double>& z, double norm) {
          m_inverse(r, z, norm);
        },
        m_input.flow.options(), m_strategies.all_reduce);
    m_history.emplace(m_comm, m_input, *m_elements, m_files, m_record);
    if (m_conditions.restart)
      restore();
    else
      begin();
    m_source = m_flow->first_pressure_source(m_input.flow.dt);
  }

  void begin() {
    const FlowCase& flow = m_input.flow;
    if (flow.initial_file.empty())
      set_velocity(*m_elements, m_factors, flow.field(m_input.mesh.extent), 0, m_flow->velocity());
    else
      read_velocity(flow);
    m_flow->begin(0);
    m_history->look(*m_flow);
    m_history->add_row(*m_flow, {});
    m_lengths.begin(m_history->speed());
  }

  void read_velocity(const FlowCase& flow) {
    try {
      VelocityFile(m_comm, flow.initial_file, m_input.mesh.elements)
          .read(*m_elements, m_factors, flow.translation, m_flow->velocity());
    } catch (const FileError& error) {
      throw InputError(fmt::format("{}: {}", m_input.place("flow.initial"), error.what()));
    }
  }

  void restore() {
    const FlowRestart& restart = *m_conditions.restart;
    m_done = restart.step;
    try {
      without_guard([&] {
        FlowCheckpoint(m_comm, restart.file).restore(m_space, [this](FlowArchive& a) {
          archive(a);
        });
      });
    } catch (const FileError& error) {
      throw InputError(fmt::format("--restart: {}; give an earlier checkpoint", error.what()));
    }
    m_history->look(*m_flow);
  }

  void archive(FlowArchive& archive) {
    m_flow->archive(archive);
    m_lengths.archive(archive, m_done, m_flow->time());
    m_history->archive(archive);
    double viscosity = m_input.flow.viscosity;
    int is_exact = m_is_exact ? 1 : 0;
    archive.number("viscosity", viscosity);
    archive.count("has exact solution", is_exact);
    m_is_exact = m_is_exact && is_exact != 0 && viscosity == m_input.flow.viscosity;
  }

  bool select_v_cycle(MultigridRun& multigrid) {
    m_record.multigrid = multigrid.select(m_conditions.tuning_seconds, m_conditions.memory);
    if (m_record.multigrid->selected() != nullptr) return true;
    m_record.verdict = fmt::format(
        "no V-cycle converges for the pressure; the default: {}; try "
        "solver.multigrid.precision double or another "
        "solver.multigrid.smoother",
        m_record.multigrid->candidates.front().failure);
    return false;
  }

  void take_steps(EnergyMeter& energy) {
    FlowCheckpoints checkpoints(m_comm, m_input.checkpoint, m_conditions.began, m_record);
    const CheckpointTexts texts = checkpoint_texts(
        m_comm, m_input,
        {m_space.mesh().spec().partition, m_strategies.vectors.name, m_strategies.scalars.name,
         m_strategies.all_reduce.name, m_record.multigrid->selected()->method});
    FieldFiles fields(m_comm, m_input.output, m_space, m_record);
    if (m_done == 0) write_fields(fields, false);
    const double begin = wall_seconds();
    for (const int first = m_done; !m_lengths.is_end(m_done, m_flow->time());) {
      FlowStep step = m_flow->step(m_lengths.next(m_done, m_flow->time(), m_history->speed()));
      step.pressure_bytes += step.pressure.iterations * m_cycle_bytes;
      m_guard.go_on();
      energy.go_on();
      ++m_done;
      m_history->add_step(step);
      if (!is_good(step)) return;
      m_progress.update(std::min(m_done, m_lengths.total()),
                        note_on(step, (wall_seconds() - begin) / (m_done - first)));
      const bool ends = m_lengths.is_end(m_done, m_flow->time());
      write_fields(fields, ends);
      m_record.stopped = checkpoints.after_step(m_done, m_history->step_seconds(), ends, [&] {
        without_guard([&] {
          save_flow(m_comm, m_input.checkpoint.file, m_space, texts,
                    [this](FlowArchive& a) { archive(a); });
        });
      });
      m_guard.go_on();
      if (!m_record.stopped.empty()) {
        m_record.verdict = stopped_text(m_record);
        return;
      }
    }
  }

  /// Reads or writes a file, which may take longer than a strategy may.
  template <class Action>
  void without_guard(const Action& action) {
    Kokkos::fence("nekbone_k: before a file");
    unguarded(m_guard, in_use(), action);
  }

  void write_fields(FieldFiles& files, bool ends) {
    if (!files.is_due(m_done, ends)) return;
    const VectorField vorticity("vorticity", m_space);
    m_elements->vorticity(m_flow->velocity(), vorticity);
    without_guard([&] { files.write(*m_flow, vorticity, m_done); });
  }

  /// Adds a row of the step if it is due. Returns whether the flow can continue; else the record
  /// says why not.
  bool is_good(const FlowStep& step) {
    if (!step.converged()) {
      m_record.verdict = what_failed(step, state_before(step));
      return false;
    }
    const int after_start = m_done - m_lengths.n_start();
    const bool has_row = m_lengths.is_end(m_done, m_flow->time()) ||
                         (after_start > 0 && after_start % m_input.flow.series_every == 0);
    const bool is_finite = !(has_row || m_input.flow.cfl > 0) || m_history->look(*m_flow);
    if (has_row || !is_finite) m_history->add_row(*m_flow, step);
    if (!is_finite)
      m_record.verdict =
          fmt::format("{}: the velocity is not finite; try a smaller flow.dt or flow.cfl",
                      place_of(step, state_before(step)));
    return is_finite;
  }

  LastState state_before(const FlowStep& step) {
    const VectorField& velocity = m_flow->velocity_before();
    return {m_elements->sums(velocity).speed * step.dt,
            fastest_node(m_comm, *m_elements, velocity)};
  }

  /// For the progress bar: where the flow is.
  std::string note_on(const FlowStep& step, double step_seconds) const {
    return fmt::format("t {:.4g}, CFL {:.2g}, {} + {} iterations, {} left", step.time,
                       m_history->speed() * step.dt, step.pressure.iterations,
                       step.velocity.iterations,
                       seconds_text(step_seconds * std::max(0, m_lengths.total() - m_done)));
  }

  /// Compares the velocity at the end with the exact solution, if there is one.
  void compare() {
    if (m_space.is_deterministic())
      m_record.checksum = checksum_of(m_comm, m_space, m_flow->velocity());
    if (!m_is_exact) return;
    const VectorField exact("exact velocity", m_space);
    set_velocity(*m_elements, m_factors, m_input.flow.field(m_input.mesh.extent), m_flow->time(),
                 exact);
    const FlowError error = difference(m_comm, *m_elements, m_flow->velocity(), exact);
    m_record.error_max = error.max;
    m_record.error_l2 = error.l2;
  }

  const Communicator& m_comm;
  const Case& m_input;
  AssembledSpace& m_space;
  const GeometricFactors& m_factors;
  const FlowStrategies& m_strategies;
  const FlowConditions& m_conditions;
  TuningGuard& m_guard;
  Progress& m_progress;
  FlowFiles& m_files;

  FlowRecord m_record;
  StepLengths m_lengths;
  bool m_is_exact;  ///< it has an exact solution since its beginning
  int m_done = 0;   ///< steps since the beginning of the flow
  std::optional<EllipticOperator> m_stiffness;
  std::optional<FusedVectorOps> m_ops;
  std::optional<FlowElements> m_elements;
  std::optional<NavierStokes> m_flow;
  std::optional<FlowHistory> m_history;
  DeviceVector<double> m_source;    ///< of the first pressure
  MultigridRun::Inverse m_inverse;  ///< set when one is selected
  double m_cycle_bytes = 0;         ///< minimum traffic of a V-cycle on this rank
};

}  // namespace

FlowRecord run_flow(const Communicator& comm, const Case& input, AssembledSpace& space,
                    const GeometricFactors& factors, const FlowStrategies& strategies,
                    const FlowConditions& conditions, TuningGuard& guard, Progress& progress,
                    FlowFiles& files) {
  return FlowRun(comm, input, space, factors, strategies, conditions, guard, progress, files).run();
}

}  // namespace nekbone_k
