// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// HDF5 files that all ranks write and read together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/communicator.hpp"

namespace nekbone_k {

/// Whether this build has HDF5. Without it, all functions below throw a FileError.
bool has_hdf5();

/// A file cannot be written or read, or lacks what is asked for. All ranks throw it, with the same
/// text.
class FileError : public std::runtime_error {
  using runtime_error::runtime_error;
};

/// The part of a data set that a rank has.
template <std::size_t Rank>
struct Block {
  std::array<std::uint64_t, Rank> whole{}, begin{}, length{};
};

/// A file of numbers, texts and arrays, in groups that its names imply ("velocity/0"). Members are
/// collective and throw FileError.
class Hdf5File {
 public:
  /// Creates a file, or opens one to read it. `comm` outlives the object.
  static Hdf5File create(const Communicator& comm, const std::string& path);
  static Hdf5File open(const Communicator& comm, const std::string& path);
  /// Closes the file. Without a call of close(), the file may be incomplete.
  ~Hdf5File();
  Hdf5File(Hdf5File&& other) noexcept
      : m_comm(other.m_comm),
        m_path(std::move(other.m_path)),
        m_id(std::exchange(other.m_id, -1)),
        m_writes(other.m_writes) {}
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  const std::string& path() const { return m_path; }
  /// Waits until everything is written and closes the file. Throws if any of this failed.
  void close();

  void write_text(const std::string& name, const std::string& text);
  std::string read_text(const std::string& name) const;
  /// The same numbers on all ranks.
  void write_numbers(const std::string& name, const std::vector<double>& numbers);
  std::vector<double> read_numbers(const std::string& name) const;
  /// Throws if there is not exactly one.
  double read_number(const std::string& name) const;

  /// Lengths of an array in its directions.
  std::vector<std::uint64_t> extents(const std::string& name) const;

  /// Shape of an array: component, element (z, y, x), node (k, j, i).
  using Shape = Block<7>;
  /// Writes or reads this rank's part of an array, in host memory. A reader must ask for an array
  /// of the shape that was written.
  void write_block(const std::string& name, const Shape& shape, int component,
                   const double* values);
  void read_block(const std::string& name, const Shape& shape, int component, double* values) const;

  /// A table whose rows the ranks have in their sequence.
  struct Rows {
    std::uint64_t whole = 0, begin = 0, count = 0;
    int columns = 1;  ///< 1: the array has one dimension
  };
  void write_rows(const std::string& name, const Rows& rows, const float* values);
  void write_rows(const std::string& name, const Rows& rows, const std::int64_t* values);
  void write_rows(const std::string& name, const Rows& rows, const std::uint8_t* values);
  /// Attributes of a group, which is made if it does not exist; the same on all ranks.
  void write_attribute(const std::string& group, const std::string& name, const std::string& text);
  void write_attribute(const std::string& group, const std::string& name,
                       const std::vector<std::int64_t>& numbers);

 private:
  void write_table(const std::string& name, const Rows& rows, std::int64_t type,
                   const void* values);
  void write_attribute(const std::string& group, const std::string& name, std::int64_t type,
                       std::int64_t space, const void* values);

  Hdf5File(const Communicator& comm, std::string path, std::int64_t id, bool writes)
      : m_comm(comm), m_path(std::move(path)), m_id(id), m_writes(writes) {}

  const Communicator& m_comm;
  std::string m_path;
  std::int64_t m_id;
  bool m_writes;
};

/// Throws FileError if the file system of `path` has less than `bytes` left. After a failed write,
/// HDF5 may end the program, so find out before. Collective.
void require_space(const Communicator& comm, const std::string& path, double bytes);

/// Replaces the file at `path`: `write` fills a new one beside it, which is then renamed, so that a
/// failure leaves the earlier file. Throws FileError. Collective.
void replace_hdf5_file(const Communicator& comm, const std::string& path,
                       const std::function<void(Hdf5File&)>& write);

}  // namespace nekbone_k
