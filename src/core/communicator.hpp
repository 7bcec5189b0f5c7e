// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// An owned MPI communicator and the few collective calls that the program needs on the host.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nekbone_k {

/// Throws InternalError naming `call` and MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// Minimum, average and maximum of a quantity over the ranks.
struct Spread {
  double min = 0, avg = 0, max = 0;
};

/// A duplicate of a communicator, freed with the object. Failed MPI calls throw InternalError.
/// Copying is deleted, because a copy would free the communicator twice.
///
/// All members are collective except get(), rank(), size() and is_root(). MPI declares
/// MPI_Comm_free collective, but expects libraries to implement it locally. A rank that unwinds
/// because of an exception therefore does not wait for the others.
class Communicator {
 public:
  explicit Communicator(MPI_Comm parent);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const { return m_comm; }
  int rank() const { return m_rank; }
  int size() const { return m_size; }
  bool is_root() const { return m_rank == 0; }

  void barrier() const;
  /// All-reduces of one value. Every rank gets the result.
  double sum(double value) const;
  double max(double value) const;
  double min(double value) const;
  std::int64_t sum(std::int64_t value) const;
  std::int64_t max(std::int64_t value) const;
  /// Whether `value` is true on every rank.
  bool all(bool value) const;
  Spread spread(double value) const;

  /// All-reduces the sum of each of `values`, in place, in one message.
  void sum(std::span<double> values) const;
  /// All-reduces the maximum of each of `values`, in place, in one message.
  void max(std::span<double> values) const;

  /// Rank 0's value on every rank.
  std::string broadcast(std::string text) const;
  double broadcast(double value) const;
  std::int64_t broadcast(std::int64_t value) const;
  void broadcast(std::span<double> values) const;

  /// Every rank's text, on every rank, in rank order.
  std::vector<std::string> gather(const std::string& text) const;

  /// The text of the lowest rank whose text is not empty; empty if all texts are.
  std::string first_text(const std::string& text) const;

  /// Sends `to_rank[r]` to rank r. Returns what each rank sent to this rank, in rank order.
  std::vector<std::vector<std::int64_t>> exchange(
      const std::vector<std::vector<std::int64_t>>& to_rank) const;

 private:
  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_rank = 0, m_size = 1;
};

/// Seconds since a fixed but arbitrary moment; monotonic on each rank.
inline double wall_seconds() { return MPI_Wtime(); }

}  // namespace nekbone_k
