// SPDX-License-Identifier: BSD-3-Clause
// The tuner for fields with several components and in single precision.
#include "gs/field_kind.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/system.hpp"
#include "gs/strategies/host_staged.hpp"
#include "gs/strategies/pairwise.hpp"
#include "support/available_strategies.hpp"
#include "support/made_up_strategies.hpp"
#include "support/tuner_test.hpp"
#include "tuning/measure_paths.hpp"
#include "tuning/predict.hpp"

namespace nekbone_k {
namespace {

// Ids of eight points: a DOF of all ranks (twice), two shared with the next rank, two shared with
// the previous one, and a private DOF (twice).
std::vector<GlobalId> field_ids(int rank, int size) {
  const int next = (rank + 1) % size;
  return {9, 1000 + rank, 3000 + rank, 9, 2000 + next, 1000 + next, 2000 + rank, 3000 + rank};
}

// Small integers, whose sums are exact in single precision.
double field_value(int rank, std::size_t point, int component) {
  return 1 + rank + 10.0 * static_cast<double>(point) + 100 * component;
}

// Expects that QQᵀ of several components equals plain sums. The points of `gs` must have
// field_ids().
template <class T>
void expect_right_sums(const Communicator& comm, GatherScatter& gs, int components) {
  const std::vector<GlobalId> ids = field_ids(comm.rank(), comm.size());
  const DeviceField<T> points("points", ids.size(), components);
  const auto host = Kokkos::create_mirror_view(points);
  for (std::size_t p = 0; p < ids.size(); ++p)
    for (int c = 0; c < components; ++c) host(p, c) = T(field_value(comm.rank(), p, c));
  Kokkos::deep_copy(points, host);
  gs.gs_op(points, Reduction::add);
  Kokkos::deep_copy(host, points);
  for (std::size_t p = 0; p < ids.size(); ++p)
    for (int c = 0; c < components; ++c) {
      double sum = 0;
      for (int rank = 0; rank < comm.size(); ++rank) {
        const std::vector<GlobalId> others = field_ids(rank, comm.size());
        for (std::size_t q = 0; q < others.size(); ++q)
          if (others[q] == ids[p]) sum += field_value(rank, q, c);
      }
      EXPECT_EQ(host(p, c), sum) << "point " << p << ", component " << c;
    }
}

// Size of the items that bad_for_some() delivers wrong.
std::size_t bad_item_bytes = 0;

Strategy bad_for_some(const std::string& name) {
  return named(name,
               [](const Communicator& comm, const HaloPlan& plan,
                  const MessageBuffers& buffers) -> std::unique_ptr<Exchange> {
                 if (buffers.item_bytes == bad_item_bytes)
                   return make_faulty(Fault::delivers_nothing, Where::everywhere, comm, plan,
                                      buffers);
                 return host_staged<make_pairwise>(comm, plan, buffers);
               });
}

struct NamedKind {
  FieldKind kind;
  std::size_t item_bytes;
  std::string value;  ///< its type's name
};

void PrintTo(const NamedKind& named, std::ostream* out) { *out << named.kind.text(); }

class FieldKinds : public TunerTest, public testing::WithParamInterface<NamedKind> {
 protected:
  FieldKinds() : m_ids_gs(m_comm, field_ids(m_rank, m_comm.size())) { m_kind = GetParam().kind; }

  GatherScatter m_ids_gs;
};

TEST_P(FieldKinds, AreExchangedRightByWhatIsSelected) {
  m_options.minimum_rounds = 1;
  const TuningResult result = run(m_ids_gs, available_strategies(m_comm));
  for (const CandidateResult& c : result.candidates) EXPECT_TRUE(c.verified) << c.failure;
  ASSERT_GE(result.selected, 0);
  EXPECT_EQ(result.breakdown.has_value(), !m_alone);
  with_value_type(m_kind.precision,
                  [&]<class T>(T) { expect_right_sums<T>(m_comm, m_ids_gs, m_kind.components); });
}

TEST_P(FieldKinds, AreWhatIsTimed) {
  made_exchanges().clear();
  run({noted("plain"), noted("overlapped", true)});
  int timed = 0;
  for (const MadeExchange& made : made_exchanges()) {
    if (made.calls <= 2) continue;  // verification calls an exchange at most twice
    ++timed;
    EXPECT_EQ(made.item_bytes, GetParam().item_bytes);
  }
  EXPECT_EQ(timed, m_alone ? 0 : 2);
}

TEST_P(FieldKinds, AreVerifiedBeforeAnythingIsTimed) {
  bad_item_bytes = GetParam().item_bytes;
  const TuningResult result = run({bad_for_some("bad"), good("good")});
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  EXPECT_EQ(result.selected, 1);
  const std::string& failure = result.candidates[0].failure;
  EXPECT_EQ(failure.find("WRONG add of " + GetParam().value + ": DOF "), 0U) << failure;
  EXPECT_EQ(failure.find("timed"), std::string::npos) << failure;
}

TEST_P(FieldKinds, AreVerifiedAgainByTheExchangeThatWasTimed) {
  // The tuner excludes the first winner, then the second.
  const TuningResult result = run({turns_wrong("turns"), turns_wrong("hides", true)});
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  EXPECT_EQ(result.selected, -1);
  for (const CandidateResult& candidate : result.candidates) {
    const std::string& failure = candidate.failure;
    EXPECT_EQ(failure.find("WRONG add of " + GetParam().value + ": DOF "), 0U) << failure;
    EXPECT_NE(failure.find("it had been timed and won"), std::string::npos) << failure;
    expect_names_a_shared_dof(failure);
  }
}

TEST_P(FieldKinds, AreWhatIsPredicted) {
  const std::vector<Strategy> strategies{*find_strategy("host-pairwise")};
  const MachinePaths paths =
      measure_paths(m_comm, strategies, m_guard, {.seconds = 0, .least_rounds = 3});
  const TuningResult result = tune(m_gs, m_kind, strategies, m_work, m_options, m_guard, &paths);
  if (m_alone) GTEST_SKIP() << "nothing is shared";
  const auto predicted = [&](double item_bytes) {
    return predict(m_comm, strategies[0].cost, m_gs.plan(), nodes_of_ranks(m_comm), paths,
                   item_bytes)
        ->alone();
  };
  const auto found = result.candidates[0].alone->predicted;
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, predicted(static_cast<double>(GetParam().item_bytes)));
  EXPECT_NE(*found, predicted(8));
}

const std::vector<NamedKind> field_kinds{{{1, Precision::single}, 4, "float"},
                                         {{3, Precision::double_}, 24, "double"},
                                         {{3, Precision::single}, 12, "float"},
                                         {{64, Precision::double_}, 512, "double"}};

INSTANTIATE_TEST_SUITE_P(Each, FieldKinds, testing::ValuesIn(field_kinds), [](const auto& test) {
  return test.param.value + "_times_" + std::to_string(test.param.kind.components);
});

class FieldKindTest : public TunerTest {};

TEST_F(FieldKindTest, ThatNobodyExchangesExcludesNothing) {
  bad_item_bytes = 3 * sizeof(float);
  const TuningResult result = run({bad_for_some("bad for three floats")});
  EXPECT_TRUE(result.candidates[0].verified) << result.candidates[0].failure;
}

}  // namespace
}  // namespace nekbone_k
