// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The state that a flow needs to continue later.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace nekbone_k {

/// Whether a number can be an int that counts.
inline bool is_count(double number) {
  return number >= 0 && number <= std::numeric_limits<int>::max();
}

/// Saves or restores the state of a flow. An object with state passes each piece by name, with the
/// same code for both: a saving archive reads the values, a restoring one sets them. All members
/// are collective.
class FlowArchive {
 public:
  virtual ~FlowArchive() = default;

  virtual void number(const std::string& name, double& value) = 0;
  /// A whole number, not negative.
  void count(const std::string& name, int& value) {
    double number_of = value;
    number(name, number_of);
    require_valid(name, is_count(number_of));
    value = static_cast<int>(number_of);
  }
  virtual void numbers(const std::string& name, std::vector<double>& values) = 0;
  /// An assembled vector, or a vector field with its components one after the other, in device
  /// memory. It keeps its size.
  virtual void field(const std::string& name, const DeviceVector<double>& values) = 0;
  /// Call it after restoring numbers that a damaged file may have changed. An archive that reads a
  /// file throws unless they are valid.
  virtual void require_valid(const std::string& /*name*/, bool /*is_valid*/) {}
};

}  // namespace nekbone_k
