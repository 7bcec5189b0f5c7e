// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the tuner's tests: a gather–scatter to tune, and checks of any result of the
// tuner.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/callback_guard.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// The ranks form a ring: each shares six DOFs with the next rank, and one DOF with all ranks.
class TunerTest : public testing::Test {
 protected:
  using Ids = std::vector<GlobalId>;

  /// Sets options for little measuring: three rounds.
  TunerTest();

  /// Calls tune() with the kind of field, work, options and guard below. Expects that all ranks get
  /// the same result, exact to the last bit of every sample, that it is consistent, and that `gs`
  /// uses the selected strategy. Collective.
  TuningResult run(GatherScatter& gs, const std::vector<Strategy>& strategies);
  TuningResult run(const std::vector<Strategy>& strategies) { return run(m_gs, strategies); }

  /// Expects that the parts of `result` agree, and that the selected strategy follows from the
  /// samples by the rule of tuner.hpp. Collective.
  void expect_consistent(const GatherScatter& gs, const TuningResult& result,
                         const std::vector<Strategy>& strategies) const;

  /// Expects that the first DOF in `failure` is one that ranks of the ring share.
  void expect_names_a_shared_dof(const std::string& failure) const;

  /// Expects that QQᵀ·1 on the ring is still the multiplicity, so nothing that the candidates left
  /// behind interferes. Collective.
  void expect_works(GatherScatter& gs) const;

  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank(), m_last = m_comm.size() - 1;
  const bool m_alone = m_comm.size() == 1;  ///< nothing is shared then, so nothing can be wrong
  GatherScatter m_gs;
  FieldKind m_kind;
  TunerOptions m_options;
  CallbackGuard m_guard;
  bool m_sum_started = false;
  std::vector<double> m_portions;         ///< requested portions of work
  std::vector<double> m_portions_before;  ///< requested portions before the exchange
  int m_sums = 0;                         ///< number of started and finished all-reduces
  OverlapWork m_work{
      "test work",
      [this](double portion) { m_portions.push_back(portion); },
      [this](double portion, const ExecutionSpace&) { m_portions_before.push_back(portion); },
      {},
      // A barrier, because ranks wait in it as in an all-reduce.
      WorkSum{"test sum", [this] { m_sum_started = true; },
              [this] {
                EXPECT_TRUE(std::exchange(m_sum_started, false));
                m_comm.barrier();
                ++m_sums;
              }}};
};

}  // namespace nekbone_k
