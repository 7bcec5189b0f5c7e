// What the tests of the tuner share: a gather-scatter to tune, and what has to hold for whatever
// the tuner returns.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gs/tuner.hpp"

namespace nekbone_k {

/// The ranks form a ring: each shares six DOFs with the next one, and one DOF with all.
class TunerTest : public testing::Test {
 protected:
  using Ids = std::vector<GlobalId>;

  /// Measures little: three rounds.
  TunerTest();

  /// tune() with the kind of field, the work, the options and the guard below. Expects that all
  /// ranks get the same result, down to the last bit of every sample, that it is consistent, and
  /// that `gs` exchanges by the selected strategy. Collective.
  TuningResult run(GatherScatter& gs, const std::vector<Strategy>& strategies);
  TuningResult run(const std::vector<Strategy>& strategies) { return run(m_gs, strategies); }

  /// Expects that the parts of `result` agree, and that the choice follows from the samples by the
  /// rule of tuner.hpp. Collective.
  void expect_consistent(const GatherScatter& gs, const TuningResult& result,
                         const std::vector<Strategy>& strategies) const;

  /// Expects that the first DOF that `failure` names is one that ranks of the ring share.
  void expect_names_a_shared_dof(const std::string& failure) const;

  /// Expects that QQᵀ·1 on the ring still is the multiplicity: nothing that the candidates left
  /// behind gets in the way. Collective.
  void expect_works(GatherScatter& gs) const;

  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank(), m_last = m_comm.size() - 1;
  const bool m_alone = m_comm.size() == 1;  ///< then nothing is shared, and nothing can be wrong
  GatherScatter m_gs;
  FieldKind m_kind;
  TunerOptions m_options;
  TuningGuard m_guard;
  bool m_sum_started = false;
  std::vector<double> m_portions;         ///< of work that was asked for
  std::vector<double> m_portions_before;  ///< of what exchanges wait for
  int m_sums = 0;                         ///< that were started and waited for
  OverlapWork m_work{
      "test work",
      [this](double portion) { m_portions.push_back(portion); },
      [this](double portion, const ExecutionSpace&) { m_portions_before.push_back(portion); },
      {},
      // A barrier, for which ranks wait as for a sum.
      WorkSum{"test sum", [this] { m_sum_started = true; },
              [this] {
                EXPECT_TRUE(std::exchange(m_sum_started, false));
                m_comm.barrier();
                ++m_sums;
              }}};
};

}  // namespace nekbone_k
