// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The program: starts MPI and Kokkos, handles signals, and turns each error into one message and
/// one exit code.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "app/command_line.hpp"
#include "app/run.hpp"
#include "core/errors.hpp"
#include "core/runtime.hpp"
#include "core/standard_streams.hpp"
#include "input/case.hpp"
#include "machine/mpi_trial.hpp"
#include "tuning/journal.hpp"

namespace {

using namespace nekbone_k;

/// A valid command line, or why it is invalid.
struct Request {
  CommandLine line;
  std::string error;

  bool sends_messages() const { return error.empty() && line.sends_messages(); }
};

Request read_request(int argc, char** argv) {
  try {
    return {parse_command_line(argc, argv), ""};
  } catch (const InputError& error) {
    return {{}, error.what()};
  }
}

/// Throws OutputError if `why_not` says that output was lost.
void require_printed(const std::string& why_not) {
  if (!why_not.empty()) throw OutputError("cannot write all of the output to stdout: " + why_not);
}

/// Prints a text without MPI, so that it works on a login node. Throws OutputError if not all of it
/// could be written.
void print_without_mpi(const std::string& text) {
  if (is_first_rank()) print_on_stdout(text);
  require_printed(why_not_printed());
}

/// Reads the input and what the command line adds to it. Collective.
Case read_input(const Communicator& comm, const CommandLine& line) {
  Case input = read_case(comm, line.input, line.overrides);
  if (!line.report.empty()) {
    input.report_json = line.report;
    input.places["report.json"] = "--report";
  }
  input.restart = line.restart;
  return input;
}

/// Runs the command. Collective.
ExitCode run_command(const Communicator& comm, const Request& request, const MpiTrial& trial) {
  if (!request.error.empty()) throw InputError(request.error);
  const CommandLine& line = request.line;
  require_trial_settings(comm);
  const auto verdict = [](bool passed) { return passed ? ExitCode::pass : ExitCode::fail; };
  if (line.doctor) return verdict(doctor(comm, *line.doctor, trial));
  Case input = read_input(comm, line);
  return line.dry_run ? verdict(dry_run(comm, std::move(input)))
                      : run(comm, std::move(input), trial, line.detail);
}

struct Interruption {
  int signal;
  std::string_view name;
};
/// Signals by which a user, a scheduler or a closed terminal ends a job.
constexpr std::array<Interruption, 8> interruptions{{{SIGINT, "SIGINT"},
                                                     {SIGTERM, "SIGTERM"},
                                                     {SIGHUP, "SIGHUP"},
                                                     {SIGQUIT, "SIGQUIT"},
                                                     {SIGALRM, "SIGALRM"},
                                                     {SIGXCPU, "SIGXCPU"},
                                                     {SIGUSR1, "SIGUSR1"},
                                                     {SIGUSR2, "SIGUSR2"}}};

/// Ends this rank at once; the launcher then ends the others. Makes only calls that a signal
/// handler may make. Every rank prints the message, because the launcher may drop the last output
/// of some.
void end_on_signal(int signal) {
  take_back_on_interruption();  // first, because stderr may block
  std::string_view name;
  for (const Interruption& interruption : interruptions)
    if (interruption.signal == signal) name = interruption.name;
  std::array<char, 64> text{};
  std::size_t length = 0;
  for (const std::string_view part :
       {std::string_view("\nnekbone-k: interrupted by "), name, std::string_view("\n")})
    length += part.copy(text.data() + length, text.size() - length);
  // A full pipe that nobody reads must not keep the rank from ending.
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  if (poll(&ready, 1, 0) == 1) static_cast<void>(!write(STDERR_FILENO, text.data(), length));
  _exit(128 + signal);
}

/// Installs `handler`. SIGINT and SIGTERM always end the job. Other signals keep their action if
/// they are ignored, e.g. under nohup, or if a library handles them.
void handle_interruptions(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const auto& [signal, name] : interruptions) sigaddset(&action.sa_mask, signal);
  for (const auto& [signal, name] : interruptions) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGINT || signal == SIGTERM || before.sa_handler == SIG_DFL ||
        before.sa_handler == end_on_signal)
      sigaction(signal, &action, nullptr);
  }
}

/// Runs the command and turns errors into an exit code. Prints an error that all ranks raise once.
/// Any other error names its rank and ends the job, because other ranks may wait for this one.
int guarded_run(const Communicator& comm, const Request& request, const MpiTrial& trial) {
  const auto abort = [&](ExitCode code, const char* what) -> int {
    print_on_stderr(fmt::format("nekbone-k: rank {}: {}\n", comm.rank(), what));
    end_job(static_cast<int>(code));
  };
  try {
    const ExitCode code = run_command(comm, request, trial);
    require_printed(comm.broadcast(why_not_printed()));
    return static_cast<int>(code);
  } catch (const InternalError& error) {
    return abort(error.exit_code(), error.what());
  } catch (const Error& error) {
    if (comm.is_root()) print_on_stderr(fmt::format("nekbone-k: {}\n", error.what()));
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    return abort(is_out_of_memory(error) ? ExitCode::no_memory : ExitCode::internal, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  prepare_standard_streams();
  if (is_trial_child(argc, argv)) return trial_child();
  int code = 0;
  try {
    const Request request = read_request(argc, argv);
    if (request.line.text) {
      print_without_mpi(request.line.text());
      return static_cast<int>(ExitCode::pass);
    }
    NodeTrial trial(request.sends_messages(), /*anew=*/request.line.doctor.has_value());
    const Runtime runtime(argc, argv);
    handle_interruptions(end_on_signal);
    const Communicator comm(MPI_COMM_WORLD);
    try {
      code = guarded_run(comm, request, trial.agree(comm));
    } catch (const std::exception& error) {  // here: ~Runtime does not finalize while unwinding
      end_job(error);
    }
    // Once the first rank has ended, the launcher may end slower ranks by a signal. Say nothing
    // then.
    handle_interruptions(SIG_DFL);
  } catch (const std::exception& error) {  // before MPI started, or because it failed to
    end_job(error);
  }
  return code;
}
