/// @file
/// Where the messages of a call are: packed, or in the field itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "gs/exchange.hpp"
#include "gs/index_runs.hpp"

namespace nekbone_k {

/// The messages that a rank sends, by neighbour. One of consecutive DOFs of a field of one
/// component is a piece of it, and can stay there; the others are packed into the send buffer.
/// Without a field all are there: the caller packed them.
///
/// Nothing here waits, but for what is made once, for the first field.
class OutgoingMessages {
 public:
  /// The plan outlives the object. `may_stay`: whether messages may be sent from the field. MPI
  /// must not do that in a device's memory, for the reason in gs/message_memory.hpp.
  OutgoingMessages(const HaloPlan& plan, const MessageBuffers& buffers,
                   bool may_stay = is_host_device);

  /// Exchange::pack(): set_field(), and one kernel for all messages that do not stay. Returns
  /// false, and does nothing, where none would stay.
  bool pack(const OutgoingField& field);

  /// The messages are those of `field`, in device memory, until forget_field().
  void set_field(const OutgoingField& field);
  void forget_field() { m_field = {}; }
  bool has_field() const { return m_field.data != nullptr; }
  /// Launches the kernel that packs message p, of these runs of slots and their DOFs, if it has to
  /// be packed.
  void pack(std::size_t p, const DeviceRuns& runs) const;

  /// Where message p is once kernels are done: neighbours[p].count items in device memory.
  const std::byte* message(std::size_t p) const;

 private:
  /// Whether message p is a piece of the field that was set.
  bool stays(std::size_t p) const { return m_may_stay[p] && m_field.components == 1; }
  void launch(const std::string& label, const DeviceRuns& runs) const;

  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  std::vector<bool> m_may_stay;        // by neighbour: in a field of one component
  DeviceVector<LocalIndex> m_dofs;     // by slot
  std::optional<DeviceRuns> m_others;  // of the messages that do not stay
  OutgoingField m_field;               // no data: none was set
};

}  // namespace nekbone_k
