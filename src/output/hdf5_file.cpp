// SPDX-License-Identifier: BSD-3-Clause
#include "output/hdf5_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/config.hpp"
#include "core/whole_file.hpp"

#ifdef NEKBONE_K_HAVE_HDF5
#include <hdf5.h>
#endif

namespace nekbone_k {

#ifdef NEKBONE_K_HAVE_HDF5

namespace {

/// An identifier of HDF5 with the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : m_id(id), m_close(close) {}
  ~Handle() {
    if (m_id >= 0) m_close(m_id);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return m_id; }

 private:
  hid_t m_id;
  herr_t (*m_close)(hid_t);
};

/// HDF5's own words for the innermost error, or nothing.
std::string hdf5_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto& words = *static_cast<std::string*>(out);
        if (words.empty() && error->desc != nullptr) words = error->desc;
        return 0;
      },
      &text);
  return text;
}

/// HDF5 gives no reason if the file has no signature of HDF5, or is shorter than it says.
std::string reason_of_hdf5() {
  const std::string reason = hdf5_error();
  return reason.empty() ? "it has another format, or is truncated" : reason;
}

/// Throws a FileError on all ranks if `failed` on one of them.
void require_done(const Communicator& comm, const std::string& path, const std::string& what,
                  bool failed) {
  const std::string here =
      failed ? fmt::format("'{}' {}: {}", path, what, reason_of_hdf5()) : std::string();
  const std::string text = comm.first_text(here);
  if (!text.empty()) throw FileError(text);
}

/// Creates the groups in the name of what is created.
Handle with_groups() {
  const hid_t list = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(list, 1);
  return Handle(list, H5Pclose);
}

/// All ranks read and write together.
Handle together() {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
  return Handle(list, H5Pclose);
}

/// Why a file cannot be read, or nothing. Not collective.
std::string why_unreadable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return "does not exist";
  if (std::filesystem::is_directory(status)) return "is a folder, not an HDF5 file";
  if (access(path.c_str(), R_OK) != 0)
    return std::string("cannot be read: ") + std::strerror(errno);
  return {};
}

hid_t open_file(const Communicator& comm, const std::string& path, bool creates) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors become texts of ours
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_mpio(access, comm.get(), MPI_INFO_NULL);
  return creates ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                 : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
}

/// A selection of one component of a rank's part.
Handle part_of(const Hdf5File::Shape& shape, int component) {
  std::array<hsize_t, 7> whole{}, begin{}, length{};
  std::copy(shape.whole.begin(), shape.whole.end(), whole.begin());
  std::copy(shape.begin.begin(), shape.begin.end(), begin.begin());
  std::copy(shape.length.begin(), shape.length.end(), length.begin());
  begin[0] = component;
  length[0] = 1;
  const hid_t space = H5Screate_simple(whole.size(), whole.data(), nullptr);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, length.data(), nullptr);
  return Handle(space, H5Sclose);
}

/// The same part in memory, where it has no gaps.
Handle in_memory(const Hdf5File::Shape& shape) {
  hsize_t count = 1;
  for (std::size_t d = 1; d < shape.length.size(); ++d) count *= shape.length[d];
  return Handle(H5Screate_simple(1, &count, nullptr), H5Sclose);
}

}  // namespace

bool has_hdf5() { return true; }

Hdf5File Hdf5File::create(const Communicator& comm, const std::string& path) {
  const hid_t id = open_file(comm, path, true);
  require_done(comm, path, "cannot be created", id < 0);
  return Hdf5File(comm, path, id, true);
}

Hdf5File Hdf5File::open(const Communicator& comm, const std::string& path) {
  // Check this first: HDF5 and MPI report such files in many lines, or not at all.
  const std::string why = comm.broadcast(comm.is_root() ? why_unreadable(path) : "");
  if (!why.empty()) throw FileError(fmt::format("'{}' {}", path, why));
  const hid_t id = open_file(comm, path, false);
  require_done(comm, path, "cannot be read as HDF5", id < 0);
  return Hdf5File(comm, path, id, false);
}

Hdf5File::~Hdf5File() {
  if (m_id >= 0) H5Fclose(m_id);
}

void Hdf5File::close() {
  const bool unwritten = m_writes && H5Fflush(m_id, H5F_SCOPE_GLOBAL) < 0;
  const bool failed = H5Fclose(m_id) < 0 || unwritten;
  m_id = -1;
  require_done(m_comm, m_path, "cannot be written", failed);
}

void Hdf5File::write_text(const std::string& name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type, std::max<std::size_t>(1, text.size()));
  const Handle to(
      H5Dcreate2(m_id, name.c_str(), type, space, with_groups(), H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  const std::string padded = text.empty() ? std::string(1, '\0') : text;
  require_done(m_comm, m_path, fmt::format("cannot hold '{}'", name),
               to < 0 || H5Dwrite(to, type, H5S_ALL, H5S_ALL, together(), padded.data()) < 0);
}

std::string Hdf5File::read_text(const std::string& name) const {
  const Handle from(H5Dopen2(m_id, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(from < 0 ? -1 : H5Dget_type(from), H5Tclose);
  const Handle space(from < 0 ? -1 : H5Dget_space(from), H5Sclose);
  // One text: HDF5 would write others behind the end of the buffer.
  const bool is_text = type >= 0 && H5Tget_class(type) == H5T_STRING &&
                       H5Tis_variable_str(type) == 0 && space >= 0 &&
                       H5Sget_simple_extent_npoints(space) == 1;
  std::string text(is_text ? H5Tget_size(type) : 0, '\0');
  require_done(m_comm, m_path, fmt::format("has no text '{}'", name),
               !is_text || H5Dread(from, type, H5S_ALL, H5S_ALL, together(), text.data()) < 0);
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

void Hdf5File::write_numbers(const std::string& name, const std::vector<double>& numbers) {
  const hsize_t count = numbers.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle to(H5Dcreate2(m_id, name.c_str(), H5T_NATIVE_DOUBLE, space, with_groups(),
                             H5P_DEFAULT, H5P_DEFAULT),
                  H5Dclose);
  require_done(
      m_comm, m_path, fmt::format("cannot hold '{}'", name),
      to < 0 || H5Dwrite(to, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, together(), numbers.data()) < 0);
}

std::vector<double> Hdf5File::read_numbers(const std::string& name) const {
  const Handle from(H5Dopen2(m_id, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space(from < 0 ? -1 : H5Dget_space(from), H5Sclose);
  const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  std::vector<double> numbers(std::max<hssize_t>(count, 0));
  require_done(m_comm, m_path, fmt::format("has no numbers '{}'", name),
               count < 0 || H5Dread(from, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, together(),
                                    numbers.data()) < 0);
  return numbers;
}

double Hdf5File::read_number(const std::string& name) const {
  const std::vector<double> numbers = read_numbers(name);
  if (numbers.size() != 1)
    throw FileError(
        fmt::format("'{}' has {} numbers '{}'; expected: 1", m_path, numbers.size(), name));
  return numbers[0];
}

std::vector<std::uint64_t> Hdf5File::extents(const std::string& name) const {
  const Handle from(H5Dopen2(m_id, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space(from < 0 ? -1 : H5Dget_space(from), H5Sclose);
  const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  require_done(m_comm, m_path, fmt::format("has no array '{}'", name), rank < 0);
  std::vector<hsize_t> lengths(rank);
  H5Sget_simple_extent_dims(space, lengths.data(), nullptr);
  return {lengths.begin(), lengths.end()};
}

void Hdf5File::write_block(const std::string& name, const Shape& shape, int component,
                           const double* values) {
  const Handle part = part_of(shape, component);
  const hid_t id = component == 0 ? H5Dcreate2(m_id, name.c_str(), H5T_NATIVE_DOUBLE, part,
                                               with_groups(), H5P_DEFAULT, H5P_DEFAULT)
                                  : H5Dopen2(m_id, name.c_str(), H5P_DEFAULT);
  const Handle to(id, H5Dclose);
  require_done(
      m_comm, m_path, fmt::format("cannot hold '{}'", name),
      to < 0 || H5Dwrite(to, H5T_NATIVE_DOUBLE, in_memory(shape), part, together(), values) < 0);
}

void Hdf5File::read_block(const std::string& name, const Shape& shape, int component,
                          double* values) const {
  const Handle from(H5Dopen2(m_id, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle stored(from < 0 ? -1 : H5Dget_space(from), H5Sclose);
  std::array<hsize_t, 7> dims{};
  bool fits = stored >= 0 && H5Sget_simple_extent_ndims(stored) == 7;
  if (fits) {
    H5Sget_simple_extent_dims(stored, dims.data(), nullptr);
    fits = std::equal(dims.begin(), dims.end(), shape.whole.begin());
  }
  require_done(m_comm, m_path,
               fmt::format("has no array '{}' of {}x{}x{} elements with {} nodes per direction",
                           name, shape.whole[3], shape.whole[2], shape.whole[1], shape.whole[6]),
               !fits);
  const Handle part = part_of(shape, component);
  require_done(m_comm, m_path, fmt::format("cannot be read at '{}'", name),
               H5Dread(from, H5T_NATIVE_DOUBLE, in_memory(shape), part, together(), values) < 0);
}

void Hdf5File::write_table(const std::string& name, const Rows& rows, std::int64_t type,
                           const void* values) {
  const int rank = rows.columns == 1 ? 1 : 2;
  const auto columns = static_cast<hsize_t>(rows.columns);
  const std::array<hsize_t, 2> whole{rows.whole, columns}, begin{rows.begin, 0},
      count{rows.count, columns};
  const Handle part(H5Screate_simple(rank, whole.data(), nullptr), H5Sclose),
      here(H5Screate_simple(rank, count.data(), nullptr), H5Sclose);
  H5Sselect_hyperslab(part, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr);
  const Handle to(
      H5Dcreate2(m_id, name.c_str(), type, part, with_groups(), H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  require_done(m_comm, m_path, fmt::format("cannot hold '{}'", name),
               to < 0 || H5Dwrite(to, type, here, part, together(), values) < 0);
}

void Hdf5File::write_rows(const std::string& name, const Rows& rows, const float* values) {
  write_table(name, rows, H5T_NATIVE_FLOAT, values);
}
void Hdf5File::write_rows(const std::string& name, const Rows& rows, const std::int64_t* values) {
  write_table(name, rows, H5T_NATIVE_INT64, values);
}
void Hdf5File::write_rows(const std::string& name, const Rows& rows, const std::uint8_t* values) {
  write_table(name, rows, H5T_NATIVE_UINT8, values);
}

void Hdf5File::write_attribute(const std::string& group, const std::string& name, std::int64_t type,
                               std::int64_t space, const void* values) {
  const bool is_there = H5Lexists(m_id, group.c_str(), H5P_DEFAULT) > 0;
  const Handle of(is_there
                      ? H5Gopen2(m_id, group.c_str(), H5P_DEFAULT)
                      : H5Gcreate2(m_id, group.c_str(), with_groups(), H5P_DEFAULT, H5P_DEFAULT),
                  H5Gclose);
  const Handle to(H5Acreate2(of, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require_done(m_comm, m_path, fmt::format("cannot hold the attribute '{}'", name),
               to < 0 || H5Awrite(to, type, values) < 0);
}

void Hdf5File::write_attribute(const std::string& group, const std::string& name,
                               const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type, text.size());
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  write_attribute(group, name, type, space, text.data());
}

void Hdf5File::write_attribute(const std::string& group, const std::string& name,
                               const std::vector<std::int64_t>& numbers) {
  const hsize_t count = numbers.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  write_attribute(group, name, H5T_NATIVE_INT64, space, numbers.data());
}

#else

namespace {

[[noreturn]] void refuse() { throw FileError("this build has no parallel HDF5"); }

}  // namespace

bool has_hdf5() { return false; }
Hdf5File Hdf5File::create(const Communicator&, const std::string&) { refuse(); }
Hdf5File Hdf5File::open(const Communicator&, const std::string&) { refuse(); }
Hdf5File::~Hdf5File() = default;
void Hdf5File::close() { refuse(); }
void Hdf5File::write_text(const std::string&, const std::string&) { refuse(); }
std::string Hdf5File::read_text(const std::string&) const { refuse(); }
void Hdf5File::write_numbers(const std::string&, const std::vector<double>&) { refuse(); }
std::vector<double> Hdf5File::read_numbers(const std::string&) const { refuse(); }
double Hdf5File::read_number(const std::string&) const { refuse(); }
std::vector<std::uint64_t> Hdf5File::extents(const std::string&) const { refuse(); }
void Hdf5File::write_block(const std::string&, const Shape&, int, const double*) { refuse(); }
void Hdf5File::read_block(const std::string&, const Shape&, int, double*) const { refuse(); }
void Hdf5File::write_rows(const std::string&, const Rows&, const float*) { refuse(); }
void Hdf5File::write_rows(const std::string&, const Rows&, const std::int64_t*) { refuse(); }
void Hdf5File::write_rows(const std::string&, const Rows&, const std::uint8_t*) { refuse(); }
void Hdf5File::write_attribute(const std::string&, const std::string&, const std::string&) {
  refuse();
}
void Hdf5File::write_attribute(const std::string&, const std::string&,
                               const std::vector<std::int64_t>&) {
  refuse();
}

#endif

void require_space(const Communicator& comm, const std::string& path, double bytes) {
  std::string complaint;
  if (comm.is_root()) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path folder = fs::path(behind_links(path)).parent_path();
    const fs::space_info space = fs::space(folder.empty() ? "." : folder, error);
    if (const auto left = static_cast<double>(space.available); !error && left < bytes)
      complaint = fmt::format("'{}' needs {:.1f} MB, but its file system has {:.1f} MB left", path,
                              bytes / 1e6, left / 1e6);
  }
  complaint = comm.broadcast(complaint);
  if (!complaint.empty()) throw FileError(complaint);
}

void replace_hdf5_file(const Communicator& comm, const std::string& path,
                       const std::function<void(Hdf5File&)>& write) {
  const std::string whole = comm.broadcast(behind_links(path)), part = beside(whole, ".part");
  try {
    Hdf5File file = Hdf5File::create(comm, part);
    write(file);
    file.close();
  } catch (const FileError&) {
    if (comm.is_root()) std::remove(part.c_str());
    throw;
  }
  std::string complaint;
  if (comm.is_root() && std::rename(part.c_str(), whole.c_str()) != 0)
    complaint = fmt::format("'{}' cannot be replaced: {}", path, std::strerror(errno));
  complaint = comm.broadcast(complaint);
  if (!complaint.empty()) throw FileError(complaint);
}

}  // namespace nekbone_k
