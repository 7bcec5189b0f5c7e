// SPDX-License-Identifier: BSD-3-Clause
#include "report/warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/format.hpp"
#include "core/topology.hpp"
#include "gs/strategy_table.hpp"
#include "machine/limits.hpp"
#include "tuning/all_reduce_tuner.hpp"

namespace nekbone_k {

CoreGroup core_group(int rank, const NodeLayout& layout, const std::string& host,
                     const std::vector<std::string>& binding) {
  CoreGroup group{.host = host, .ranks = {}, .cores = {}};
  for (const int other : layout.ranks)
    if (binding[other] == binding[rank]) group.ranks.push_back(other);
  const std::vector<int> cores = cores_in(binding[rank]);
  group.cores.insert(cores.begin(), cores.end());
  return group;
}

std::string load_warning(const CoreGroup& group, const CoreTime& time) {
  constexpr double least_seconds = 1;  // Linux counts in hundredths of a second
  if (time.elapsed < least_seconds) return "";
  const double cores = static_cast<double>(group.cores.size());
  const double ranks = time.ranks / time.elapsed;
  const double others = (time.all - time.ranks) / time.elapsed;
  // Other processes that use idle cores take little time from the ranks.
  const bool in_the_way = ranks + others > 0.9 * cores && others > 0.1 * ranks;
  if (!in_the_way) return "";
  return fmt::format(
      "other processes or another virtual machine used {} of the {} available to rank{} {} on {}: "
      "these are timings of a loaded machine; run again when it is idle",
      significant(others, 2), counted(std::ssize(group.cores), "core"),
      group.ranks.size() == 1 ? "" : "s", ranges_text(group.ranks), group.host);
}

std::string throttle_warning(const std::string& host, double throttled, double elapsed) {
  constexpr double least_seconds = 1, least_share = 0.05;
  if (elapsed < least_seconds || throttled < least_share * elapsed) return "";
  return fmt::format(
      "the control group's CPU quota on {} paused threads for {} of {}: these are timings of a "
      "throttled job; give the job or the container more CPUs, or use fewer ranks or threads",
      host, seconds_text(throttled), seconds_text(elapsed));
}

LoadWatch::LoadWatch(int rank, const NodeLayout& layout, const MachineRecord& machine)
    : m_group(core_group(rank, layout, machine.hosts[rank], machine.binding)),
      m_begin(wall_seconds()),
      m_own_begin(own_processor_seconds()),
      m_all_begin(busy_seconds(m_group.cores)),
      m_throttled_begin(throttled_seconds()) {}

std::string LoadWatch::warning(const Communicator& comm) const {
  CoreTime time{wall_seconds() - m_begin, 0, busy_seconds(m_group.cores) - m_all_begin};
  std::vector<double> own(comm.size());
  own[comm.rank()] = own_processor_seconds() - m_own_begin;
  comm.sum(own);
  for (const int rank : m_group.ranks) time.ranks += own[rank];
  std::string loaded = comm.first_text(load_warning(m_group, time));
  if (!loaded.empty()) return loaded;
  return comm.first_text(
      throttle_warning(m_group.host, throttled_seconds() - m_throttled_begin, time.elapsed));
}

std::string separate_jobs(int launched, int ranks, const std::string& mpi_library) {
  if (launched <= ranks) return "";
  const std::string jobs = ranks == 1 ? "each is a job of its own with one rank"
                                      : fmt::format("this job has {} ranks", ranks);
  return fmt::format(
      "the launcher started {} processes, but {}; use the launcher of the MPI that nekbone-k was "
      "built with ({})",
      launched, jobs, mpi_library);
}

std::string nothing_exchanged(const Case& input, int ranks) {
  if (ranks > 1 || input.solves()) return "";
  return "one rank exchanges nothing with others, so this run compared no strategies; start it "
         "with "
         "mpirun -np P";
}

std::vector<std::string> earlier_failures(const Case& input, const TuningGuard& journal) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& why) {
    if (!why.empty() && std::find(found.begin(), found.end(), why) == found.end())
      found.push_back(why);
  };
  for (const std::string& name : input.strategies) add(journal.why_excluded(name));
  if (input.solves())
    for (const std::string& name : input.all_reduces)
      add(why_excluded(journal, *find_all_reduce(name)));
  return found;
}

std::string slow_kernels(const std::vector<OrderRecord>& orders) {
  std::vector<int> slow;
  for (const OrderRecord& order : orders)
    if (!order.compiled && (slow.empty() || slow.back() != order.order))
      slow.push_back(order.order);
  if (slow.empty()) return "";
  return fmt::format(
      "order{} {} used the kernel with a run-time order, which is several times slower; add {} to "
      "NEKBONE_K_ORDERS in CMake (on a GPU: orders up to 15)",
      slow.size() == 1 ? "" : "s", fmt::join(slow, ", "), slow.size() == 1 ? "it" : "them");
}

std::vector<std::string> regrets(const SolveRecord& solve) {
  std::vector<std::string> found;
  const auto add = [&](const std::optional<Audit>& audit, const char* what, const char* key) {
    if (!audit || !audit->is_beaten()) return;
    found.push_back(fmt::format(
        "at order {} CG would have taken {:.1f} % less time with {} {} than with the selected {}; "
        "name it in {}, or raise gather_scatter.tuning.budget_seconds",
        solve.order, 100 * (1 - 1 / (1 + audit->regret())), what,
        audit->strategies[audit->best()].name, audit->strategies.front().name, key));
  };
  add(solve.audit, "strategy", "gather_scatter.strategies");
  add(solve.sum_audit, "all-reduce", "solver.all_reduce");
  return found;
}

}  // namespace nekbone_k
