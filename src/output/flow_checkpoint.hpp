// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Checkpoints: files from which a flow continues.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/communicator.hpp"
#include "flow/flow_archive.hpp"
#include "output/hdf5_file.hpp"

namespace nekbone_k {

class AssembledSpace;

/// Names the state of a flow to an archive.
using FlowState = std::function<void(FlowArchive&)>;

/// Texts of a checkpoint, such as the input of the run, by name.
using CheckpointTexts = std::map<std::string, std::string>;

/// Writes a checkpoint to a new file beside `path` and renames it, so that `path` always holds a
/// complete checkpoint. Collective. If it fails, it throws FileError on all ranks, and the earlier
/// checkpoint remains.
void save_flow(const Communicator& comm, const std::string& path, const AssembledSpace& space,
               const CheckpointTexts& texts, const FlowState& state);

/// A checkpoint to read. Members are collective and throw FileError on all ranks, in words that
/// name the file.
class FlowCheckpoint {
 public:
  /// Opens a file. Throws FileError if it is no checkpoint in this program's format.
  FlowCheckpoint(const Communicator& comm, const std::string& path);
  ~FlowCheckpoint();

  std::string text(const std::string& name) const;
  double number(const std::string& name) const;
  int count(const std::string& name) const;
  /// Restores what save_flow() saved, on any number of ranks. `space` has the same mesh and order.
  void restore(const AssembledSpace& space, const FlowState& state) const;

 private:
  const Communicator& m_comm;
  std::unique_ptr<Hdf5File> m_file;
};

}  // namespace nekbone_k
