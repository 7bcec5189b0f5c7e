// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/outgoing_messages.hpp"

#include <algorithm>
#include <iterator>

#include "gs/message_layout.hpp"
#include "gs/strategies/words.hpp"

namespace nekbone_k {

OutgoingMessages::OutgoingMessages(const HaloPlan& plan, const MessageBuffers& buffers,
                                   bool may_stay)
    : m_plan(plan), m_buffers(buffers) {
  for (const Neighbour& n : plan.neighbours)
    m_may_stay.push_back(may_stay && layout_of(plan, n) == MessageLayout::contiguous);
}

bool OutgoingMessages::pack(const OutgoingField& field) {
  const bool some_may_stay =
      std::find(m_may_stay.begin(), m_may_stay.end(), true) != m_may_stay.end();
  if (field.components != 1 || !some_may_stay) return false;
  set_field(field);
  if (!m_others) {
    std::vector<IndexRun> runs;
    for (std::size_t p = 0; p < m_may_stay.size(); ++p) {
      if (m_may_stay[p]) continue;
      const Neighbour& n = m_plan.neighbours[p];
      std::ranges::copy(find_runs(m_plan.message_dofs, n.offset, n.offset + n.count),
                        std::back_inserter(runs));
    }
    m_others = to_device("nekbone_k: runs of messages that are packed", runs);
  }
  launch("nekbone_k: pack", *m_others);
  return true;
}

void OutgoingMessages::set_field(const OutgoingField& field) {
  m_field = field;
  // Made here, because some exchanges never get a field.
  if (m_dofs.extent(0) != m_plan.message_dofs.size())
    m_dofs = to_device("nekbone_k: message DOFs", m_plan.message_dofs);
}

void OutgoingMessages::pack(std::size_t p, const DeviceRuns& runs) const {
  if (has_field() && !stays(p)) launch("nekbone_k: pack a message", runs);
}

const std::byte* OutgoingMessages::message(std::size_t p) const {
  const Neighbour& n = m_plan.neighbours[p];
  if (!has_field() || !stays(p)) return m_buffers.message(m_buffers.send, n);
  return static_cast<const std::byte*>(m_field.data) +
         m_plan.message_dofs[n.offset] * m_field.value_bytes;
}

void OutgoingMessages::launch(const std::string& label, const DeviceRuns& runs) const {
  with_word(m_field.value_bytes, [&](auto word) {
    using Word = decltype(word);
    for_index_runs(
        label, m_buffers.stream, runs,
        PackRun<Word>{static_cast<const Word*>(m_field.data), m_field.component_stride,
                      m_field.components, m_dofs.data(), static_cast<Word*>(m_buffers.send)});
  });
}

}  // namespace nekbone_k
