// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The fields of a flow as files for ParaView.
#pragma once

#include <string>

#include "core/communicator.hpp"
#include "flow/flow_case.hpp"
#include "flow/navier_stokes.hpp"
#include "report/flow_record.hpp"

namespace nekbone_k {

/// The file of a step: "a/fields.vtkhdf" becomes "a/fields-000100.vtkhdf".
std::string field_file(const std::string& file, int step);

/// Writes velocity, pressure and vorticity every few steps; see FieldOutputCase. Does nothing if
/// the case has no output. All members are collective.
class FieldFiles {
 public:
  /// Keeps references.
  FieldFiles(const Communicator& comm, const FieldOutputCase& output, FlowElements& elements,
             FlowRecord& record)
      : m_comm(comm), m_output(output), m_elements(elements), m_record(record) {}

  /// Call it at the beginning, with step 0, and after each step. A failure to write is kept in the
  /// record, and ends nothing.
  void after_step(const NavierStokes& flow, int step, bool ends);

 private:
  const Communicator& m_comm;
  const FieldOutputCase& m_output;
  FlowElements& m_elements;
  FlowRecord& m_record;
};

}  // namespace nekbone_k
