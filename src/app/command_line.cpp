// SPDX-License-Identifier: BSD-3-Clause
#include "app/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "core/commit.hpp"
#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/waiting.hpp"
#include "input/case.hpp"
#include "input/key_help.hpp"
#include "input/yaml_reader.hpp"

namespace nekbone_k {
namespace {

/// The options as given. CLI11 fills them in.
struct Options {
  std::string input;
  std::vector<std::string> overrides, reports, restarts;
  bool dry_run = false, brief = false, full = false;
  bool version = false, list_strategies = false;
  std::optional<std::string> help;  // the key, or empty
  std::string list_keys;            // the format
  DoctorOptions doctor;
  bool doctor_help = false;

  bool ask_for_text() const { return version || help || list_strategies || !list_keys.empty(); }
};

constexpr const char* description =
    "Spectral-element mini-app that verifies, measures and selects its exchange strategies";
constexpr const char* footer =
    "nekbone-k doctor [--patience SECONDS] [--journal FILE] reports likely faults of MPI, of its\n"
    "launch and of the machine; see docs/doctor.md. To run an input file of that name, write\n"
    "./doctor.\n\n"
    "Exit codes:\n"
    "  0  passed: every exchange strategy and the solution were verified (doctor: and MPI)\n"
    "  1  failed: a strategy or the solution is wrong, CG did not converge, or no strategy of the\n"
    "     input is available (doctor: or there is only one rank)\n"
    "  2  the input file, the command line or the environment is invalid\n"
    "  3  not enough memory, usually detected before allocating\n"
    "  4  MPI, Kokkos or nekbone-k itself failed, or the output cannot be written\n"
    "  5  a flow stopped before its end, by a signal or before its wall time, and wrote a\n"
    "     checkpoint\n"
    "  130, 143  ended by SIGINT, SIGTERM (128 + n: by another signal n)\n";

constexpr const char* doctor_help =
    "Usage: mpirun -np P nekbone-k doctor [--patience SECONDS] [--journal FILE]\n"
    "Reports likely faults of MPI, of its launch and of the machine; see docs/doctor.md.\n"
    "A strategy whose message takes longer than SECONDS (default 30) fails. One that does not\n"
    "return within four times SECONDS aborts the job and is recorded in FILE (default\n"
    "nekbone-k-journal.jsonl). Runs with that gather_scatter.tuning.journal then skip it.\n";

std::string list_of_strategies() {
  std::string text;
  const auto add = [&](const auto& table) {
    std::vector<std::string> not_built;
    for (const auto& entry : table) {
      text += fmt::format("  {:<25} {}\n", entry.name, entry.description);
      if (!entry.not_built.empty()) not_built.push_back(entry.name);
    }
    if (!not_built.empty())
      text += fmt::format("Not in this build: {}\n", fmt::join(not_built, ", "));
  };
  text += "Exchange strategies, simplest first:\n";
  add(all_strategies());
  text += "All-reduces (solver.all_reduce), simplest first:\n";
  add(all_reduce_strategies());
  return text;
}

/// Throws InputError if the parser left an unknown option or a second input file.
void require_nothing_left(const CLI::App& app, const std::string& input) {
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) options.push_back(name);
  for (const std::string& extra : app.remaining()) {
    if (extra == "--") continue;
    if (!extra.starts_with("-"))
      throw InputError(
          fmt::format("only one input file can be given: '{}' and also '{}' (see --help)",
                      printable(input), printable(extra)));
    const std::string name = extra.substr(0, extra.find('='));
    const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
    const auto meant = nearest_word(name.substr(dashes), options);
    throw InputError(fmt::format("unknown option '{}'{} (see --help)", printable(name),
                                 meant ? fmt::format("; did you mean --{}?", *meant) : ""));
  }
}

/// Throws InputError unless `files`, the values of an option, are at most one name of a file.
void require_one_file(const std::string& option, const std::vector<std::string>& files,
                      const char* example) {
  if (files.size() > 1)
    throw InputError(fmt::format("{}: given twice, '{}' and '{}'; give it once", option,
                                 printable(files[0]), printable(files[1])));
  if (!files.empty() && files[0].empty())
    throw InputError(fmt::format("{0}: the name of the file is empty; give one, such as {0} {1}",
                                 option, example));
  if (!files.empty() && files[0].starts_with("--"))
    throw InputError(
        fmt::format("{0}: given the option '{1}' for a file; give a file name, such as {0} {2}",
                    option, printable(files[0]), example));
}

/// Throws InputError if --set has a blank in place of '='. Accepts it if the next word is an option
/// or looks like the input file.
void require_no_blank_for_equals(int argc, char** argv) {
  for (int a = 1; a + 1 < argc; ++a) {
    std::string_view assignment = argv[a];
    if (assignment == "--set")
      assignment = argv[++a];
    else if (assignment.starts_with("--set="))
      assignment.remove_prefix(6);
    else
      continue;
    if (a + 1 >= argc || assignment.find_first_of("= ") != std::string_view::npos) continue;
    const std::string_view next = argv[a + 1];
    const bool is_number =
        next.size() > 1 && std::string_view("0123456789.").find(next[1]) != next.npos;
    if ((next.starts_with("-") && !is_number) || next.ends_with(".yaml") || next.ends_with(".yml"))
      continue;
    // The value may follow an '=' with blanks around it.
    std::string_view value = next.starts_with("=") ? next.substr(1) : next;
    if (value.empty()) value = a + 2 < argc ? argv[a + 2] : "VALUE";
    const std::string key = printable(std::string(assignment));
    throw InputError(fmt::format("--set {}: given no '='; write --set {}={}", key, key,
                                 printable(std::string(value))));
  }
}

/// Adds an option that may be repeated. Each takes one text, so that CLI11 does not split a value
/// such as mesh.elements=[8,8,8].
void add_texts(CLI::App& app, const char* name, const char* type, std::vector<std::string>& texts,
               const char* help) {
  app.add_option_function<std::vector<std::string>>(
         name, [&](const std::vector<std::string>& given) { texts = given; }, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

/// Returns the subcommand doctor.
const CLI::App& add_options(CLI::App& app, Options& options) {
  app.set_help_flag();  // the --help below takes a key
  app.add_option("input", options.input, "Input file (YAML); see inputs/ and docs/input.md");
  add_texts(app, "--set", "KEY.PATH=VALUE", options.overrides,
            "Override a key of the input: --set solver.order=5 (may be repeated)");
  add_texts(app, "--report", "FILE", options.reports, "Write the JSON report to FILE");
  add_texts(app, "--restart", "FILE", options.restarts,
            "Continue a flow from a checkpoint (checkpoint.every)");
  app.add_flag("--brief", options.brief, "Print only the result of the run");
  app.add_flag("--full", options.full, "List every candidate in the tables of the report");
  app.add_flag("--dry-run", options.dry_run,
               "Check the input and print the plan, without running it");
  app.add_flag("--list-strategies", options.list_strategies,
               "List the exchange strategies and the all-reduces");
  app.add_flag("--list-keys{yaml}", options.list_keys,
               "Print an input with every key; --list-keys=schema prints a JSON schema");
  app.add_flag("--version", options.version, "Print the version");
  app.add_option_function<std::string>(
         "-h,--help", [&](const std::string& key) { options.help = key; },
         "Print this, or what a key of the input means: --help solver.order")
      ->type_name("[KEY]")
      ->expected(0, 1);
  app.footer(footer);
  app.allow_extras();

  CLI::App& doctor = *app.add_subcommand(
      "doctor", "Report likely faults of MPI, of its launch and of the machine");
  doctor.set_help_flag();
  doctor.add_flag("-h,--help", options.doctor_help, "Print what doctor does");
  doctor.add_option("--patience", options.doctor.patience, "Timeout of a message, in s");
  doctor.add_option("--journal", options.doctor.journal, "File that records a crash or a hang");
  return doctor;
}

/// Throws InputError if doctor has other options than its own, or if one of them is invalid.
void require_doctor(const DoctorOptions& options, bool parsed, int argc, char** argv) {
  std::vector<std::string_view> given(argv + 1, argv + argc);
  const bool is_first = given.front() == "doctor";
  given.erase(std::find(given.begin(), given.end(), "doctor"));
  if (parsed && is_first && options.patience > 0 && options.patience < for_ever &&
      !options.journal.empty())
    return;
  throw InputError(
      fmt::format("doctor: takes nothing but --patience SECONDS, a finite number above 0, and "
                  "--journal FILE, and '{}' was given; start it as mpirun -np 2 nekbone-k "
                  "doctor (an input file of that name: ./doctor)",
                  printable(fmt::format("{}", fmt::join(given, " ")))));
}

/// Throws InputError unless the options of a run or a text go together.
void require_valid(const CLI::App& app, const Options& options, int argc, char** argv) {
  require_no_blank_for_equals(argc, argv);
  require_nothing_left(app, options.input);
  require_one_file("--report", options.reports, "run.json");
  require_one_file("--restart", options.restarts, "nekbone-k-checkpoint.h5");
  if (options.brief && options.full)
    throw InputError("--brief and --full: both given; give one of them, or neither");
  const std::array formats{"", "yaml", "markdown", "schema", "report-schema"};
  if (std::find(formats.begin(), formats.end(), options.list_keys) == formats.end())
    throw InputError(fmt::format(
        "--list-keys: given '{}'; allowed: one of yaml, markdown, schema, report-schema",
        printable(options.list_keys)));
  if (options.input.empty() && !options.ask_for_text())
    throw InputError("no input file given; try: nekbone-k inputs/smoke.yaml, or --help");
}

/// Throws InputError if a second key follows the key of --help.
void require_one_key(const CLI::App& app, const Options& options, int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const auto help = std::find_if(words.begin(), words.end(), [](std::string_view word) {
    return word.starts_with("--help") || word.starts_with("-h");
  });
  std::vector<std::string> others = app.remaining();
  others.insert(others.begin(), options.input);  // CLI11 takes the first one for the input file
  for (const std::string& other : others)
    if (!other.empty() && !other.starts_with("-") &&
        std::find(help, words.end(), other) != words.end())
      throw InputError(
          fmt::format("--help: given '{0}' and '{1}'; allowed: one key, such as --help {0}",
                      printable(*options.help), printable(other)));
}

std::string list_of_keys(const Options& options) {
  if (options.list_keys == "markdown") return keys_as_markdown();
  if (options.list_keys == "schema") return keys_as_schema(SchemaOf::file);
  if (options.list_keys == "report-schema") return keys_as_schema(SchemaOf::report);
  return keys_as_yaml(options.input.empty()
                          ? parse_case("{}", "the defaults", options.overrides, any_ranks)
                          : read_case_alone(options.input, options.overrides));
}

std::function<std::string()> requested_text(const CLI::App& app, const Options& options) {
  if (options.help) {
    if (!options.help->empty()) return [key = *options.help] { return help_on_key(key); };
    return [help = app.help()] { return help; };
  }
  if (options.version)
    return [] { return fmt::format("nekbone-k {} ({})\n", version_string, commit_string); };
  if (options.list_strategies) return list_of_strategies;
  if (!options.list_keys.empty()) return [options] { return list_of_keys(options); };
  return {};
}

/// Throws InputError if --set or --report has no value. CLI11 would take the next word as the
/// value.
void require_values(int argc, char** argv) {
  for (int a = 1; a < argc; ++a) {
    const std::string_view word = argv[a];
    const bool ends_here =
        a + 1 == argc && (word == "--set" || word == "--report" || word == "--restart");
    if (!ends_here && word != "--set=" && word != "--report=" && word != "--restart=") continue;
    throw InputError(
        fmt::format("{}: given no value; write --set key.path=value, --report FILE or --restart "
                    "FILE (see --help)",
                    word.substr(0, word.find('='))));
  }
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  Options options;
  CLI::App app(description);
  const CLI::App& doctor = add_options(app, options);
  std::string wrong;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    wrong = fmt::format("{} (see --help)", error.what());
  }

  CommandLine line;
  if (app.got_subcommand(&doctor)) {
    const bool is_alone = argc == 3;  // doctor --help, or --help doctor
    if ((options.doctor_help || options.help) && is_alone) {
      line.text = [] { return std::string(doctor_help); };
      return line;
    }
    require_doctor(options.doctor,
                   wrong.empty() && !options.doctor_help && app.remaining(true).empty(), argc,
                   argv);
    line.doctor = options.doctor;
    return line;
  }
  if (!options.help && !options.version) {
    require_values(argc, argv);
    if (!wrong.empty()) throw InputError(wrong);
    require_valid(app, options, argc, argv);
  }
  if (options.help && !options.help->empty()) require_one_key(app, options, argc, argv);
  line.text = requested_text(app, options);
  line.input = options.input;
  line.overrides = options.overrides;
  if (!options.reports.empty()) line.report = options.reports.front();
  if (!options.restarts.empty()) line.restart = options.restarts.front();
  line.dry_run = options.dry_run;
  line.detail = options.brief  ? ReportDetail::brief
                : options.full ? ReportDetail::full
                               : ReportDetail::usual;
  return line;
}

}  // namespace nekbone_k
