// What a run will take, by its case.
#include "app/memory.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nekbone_k {
namespace {

double tuning_bytes(const std::string& strategies) {
  const Case input = parse_case(
      "problem: none\nmesh: {elements: [16, 16, 16]}\n"
      "gather_scatter: {strategies: [" +
          strategies + "]}",
      "x.yaml", {}, 2);
  return tuning_memory(BoxMesh(input.mesh, 7, 2, 0), input).without_operator;
}

// Each holds its own buffers, for as long as any is timed.
TEST(Memory, OfTuningIsThatOfTheStrategiesThatAreTried) {
  const double one = tuning_bytes("device-pairwise"), other = tuning_bytes("host-pairwise");
  const double both = tuning_bytes("device-pairwise, host-pairwise");
  EXPECT_GT(other, one);  // copies of both messages on the host
  EXPECT_GT(both, other);
  EXPECT_GT(tuning_bytes("all"), both);
  // The one holds two buffers, the other four.
  const double a_buffer = (both - other) / 2;
  EXPECT_NEAR(other - one, 2 * a_buffer, 1e-9 * both);
}

}  // namespace
}  // namespace nekbone_k
