// SPDX-License-Identifier: BSD-3-Clause
#include "library/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "gs/strategy_table.hpp"
#include "input/input_keys.hpp"
#include "support/contains.hpp"

namespace nekbone_k {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse_library_options(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LibraryOptions, AreKeysOfTheInputFileWithTheirDefaults) {
  const LibraryOptions defaults;
  for (const std::string& name : library_option_keys()) {
    const auto keys = input_keys();
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& one) {
      return one.path == "gather_scatter." + name;
    });
    ASSERT_NE(key, keys.end()) << name;
    std::string value = key->default_value.dump();
    value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
    const LibraryOptions read = parse_library_options(name + "=" + value);
    EXPECT_EQ(read.strategies, defaults.strategies) << name;
    EXPECT_EQ(read.patience, defaults.patience) << name;
    EXPECT_EQ(read.tuning.budget_seconds, defaults.tuning.budget_seconds) << name;
    EXPECT_EQ(read.tuning.minimum_rounds, defaults.tuning.minimum_rounds) << name;
    EXPECT_EQ(read.tuning.early_stop, defaults.tuning.early_stop) << name;
  }
  EXPECT_EQ(defaults.chosen_strategies().size(), all_strategies().size());
}

TEST(LibraryOptions, EveryKeyIsRead) {
  const LibraryOptions read = parse_library_options(
      " strategies = [ host-alltoall, host-pairwise ] ;\n tuning.budget_seconds=0.25;"
      "tuning.minimum_rounds=7\ntuning.early_stop=false;; tuning.patience_seconds = 1e2 ;");
  EXPECT_EQ(read.strategies, (std::vector<std::string>{"host-pairwise", "host-alltoall"}));
  EXPECT_EQ(read.chosen_strategies().size(), 2U);
  EXPECT_EQ(read.tuning.budget_seconds, 0.25);
  EXPECT_EQ(read.tuning.minimum_rounds, 7);
  EXPECT_FALSE(read.tuning.early_stop);
  EXPECT_EQ(read.patience, 100);
  EXPECT_EQ(parse_library_options("strategies=nccl").strategies, std::vector<std::string>{"nccl"});
}

TEST(LibraryOptions, MessagesSayWhatIsAllowed) {
  EXPECT_TRUE(
      contains(message_of("budget=1"), "option 'budget' is unknown; allowed: strategies, "));
  EXPECT_TRUE(contains(message_of("tuning.early_stop"),
                       "has no value; allowed: tuning.early_stop=true or false"));
  EXPECT_TRUE(
      contains(message_of("strategies=[pairwise]"), "[device-pairwise] of: device-pairwise, "));
  EXPECT_TRUE(contains(message_of("strategies="), "option 'strategies' is ''"));
  for (const char* const value : {"-1", "1s", "nan", "inf", "", "1 2"})
    EXPECT_TRUE(contains(message_of(std::string("tuning.budget_seconds=") + value),
                         "option 'tuning.budget_seconds' is '" + std::string(value) +
                             "'; allowed: auto, or a number >= 0"))
        << value;
  for (const char* const value : {"0", "-3", "2.5", "10001", "99999999999"})
    EXPECT_TRUE(contains(message_of(std::string("tuning.minimum_rounds=") + value),
                         "an integer from 1 to 10000"))
        << value;
  EXPECT_TRUE(contains(message_of("tuning.patience_seconds=0"), "a number > 0"));
  EXPECT_TRUE(contains(message_of("tuning.early_stop=True"), "true or false"));
}

}  // namespace
}  // namespace nekbone_k
