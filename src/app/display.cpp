// SPDX-License-Identifier: BSD-3-Clause
#include "app/display.hpp"

#include "core/standard_streams.hpp"

namespace nekbone_k {

Display::Display(const Communicator& comm, ReportDetail detail)
    : m_is_root(comm.is_root()), m_detail(detail), m_progress(comm.is_root()) {}

void Display::show(const std::string& text) {
  if (m_detail != ReportDetail::brief) print(text);
}

void Display::show_result(const std::string& text) {
  const std::size_t blank_lines = text.find_first_not_of('\n');
  print(m_detail == ReportDetail::brief && blank_lines != std::string::npos
            ? text.substr(blank_lines)
            : text);
}

void Display::print(const std::string& text) {
  if (!m_is_root) return;
  m_progress.clear();
  print_on_stdout(text);  // main() checks at the end whether all output was written
}

}  // namespace nekbone_k
