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
    m_record.input.tuning_cache = m_folder.path("cache.json");  // only rank 0 uses its path
    m_record.grid.made = made("process grids");
    m_record.all_reduce = AllReduceRecord();
    m_record.all_reduce->made = made("sums");
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
  int kept(const std::string& doubt = "") {
    m_text = keep_choices(m_comm, m_record.input, doubt, m_record);
    const DecisionCache cache(m_record.input.tuning_cache);
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
  EXPECT_EQ(m_text, "4 choices: kept in " + m_record.input.tuning_cache);
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
  m_record.solve->left_out = {{"host-put", "WRONG at a DOF"}};
  EXPECT_EQ(kept(), 3);
  EXPECT_TRUE(contains(m_record.orders[1].cache_note, "not kept: host-put was WRONG in CG"));
}

TEST_F(Replay, SaysNothingWhereNothingWasChosen) {
  m_record.grid.made.reset();
  m_record.all_reduce->made.reset();
  for (OrderRecord& order : m_record.orders) order.made.reset();
  EXPECT_EQ(keep_choices(m_comm, m_record.input, "a doubt", m_record), "");
  EXPECT_FALSE(std::filesystem::exists(m_record.input.tuning_cache));
}

}  // namespace
}  // namespace nekbone_k
