#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace nekbone_k {

Progress::Progress(bool shown) : m_shown(shown), m_terminal(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::stage(const std::string& name, int total) {
  m_name = name;
  m_total = total;
  m_tenth = 0;
  if (!m_shown) return;
  if (m_terminal)
    draw(0);
  else
    fmt::print(stderr, "nekbone-k: {}\n", name);
}

void Progress::update(int done) {
  const int tenth = static_cast<int>(std::int64_t{10} * done / m_total);
  if (!m_shown || tenth == m_tenth) return;
  m_tenth = tenth;
  if (m_terminal)
    draw(done);
  else
    fmt::print(stderr, "nekbone-k: {}, {} of {}\n", m_name, done, m_total);
}

void Progress::clear() {
  if (m_shown && m_terminal) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void Progress::draw(int done) {
  constexpr int width = 30;
  const int filled = static_cast<int>(std::int64_t{width} * done / m_total);
  fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}", "", filled, "", width - filled, m_name);
  std::fflush(stderr);
}

}  // namespace nekbone_k
