// SPDX-License-Identifier: BSD-3-Clause
#include "output/flow_checkpoint.hpp"

#include <fmt/format.h>

#include "core/config.hpp"
#include "output/element_values.hpp"

namespace nekbone_k {
namespace {

/// The format. The number changes if older and newer programs cannot read each other's files.
constexpr const char* format = "nekbone-k flow checkpoint 3";

/// Calls action(component, its assembled vector) for each component of a field.
template <class Action>
void for_components(const AssembledSpace& space, const DeviceVector<double>& field,
                    const Action& action) {
  const std::size_t size = space.size(), n = field.extent(0) / size;
  for (std::size_t c = 0; c < n; ++c)
    action(static_cast<int>(c), Kokkos::subview(field, std::pair(c * size, (c + 1) * size)));
}

class Saving final : public FlowArchive {
 public:
  Saving(Hdf5File& file, const AssembledSpace& space)
      : m_file(file), m_space(space), m_values(space) {}

  void number(const std::string& name, double& value) override {
    m_file.write_numbers(name, {value});
  }
  void numbers(const std::string& name, std::vector<double>& values) override {
    m_file.write_numbers(name, values);
  }
  void field(const std::string& name, const DeviceVector<double>& values) override {
    const auto components = static_cast<int>(values.extent(0) / m_space.size());
    for_components(m_space, values, [&](int c, const DeviceVector<double>& component) {
      m_file.write_block(name, shape_in_file(m_space.mesh(), components, m_space.mesh().nq()), c,
                         m_values.from(component));
    });
  }

 private:
  Hdf5File& m_file;
  const AssembledSpace& m_space;
  ElementValues m_values;
};

/// Counts the bytes that Saving writes, on all ranks together.
class Counting final : public FlowArchive {
 public:
  explicit Counting(const AssembledSpace& space) : m_space(space) {}

  /// Names and descriptions of all that is written take some, too.
  double bytes() const { return m_bytes + 1000.0 * m_pieces; }
  void number(const std::string&, double&) override { count(sizeof(double)); }
  void numbers(const std::string&, std::vector<double>& values) override {
    count(sizeof(double) * static_cast<double>(values.size()));
  }
  void field(const std::string&, const DeviceVector<double>& values) override {
    const BoxMesh& mesh = m_space.mesh();
    const std::size_t components = values.extent(0) / m_space.size();
    count(sizeof(double) * static_cast<double>(components) *
          static_cast<double>(mesh.spec().total_elements()) * mesh.nq() * mesh.nq() * mesh.nq());
  }

 private:
  void count(double bytes) {
    m_bytes += bytes;
    ++m_pieces;
  }

  const AssembledSpace& m_space;
  double m_bytes = 0;
  int m_pieces = 0;
};

[[noreturn]] void refuse(const Hdf5File& file, const std::string& name) {
  throw FileError(fmt::format("'{}' has invalid numbers '{}'", file.path(), name));
}

class Restoring final : public FlowArchive {
 public:
  Restoring(const Communicator& comm, const Hdf5File& file, const AssembledSpace& space)
      : m_comm(comm), m_file(file), m_space(space), m_values(space) {}

  void number(const std::string& name, double& value) override { value = m_file.read_number(name); }
  void numbers(const std::string& name, std::vector<double>& values) override {
    values = m_file.read_numbers(name);
  }
  void field(const std::string& name, const DeviceVector<double>& values) override {
    const auto components = static_cast<int>(values.extent(0) / m_space.size());
    for_components(m_space, values, [&](int c, const DeviceVector<double>& component) {
      const Hdf5File::Shape shape = shape_in_file(m_space.mesh(), components, m_space.mesh().nq());
      m_file.read_block(name, shape, c, m_values.values());
      const BoxMesh& mesh = m_space.mesh();
      const std::size_t count = std::size_t(mesh.n_elements()) * mesh.nq() * mesh.nq() * mesh.nq();
      if (!are_finite(m_comm, m_values.values(), count)) refuse(m_file, name);
      m_values.put_into(component);
    });
  }
  void require_valid(const std::string& name, bool is_valid) override {
    if (!is_valid) refuse(m_file, name);
  }

 private:
  const Communicator& m_comm;
  const Hdf5File& m_file;
  const AssembledSpace& m_space;
  ElementValues m_values;
};

}  // namespace

void save_flow(const Communicator& comm, const std::string& path, const AssembledSpace& space,
               const CheckpointTexts& texts, const FlowState& state) {
  Counting count(space);
  state(count);
  require_space(comm, path, count.bytes());
  replace_hdf5_file(comm, path, [&](Hdf5File& file) {
    file.write_text("format", format);
    file.write_text("program", version_string);
    for (const auto& [name, text] : texts) file.write_text(name, text);
    Saving archive(file, space);
    state(archive);
  });
}

FlowCheckpoint::FlowCheckpoint(const Communicator& comm, const std::string& path)
    : m_comm(comm), m_file(new Hdf5File(Hdf5File::open(comm, path))) {
  std::string found;
  try {
    found = m_file->read_text("format");
  } catch (const FileError&) {
    throw FileError(fmt::format("'{}' is no checkpoint of nekbone-k", path));
  }
  if (found != format)
    throw FileError(
        fmt::format("'{}' has the format '{}', and this program reads '{}'", path, found, format));
}

FlowCheckpoint::~FlowCheckpoint() = default;

std::string FlowCheckpoint::text(const std::string& name) const { return m_file->read_text(name); }

double FlowCheckpoint::number(const std::string& name) const { return m_file->read_number(name); }

int FlowCheckpoint::count(const std::string& name) const {
  const double found = number(name);
  if (!is_count(found)) refuse(*m_file, name);
  return static_cast<int>(found);
}

void FlowCheckpoint::restore(const AssembledSpace& space, const FlowState& state) const {
  Restoring archive(m_comm, *m_file, space);
  state(archive);
}

}  // namespace nekbone_k
