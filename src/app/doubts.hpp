/// @file
/// What casts doubt on the figures of a run, each in a sentence that says what to do.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/run_record.hpp"
#include "core/communicator.hpp"
#include "gs/tuning_guard.hpp"

namespace nekbone_k {

/// Processor time, s.
struct CoreTime {
  double elapsed = 0;
  double ranks = 0;  ///< had by the ranks on the node
  double all = 0;    ///< in which the cores were not idle, or were another machine's
};

/// What there is to say of `cores` cores that the ranks on `host` may use; empty if they had what
/// they wanted of them.
std::string load_warning(const std::string& host, int cores, const CoreTime& time);

/// Watches who uses the cores of this rank's node from when it is made.
class LoadWatch {
 public:
  /// `hosts` and `binding` are of each rank, as in MachineRecord.
  LoadWatch(const Communicator& comm, const std::vector<std::string>& hosts,
            const std::vector<std::string>& binding);

  /// What there is to say by now, of the node of the lowest rank whose has something. Collective.
  std::string warning(const Communicator& comm) const;

 private:
  std::string m_host;
  std::vector<int> m_ranks;  ///< of the node
  std::set<int> m_cores;     ///< that they may use
  double m_begin, m_own_begin, m_all_begin;
};

/// Why ways to exchange or to sum are not even tried because of what they did in earlier runs,
/// each reason once. Collective.
std::vector<std::string> earlier_failures(const Case& input, const TuningGuard& journal);

/// Choices that CG would have been faster without, beyond what noise explains.
std::vector<std::string> regrets(const SolveRecord& solve);

}  // namespace nekbone_k
