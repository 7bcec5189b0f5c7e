#include "app/doubts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/format.hpp"
#include "core/topology.hpp"
#include "gs/all_reduce_tuner.hpp"
#include "gs/strategy_table.hpp"

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
  constexpr double least_seconds = 1;  // Linux counts hundredths
  if (time.elapsed < least_seconds) return "";
  const double cores = static_cast<double>(group.cores.size());
  const double ranks = time.ranks / time.elapsed;
  const double others = (time.all - time.ranks) / time.elapsed;
  // Others that use cores which the ranks leave idle take little from them.
  const bool in_the_way = ranks + others > 0.9 * cores && others > 0.1 * ranks;
  if (!in_the_way) return "";
  return fmt::format(
      "other processes, or another virtual machine, took {} of the {} that rank{} {} on {} "
      "may use: these are timings of a loaded machine; run again when it is idle",
      significant(others, 2), counted(std::ssize(group.cores), "core"),
      group.ranks.size() == 1 ? "" : "s", ranges_text(group.ranks), group.host);
}

LoadWatch::LoadWatch(int rank, const NodeLayout& layout, const MachineRecord& machine)
    : m_group(core_group(rank, layout, machine.hosts[rank], machine.binding)),
      m_begin(wall_seconds()),
      m_own_begin(own_processor_seconds()),
      m_all_begin(busy_seconds(m_group.cores)) {}

std::string LoadWatch::warning(const Communicator& comm) const {
  CoreTime time{wall_seconds() - m_begin, 0, busy_seconds(m_group.cores) - m_all_begin};
  std::vector<double> own(comm.size());
  own[comm.rank()] = own_processor_seconds() - m_own_begin;
  comm.sum(own);
  for (const int rank : m_group.ranks) time.ranks += own[rank];
  return comm.first_text(load_warning(m_group, time));
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
    if (!order.compiled) slow.push_back(order.order);
  if (slow.empty()) return "";
  return fmt::format(
      "order{} {} ran by the kernel for any order, which is several times slower; those that "
      "CMake's NEKBONE_K_ORDERS lists are compiled, on a GPU up to order 15",
      slow.size() == 1 ? "" : "s", fmt::join(slow, ", "));
}

std::vector<std::string> regrets(const SolveRecord& solve) {
  std::vector<std::string> found;
  const auto add = [&](const std::optional<Audit>& audit, const char* what, const char* key) {
    if (!audit || !audit->is_beaten()) return;
    found.push_back(fmt::format(
        "at order {} CG would have taken {:.1f} % less with {} {} than with {}, the choice; name "
        "it in {}, or raise gather_scatter.tuning.budget_seconds",
        solve.order, 100 * (1 - 1 / (1 + audit->regret())), what,
        audit->strategies[audit->best()].name, audit->strategies.front().name, key));
  };
  add(solve.audit, "exchanges by", "gather_scatter.strategies");
  add(solve.sum_audit, "sums by", "solver.all_reduce");
  return found;
}

}  // namespace nekbone_k
