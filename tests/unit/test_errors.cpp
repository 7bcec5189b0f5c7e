// Errors of the program say by their code what they are.
#include "core/errors.hpp"

#include <gtest/gtest.h>

namespace nekbone_k {
namespace {

TEST(Errors, OfTheProgramSayByTheirCodeWhetherMemoryIsShort) {
  EXPECT_TRUE(is_out_of_memory(MemoryError("order 7 needs 3 GiB")));
  EXPECT_FALSE(is_out_of_memory(InternalError("nccl: failed to allocate")));
}

}  // namespace
}  // namespace nekbone_k
