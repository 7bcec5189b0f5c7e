// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string_view>

#include "core/file_lock.hpp"
#include "core/format.hpp"
#include "core/process_identity.hpp"
#include "core/regular_file.hpp"
#include "core/system.hpp"

namespace nekbone_k {

/// The lines that a signal handler writes. They exist in advance, because a handler must not
/// allocate.
struct JournalLines {
  std::string path, crash, hang, failure, exit;
};

namespace {

namespace fs = std::filesystem;

constexpr const char* begun = "was begun and did not end";
constexpr const char* hung = "did not return";

/// Never freed: a signal handler or the thread of the watchdog may read them.
const JournalLines* keep(JournalLines lines) {
  static auto* const kept = new std::deque<JournalLines>;
  return &kept->emplace_back(std::move(lines));
}

/// Opens a journal and locks out other jobs until it is closed; negative if it cannot be opened.
/// Waits only briefly for a job that died or is stopped while it held the lock. Like append(),
/// makes only calls that a signal handler may make.
int open_locked(const char* path, int flags) {
  constexpr double patience = 0.5;  // s
  constexpr int most_tries = 10;
  for (int attempt = 1;; ++attempt) {
    const int file = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
    if (file < 0) return file;
    // The previous holder may have removed the file.
    struct stat opened {};
    if (!lock_file(file, patience) || fstat(file, &opened) != 0 || opened.st_nlink > 0 ||
        attempt == most_tries)
      return file;
    close(file);
  }
}

/// Returns whether it wrote all of the line; otherwise it wrote nothing.
bool append_to(int file, const std::string& line) {
  // End a line that another job left half written, as on a full disk, so that this line stays
  // readable.
  const off_t size = lseek(file, 0, SEEK_END);
  char last = '\n';
  const bool is_torn = size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
  if ((!is_torn || ::write(file, "\n", 1) == 1) &&
      ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()))
    return true;
  static_cast<void>(!!ftruncate(file, size));
  return false;
}

bool append(const std::string& path, const std::string& line) {
  const int file = open_locked(path.c_str(), O_CREAT | O_APPEND);
  if (file < 0) return false;
  const bool all = append_to(file, line);
  close(file);
  return all;
}

/// Removes the line that begins at `begin` and precedes `rest` from a journal, and removes an empty
/// journal. Makes only calls that a signal handler may make.
void erase(int file, const char* path, std::size_t begin, std::string_view rest) {
  if (begin == 0 && rest.empty()) {
    unlink(path);
    return;
  }
  // In this order, an interruption in between leaves a line twice instead of never.
  if (pwrite(file, rest.data(), rest.size(), static_cast<off_t>(begin)) ==
      static_cast<ssize_t>(rest.size()))
    static_cast<void>(!!ftruncate(file, static_cast<off_t>(begin + rest.size())));
}

std::string content_of(int file) {
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t n; (n = ::read(file, piece.data(), piece.size())) > 0;) text.append(piece.data(), n);
  return text;
}

/// Blocks signals that end a job in this thread, so that none interrupts a change of the file.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) sigdelset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &m_before);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t m_before;
};

/// The text of the line of begin() before the marks of the interrupted ranks.
std::string before_marks(const std::string& token) {
  return fmt::format(R"("token":"{}","interrupted":")", token);
}
constexpr char no_mark = '.', mark = 'x';

/// Removes the last line that starts with `start` and holds `token` from a journal.
void remove_line(const std::string& path, const std::string& start, const std::string& token) {
  const SignalsHeld held;
  const int file = open_locked(path.c_str(), 0);
  if (file < 0) return;
  const std::string text = content_of(file), key = before_marks(token);
  for (std::size_t at = text.rfind(key); at != std::string::npos && at > 0;
       at = text.rfind(key, at - 1)) {
    const std::size_t newline = text.rfind('\n', at);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    if (!std::string_view(text).substr(begin).starts_with(start)) continue;
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    erase(file, path.c_str(), begin, std::string_view(text).substr(end));
    break;
  }
  close(file);
}

std::string plain(const std::string& strategy) { return strategy.substr(0, strategy.find('+')); }

nlohmann::ordered_json line_of(const std::string& strategy, const std::string& place,
                               const char* how, const std::string& when,
                               const JournalWriter& writer = {}) {
  return {{"strategy", strategy}, {"place", place},      {"how", how},
          {"when", when},         {"host", writer.host}, {"process", writer.process}};
}

std::string to_text(const nlohmann::ordered_json& line) {
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_line(const std::string& strategy, const std::string& place, const char* how,
                    const std::string& when) {
  return to_text(line_of(strategy, place, how, when)) + '\n';
}

/// The start of the line of begin().
std::string start_of_begun(const std::string& strategy, const std::string& place,
                           const std::string& when, const JournalWriter& writer) {
  std::string text = to_text(line_of(strategy, place, begun, when, writer));
  text.back() = ',';
  return text;
}

// ---- Whether the writer of a line of begin() is alive

/// A byte behind all lines.
struct flock life_of_job(const std::string& token) {
  constexpr std::size_t most_digits = 15;  // of 4 bits
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = (off_t{1} << 62) + std::stoll("0" + token.substr(0, most_digits), nullptr, 16);
  range.l_len = 1;
  return range;
}

/// Opens the journal once more, with a lock that the system drops when the process ends. Returns a
/// negative number if there is no such lock. The caller holds flock(): where the two kinds of lock
/// exclude each other (NFS) this lock fails, and there it would stop other jobs.
int lock_for_life(const std::string& path, const std::string& token) {
#ifdef F_OFD_SETLK
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return file;
  struct flock range = life_of_job(token);
  if (fcntl(file, F_OFD_SETLK, &range) == 0) return file;
  close(file);
#endif
  return -1;
}

bool is_locked_for_life([[maybe_unused]] int file, [[maybe_unused]] const std::string& token) {
#ifdef F_OFD_GETLK
  struct flock range = life_of_job(token);
  return fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
#else
  return false;
#endif
}

std::uint64_t inode_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? status.st_ino : 0;
}

/// Allowance for clocks that differ between hosts, and for a late job.
constexpr double margin = 60;  // s

/// Whether the writer of a line of begin() may still be trying the strategy.
bool is_being_tried(const nlohmann::json& line, int file) {
  if (!line.contains("token"))  // of an earlier version
    return line.value("host", "") == host_name() &&
           life_of_id(line.value("process", 0)) == Life::lives;
  const std::string token = line.at("token");
  if (token.find_first_not_of("0123456789abcdef") == std::string::npos) {
    if (is_locked_for_life(file, token)) return true;
    const auto locked = line.value("lock", std::uint64_t{0});  // inode of the locked file, or 0
    if (locked != 0 && locked == inode_of(file) && line.at("boot") == this_process().boot)
      return false;
  }
  const Life life = life_of({.boot = line.at("boot"),
                             .pid_namespace = line.at("namespace"),
                             .process = line.at("process"),
                             .since = line.at("since")});
  if (life != Life::unknown) return life == Life::lives;
  return static_cast<double>(std::time(nullptr)) <= line.at("until").get<double>();
}

/// Whether all ranks of the job that wrote the line of begin() marked themselves as interrupted.
bool is_taken_back(const nlohmann::json& line) {
  const std::string marks = line.value("interrupted", "");
  return !marks.empty() && marks.find_first_not_of(mark) == std::string::npos;
}

std::atomic<const JournalLines*> prepared{nullptr};

/// Writes one of the lines if something is being tried. Later calls write nothing.
bool write_prepared(std::string JournalLines::*lines) {
  const JournalLines* const at = prepared.exchange(nullptr);
  return at != nullptr && append(at->path, at->*lines);
}

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
std::array<struct sigaction, crashes.size()> earlier_actions;

void write_crash_and_go_on(int signal) {
  write_prepared(&JournalLines::crash);
  for (std::size_t s = 0; s < crashes.size(); ++s)
    if (crashes[s] == signal) sigaction(signal, &earlier_actions[s], nullptr);
  raise(signal);  // the previous handler gets it when this function returns
}

// ---- Interruption

/// The state that a signal handler needs.
struct Interruption {
  std::string path, key;
  int rank, ranks;
};
std::atomic<const Interruption*> when_interrupted{nullptr};
std::atomic<bool> is_line_expected{false}, is_interrupted{false};

enum class Marks { no_line, some, all };

/// Marks this rank in the line of begin(), and removes the line once all ranks are marked. Makes
/// only calls that a signal handler may make.
Marks mark_interrupted(const Interruption& job) {
  static std::array<char, 1 << 20> memory;
  const int file = open_locked(job.path.c_str(), 0);
  if (file < 0) return Marks::no_line;
  // The last part of a long journal is enough, because the line is recent.
  struct stat status {};
  fstat(file, &status);
  const off_t first = std::max<off_t>(0, status.st_size - static_cast<off_t>(memory.size()));
  const ssize_t n = pread(file, memory.data(), memory.size(), first);
  const std::string_view text(memory.data(), n > 0 ? n : 0);
  const std::size_t found = text.rfind(job.key), marks = found + job.key.size(),
                    newline = text.find('\n', marks);
  Marks result = Marks::no_line;
  if (found != text.npos && newline != text.npos &&
      newline - marks >= static_cast<std::size_t>(job.ranks)) {
    result = Marks::some;
    if (memory[marks + job.rank] != mark) {
      memory[marks + job.rank] = mark;
      static_cast<void>(!pwrite(file, &mark, 1, first + static_cast<off_t>(marks) + job.rank));
    }
    if (text.substr(marks, job.ranks).find_first_not_of(mark) == text.npos) {
      result = Marks::all;
      const std::size_t before = text.rfind('\n', found);
      const std::size_t begin = before == text.npos ? 0 : before + 1;
      if (first == 0 || begin > 0)
        erase(file, job.path.c_str(), first + begin, text.substr(newline + 1));
    }
  }
  close(file);
  return result;
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// The token of this process; a forked process gets another one.
const std::string& own_token() {
  static pid_t process = 0;
  static auto* const token = new std::string;
  if (process != getpid()) {
    process = getpid();
    *token = random_token();
  }
  return *token;
}

}  // namespace

void take_back_on_interruption() {
  const auto sleep_ms = [](long ms) {
    const timespec pause{ms / 1000, ms % 1000 * 1'000'000};
    nanosleep(&pause, nullptr);
  };
  if (is_interrupted.exchange(true)) return sleep_ms(3000);  // another thread ends the process
  const Interruption* const job = when_interrupted;
  if (job == nullptr) return;
  bool was_there = false;
  constexpr long longest_ms = 320;  // about half a second in total
  for (long ms = 5; ms <= longest_ms; ms *= 2) {
    const Marks marks = mark_interrupted(*job);
    was_there = was_there || marks != Marks::no_line;
    // Rank 0 may still write the line until it is interrupted.
    const bool may_come = is_line_expected && !was_there;
    if (marks == Marks::all || (marks == Marks::no_line && !may_come)) return;
    sleep_ms(ms);  // launchers kill the other ranks as soon as one has ended
  }
}

JournalWriter::JournalWriter() : host(host_name()), process(getpid()), token(own_token()) {}

Journal::Journal(std::string path, std::string place, JournalJob job)
    : m_path(std::move(path)),
      m_place(std::move(place)),
      m_job(std::move(job)),
      m_writable(why_not_writable().empty()) {
  if (m_job.rank == 0) read();
  if (m_writable) {
    static auto* const kept = new std::deque<Interruption>;  // never freed, as in keep()
    when_interrupted =
        &kept->emplace_back(m_path, before_marks(m_job.root.token), m_job.rank, m_job.ranks);
  }
  struct sigaction action {};
  action.sa_handler = write_crash_and_go_on;
  sigemptyset(&action.sa_mask);
  for (std::size_t s = 0; s < crashes.size(); ++s) {
    struct sigaction before {};
    sigaction(crashes[s], &action, &before);
    // Never store this handler as its own predecessor: that would loop for ever.
    if (before.sa_handler != write_crash_and_go_on) earlier_actions[s] = before;
  }
  static const bool at_exit [[maybe_unused]] =
      std::atexit([] { write_prepared(&JournalLines::exit); }) == 0;
}

Journal::~Journal() {
  rest();
  when_interrupted = nullptr;
  if (m_lock >= 0) close(m_lock);
  for (std::size_t s = 0; s < crashes.size(); ++s)
    sigaction(crashes[s], &earlier_actions[s], nullptr);
}

void Journal::read() {
  if (!why_not_a_file(m_path).empty()) return;
  int file = open_locked(m_path.c_str(), 0);
  if (file < 0) file = open(m_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::istringstream lines(content_of(file));
  int number = 0;
  for (std::string text; std::getline(lines, text);) {
    ++number;
    if (text.empty()) continue;
    try {
      const auto json = nlohmann::json::parse(text);
      if (json.at("how") == begun && (is_taken_back(json) || is_being_tried(json, file))) continue;
      m_lines.push_back({json.at("strategy"), json.at("place"), json.at("how"), json.at("when")});
    } catch (const nlohmann::json::exception&) {
      m_unreadable.push_back(number);
    }
  }
  close(file);
}

std::string Journal::why_not_writable() const {
  if (std::string why = why_not_a_file(m_path); !why.empty()) return why;
  std::error_code ignored;
  fs::path asked = m_path;
  if (!fs::exists(asked, ignored)) asked = asked.has_parent_path() ? asked.parent_path() : ".";
  return access(asked.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
}

std::string Journal::complaint() const {
  if (const std::string why = why_not_writable(); !why.empty())
    return fmt::format(
        "the journal {} cannot be written: {}, so the next run would not know what ends this one; "
        "name another file with gather_scatter.tuning.journal (doctor: --journal)",
        m_path, why);
  if (m_unreadable.empty()) return {};
  return fmt::format(
      "the journal {}: line{} {} cannot be read, so this run may try a strategy that failed "
      "before; correct or delete {}",
      m_path, m_unreadable.size() == 1 ? "" : "s", ranges_text(m_unreadable),
      m_unreadable.size() == 1 ? "the line" : "these lines");
}

std::string Journal::why_excluded(const std::string& strategy) const {
  // Take the first line with a reason: later ones may be consequences on other ranks. A line of
  // begin() says least.
  const Line* found = nullptr;
  for (const Line& line : m_lines) {
    if (line.place != m_place || plain(line.strategy) != plain(strategy)) continue;
    if (found == nullptr || found->how == begun) found = &line;
  }
  if (found == nullptr) return {};
  const char* const hint = found->how == begun  ? " (not its fault if the run was killed)"
                           : found->how == hung ? " (not its fault if the machine was overloaded)"
                                                : "";
  return fmt::format("{} {} in the run started {}{}; delete {} to try it again", found->strategy,
                     found->how, found->when, hint, m_path);
}

void Journal::trying(const std::vector<std::string>& strategies, const std::string& when) {
  if (!m_writable) return;
  const JournalLines*& lines = m_lines_of[strategies];
  if (lines == nullptr) {
    const auto saying = [&](const char* how) {
      std::string text;
      for (const std::string& strategy : strategies) text += to_line(strategy, m_place, how, when);
      return text;
    };
    lines = keep(
        {m_path, saying("crashed"), saying(hung), saying("threw"), saying("ended the program")});
  }
  prepared = lines;
}

void Journal::begin(const std::string& strategy, const std::string& when) {
  if (!m_writable) return;
  const SignalsHeld held;
  const int file = open_locked(m_path.c_str(), O_CREAT | O_APPEND);
  if (file < 0) return;
  const JournalWriter& writer = m_job.root;
  const ProcessIdentity process = this_process();
  m_begun = start_of_begun(strategy, m_place, when, writer);
  m_lock = lock_for_life(m_path, writer.token);
  const std::string line =
      fmt::format(R"({}"boot":{},"namespace":{},"since":{},"until":{:.0f},"lock":{},{}{}"}})",
                  m_begun, to_text(process.boot), to_text(process.pid_namespace), process.since,
                  static_cast<double>(std::time(nullptr)) + m_job.longest_try + margin,
                  m_lock < 0 ? 0 : inode_of(m_lock), before_marks(writer.token),
                  std::string(m_job.ranks, no_mark));
  // If another thread handles an interruption, it found no line and ends the process.
  if (is_interrupted || !append_to(file, line + '\n')) {
    m_begun.clear();
    if (lseek(file, 0, SEEK_END) == 0) unlink(m_path.c_str());
  }
  close(file);
}

void Journal::end() {
  if (!m_begun.empty()) remove_line(m_path, m_begun, m_job.root.token);
  m_begun.clear();
  if (m_lock >= 0) close(m_lock);  // after no line claims the lock
  m_lock = -1;
}

void Journal::expect_line(bool expected) { is_line_expected = expected; }

void Journal::take_back(const std::string& strategy, const std::string& when,
                        const JournalWriter& writer) const {
  if (m_writable)
    remove_line(m_path, start_of_begun(strategy, m_place, when, writer), writer.token);
}

void Journal::rest() { prepared = nullptr; }

bool Journal::write_hang() const { return write_prepared(&JournalLines::hang); }

void Journal::write_failure() const { write_prepared(&JournalLines::failure); }

}  // namespace nekbone_k
