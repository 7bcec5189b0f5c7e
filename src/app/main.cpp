/// @file
/// The program: command line, MPI and Kokkos, and every error turned into one message and one exit
/// code.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

#include "app/case.hpp"
#include "app/doctor.hpp"
#include "app/run.hpp"
#include "app/yaml_reader.hpp"
#include "core/commit.hpp"
#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/runtime.hpp"
#include "core/waiting.hpp"

namespace {

using namespace nekbone_k;

struct CommandLine {
  std::string input;
  std::vector<std::string> overrides;
  std::vector<std::string> reports;  // one at most
  bool dry_run = false, list_strategies = false;
};

constexpr const char* footer =
    "nekbone-k doctor [--patience SECONDS] [--journal FILE] says what is likely wrong with MPI,\n"
    "with its launch and with the machine; see docs/doctor.md. An input file of that name is\n"
    "./doctor.\n\n"
    "Exit codes:\n"
    "  0  passed: every exchange strategy and the solution were verified; doctor: so was MPI\n"
    "  1  failed: a strategy or the solution is wrong, CG did not converge, or nothing that the "
    "input\n"
    "     asks for is available; the report is written\n"
    "  2  the input or the command line cannot be used\n"
    "  3  too little memory, as a rule found before allocating\n"
    "  4  MPI, Kokkos or the program itself failed, or its output cannot be written\n"
    "  130, 143  ended by SIGINT, SIGTERM\n";

void print_strategies() {
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
  text += "Exchange strategies, from the simplest to the least simple:\n";
  add(all_strategies());
  text += "Sums over the ranks (solver.all_reduce), from the simplest to the least simple:\n";
  add(all_reduce_strategies());
  std::fputs(text.c_str(), stdout);
}

/// Throws InputError about what the parser left over: an unknown option or a second input file.
void require_nothing_left(const CLI::App& app, const CommandLine& line) {
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) options.push_back(name);
  for (const std::string& extra : app.remaining()) {
    if (extra == "--") continue;
    if (!extra.starts_with("-"))
      throw InputError(
          fmt::format("only one input file can be given: '{}' and also '{}' (see --help)",
                      printable(line.input), printable(extra)));
    const std::string name = extra.substr(0, extra.find('='));
    const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
    const auto meant = nearest_word(name.substr(dashes), options);
    throw InputError(fmt::format("unknown option '{}'{} (see --help)", printable(name),
                                 meant ? fmt::format("; did you mean --{}?", *meant) : ""));
  }
}

void require_one_report(const std::vector<std::string>& reports) {
  if (reports.size() > 1)
    throw InputError(fmt::format("--report: given twice, '{}' and '{}'; give it once",
                                 printable(reports[0]), printable(reports[1])));
  if (!reports.empty() && reports[0].empty())
    throw InputError(
        "--report: the name of the file is empty; give one, such as --report run.json");
  if (!reports.empty() && reports[0].starts_with("--"))
    throw InputError(
        fmt::format("--report: given the option '{}' for a file; give a file name, "
                    "such as --report run.json",
                    printable(reports[0])));
}

/// Throws InputError or what CLI11 throws; the caller prints it on rank 0.
void parse(CLI::App& app, CommandLine& line, int argc, char** argv) {
  app.add_option("input", line.input, "Input file (YAML); see inputs/ and docs/input.md");
  // One text a time, so that a value such as mesh.elements=[8,8,8] is not taken apart.
  const auto add_texts = [&](const char* name, const char* type, std::vector<std::string>& texts,
                             const char* help) {
    app.add_option_function<std::vector<std::string>>(
           name, [&](const std::vector<std::string>& given) { texts = given; }, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  };
  add_texts("--set", "KEY.PATH=VALUE", line.overrides,
            "Override a key of the input: --set solver.order=5 (may be repeated)");
  add_texts("--report", "FILE", line.reports, "Write the JSON report to FILE");
  app.add_flag("--dry-run", line.dry_run, "Check the input and say what would be done");
  app.add_flag("--list-strategies", line.list_strategies,
               "List the strategies for exchanges and for sums");
  app.set_version_flag("--version",
                       fmt::format("nekbone-k {} ({})", version_string, commit_string));
  app.footer(footer);
  app.allow_extras();
  const auto given_no_value = [](std::string_view option) {
    return InputError(fmt::format(
        "{}: given no value; write --set key.path=value or --report FILE (see --help)", option));
  };
  // CLI11 would take the next word for what is missing here.
  for (int a = 1; a < argc; ++a)
    if (const std::string_view word = argv[a]; word == "--set=" || word == "--report=")
      throw given_no_value(word.substr(0, word.size() - 1));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch&) {  // --set or --report, and then nothing
    throw given_no_value(argv[argc - 1]);
  }
  require_nothing_left(app, line);
  require_one_report(line.reports);
  if (line.input.empty() && !line.list_strategies)
    throw InputError("no input file given; try: nekbone-k inputs/smoke.yaml, or --help");
}

/// `nekbone-k doctor [--patience SECONDS] [--journal FILE]`. Throws InputError if there is anything
/// else.
int doctor_command(const Communicator& comm, std::vector<std::string> more) {
  if (more.size() == 1 && (more[0] == "--help" || more[0] == "-h")) {
    if (comm.is_root())
      std::fputs(
          "Usage: mpirun -np P nekbone-k doctor [--patience SECONDS] [--journal FILE]\n"
          "Says what is likely wrong with MPI, its launch and the machine; see docs/doctor.md.\n"
          "A strategy whose message does not come within SECONDS (30) is wrong; one that does not\n"
          "come back in four times that ends the job, and stands in FILE "
          "(nekbone-k-journal.jsonl):\n"
          "runs leave it out whose gather_scatter.tuning.journal that is.\n",
          stdout);
    return static_cast<int>(ExitCode::pass);
  }
  const std::string given = fmt::format("{}", fmt::join(more, " "));
  DoctorOptions options;
  CLI::App app;
  app.set_help_flag();
  app.add_option("--patience", options.patience);
  app.add_option("--journal", options.journal);
  std::reverse(more.begin(), more.end());  // as CLI11 wants it
  bool parsed = true;
  try {
    app.parse(std::move(more));
  } catch (const CLI::ParseError&) {
    parsed = false;
  }
  if (!parsed || !(options.patience > 0) || !(options.patience < for_ever) ||
      options.journal.empty())
    throw InputError(
        fmt::format("doctor: takes nothing but --patience SECONDS, a finite number above 0, and "
                    "--journal FILE, and '{}' was given; start it as mpirun -np 2 nekbone-k "
                    "doctor (an input file of that name: ./doctor)",
                    printable(given)));
  return static_cast<int>(doctor(comm, options) ? ExitCode::pass : ExitCode::fail);
}

int run_command(const Communicator& comm, int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "doctor") == 0)
    return doctor_command(comm, {argv + 2, argv + argc});
  CLI::App app("Spectral-element mini-app that measures, verifies and selects its gather-scatter");
  CommandLine line;
  try {
    parse(app, line, argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for = error.get_exit_code() == 0;  // --help, --version
    if (!asked_for) throw InputError(fmt::format("{} (see --help)", error.what()));
    if (comm.is_root()) app.exit(error);
    return static_cast<int>(ExitCode::pass);
  }
  if (line.list_strategies) {
    if (comm.is_root()) print_strategies();
    return static_cast<int>(ExitCode::pass);
  }

  Case input = read_case(comm, line.input, line.overrides);
  if (!line.reports.empty()) {
    input.report_json = line.reports[0];
    input.report_place = "--report";
  }
  if (line.dry_run) {
    dry_run(comm, input);
    return static_cast<int>(ExitCode::pass);
  }
  return static_cast<int>(run(comm, input) ? ExitCode::pass : ExitCode::fail);
}

/// Ends this rank at once; the launcher then ends the others. Only calls that a signal handler may
/// make. Every rank says so, as the launcher may drop what some of them write at the end.
void end_on_signal(int signal) {
  static constexpr char text[] = "\nnekbone-k: interrupted\n";
  static_cast<void>(!write(STDERR_FILENO, text, sizeof(text) - 1));
  _exit(128 + signal);
}

/// Throws OutputError, alike on every rank, if not all that rank 0 printed could be written.
void require_printed(const Communicator& comm) {
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!comm.all(printed || !comm.is_root()))
    throw OutputError("cannot write all of the output to stdout; is the disk full?");
}

/// Runs and turns what goes wrong into an exit code. Errors that every rank raises alike are
/// printed once; others name their rank and end the job, as the other ranks may wait for this one
/// for ever.
int guarded_run(const Communicator& comm, int argc, char** argv) {
  const auto abort = [&](ExitCode code, const char* what) -> int {
    fmt::print(stderr, "nekbone-k: rank {}: {}\n", comm.rank(), what);
    std::fflush(stderr);
    end_job(static_cast<int>(code));
  };
  try {
    const int code = run_command(comm, argc, argv);
    require_printed(comm);
    return code;
  } catch (const InternalError& error) {
    return abort(error.exit_code(), error.what());
  } catch (const Error& error) {
    if (comm.is_root()) fmt::print(stderr, "nekbone-k: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    return abort(is_out_of_memory(error) ? ExitCode::no_memory : ExitCode::internal, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int code = 0;
  try {
    const Runtime runtime(argc, argv);
    std::signal(SIGINT, end_on_signal);
    std::signal(SIGTERM, end_on_signal);
    const Communicator comm(MPI_COMM_WORLD);
    code = guarded_run(comm, argc, argv);
    // The launcher may end the slower ranks by a signal once the first is gone: nothing to report.
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  } catch (const std::exception& error) {  // Kokkos or MPI did not start
    fmt::print(stderr, "nekbone-k: {}\n", error.what());
    end_job(static_cast<int>(ExitCode::internal));
  }
  return code;
}
