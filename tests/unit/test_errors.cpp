// SPDX-License-Identifier: BSD-3-Clause
// The exit codes of the program's errors.
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
