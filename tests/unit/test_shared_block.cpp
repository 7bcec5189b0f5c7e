// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of another process, and checks that a block is the offered one.
#include "core/shared_block.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "core/errors.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

class SharedBlockTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_host_device) GTEST_SKIP() << "a process cannot open its own device memory";
  }

  // This process's file descriptor of a block in host memory.
  static int descriptor_of(const SharedBlock& block) {
    int process = 0, file = -1;
    const std::size_t at = block.offer.find("/proc/");
    EXPECT_EQ(std::sscanf(block.offer.c_str() + at, "/proc/%d/fd/%d", &process, &file), 2);
    EXPECT_EQ(process, getpid());
    return file;
  }

  static std::string failure_of(const std::string& offer) {
    try {
      open_shared_block(offer);
    } catch (const UnavailableError& error) {
      return error.what();
    }
    return "opened";
  }
};

TEST_F(SharedBlockTest, OpensWhatIsOffered) {
  const SharedBlock block = make_shared_block(3000);
  EXPECT_GE(block.bytes, 3000U);
  std::byte* const opened = open_shared_block(block.offer);
  EXPECT_NE(opened, block.data);
  for (const std::size_t at : {std::size_t{0}, block.bytes - 1}) {
    block.data[at] = std::byte{7};
    EXPECT_EQ(opened[at], std::byte{7});
  }
  EXPECT_NO_THROW(open_shared_block(block.offer));  // the identifying word is not among the bytes
  EXPECT_NE(block.offer, make_shared_block(3000).offer);
}

// Containers have the same process ids and descriptors.
TEST_F(SharedBlockTest, OpensNoOtherFileInItsPlace) {
  const SharedBlock block = make_shared_block(3000);
  const int file = descriptor_of(block), other = memfd_create("other", 0);
  struct stat status {};
  ASSERT_EQ(fstat(file, &status), 0);
  ASSERT_EQ(ftruncate(other, status.st_size), 0);
  ASSERT_EQ(dup2(other, file), file);
  EXPECT_NE(failure_of(block.offer).find("is another file; ranks in different PID namespaces"),
            std::string::npos)
      << failure_of(block.offer);
  close(file);
  EXPECT_NE(failure_of(block.offer).find("does not exist"), std::string::npos)
      << failure_of(block.offer);
  close(other);
}

TEST_F(SharedBlockTest, OpensNoFileOfAnotherSize) {
  const SharedBlock block = make_shared_block(3000);
  ASSERT_EQ(ftruncate(descriptor_of(block), 4096), 0);
  EXPECT_NE(failure_of(block.offer).find("is another file"), std::string::npos);
}

TEST_F(SharedBlockTest, UsesNoMemoryWithAnotherWord) {
  const SharedBlock block = make_shared_block(3000);
  const std::byte before = block.data[block.bytes];
  block.data[block.bytes] ^= std::byte{1};
  EXPECT_NE(failure_of(block.offer).find("other memory"), std::string::npos);
  block.data[block.bytes] = before;
  EXPECT_NO_THROW(open_shared_block(block.offer));
}

}  // namespace
}  // namespace nekbone_k
