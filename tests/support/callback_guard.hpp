// SPDX-License-Identifier: BSD-3-Clause
// A tuning guard whose calls a test can observe.
#pragma once

#include <functional>
#include <string>

#include "tuning/tuning_guard.hpp"

namespace nekbone_k {

/// Calls the functions that a test sets. Otherwise like NoGuard.
class CallbackGuard final : public TuningGuard {
 public:
  using OfStrategy = std::function<void(const std::string& strategy)>;
  using Told = std::function<void()>;

  double seconds = for_ever;  ///< the patience
  OfStrategy on_enter = [](const std::string&) {}, on_begin = on_enter, on_take_back = on_enter;
  Told on_leave = [] {}, on_end = on_leave, on_fail = on_leave;
  std::function<std::string(const std::string& strategy)> excluded = [](const std::string&) {
    return std::string();
  };

  double patience() const override { return seconds; }
  void enter(const std::string& strategy) override { on_enter(strategy); }
  void leave() override { on_leave(); }
  void go_on() override {}
  void fail() override { on_fail(); }
  void begin(const std::string& strategy) override { on_begin(strategy); }
  void end() override { on_end(); }
  void take_back(const std::string& strategy) override { on_take_back(strategy); }
  std::string why_excluded(const std::string& strategy) const override {
    return excluded(strategy);
  }
};

}  // namespace nekbone_k
