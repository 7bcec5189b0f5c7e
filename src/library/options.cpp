// SPDX-License-Identifier: BSD-3-Clause
#include "library/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Calls action(part) for the parts of `text` between `separators`.
template <class Action>
void for_parts(std::string_view text, std::string_view separators, const Action& action) {
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    action(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_strategies(std::string_view text, LibraryOptions& options) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<std::string> given;
  for_parts(text, ",", [&](std::string_view name) { given.emplace_back(name); });
  const auto is_given = [&](const std::string& name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  for (const std::string& name : given)
    if (name != "all" && find_strategy(name) == nullptr) return false;
  options.strategies.clear();
  if (is_given("all")) return true;
  for (const Strategy& strategy : all_strategies())
    if (is_given(strategy.name)) options.strategies.push_back(strategy.name);
  return true;
}

/// An option: its key, the allowed values, and how it is read. `read` returns whether the value is
/// allowed.
struct Option {
  const char* key;
  std::string (*allowed)();
  bool (*read)(std::string_view value, LibraryOptions& options);
};

constexpr Option all_options[]{
    {"strategies",
     [] {
       std::vector<std::string> names;
       for (const Strategy& strategy : all_strategies()) names.push_back(strategy.name);
       return fmt::format("all, or a list such as [{}] of: {}", names.front(),
                          fmt::join(names, ", "));
     },
     read_strategies},
    {"tuning.patience_seconds", [] { return std::string("a number > 0"); },
     [](std::string_view value, LibraryOptions& options) {
       return read_number(value, options.patience) && std::isfinite(options.patience) &&
              options.patience > 0;
     }},
    {"tuning.budget_seconds", [] { return std::string("auto, or a number >= 0"); },
     [](std::string_view value, LibraryOptions& options) {
       double& seconds = options.tuning.budget_seconds;
       seconds = TunerOptions{}.budget_seconds;
       if (value == "auto") return true;  // nothing to cap it by, as in a solve
       return read_number(value, seconds) && std::isfinite(seconds) && seconds >= 0;
     }},
    {"tuning.minimum_rounds", [] { return std::string("an integer from 1 to 10000"); },
     [](std::string_view value, LibraryOptions& options) {
       int& rounds = options.tuning.minimum_rounds;
       return read_number(value, rounds) && rounds >= 1 && rounds <= 10'000;
     }},
    {"tuning.early_stop", [] { return std::string("true or false"); },
     [](std::string_view value, LibraryOptions& options) {
       options.tuning.early_stop = value == "true";
       return value == "true" || value == "false";
     }},
};

void read_option(std::string_view pair, LibraryOptions& options) {
  const std::size_t equals = pair.find('=');
  const std::string_view key = trimmed(pair.substr(0, equals));
  const Option* const option = std::find_if(std::begin(all_options), std::end(all_options),
                                            [&](const Option& one) { return one.key == key; });
  if (option == std::end(all_options))
    throw InputError(fmt::format("option '{}' is unknown; allowed: {}", key,
                                 fmt::join(library_option_keys(), ", ")));
  if (equals == std::string_view::npos)
    throw InputError(
        fmt::format("option '{}' has no value; allowed: {}={}", key, key, option->allowed()));
  const std::string_view value = trimmed(pair.substr(equals + 1));
  if (!option->read(value, options))
    throw InputError(
        fmt::format("option '{}' is '{}'; allowed: {}", key, value, option->allowed()));
}

}  // namespace

std::vector<Strategy> LibraryOptions::chosen_strategies() const {
  std::vector<Strategy> chosen;
  for (const Strategy& strategy : all_strategies())
    if (strategies.empty() ||
        std::find(strategies.begin(), strategies.end(), strategy.name) != strategies.end())
      chosen.push_back(strategy);
  return chosen;
}

std::vector<std::string> library_option_keys() {
  std::vector<std::string> keys;
  for (const Option& option : all_options) keys.emplace_back(option.key);
  return keys;
}

LibraryOptions parse_library_options(std::string_view text) {
  LibraryOptions options;
  for_parts(text, ";\n", [&](std::string_view pair) {
    if (!pair.empty()) read_option(pair, options);
  });
  return options;
}

}  // namespace nekbone_k
