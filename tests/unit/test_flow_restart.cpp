// SPDX-License-Identifier: BSD-3-Clause
// The strategies that a restart keeps.
#include "flow_run/flow_restart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nekbone_k {
namespace {

using testing::ElementsAre;

FlowRestart restart_with(const std::string& vectors, const std::string& scalars) {
  FlowRestart restart;
  restart.vectors = vectors;
  restart.scalars = scalars;
  return restart;
}

std::vector<std::string> pinned(const FlowRestart& restart, int components,
                                const std::vector<std::string>& candidates) {
  TunedField field{7, {components, Precision::double_}, {}};
  for (const std::string& name : candidates) field.strategies.push_back(*find_strategy(name));
  restart.pin(field);
  std::vector<std::string> names;
  for (const Strategy& strategy : field.strategies) names.push_back(strategy.name);
  return names;
}

TEST(FlowRestart, KeepsTheStrategyOfEachField) {
  const FlowRestart restart = restart_with("host-pairwise", "device-pairwise+overlap");
  const std::vector<std::string> plain{"device-pairwise", "host-pairwise"};
  EXPECT_THAT(pinned(restart, 3, plain), ElementsAre("host-pairwise"));
  EXPECT_THAT(pinned(restart, 1, {"device-pairwise", "device-pairwise+overlap"}),
              ElementsAre("device-pairwise+overlap"));
  EXPECT_EQ(pinned(restart, 1, plain), plain) << "no candidate, so it is tuned";
}

// Vectors are exchanged without overlap, and earlier versions stored overlapped strategies.
TEST(FlowRestart, KeepsThePlainFormForVectors) {
  const FlowRestart restart = restart_with("host-pairwise+overlap", "");
  const std::vector<std::string> candidates{"device-pairwise", "host-pairwise"};
  EXPECT_THAT(pinned(restart, 3, candidates), ElementsAre("host-pairwise"));
  EXPECT_EQ(pinned(restart, 1, candidates), candidates) << "the checkpoint names none";
}

TEST(FlowRestart, TunesInPlaceOfAnUnknownStrategy) {
  const FlowRestart restart = restart_with("pigeons", "pigeons");
  const std::vector<std::string> candidates{"device-pairwise", "host-pairwise"};
  EXPECT_EQ(pinned(restart, 3, candidates), candidates);
  EXPECT_EQ(pinned(restart, 1, candidates), candidates);
}

}  // namespace
}  // namespace nekbone_k
