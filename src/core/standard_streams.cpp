// SPDX-License-Identifier: BSD-3-Clause
#include "core/standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace nekbone_k {
namespace {

/// The error of the first failed write to stdout; 0 if none failed. It replaces the error flag of
/// stdio, because this program does not print through stdio.
std::atomic<int> stdout_error{0};

/// The value of an environment variable, empty if it is not set.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Writes without stdio, because a thread that waits for a reader may hold the lock of stdio.
/// Returns 0 or the error.
int write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another program made the shared pipe non-blocking
      pollfd ready{file, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

int write_to_people(int file, std::string_view text) {
  // ASCII is not converted, because the handler of SIGABRT prints too and must not allocate.
  const bool converts = is_ascii_only() && !std::all_of(text.begin(), text.end(), is_ascii);
  return converts ? write_all(file, to_ascii(text)) : write_all(file, text);
}

bool names_utf8(std::string_view locale) {
  std::string lower(locale);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
}

/// ASCII replacements of the characters that the program prints, and of punctuation in quoted text.
constexpr std::array<std::pair<std::string_view, char>, 21> like_ascii{
    {{"µ", 'u'}, {"μ", 'u'},  {"×", 'x'},  {"·", '*'}, {"±", '~'}, {"‖", '|'}, {"²", '2'},
     {"³", '3'}, {"≤", '<'},  {"≥", '>'},  {"≈", '~'}, {"→", '>'}, {"–", '-'}, {"—", '-'},
     {"…", '.'}, {"‘", '\''}, {"’", '\''}, {"“", '"'}, {"”", '"'}, {"√", 'v'}, {"\u00a0", ' '}}};

/// Bytes of the code point at the start of `text`, which is not ASCII; 1 for a stray byte.
std::size_t code_point_size(std::string_view text) {
  std::size_t size = 1;
  const bool is_stray = (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80;
  while (!is_stray && size < text.size() && size < 4 &&
         (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    ++size;
  return size;
}

}  // namespace

void prepare_standard_streams() {
  // open() takes the lowest free descriptor, so each stream gets its own. /dev/null may be missing
  // in a container; "/" then serves, because a folder can be neither read nor written.
  constexpr std::array modes{O_RDONLY, O_RDONLY, O_WRONLY};
  for (int file = 0; file < 3; ++file)
    if (fcntl(file, F_GETFD) < 0 && open("/dev/null", modes[file]) < 0)
      static_cast<void>(open("/", O_RDONLY));
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void print_on_stdout(std::string_view text) {
  // Text that libraries printed comes first.
  int error = std::fflush(stdout) == 0 ? 0 : errno;
  if (error == 0) error = write_to_people(STDOUT_FILENO, text);
  int none = 0;
  stdout_error.compare_exchange_strong(none, error);
}

std::string why_not_printed() {
  print_on_stdout({});
  if (stdout_error == EBADF) return "it is closed";
  if (stdout_error != 0) return std::strerror(stdout_error);
  return std::ferror(stdout) == 0 ? "" : "an error of writing";
}

void print_on_stderr(std::string_view text) noexcept {
  try {
    write_to_people(STDERR_FILENO, text);
  } catch (const std::bad_alloc&) {  // conversion to ASCII found no memory: the text is lost
  }
}

bool can_redraw_stderr() {
  const std::string_view terminal = variable("TERM");
  return isatty(STDERR_FILENO) == 1 && !terminal.empty() && terminal != "dumb";
}

bool is_ascii_only() {
  static const bool only = [] {
    if (variable("TERM") == "dumb") return true;
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"})
      if (const std::string_view locale = variable(name); !locale.empty())
        return !names_utf8(locale);
    return false;
  }();
  return only;
}

std::string to_ascii(std::string_view text) {
  constexpr std::string_view plus_minus = " ± ";  // same width as "+/-"
  std::string ascii;
  while (!text.empty()) {
    if (text.starts_with(plus_minus)) {
      ascii += "+/-";
      text.remove_prefix(plus_minus.size());
      continue;
    }
    const std::size_t size = is_ascii(text[0]) ? 1 : code_point_size(text);
    const std::string_view character = text.substr(0, size);
    const auto* const like = std::find_if(like_ascii.begin(), like_ascii.end(),
                                          [&](const auto& l) { return l.first == character; });
    ascii += is_ascii(text[0]) ? text[0] : like == like_ascii.end() ? '?' : like->second;
    text.remove_prefix(size);
  }
  return ascii;
}

}  // namespace nekbone_k
