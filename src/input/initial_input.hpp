// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The input's flow.initial. Nothing here is collective.
#pragma once

#include <optional>
#include <string>

#include "flow/flow_field.hpp"
#include "input/rules.hpp"
#include "input/yaml_tree.hpp"

namespace nekbone_k {

/// The value of flow.initial.
struct GivenInitial {
  FlowKind kind = FlowKind::taylor_green;
  std::string file;  ///< the file with the velocity; empty: it is that of `kind`
};

/// The value as JSON that is valid input.
void to_json(Json& json, const GivenInitial& given);

/// The rule (rules.hpp): a word, or the name of a file with a dot or a slash, so that a misspelt
/// word is none.
struct InitialRule {
  using Value = GivenInitial;

  std::optional<GivenInitial> convert(const YamlValue& given) const;
  std::string allowed(const YamlValue& given) const;
  std::string type() const { return "word or file name"; }
  Json schema() const;
};

}  // namespace nekbone_k
