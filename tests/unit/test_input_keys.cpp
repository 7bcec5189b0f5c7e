// SPDX-License-Identifier: BSD-3-Clause
// The table of input keys, and the texts that the program makes from it.
#include "input/input_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "input/key_help.hpp"

namespace nekbone_k {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Texts = std::vector<std::string>;

Case parse(const std::string& text, const Texts& overrides = {}) {
  return parse_case(text, "x.yaml", overrides, 1);
}

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

Texts lines_of(const std::string& text) {
  std::istringstream stream(text);
  Texts lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A case with few default values.
const char* const other_case = R"(
mesh: {elements: [2, 3, 4], extent: [1.5, 2, 1e-3], periodic: [true, false, false],
       deformation: sine, epsilon: 0.6, partition: [1, 1, 1]}
orders: [15, 1]
operator: {lambda: 0.25, geometry: trilinear}
problem: none
deterministic: true
solver: {order: 9, preconditioner: jacobi, iterations: 7, tolerance: 1e-9, all_reduce: host-mpi,
         multigrid: {orders: [9, 4, 1], smoother: schwarz, polynomial: chebyshev-1, degree: 2,
                     precision: double, coarse_dofs: 10, replicated_dofs: 20}}
gather_scatter:
  strategies: [host-pairwise, host-alltoall]
  components: 3
  precision: single
  audit: false
  audit_others: 5
  tuning: {mode: cached, cache: 'a b.json', journal: '12', patience_seconds: 0.5,
           budget_seconds: 0, grid_budget_seconds: 3, minimum_rounds: 9, early_stop: false}
verification: {error_bound: 0.5}
report: {json: 'x: #y.json', bandwidth: false}
memory: {limit_gib: 1.5}
)";

TEST(InputKeysTable, HasEachKeyOnceAfterItsSection) {
  Texts sections{""}, paths;
  for (const Key& key : input_keys()) {
    EXPECT_EQ(std::count(paths.begin(), paths.end(), key.path), 0) << key.path;
    EXPECT_EQ(std::count(sections.begin(), sections.end(), key.section()), 1) << key.path;
    paths.push_back(key.path);
    if (key.is_section()) sections.push_back(key.path);
  }
  EXPECT_GT(paths.size(), sections.size());
}

TEST(InputKeysTable, ExplainsEachKeyInSentences) {
  for (const Key& key : input_keys()) {
    EXPECT_TRUE(key.help.ends_with(".")) << key.path;
    EXPECT_FALSE(key.type.empty()) << key.path;
    EXPECT_FALSE(key.allowed.empty()) << key.path;
    for (const auto& [word, meaning] : key.words) {
      EXPECT_FALSE(meaning.empty() || meaning.ends_with(".")) << key.path << ": " << word;
    }
  }
}

TEST(InputKeysTable, HasDefaultsThatAreAllowedAndChangeNothing) {
  const Json defaults = as_input(parse("{}"));
  for (const Key& key : input_keys()) {
    if (key.is_section()) continue;
    const std::string assignment = key.path + "=" + key.default_value.dump();
    EXPECT_EQ(as_input(parse("{}", {assignment})), defaults) << assignment;
  }
}

/// A value other than `value` that the schema allows; null if the schema does not determine one.
Json other_value(const Json& schema, const Json& value) {
  if (schema.contains("oneOf")) {
    const Json& rule = schema["oneOf"][0];
    if (value != "auto" || rule.contains("enum")) return other_value(rule, value);
    return rule.contains("items") ? Json{rule["items"]["minimum"]} : rule["minimum"];
  }
  if (schema.contains("enum"))
    return schema["enum"][0] == value ? schema["enum"][1] : schema["enum"][0];
  const std::string type = schema.at("type");
  if (type == "boolean") return !value.get<bool>();
  if (type == "integer")
    return value == schema["maximum"] ? schema["minimum"] : Json(value.get<int>() + 1);
  if (type == "number") return value == 0 ? 0.5 : value.get<double>() / 2;
  if (type == "string") return value.get<std::string>() + ".other";
  const Json item = other_value(schema["items"], value[0]);
  return item.is_string() ? Json() : Json(std::vector<Json>(schema.value("maxItems", 1), item));
}

TEST(InputKeysTable, ReadsEachKeyIntoAFieldOfItsOwn) {
  int changed = 0;
  for (const Key& key : input_keys()) {
    if (key.is_section()) continue;
    const bool is_of_files = key.section() == "checkpoint" || key.section() == "output";
    // Compatible with most values.
    const std::string base = is_of_files ? "problem: flow" : "problem: none";
    const Json value = other_value(key.schema, key.value(parse(base)));
    if (value.is_null()) continue;  // names of strategies; see test_case.cpp
    const std::string assignment = key.path + "=" + value.dump();
    const Case run = parse(base, {assignment});
    EXPECT_EQ(key.value(run), value) << assignment;
    for (const Key& other : input_keys())
      if (!other.is_section() && other.path != key.path) {
        EXPECT_EQ(other.value(run), other.value(parse(base))) << assignment << ": " << other.path;
      }
    ++changed;
  }
  EXPECT_GT(changed, 25);
}

TEST(InputKeysTable, ReadsEachKeyByItsRule) {
  for (const Key& key : input_keys()) {
    if (key.is_section()) continue;
    const std::string message = message_of([&] { parse("{}", {key.path + "={a: 1}"}); });
    // The table refers to --list-strategies instead of listing all strategies.
    const std::string allowed = key.type == "list of words"
                                    ? "a list of at least one, each "
                                    : key.allowed.substr(0, key.allowed.find(';'));
    EXPECT_THAT(message,
                StartsWith(fmt::format("--set {0}={{a: 1}}: {0}: given a mapping; allowed: {1}",
                                       key.path, allowed)));
  }
}

TEST(InputKeysTable, IsWhatAnUnknownKeyIsComparedWith) {
  Texts top_level;
  for (const Key& key : input_keys())
    if (key.section().empty()) top_level.push_back(key.name());
  EXPECT_THAT(message_of([] { parse("qwxz: 1"); }),
              HasSubstr(fmt::format("allowed here: {}", fmt::join(top_level, ", "))));
  for (const Key& section : input_keys()) {
    if (!section.is_section()) continue;
    Texts names;
    for (const Key& key : input_keys())
      if (key.section() == section.path) names.push_back(key.name());
    EXPECT_THAT(message_of([&] { parse("{}", {section.path + ".qwxz=1"}); }),
                testing::EndsWith(fmt::format("allowed here: {}", fmt::join(names, ", "))));
  }
}

TEST(InputKeysReport, IsAnInputForTheSameRun) {
  for (const std::string text : {"{}", other_case}) {
    const Json input = as_input(parse(text));
    EXPECT_EQ(as_input(parse(input.dump())), input);
    EXPECT_TRUE(input.at("solver").at("tolerance").is_number());
    EXPECT_TRUE(input.at("gather_scatter").at("tuning").at("early_stop").is_boolean());
  }
}

TEST(InputKeysYaml, IsAnInputThatNamesEveryKey) {
  EXPECT_EQ(as_input(parse(keys_as_yaml(parse("{}")))), as_input(parse("{}")));
  EXPECT_EQ(as_input(parse(keys_as_yaml(parse(other_case)))), as_input(parse(other_case)));
  for (const std::string& line : lines_of(keys_as_yaml(parse("{}"))))
    EXPECT_LE(text_width(line), report_width);
  EXPECT_THAT(keys_as_yaml(parse("{}")),
              HasSubstr("\n  # Polynomial order of the solve; need not be in `orders`.\n"
                        "  # Default: 7. Allowed: an integer from 1 to 31.\n  order: 7\n"));
}

TEST(InputKeysYaml, QuotesTextThatWouldBeReadAsAnythingElse) {
  const std::string text = keys_as_yaml(parse(other_case));
  EXPECT_THAT(text, HasSubstr("\n    journal: \"12\"\n"));
  EXPECT_THAT(text, HasSubstr("\n    cache: a b.json\n"));
  EXPECT_THAT(text, HasSubstr("\n  json: \"x: #y.json\"\n"));
  EXPECT_THAT(text, HasSubstr("\n  all_reduce: [host-mpi]\n"));
  for (const char* name : {"true", "~", "null", "nan", "[a", "\"", "'a'", "&a", " a", "-", "1e5"}) {
    Case run = parse("{}");
    run.report_json = name;
    EXPECT_EQ(parse(keys_as_yaml(run)).report_json, name);
  }
}

TEST(InputKeysHelp, SaysWhatAKeyMeans) {
  EXPECT_EQ(help_on_key("operator.lambda"),
            "operator.lambda\n"
            "  type          number\n"
            "  allowed       a finite number >= 0\n"
            "  default       1\n"
            "  meaning       Factor of the mass.\n");
  EXPECT_THAT(help_on_key("mesh.deformation"),
              HasSubstr("  allowed       one of none, sine, kershaw\n  default       none\n"));
  EXPECT_THAT(help_on_key("mesh.deformation"),
              HasSubstr("\n                sine           smooth waves"));
}

TEST(InputKeysHelp, OfASectionHasAllThatIsInIt) {
  const std::string text = help_on_key("gather_scatter.tuning");
  EXPECT_THAT(text,
              StartsWith("gather_scatter.tuning\n  section       How the tuner measures.\n\n"));
  EXPECT_THAT(text, HasSubstr("\n\ngather_scatter.tuning.mode\n  type          word\n"));
  EXPECT_THAT(text, HasSubstr("\n\ngather_scatter.tuning.early_stop\n"));
  EXPECT_EQ(text.find("audit"), text.find("audit", text.size()));
  EXPECT_THAT(help_on_key("gather_scatter"), testing::EndsWith(text));
}

TEST(InputKeysHelp, OfAnUnknownKeyNamesTheNearest) {
  const auto message = [](const std::string& path) {
    return message_of([&] { help_on_key(path); });
  };
  EXPECT_EQ(
      message("solver.tolerence"),
      "--help solver.tolerence: no such key of the input file; did you mean 'solver.tolerance'? "
      "nekbone-k --list-keys prints all keys, and --help alone the options");
  EXPECT_THAT(message("tolerance"), HasSubstr("did you mean 'solver.tolerance'?"));
  EXPECT_THAT(message("tolerence"), HasSubstr("did you mean 'solver.tolerance'?"));
  EXPECT_THAT(message("solvr"), HasSubstr("did you mean 'solver'?"));
  EXPECT_THAT(message("inputs/smoke.yaml"),
              HasSubstr("no such key of the input file; nekbone-k --list"));
}

TEST(InputKeysMarkdown, HasALineOfAtMostAHundredCharactersPerKey) {
  const std::string text = "\n" + keys_as_markdown();
  for (const Key& key : input_keys())
    EXPECT_THAT(text, HasSubstr(key.is_section() ? "\n### " + key.path + "\n"
                                                 : "\n- `" + key.name() + "`: "));
  for (const std::string& line : lines_of(text)) EXPECT_LE(text_width(line), report_width);
  EXPECT_THAT(text, HasSubstr("([tuning.md](tuning.md#audit))"));
}

TEST(InputKeysSchema, HasTheBoundsAndDefaultsOfTheRules) {
  const Json schema = Json::parse(keys_as_schema(SchemaOf::report));
  const Json& solver = schema.at("properties").at("solver");
  EXPECT_EQ(solver.at("required").size(), solver.at("properties").size());
  const Json& tolerance = solver.at("properties").at("tolerance");
  EXPECT_EQ(tolerance.at("minimum"), 0);
  EXPECT_EQ(tolerance.at("exclusiveMaximum"), 1);
  EXPECT_EQ(tolerance.at("default"), 0);
  EXPECT_EQ(solver.at("properties").at("preconditioner").at("enum"),
            (Json{"none", "jacobi", "multigrid"}));
  const Json& gather_scatter = schema.at("properties").at("gather_scatter").at("properties");
  EXPECT_EQ(gather_scatter.at("tuning").at("properties").at("early_stop").at("type"), "boolean");
  EXPECT_EQ(
      schema.at("properties").at("mesh").at("properties").at("elements").at("items").at("minimum"),
      1);
}

}  // namespace
}  // namespace nekbone_k
