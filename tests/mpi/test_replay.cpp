// SPDX-License-Identifier: BSD-3-Clause
// The choices of a run that go into the cache.
#include "selection/replay.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/contains.hpp"
#include "support/report_records.hpp"
#include "support/temporary_folder.hpp"

namespace nekbone_k {
namespace {

class Replay : public testing::Test {
 protected:
  Replay() {
    changed_input(m_record).tuning_cache =
        m_folder.path("cache.json");  // only rank 0 uses its path
    m_record.grid.made = made("process grids");
    m_record.all_reduce = AllReduceRecord();
    m_record.all_reduce->made = made("all-reduces");
    m_record.orders.resize(2);
    for (OrderRecord& order : m_record.orders) {
      order.order = &order == &m_record.orders.back() ? m_record.solve->order : 1;
      order.made = made("exchanges at " + std::to_string(order.order));
    }
    m_record.solve->audit.reset();
    m_record.solve->sum_audit.reset();
  }

  static MadeChoice made(const std::string& kind) { return {{kind, {}}, {"host-put", 1, "now"}}; }

  // Calls keep_choices(), expects a note at each of the four choices, and returns how many were
  // cached.
  int kept(const std::string& unreliable = "") {
    m_text = keep_choices(m_comm, unreliable, m_record);
    const DecisionCache cache(m_record.input->tuning_cache);
    int kept = 0;
    for (const auto& [choice, note] :
         {std::pair(m_record.grid.made, m_record.grid.why),
          std::pair(m_record.all_reduce->made, m_record.all_reduce->cache_note),
          std::pair(m_record.orders[0].made, m_record.orders[0].cache_note),
          std::pair(m_record.orders[1].made, m_record.orders[1].cache_note)}) {
      const bool is_kept = contains(note, "; kept in " + cache.path());
      EXPECT_NE(is_kept, contains(note, "; not kept: ")) << note;
      if (m_comm.is_root()) {
        EXPECT_EQ(cache.find(choice->key).decision.has_value(), is_kept) << note;
      }
      kept += is_kept ? 1 : 0;
    }
    return kept;
  }

  static Audit audit_of(double choice, double other) {
    Audit audit;
    audit.rounds = 8;
    for (const double seconds : {choice, other}) {
      AuditedStrategy& audited = audit.strategies.emplace_back();
      audited.name = audit.strategies.size() == 1 ? "host-put" : "host-alltoall";
      audited.timing.samples.assign(audit.rounds, seconds);
      audited.timing.cost.median = seconds;
    }
    return audit;
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  const TemporaryFolder m_folder;
  RunRecord m_record = usual_run();
  std::string m_text;
};

TEST_F(Replay, KeepsWhatARunDoesNotDoubt) {
  m_record.solve->audit = m_record.solve->sum_audit = audit_of(1, 1.5);
  EXPECT_EQ(kept(), 4);
  EXPECT_EQ(m_text, "4 choices: kept in " + m_record.input->tuning_cache);
}

TEST_F(Replay, KeepsNothingThatWasMeasuredOnALoadedMachine) {
  EXPECT_EQ(kept("the machine was loaded"), 0);
  EXPECT_EQ(m_text, "4 choices: not kept: the machine was loaded");
}

TEST_F(Replay, KeepsNoChoiceThatWasBeatenInCg) {
  m_record.solve->audit = audit_of(1.5, 1);
  EXPECT_EQ(kept(), 3);
  EXPECT_TRUE(contains(m_record.orders[1].cache_note,
                       "not kept: CG would have been faster with host-alltoall"))
      << m_record.orders[1].cache_note;
}

TEST_F(Replay, KeepsNoSumThatWasBeatenInCg) {
  m_record.solve->sum_audit = audit_of(1.5, 1);
  EXPECT_EQ(kept(), 3);
  EXPECT_TRUE(contains(m_record.all_reduce->cache_note, "not kept: CG would have been faster"));
}

TEST_F(Replay, KeepsNoChoiceThatWasWrongInCg) {
  m_record.solve->excluded = {{"host-put", "WRONG at a DOF"}};
  EXPECT_EQ(kept(), 3);
  EXPECT_TRUE(contains(m_record.orders[1].cache_note, "not kept: host-put was WRONG in CG"));
}

TEST_F(Replay, KeepsAVCycleIfCgPassed) {
  for (const bool passed : {true, false}) {
    MultigridRecord& multigrid = m_record.solve->multigrid.emplace();
    multigrid.origin.made = made("V-cycles");
    multigrid.levels.resize(2);
    multigrid.levels.front().origin.made = made("exchanges of levels");
    m_record.solve->passed = passed;
    kept();
    for (const ChoiceOrigin& origin : {multigrid.origin, multigrid.levels.front().origin}) {
      EXPECT_TRUE(contains(origin.cache_note,
                           passed ? "; kept in " : "; not kept: CG did not pass with it"))
          << origin.cache_note;
    }
    EXPECT_EQ(multigrid.levels.back().origin.cache_note, "");
    if (m_comm.is_root() && passed) {
      EXPECT_TRUE(DecisionCache(m_record.input->tuning_cache)
                      .find(multigrid.origin.made->key)
                      .decision.has_value());
    }
  }
}

TEST_F(Replay, KeepsAVCycleIfTheFlowPassed) {
  for (const bool passed : {true, false}) {
    FlowRecord& flow = m_record.flow.emplace();
    MultigridRecord& multigrid = flow.multigrid.emplace();
    multigrid.origin.made = made("V-cycles");
    flow.passed = passed;
    kept();
    EXPECT_TRUE(contains(multigrid.origin.cache_note,
                         passed ? "; kept in " : "; not kept: the flow did not pass with it"))
        << multigrid.origin.cache_note;
  }
}

TEST_F(Replay, KeyOfAVCycleNamesWhatItDependsOn) {
  const Case input = *m_record.input;
  const auto key = [&](const Case& other) {
    return make_v_cycle_key(other, other.mesh, m_record.machine);
  };
  const auto expect_difference = [&](const char* difference, const auto& change) {
    Case other = input;
    change(other);
    const auto found = key(input).differences(key(other));
    ASSERT_EQ(found.size(), 1u) << difference;
    EXPECT_TRUE(contains(found.front(), difference)) << found.front();
  };
  EXPECT_EQ(key(input), key(input));
  EXPECT_EQ(key(input).kind, "V-cycles");
  expect_difference("lambda was", [](Case& other) { other.lambda += 1; });
  expect_difference("extent was", [](Case& other) { other.mesh.extent[2] *= 2; });
  expect_difference("now kershaw 0.25", [](Case& other) {
    other.mesh.deformation = Deformation::kershaw;
    other.mesh.epsilon = 0.25;
  });
  expect_difference("periodic was", [](Case& other) { other.mesh.periodic[0] ^= true; });
  expect_difference("problem was", [](Case& other) {
    other.problem =
        other.problem == ProblemKind::nekbone ? ProblemKind::manufactured : ProblemKind::nekbone;
  });
  expect_difference("order was", [](Case& other) { ++other.solver_order; });
  expect_difference("solver.multigrid.orders was auto, now 7, 1", [](Case& other) {
    other.multigrid.orders = {7, 1};
  });
  expect_difference("solver.multigrid.smoother was auto, now schwarz",
                    [](Case& other) { other.multigrid.smoother = SmootherKind::schwarz; });
  expect_difference("solver.multigrid.polynomial was auto, now chebyshev-1",
                    [](Case& other) { other.multigrid.polynomial = ChebyshevKind::first; });
  expect_difference("solver.multigrid.degree was auto, now 2",
                    [](Case& other) { other.multigrid.degree = 2; });
  expect_difference("solver.multigrid.precision was auto, now double",
                    [](Case& other) { other.multigrid.precision = Precision::double_; });
  expect_difference("solver.multigrid.coarse_dofs was",
                    [](Case& other) { other.multigrid.coarse_dofs += 1; });
  expect_difference("solver.multigrid.replicated_dofs was auto, now 500",
                    [](Case& other) { other.multigrid.replicated_dofs = 500; });
  expect_difference("solver.launch was auto, now host",
                    [](Case& other) { other.launch = CgLaunchChoice::host; });
  expect_difference("memory limit was none, now 2 GiB",
                    [](Case& other) { other.memory_limit_gib = 2; });
}

TEST_F(Replay, SaysNothingWhereNothingWasChosen) {
  m_record.grid.made.reset();
  m_record.all_reduce->made.reset();
  for (OrderRecord& order : m_record.orders) order.made.reset();
  EXPECT_EQ(keep_choices(m_comm, "a reason", m_record), "");
  EXPECT_FALSE(std::filesystem::exists(m_record.input->tuning_cache));
}

}  // namespace
}  // namespace nekbone_k
