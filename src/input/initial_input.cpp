// SPDX-License-Identifier: BSD-3-Clause
#include "input/initial_input.hpp"

#include <fmt/format.h>

namespace nekbone_k {
namespace {

const Choices<FlowKind> initial_words{
    {FlowKind::taylor_green, FlowKind::taylor_green_2d, FlowKind::abc}};

}  // namespace

void to_json(Json& json, const GivenInitial& given) {
  json = given.file.empty() ? std::string(name(given.kind)) : given.file;
}

std::optional<GivenInitial> InitialRule::convert(const YamlValue& given) const {
  if (const auto kind = initial_words.convert(given)) return GivenInitial{*kind, {}};
  const auto file = FileNames{}.convert(given);
  if (!file || file->find_first_of("./") == std::string::npos) return std::nullopt;
  return GivenInitial{FlowKind::taylor_green, *file};
}

std::string InitialRule::allowed(const YamlValue& given) const {
  return fmt::format("the name of a file, with a dot or a slash, or {}",
                     initial_words.allowed(given));
}

Json InitialRule::schema() const {
  return {{"oneOf", {initial_words.schema(), {{"type", "string"}, {"pattern", "[./]"}}}}};
}

}  // namespace nekbone_k
