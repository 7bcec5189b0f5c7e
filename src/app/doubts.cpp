#include "app/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine.hpp"
#include "core/topology.hpp"
#include "gs/all_reduce_tuner.hpp"
#include "gs/strategy_table.hpp"

namespace nekbone_k {

std::string load_warning(const std::string& host, int cores, const CoreTime& time) {
  if (time.elapsed <= 0) return "";
  const double ranks = time.ranks / time.elapsed;
  const double others = (time.all - time.ranks) / time.elapsed;
  // Others that use cores which the ranks leave idle take little from them.
  const bool in_the_way = ranks + others > 0.9 * cores && others > 0.1 * ranks;
  if (!in_the_way) return "";
  return fmt::format(
      "other processes took {:.2g} of the {} core{} that the ranks on {} may use: these are "
      "timings of a loaded machine; run again when it is idle",
      others, cores, cores == 1 ? "" : "s", host);
}

LoadWatch::LoadWatch(const Communicator& comm, const std::vector<std::string>& hosts,
                     const std::vector<std::string>& binding)
    : m_host(hosts[comm.rank()]) {
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    if (hosts[r] != m_host) continue;
    m_ranks.push_back(static_cast<int>(r));
    for (const int core : cores_in(binding[r])) m_cores.insert(core);
  }
  m_begin = wall_seconds();
  m_own_begin = own_processor_seconds();
  m_all_begin = busy_seconds(m_cores);
}

std::string LoadWatch::warning(const Communicator& comm) const {
  CoreTime time{wall_seconds() - m_begin, 0, busy_seconds(m_cores) - m_all_begin};
  std::vector<double> own(comm.size());
  own[comm.rank()] = own_processor_seconds() - m_own_begin;
  comm.sum(own);
  for (const int rank : m_ranks) time.ranks += own[rank];
  return comm.first_text(load_warning(m_host, static_cast<int>(m_cores.size()), time));
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

std::vector<std::string> regrets(const SolveRecord& solve) {
  std::vector<std::string> found;
  const auto add = [&](const std::optional<Audit>& audit) {
    if (!audit || audit->best() == 0 || audit->strategies.front().timing.tie) return;
    found.push_back(fmt::format(
        "at order {} CG would have taken {:.1f} % less with {} than with {}, the choice; name it "
        "in the input, or raise gather_scatter.tuning.budget_seconds",
        solve.order, 100 * (1 - 1 / (1 + audit->regret())), audit->strategies[audit->best()].name,
        audit->strategies.front().name));
  };
  add(solve.audit);
  add(solve.sum_audit);
  return found;
}

}  // namespace nekbone_k
