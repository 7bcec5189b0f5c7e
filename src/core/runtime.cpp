// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime.hpp"

#include <mpi.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "core/standard_streams.hpp"

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

extern char** environ;

namespace nekbone_k {
namespace {

/// Lets the first rank print: when it ends, the launcher ends the others.
void let_first_rank_speak() {
  if (!is_first_rank()) sleep(3);
}

/// Guards the start of Kokkos while it lives. It keeps the output of Kokkos, and if Kokkos ends the
/// program it prints one message instead. It allocates nothing at that point, because the abort may
/// come from the allocator.
class KokkosStart : std::streambuf {
 public:
  KokkosStart() {
    setp(m_text.data(), m_text.data() + m_text.size());
    m_cerr = std::cerr.rdbuf(this);
    starting = this;
    struct sigaction action {};
    action.sa_handler = [](int) { starting->give_up(starting->text()); };
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGABRT, &action, &m_before);
    static const bool at_exit [[maybe_unused]] = std::atexit([] {
                                                   if (starting != nullptr)
                                                     starting->give_up(starting->text());
                                                 }) == 0;
  }
  ~KokkosStart() override {
    starting = nullptr;
    sigaction(SIGABRT, &m_before, nullptr);
    std::cerr.rdbuf(m_cerr);
    print_on_stderr(text());  // warnings
  }
  KokkosStart(const KokkosStart&) = delete;
  KokkosStart& operator=(const KokkosStart&) = delete;

  /// Ends this rank with a message of the first line of `why`.
  [[noreturn]] static void give_up(std::string_view why) {
    why = why.substr(0, why.find('\n'));
    for (const std::string_view before : {"Error: ", "Warning: "})
      if (why.starts_with(before)) why.remove_prefix(before.size());
    why = why.substr(0, why.find(" Raised by Kokkos::initialize()"));
    if (why.ends_with('.')) why.remove_suffix(1);
    let_first_rank_speak();
    say("nekbone-k: Kokkos cannot start: ");
    say(why.empty() ? "a library ended the program; see its message above, if any" : why);
    if (why.find("environment variable") == std::string_view::npos)
      say_environment();
    else
      say("; change or unset it");
    say("\n");
    print_on_stderr({message.data(), message_size});
    _exit(static_cast<int>(ExitCode::internal));
  }

 private:
  /// Adds to the message. The message is written in one call, so that those of several ranks do not
  /// mix.
  static void say(std::string_view words) {
    words = words.substr(0, message.size() - 1 - message_size);
    std::memcpy(message.data() + message_size, words.data(), words.size());
    message_size += words.size();
  }

  /// Adds the KOKKOS_ variables, which may be the reason.
  static void say_environment() {
    bool any = false;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view setting = *entry;
      if (!setting.starts_with("KOKKOS_")) continue;
      say(any ? ", " : "; the environment sets ");
      say(setting.substr(0, setting.find('\n')));
      any = true;
    }
    if (any) say(": change or unset what is wrong");
  }

  std::string_view text() const { return {pbase(), static_cast<std::size_t>(pptr() - pbase())}; }

  static inline KokkosStart* starting = nullptr;  ///< for the handlers
  static inline std::array<char, 2048> message;
  static inline std::size_t message_size = 0;
  std::array<char, 8192> m_text;
  std::streambuf* m_cerr = nullptr;
  struct sigaction m_before {};
};

/// Throws InputError for a number of threads with which Kokkos' OpenMP backend aborts or crashes,
/// or that the OpenMP library ignores.
void require_threads() {
#ifdef KOKKOS_ENABLE_OPENMP
  constexpr int most = 512;  // the limit of Kokkos 4
  const auto refuse = [](const std::string& what) {
    throw InputError(what + "; set 1 to " + std::to_string(most) + " threads per rank");
  };
  constexpr const char* digits = "0123456789";
  const char* const kokkos = std::getenv("KOKKOS_NUM_THREADS");
  if (kokkos != nullptr) {
    const std::string given = kokkos;
    const bool is_number = given.find_first_not_of(digits) == std::string::npos;
    const long long threads = std::strtoll(kokkos, nullptr, 10);
    if (!is_number || threads < 1 || threads > most)
      refuse("KOKKOS_NUM_THREADS=" + given + ": not a number of threads that Kokkos can run");
  }
  const char* const omp = std::getenv("OMP_NUM_THREADS");
  const std::string given = omp == nullptr ? "" : omp;
  // A list gives the threads of nested regions. The OpenMP library ignores what it cannot parse.
  if (given.find_first_not_of(std::string(digits) + ", \t") != std::string::npos ||
      (!given.empty() && std::atoi(omp) < 1))
    refuse("OMP_NUM_THREADS=" + given + ": not a number of threads");
  const int threads = std::min(omp_get_max_threads(), omp_get_thread_limit());
  if (kokkos == nullptr && threads > most)
    refuse("OMP_NUM_THREADS" + (given.empty() ? " is not set" : "=" + given) +
           ": Kokkos cannot run " + std::to_string(threads) + " threads");
#endif
}

void start_kokkos() {
  require_threads();
  const KokkosStart start;
  try {
    // Kokkos' warnings are off, because the report has its own lines on threads, binding and
    // devices. Kokkos takes the GPU of the local rank, or the first one without a launcher.
    Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
  } catch (const std::logic_error&) {  // from std::stoi on the launcher's variables
    KokkosStart::give_up(
        "the launcher's local rank or local size is not a number "
        "(OMPI_COMM_WORLD_LOCAL_RANK or similar)");
  } catch (const std::exception& error) {
    KokkosStart::give_up(error.what());
  }
}

}  // namespace

void start_kokkos_or_throw() {
  require_threads();
  try {
    Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
  } catch (const std::exception& error) {
    throw InternalError(std::string("Kokkos cannot start: ") + error.what());
  }
}

bool is_first_rank() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                 "MV2_COMM_WORLD_RANK", "PALS_RANKID", "SLURM_PROCID"})
    if (const char* const rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  return true;
}

Runtime::Runtime(int& argc, char**& argv) {
  start_kokkos();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  require(provided >= MPI_THREAD_FUNNELED, "this MPI cannot be used by a program with threads");
}

Runtime::~Runtime() {
  if (m_unwinding.now()) return;
  Kokkos::finalize();
  MPI_Finalize();
}

void end_job(int code) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

void end_job(const std::exception& error) {
  const auto* const own = dynamic_cast<const Error*>(&error);
  int initialized = 0;
  int rank = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0)
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  else
    let_first_rank_speak();
  try {
    print_on_stderr(
        "nekbone-k: " + (initialized != 0 ? "rank " + std::to_string(rank) + ": " : std::string()) +
        error.what() + '\n');
  } catch (const std::bad_alloc&) {
    print_on_stderr("nekbone-k: there is no memory left\n");
  }
  end_job(static_cast<int>(own != nullptr ? own->exit_code() : ExitCode::internal));
}

}  // namespace nekbone_k
