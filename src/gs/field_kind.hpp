/// @file
/// Which fields are exchanged.
#pragma once

#include <string>

namespace nekbone_k {

/// Of the values of a field, by their IEEE 754 names in the input: float and double.
enum class Precision { single, double_ };

inline const char* name(Precision precision) {
  return precision == Precision::single ? "single" : "double";
}

/// What the bytes of a field's messages depend on beside its DOFs. CG's are of the default.
struct FieldKind {
  int components = 1;
  Precision precision = Precision::double_;

  /// Bytes of all components of one DOF: an item of a message.
  int item_bytes() const { return components * (precision == Precision::single ? 4 : 8); }
  /// For people: "doubles", or "3 floats a DOF".
  std::string text() const {
    const std::string values = precision == Precision::single ? "floats" : "doubles";
    return components == 1 ? values : std::to_string(components) + " " + values + " a DOF";
  }
  bool operator==(const FieldKind&) const = default;
};

/// Calls `action` with a zero of the type of a precision's values, and returns what it does.
template <class Action>
auto with_value_type(Precision precision, const Action& action) {
  return precision == Precision::single ? action(float{}) : action(double{});
}

}  // namespace nekbone_k
