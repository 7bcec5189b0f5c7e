// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "flow/flow_archive.hpp"

namespace nekbone_k {

/// Keeps numbers in memory.
class NumberArchive final : public FlowArchive {
 public:
  bool restores = false;

  void number(const std::string& name, double& value) override {
    if (restores)
      value = m_kept.at(name);
    else
      m_kept[name] = value;
  }
  void numbers(const std::string&, std::vector<double>&) override { FAIL() << "not expected"; }
  void field(const std::string&, const DeviceVector<double>&) override { FAIL() << "no field"; }

 private:
  std::map<std::string, double> m_kept;
};

}  // namespace nekbone_k
