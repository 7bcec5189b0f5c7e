// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Location of the messages of a call: in the send buffer, or in the field.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "gs/exchange.hpp"
#include "gs/index_runs.hpp"

namespace nekbone_k {

/// The messages that a rank sends, by neighbour. A message of consecutive DOFs is a piece of a
/// field of one component, so it can stay there; kernels pack the other messages into the send
/// buffer. Without a field, all messages are in the send buffer, packed by the caller.
///
/// No function waits, except for arrays that are made once, for the first field.
class OutgoingMessages {
 public:
  /// The plan outlives the object. `may_stay` allows messages to be sent from the field. MPI must
  /// not send from a field in the memory of a GPU (core/message_memory.hpp gives the reason).
  OutgoingMessages(const HaloPlan& plan, const MessageBuffers& buffers,
                   bool may_stay = is_host_device);

  /// Implements Exchange::pack(): set_field(), and one kernel for all messages that do not stay.
  /// Returns false and does nothing if no message would stay.
  bool pack(const OutgoingField& field);

  /// Takes the messages from `field`, in device memory, until forget_field().
  void set_field(const OutgoingField& field);
  void forget_field() { m_field = {}; }
  bool has_field() const { return m_field.data != nullptr; }
  /// Launches the kernel that packs message p, if it needs packing. `runs` are the runs of its
  /// slots and their DOFs.
  void pack(std::size_t p, const DeviceRuns& runs) const;

  /// Address of message p after the kernels end: neighbours[p].count items in device memory.
  const std::byte* message(std::size_t p) const;

 private:
  /// Whether message p is a piece of the field.
  bool stays(std::size_t p) const { return m_may_stay[p] && m_field.components == 1; }
  void launch(const std::string& label, const DeviceRuns& runs) const;

  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  std::vector<bool> m_may_stay;        // by neighbour, for a field of one component
  DeviceVector<LocalIndex> m_dofs;     // by slot
  std::optional<DeviceRuns> m_others;  // runs of messages that do not stay
  OutgoingField m_field;               // data is null if no field is set
};

}  // namespace nekbone_k
