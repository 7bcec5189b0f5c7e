// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/flow_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "core/errors.hpp"
#include "output/velocity_file.hpp"

namespace nekbone_k {
namespace {

/// The text of a file. Throws InputError if it cannot be read.
std::string text_of(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  const bool is_folder = std::filesystem::is_directory(path);
  if (!file || is_folder)
    throw InputError(fmt::format("'{}' cannot be read: {}; give the path of a file, or \"\"", path,
                                 std::strerror(is_folder ? EISDIR : errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Calls `action` on rank 0. If it throws an InputError, throws that on every rank with `place`
/// before it. Collective.
void on_root(const Communicator& comm, const std::string& place,
             const std::function<void()>& action) {
  std::string complaint;
  if (comm.is_root()) {
    try {
      action();
    } catch (const InputError& error) {
      complaint = fmt::format("{}: {}", place, error.what());
    }
  }
  complaint = comm.broadcast(complaint);
  if (!complaint.empty()) throw InputError(complaint);
}

/// Throws InputError on every rank if a file with the initial velocity does not fit.
void check_initial(const Communicator& comm, const Case& input) {
  if (input.flow.initial_file.empty() || !input.restart.empty()) return;
  try {
    VelocityFile(comm, input.flow.initial_file, input.mesh.elements);
  } catch (const FileError& error) {
    throw InputError(
        fmt::format("{}: {}; give a checkpoint of a flow on as many elements, or taylor-green, "
                    "taylor-green-2d or abc",
                    input.place("flow.initial"), error.what()));
  }
}

std::optional<FlowReference> read_reference(const Communicator& comm, const Case& input) {
  if (input.reference.empty()) return {};
  const std::string place = input.place("verification.reference");
  std::string text;
  on_root(comm, place, [&] { text = text_of(input.reference); });
  text = comm.broadcast(std::move(text));
  try {
    return FlowReference(text, input.reference);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", place, error.what()));
  }
}

}  // namespace

FlowFiles open_flow_files(const Communicator& comm, const Case& input,
                          std::optional<int> goes_on_after) {
  FlowFiles files;
  check_initial(comm, input);
  files.reference = read_reference(comm, input);
  on_root(comm, input.place("flow.series"),
          [&] { files.series = std::make_unique<SeriesFile>(input.flow.series, goes_on_after); });
  return files;
}

void check_flow_files(const Communicator& comm, const Case& input) {
  check_initial(comm, input);
  read_reference(comm, input);
  on_root(comm, input.place("flow.series"), [&] {
    if (const std::string why_not = SeriesFile::why_not(input.flow.series); !why_not.empty())
      throw InputError(why_not);
  });
}

}  // namespace nekbone_k
