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

void FieldFiles::after_step(const NavierStokes& flow, int step, bool ends) {
  if (m_output.every == 0 || (step % m_output.every != 0 && !ends)) return;
  const VectorField vorticity("vorticity", m_elements.space());
  m_elements.vorticity(flow.velocity(), vorticity);
  const std::array<VtkField, 3> fields{{{"velocity", flow.velocity().values},
                                        {"pressure", flow.pressure()},
                                        {"vorticity", vorticity.values}}};
  const std::string path = field_file(m_output.file, step);
  try {
    write_vtk(m_comm, path, m_elements.space(), fields);
    ++m_record.field_files;
    m_record.last_field_file = path;
  } catch (const FileError& error) {
    m_record.field_failure = fmt::format("the fields of step {}: {}", step, error.what());
  }
}

}  // namespace nekbone_k
