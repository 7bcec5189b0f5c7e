// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The kinds of fields that are exchanged.
#pragma once

#include <string>
#include <type_traits>

namespace nekbone_k {

/// IEEE 754 format of the values of a field: float or double. The input uses these names.
enum class Precision { single, double_ };

inline const char* name(Precision precision) {
  return precision == Precision::single ? "single" : "double";
}

/// Components and precision of a field: with its DOFs they give the size of its messages. The
/// default is the kind of CG.
struct FieldKind {
  int components = 1;
  Precision precision = Precision::double_;

  /// Bytes of all components of one DOF: one item of a message.
  int item_bytes() const { return components * (precision == Precision::single ? 4 : 8); }
  /// Text for people: "doubles", or "3 floats per DOF".
  std::string text() const {
    const std::string values = precision == Precision::single ? "floats" : "doubles";
    return components == 1 ? values : std::to_string(components) + " " + values + " per DOF";
  }
  bool operator==(const FieldKind&) const = default;
};

/// The precision of values of type T.
template <class T>
inline constexpr Precision precision_of =
    std::is_same_v<T, float> ? Precision::single : Precision::double_;

/// Calls `action` with a zero of the value type of a precision, and returns its result.
template <class Action>
auto with_value_type(Precision precision, const Action& action) {
  return precision == Precision::single ? action(float{}) : action(double{});
}

}  // namespace nekbone_k
