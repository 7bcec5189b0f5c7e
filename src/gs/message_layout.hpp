/// @file
/// How the DOFs of a message lie in a field.
#pragma once

#include <cstdint>
#include <span>

#include "gs/halo_plan.hpp"

namespace nekbone_k {

/// Whether an index a DOF has to be read to find them: not where they are consecutive, which is a
/// message already, nor where they are equally far apart (PetscSF's index analysis, Zhang et al.
/// 2022).
enum class MessageLayout { contiguous, strided, indexed };

/// Of shared DOFs in the order of their message. One DOF is contiguous; so is none.
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

/// Messages by layout.
struct MessageLayouts {
  std::int64_t contiguous = 0, strided = 0, indexed = 0;
  std::int64_t total() const { return contiguous + strided + indexed; }
};

/// Of the messages that this rank sends.
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
