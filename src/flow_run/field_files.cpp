// SPDX-License-Identifier: BSD-3-Clause
#include "flow_run/field_files.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "output/hdf5_file.hpp"
#include "output/vtk_file.hpp"

namespace nekbone_k {

std::string field_file(const std::string& file, int step) {
  const std::filesystem::path path = file;
  const std::string name =
      fmt::format("{}-{:06}{}", path.stem().string(), step, path.extension().string());
  return path.parent_path() / name;
}

bool FieldFiles::is_due(int step, bool ends) const {
  return m_output.every > 0 && (step % m_output.every == 0 || ends);
}

void FieldFiles::write(const NavierStokes& flow, const VectorField& vorticity, int step) {
  const std::array<VtkField, 3> fields{{{"velocity", flow.velocity().values},
                                        {"pressure", flow.pressure()},
                                        {"vorticity", vorticity.values}}};
  const std::string path = field_file(m_output.file, step);
  try {
    write_vtk(m_comm, path, m_space, fields);
    ++m_record.field_files;
    m_record.last_field_file = path;
  } catch (const FileError& error) {
    m_record.field_failure = fmt::format("the fields of step {}: {}", step, error.what());
  }
}

}  // namespace nekbone_k
