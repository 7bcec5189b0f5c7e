// SPDX-License-Identifier: BSD-3-Clause
#include "support/distributed_main.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <vector>

#include "core/errors.hpp"
#include "core/runtime.hpp"
#include "core/standard_streams.hpp"
#include "support/context.hpp"

namespace {

using namespace nekbone_k;

/// The reporter of all ranks except rank 0.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  SilentReporter() {
    SetOutputStream(&m_nowhere);
    SetErrorStream(&m_nowhere);
  }
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}

 private:
  std::ostream m_nowhere{nullptr};
};

struct CommandLine {
  BenchOptions options;
  std::vector<std::string> for_google_benchmark;
};

/// Throws the exceptions of CLI11, or InputError.
void parse(CLI::App& app, CommandLine& line, int argc, char** argv) {
  BenchOptions& options = line.options;
  std::string strategy = options.strategy.name;
  app.add_flag("--quick", options.quick, "Tiny meshes, one sample: only show that all runs");
  app.add_option("--seconds", options.seconds, "Time to spend on each benchmark")
      ->check(CLI::Range(1e-3, 1e4));
  app.add_option("--points", options.points, "Local points a rank of the large meshes")
      ->check(CLI::PositiveNumber);
  app.add_option("--cache-points", options.cache_points, "Local points a rank of the small meshes")
      ->check(CLI::PositiveNumber);
  app.add_option("--lambda", options.lambda, "Mass coefficient of the operator; 0: none")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--strategy", strategy, "Exchange inside the operator, CG and gs_op");
  app.add_option(
      "--variant", options.variants,
      "Library of bench/kernel_variants.py, for bench_kernel_variants; as many as wanted");
  app.allow_extras();
  app.footer(
      "Options of Google Benchmark work too: --benchmark_filter=<regex>, \n"
      "--benchmark_list_tests, --benchmark_out=<file>, …");
  app.parse(argc, argv);

  const Strategy* known = find_strategy(strategy);
  if (known == nullptr)
    throw InputError("no strategy is called " + strategy + "; see nekbone-k --list-strategies");
  options.strategy = *known;
  line.for_google_benchmark = app.remaining();
  for (const std::string& text : line.for_google_benchmark)
    if (!text.starts_with("--benchmark_"))
      throw InputError("unknown argument " + text + "; see --help");
}

/// Passes `arguments` to Google Benchmark, which keeps a pointer to the first, the program's name.
/// The last setting of an option wins, even over the environment.
void initialize(const Communicator& comm, std::vector<std::string>& arguments) {
  arguments.emplace_back("--benchmark_enable_random_interleaving=false");  // differs between ranks
  if (!comm.is_root()) arguments.emplace_back("--benchmark_out=");         // rank 0 writes it
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (std::string& text : arguments) argv.push_back(text.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) throw InputError(fmt::format("unknown argument {}; see --help", argv[1]));
}

int run_command(const Communicator& comm, int argc, char** argv) {
  CLI::App app("Benchmark of nekbone-k; times are the slowest rank's, rates are of all ranks");
  CommandLine line;
  try {
    parse(app, line, argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw InputError(fmt::format("{} (see --help)", error.what()));
    std::ostringstream text;
    app.exit(error, text, text);
    if (comm.is_root()) print_on_stdout(text.str());
    return static_cast<int>(ExitCode::pass);
  }
  std::vector<std::string>& arguments = line.for_google_benchmark;
  arguments.insert(arguments.begin(), std::filesystem::path(argv[0]).filename());
  initialize(comm, arguments);
  const Bench bench(comm, line.options);
  add_context(bench);
  register_benchmarks(bench);
  SilentReporter silent;
  const std::size_t n_run = comm.is_root() ? benchmark::RunSpecifiedBenchmarks()
                                           : benchmark::RunSpecifiedBenchmarks(&silent);
  if (n_run == 0) throw InputError("no benchmark matches the filter; see --benchmark_list_tests");
  return static_cast<int>(ExitCode::pass);
}

/// Prints errors that every rank raises once. Other errors end the job, because the other ranks may
/// wait for this rank forever.
int guarded_run(const Communicator& comm, int argc, char** argv) {
  try {
    return run_command(comm, argc, argv);
  } catch (const InputError& error) {
    if (comm.is_root()) print_on_stderr(fmt::format("{}\n", error.what()));
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    print_on_stderr(fmt::format("rank {}: {}\n", comm.rank(), error.what()));
    end_job(static_cast<int>(ExitCode::internal));
  }
}

}  // namespace

int main(int argc, char** argv) {
  prepare_standard_streams();
  try {
    const Runtime runtime(argc, argv);
    const nekbone_k::Communicator comm(MPI_COMM_WORLD);
    const int code = guarded_run(comm, argc, argv);
    benchmark::ClearRegisteredBenchmarks();  // they hold device memory
    return code;
  } catch (const std::exception& error) {  // Kokkos or MPI did not start
    end_job(error);
  }
}
