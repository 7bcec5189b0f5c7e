// SPDX-License-Identifier: BSD-3-Clause
// Conditions for a run to pass: each part is missing in one test and wrong in another.
#include "report/verdict.hpp"

#include <gtest/gtest.h>

#include "report/report.hpp"
#include "support/contains.hpp"
#include "support/report_records.hpp"

namespace nekbone_k {
namespace {

// A complete run, in which everything is right.
RunRecord whole_run() {
  RunRecord run = usual_run();
  changed_input(run).orders = {7};
  changed_input(run).solver_order = 7;
  changed_input(run).problem = ProblemKind::taylor_green;
  AllReduceRecord& sums = run.all_reduce.emplace();
  AllReduceResult& sum = sums.candidates.emplace_back();
  sum.strategy = all_reduce_strategies().front();
  sum.verified = true;
  sums.selected = 0;
  return run;
}

RunRecord exchanges_alone() {
  RunRecord run = whole_run();
  changed_input(run).problem = ProblemKind::none;
  run.all_reduce.reset();
  run.solve.reset();
  return run;
}

TEST(Verdict, PassesWhatWasDoneAndRight) {
  EXPECT_TRUE(has_passed(whole_run()));
  EXPECT_TRUE(has_passed(exchanges_alone()));
}

TEST(Verdict, NeedsSomethingToHaveBeenDone) {
  EXPECT_FALSE(has_passed(RunRecord()));
  RunRecord nothing;
  changed_input(nothing).problem = ProblemKind::none;
  EXPECT_FALSE(has_passed(nothing));
}

// As with exchange strategies, an unavailable method fails no run, and a wrong one does.
TEST(Verdict, NeedsMethodsOfCgThatAreRight) {
  RunRecord run = whole_run();
  CgMethodResult& method = run.solve->methods.candidates.emplace_back();
  method.verified = true;
  EXPECT_TRUE(has_passed(run));
  method.verified = false;
  method.failure = "WRONG: residual 3 is 1 instead of 2";
  EXPECT_FALSE(has_passed(run));
  EXPECT_TRUE(
      contains_words(closing_text(run, true), "classic, host: WRONG: residual 3 is 1 instead"));
  method.available = false;
  EXPECT_TRUE(has_passed(run));
  EXPECT_FALSE(contains_words(closing_text(run, true), "residual 3"));
}

TEST(Verdict, NeedsEveryOrder) {
  for (RunRecord run : {whole_run(), exchanges_alone()}) {
    run.orders.clear();
    EXPECT_FALSE(has_passed(run));
  }
  RunRecord run = exchanges_alone();
  changed_input(run).orders = {3, 7};
  EXPECT_FALSE(has_passed(run));
  run = whole_run();
  changed_input(run).solver_order = 5;  // tuned, too
  EXPECT_FALSE(has_passed(run));
}

TEST(Verdict, NeedsAnExchangeAtEveryOrder) {
  for (RunRecord run : {whole_run(), exchanges_alone()}) {
    TuningResult& tuning = run.orders[0].tuning;
    tuning.selected = -1;
    for (CandidateResult& c : tuning.candidates) c.available = c.verified = c.selected = false;
    EXPECT_FALSE(has_passed(run)) << "all unavailable";
    tuning.candidates.clear();
    EXPECT_FALSE(has_passed(run)) << "no candidates";
  }
}

TEST(Verdict, NeedsAllThatIsAvailableToBeRight) {
  for (RunRecord run : {whole_run(), exchanges_alone()}) {
    run.orders[0].tuning.candidates[1].verified = false;
    EXPECT_FALSE(has_passed(run));
    run.orders[0].tuning.candidates[1].available = false;  // not a failure
    EXPECT_TRUE(has_passed(run));
    run.orders[0].on_rank_failure = "WRONG on-rank QQ^T";
    EXPECT_FALSE(has_passed(run));
  }
}

TEST(Verdict, NeedsTheAllReduceAndTheSolution) {
  RunRecord run = whole_run();
  run.solve.reset();
  EXPECT_FALSE(has_passed(run));
  run = whole_run();
  run.solve->passed = false;
  EXPECT_FALSE(has_passed(run));
  run = whole_run();
  run.solve->excluded.push_back({"device-pairwise", "WRONG"});
  EXPECT_FALSE(has_passed(run));
  run = whole_run();
  run.all_reduce.reset();
  EXPECT_FALSE(has_passed(run));
  run = whole_run();
  run.all_reduce->selected = -1;
  EXPECT_FALSE(has_passed(run));
}

TEST(Verdict, OfAFlowNeedsBothFieldsTheAllReduceAndTheFlow) {
  EXPECT_TRUE(has_passed(flow_run()));
  RunRecord run = flow_run();
  run.orders.pop_back();
  EXPECT_FALSE(has_passed(run)) << "one of the fields";
  for (const std::size_t field : {0, 1}) {
    run = flow_run();
    run.orders[field].tuning.candidates[1].verified = false;
    EXPECT_FALSE(has_passed(run)) << field;
  }
  run = flow_run();
  run.all_reduce.reset();
  EXPECT_FALSE(has_passed(run));
  run = flow_run();
  run.all_reduce->candidates[0].verified = false;
  EXPECT_FALSE(has_passed(run));
  run = flow_run();
  run.flow.reset();
  EXPECT_FALSE(has_passed(run));
  run = flow_run();
  run.flow->passed = false;
  EXPECT_FALSE(has_passed(run));
  run = flow_run();
  changed_input(run).orders = {1, 3};  // a flow has only its own
  EXPECT_TRUE(has_passed(run));
}

}  // namespace
}  // namespace nekbone_k
