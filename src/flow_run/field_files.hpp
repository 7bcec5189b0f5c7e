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
  FieldFiles(const Communicator& comm, const FieldOutputCase& output, const AssembledSpace& space,
             FlowRecord& record)
      : m_comm(comm), m_output(output), m_space(space), m_record(record) {}

  /// Whether to write the fields after a step. 0 is the beginning.
  bool is_due(int step, bool ends) const;
  /// Writes them, with the `vorticity` of the velocity. A failure is kept in the record, and ends
  /// nothing. Exchanges no field.
  void write(const NavierStokes& flow, const VectorField& vorticity, int step);

 private:
  const Communicator& m_comm;
  const FieldOutputCase& m_output;
  const AssembledSpace& m_space;
  FlowRecord& m_record;
};

}  // namespace nekbone_k
