// SPDX-License-Identifier: BSD-3-Clause
#include "report/progress.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "core/standard_streams.hpp"

namespace nekbone_k {

Progress::Progress(bool shown) : m_shown(shown), m_terminal(can_redraw_stderr()) {}

Progress::~Progress() { clear(); }

void Progress::stage(const std::string& name, int total) {
  m_name = name;
  m_total = total;
  m_tenth = 0;
  if (!m_shown) return;
  if (m_terminal)
    draw(0, "");
  else
    print_on_stderr(fmt::format("nekbone-k: {}\n", name));
}

void Progress::update(int done, const std::string& note) {
  if (!m_shown) return;
  const int tenth = static_cast<int>(std::int64_t{10} * done / m_total);
  const auto now = std::chrono::steady_clock::now();
  // A terminal shows notes as they change; a file gets ten lines.
  const bool is_new = m_terminal && !note.empty() && now - m_drawn > std::chrono::milliseconds(200);
  if (tenth == m_tenth && !is_new) return;
  m_tenth = tenth;
  m_drawn = now;
  if (m_terminal)
    draw(done, note);
  else
    print_on_stderr(fmt::format("nekbone-k: {}, {} of {}{}{}\n", m_name, done, m_total,
                                note.empty() ? "" : ", ", note));
}

void Progress::clear() {
  if (m_shown && m_terminal) print_on_stderr("\r\033[K");
}

void Progress::draw(int done, const std::string& note) {
  constexpr int width = 30;
  const int filled = static_cast<int>(std::int64_t{width} * done / m_total);
  print_on_stderr(fmt::format("\r\033[K[{:#<{}}{:.<{}}] {}{}{}", "", filled, "", width - filled,
                              m_name, note.empty() ? "" : ", ", note));
}

}  // namespace nekbone_k
