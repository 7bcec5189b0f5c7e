#include "app/journal.hpp"

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
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/file_lock.hpp"
#include "app/format.hpp"
#include "app/regular_file.hpp"
#include "core/machine.hpp"

namespace nekbone_k {

/// What a signal handler writes: made before, as it may allocate nothing.
struct JournalLines {
  std::string path, crash, hang, failure, exit;
};

namespace {

namespace fs = std::filesystem;

constexpr const char* begun = "was begun and did not end";

/// Never freed: a signal handler or the watchdog's thread may be reading them.
const JournalLines* keep(JournalLines lines) {
  static auto* const kept = new std::deque<JournalLines>;
  return &kept->emplace_back(std::move(lines));
}

/// Opens a journal, which other jobs stay out of until it is closed; negative if it cannot be
/// opened. One that died or is stopped while it had it is not waited for long. As append(), makes
/// only calls that a signal handler may make.
int open_locked(const char* path, int flags) {
  constexpr double patience = 0.5;  // seconds
  constexpr int most_tries = 10;
  for (int attempt = 1;; ++attempt) {
    const int file = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
    if (file < 0) return file;
    // Who had it before may have removed it.
    struct stat opened {};
    if (!lock_file(file, patience) || fstat(file, &opened) != 0 || opened.st_nlink > 0 ||
        attempt == most_tries)
      return file;
    close(file);
  }
}

bool append(const std::string& path, const std::string& line) {
  const int file = open_locked(path.c_str(), O_CREAT | O_APPEND);
  if (file < 0) return false;
  // What another left half written, as on a full disk, must not take this line with it.
  const off_t size = lseek(file, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n')
    static_cast<void>(!::write(file, "\n", 1));
  const bool all = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  close(file);
  return all;
}

/// Takes the last occurrence of `line` out of a journal, and an empty one away.
void remove_line(const std::string& path, const std::string& line) {
  const int file = open_locked(path.c_str(), 0);
  if (file < 0) return;
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t n; (n = ::read(file, piece.data(), piece.size())) > 0;) text.append(piece.data(), n);
  const std::size_t at = text.rfind(line);
  if (at != std::string::npos) {
    text.erase(at, line.size());
    if (text.empty()) {
      unlink(path.c_str());
    } else {
      // In this order, so that a line that is lost half-way through stands there twice, not never.
      const auto rest = static_cast<ssize_t>(text.size() - at);
      if (pwrite(file, text.data() + at, text.size() - at, static_cast<off_t>(at)) == rest)
        static_cast<void>(!!ftruncate(file, static_cast<off_t>(text.size())));
    }
  }
  close(file);
}

std::string plain(const std::string& strategy) { return strategy.substr(0, strategy.find('+')); }

std::string to_line(const std::string& strategy, const std::string& place, const char* how,
                    const std::string& when, const JournalWriter& writer = {}) {
  const nlohmann::ordered_json line{{"strategy", strategy}, {"place", place},
                                    {"how", how},           {"when", when},
                                    {"host", writer.host},  {"process", writer.process}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

/// Whether the process that wrote a line is running, on this host: it has begun something that may
/// still come to its end. One that is dead and was not yet waited for is not running.
bool is_alive(const nlohmann::json& line) {
  if (line.value("host", "") != host_name()) return false;
  std::ifstream file(fmt::format("/proc/{}/stat", line.value("process", 0)));
  const std::string status(std::istreambuf_iterator<char>(file), {});
  const std::size_t name_end = status.rfind(") ");  // the name may hold anything
  return name_end != std::string::npos && status[name_end + 2] != 'Z' &&
         status[name_end + 2] != 'X';
}

std::atomic<const JournalLines*> prepared{nullptr};

/// Writes one of the lines, if anything is being tried, and nothing more after it.
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
  raise(signal);  // delivered, to whoever handled it before, when this returns
}

}  // namespace

JournalWriter::JournalWriter() : host(host_name()), process(getpid()) {}

Journal::Journal(std::string path, std::string place)
    : m_path(std::move(path)), m_place(std::move(place)), m_writable(why_not_writable().empty()) {
  std::ifstream file;
  if (why_not_a_file(m_path).empty()) file.open(m_path);
  int number = 0;
  for (std::string text; file.is_open() && std::getline(file, text);) {
    ++number;
    if (text.empty()) continue;
    try {
      const auto json = nlohmann::json::parse(text);
      if (json.at("how") == begun && is_alive(json)) continue;
      m_lines.push_back({json.at("strategy"), json.at("place"), json.at("how"), json.at("when")});
    } catch (const nlohmann::json::exception&) {
      m_unreadable.push_back(number);
    }
  }
  struct sigaction action {};
  action.sa_handler = write_crash_and_go_on;
  sigemptyset(&action.sa_mask);
  for (std::size_t s = 0; s < crashes.size(); ++s) {
    struct sigaction before {};
    sigaction(crashes[s], &action, &before);
    // Never its own predecessor, which would go round for ever.
    if (before.sa_handler != write_crash_and_go_on) earlier_actions[s] = before;
  }
  static const bool at_exit [[maybe_unused]] =
      std::atexit([] { write_prepared(&JournalLines::exit); }) == 0;
}

Journal::~Journal() {
  rest();
  for (std::size_t s = 0; s < crashes.size(); ++s)
    sigaction(crashes[s], &earlier_actions[s], nullptr);
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
        "{} cannot be written: {}, so the next run would not know what ends this one; give the "
        "name of a file in a folder that is there and can be written to",
        m_path, why);
  if (m_unreadable.empty()) return {};
  return fmt::format(
      "of {} line{} {} cannot be read: what stood there is tried; mend it or delete it", m_path,
      m_unreadable.size() == 1 ? "" : "s", ranges_text(m_unreadable));
}

std::string Journal::why_excluded(const std::string& strategy) const {
  // The first that says how it ended, as others may be what came of that on other ranks; that it
  // was begun says least.
  const Line* found = nullptr;
  for (const Line& line : m_lines) {
    if (line.place != m_place || plain(line.strategy) != plain(strategy)) continue;
    if (found == nullptr || found->how == begun) found = &line;
  }
  if (found == nullptr) return {};
  return fmt::format("{} {} in the run started {}{}; delete {} to try it again", found->strategy,
                     found->how, found->when,
                     found->how == begun ? " (innocent if somebody ended that run)" : "", m_path);
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
    lines = keep({m_path, saying("crashed"), saying("did not come back"), saying("threw"),
                  saying("ended the program")});
  }
  prepared = lines;
}

void Journal::begin(const std::string& strategy, const std::string& when) {
  if (!m_writable) return;
  m_begun = to_line(strategy, m_place, begun, when);
  if (!append(m_path, m_begun)) m_begun.clear();
}

void Journal::end() {
  if (!m_begun.empty()) remove_line(m_path, m_begun);
  m_begun.clear();
}

void Journal::take_back(const std::string& strategy, const std::string& when,
                        const JournalWriter& writer) const {
  if (m_writable) remove_line(m_path, to_line(strategy, m_place, begun, when, writer));
}

void Journal::rest() { prepared = nullptr; }

bool Journal::write_hang() const { return write_prepared(&JournalLines::hang); }

void Journal::write_failure() const { write_prepared(&JournalLines::failure); }

}  // namespace nekbone_k
