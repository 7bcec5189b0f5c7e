// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The layout of the DOFs of a message in a field.
#pragma once

#include <cstdint>
#include <span>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// Layout of the DOFs of a message. Contiguous DOFs already form a message. Strided DOFs are
/// equally spaced. Only indexed DOFs need one index per DOF. After PetscSF's index analysis (Zhang
/// et al. 2022).
enum class MessageLayout { contiguous, strided, indexed };

/// The layout of shared DOFs in the order of their message. One DOF, or none, is contiguous.
inline MessageLayout layout_of(std::span<const LocalIndex> dofs) {
  if (dofs.size() < 2) return MessageLayout::contiguous;
  const LocalIndex stride = dofs[1] - dofs[0];
  for (std::size_t i = 2; i < dofs.size(); ++i)
    if (dofs[i] - dofs[i - 1] != stride) return MessageLayout::indexed;
  return stride == 1 ? MessageLayout::contiguous : MessageLayout::strided;
}
inline MessageLayout layout_of(const HaloPlan& plan, const Neighbour& neighbour) {
  return layout_of(std::span(plan.message_dofs).subspan(neighbour.offset, neighbour.count));
}

/// Number of messages by layout.
struct MessageLayouts {
  std::int64_t contiguous = 0, strided = 0, indexed = 0;
  std::int64_t total() const { return contiguous + strided + indexed; }
};

/// The layouts of the messages that this rank sends.
inline MessageLayouts message_layouts(const HaloPlan& plan) {
  MessageLayouts layouts;
  for (const Neighbour& n : plan.neighbours) {
    switch (layout_of(plan, n)) {
      case MessageLayout::contiguous:
        ++layouts.contiguous;
        break;
      case MessageLayout::strided:
        ++layouts.strided;
        break;
      case MessageLayout::indexed:
        ++layouts.indexed;
        break;
    }
  }
  return layouts;
}

}  // namespace nekbone_k
