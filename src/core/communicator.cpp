// SPDX-License-Identifier: BSD-3-Clause
#include "core/communicator.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "core/errors.hpp"

namespace nekbone_k {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw InternalError(fmt::format("{} failed: {}", call, std::string(text.data(), length)));
}

Communicator::Communicator(MPI_Comm parent) {
  check_mpi(MPI_Comm_dup(parent, &m_comm), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(m_comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  MPI_Comm_rank(m_comm, &m_rank);
  MPI_Comm_size(m_comm, &m_size);
}

Communicator::~Communicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Comm_free(&m_comm);
}

namespace {
template <class T>
MPI_Datatype type_of();
template <>
MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}
template <>
MPI_Datatype type_of<std::int64_t>() {
  return MPI_INT64_T;
}

template <class T>
T reduce(MPI_Comm comm, T value, MPI_Op op) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, type_of<T>(), op, comm), "MPI_Allreduce");
  return value;
}

int int_count(std::size_t n) {
  require(
      n <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
      fmt::format("a message of {} items is more than one MPI call can carry; use more ranks", n));
  return static_cast<int>(n);
}
}  // namespace

void Communicator::barrier() const { check_mpi(MPI_Barrier(m_comm), "MPI_Barrier"); }
double Communicator::sum(double value) const { return reduce(m_comm, value, MPI_SUM); }
double Communicator::max(double value) const { return reduce(m_comm, value, MPI_MAX); }
double Communicator::min(double value) const { return reduce(m_comm, value, MPI_MIN); }
std::int64_t Communicator::sum(std::int64_t value) const { return reduce(m_comm, value, MPI_SUM); }
std::int64_t Communicator::max(std::int64_t value) const { return reduce(m_comm, value, MPI_MAX); }

bool Communicator::all(bool value) const {
  return reduce(m_comm, std::int64_t{value ? 0 : 1}, MPI_MAX) == 0;
}

Spread Communicator::spread(double value) const {
  // One message: max of -value is -min.
  std::array<double, 2> extremes{-value, value};
  max(extremes);
  return {-extremes[0], sum(value) / m_size, extremes[1]};
}

void Communicator::sum(std::span<double> values) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), int_count(values.size()), MPI_DOUBLE,
                          MPI_SUM, m_comm),
            "MPI_Allreduce");
}

void Communicator::max(std::span<double> values) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), int_count(values.size()), MPI_DOUBLE,
                          MPI_MAX, m_comm),
            "MPI_Allreduce");
}

std::string Communicator::broadcast(std::string text) const {
  text.resize(broadcast(static_cast<std::int64_t>(text.size())));
  check_mpi(MPI_Bcast(text.data(), int_count(text.size()), MPI_CHAR, 0, m_comm), "MPI_Bcast");
  return text;
}

double Communicator::broadcast(double value) const {
  broadcast(std::span<double>(&value, 1));
  return value;
}

std::int64_t Communicator::broadcast(std::int64_t value) const {
  check_mpi(MPI_Bcast(&value, 1, MPI_INT64_T, 0, m_comm), "MPI_Bcast");
  return value;
}

void Communicator::broadcast(std::span<double> values) const {
  check_mpi(MPI_Bcast(values.data(), int_count(values.size()), MPI_DOUBLE, 0, m_comm), "MPI_Bcast");
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
  const int length = int_count(text.size());
  std::vector<int> lengths(m_size), offsets(m_size + 1, 0);
  check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, m_comm),
            "MPI_Allgather");
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  std::string all(offsets.back(), '\0');
  check_mpi(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(),
                           offsets.data(), MPI_CHAR, m_comm),
            "MPI_Allgatherv");
  std::vector<std::string> texts(m_size);
  for (int r = 0; r < m_size; ++r) texts[r] = all.substr(offsets[r], lengths[r]);
  return texts;
}

std::string Communicator::first_text(const std::string& text) const {
  for (std::string& other : gather(text))
    if (!other.empty()) return std::move(other);
  return {};
}

std::vector<std::vector<std::int64_t>> Communicator::exchange(
    const std::vector<std::vector<std::int64_t>>& to_rank) const {
  std::vector<int> send_counts(m_size), recv_counts(m_size);
  std::vector<int> send_offsets(m_size + 1, 0), recv_offsets(m_size + 1, 0);
  std::size_t total = 0;
  for (int r = 0; r < m_size; ++r) total += to_rank[r].size();
  int_count(total);
  for (int r = 0; r < m_size; ++r) send_counts[r] = static_cast<int>(to_rank[r].size());
  check_mpi(MPI_Alltoall(send_counts.data(), 1, MPI_INT, recv_counts.data(), 1, MPI_INT, m_comm),
            "MPI_Alltoall");
  int_count(std::accumulate(recv_counts.begin(), recv_counts.end(), std::size_t{0}));
  std::partial_sum(send_counts.begin(), send_counts.end(), send_offsets.begin() + 1);
  std::partial_sum(recv_counts.begin(), recv_counts.end(), recv_offsets.begin() + 1);

  std::vector<std::int64_t> send, recv(recv_offsets.back());
  send.reserve(total);
  for (const auto& items : to_rank) send.insert(send.end(), items.begin(), items.end());
  check_mpi(
      MPI_Alltoallv(send.data(), send_counts.data(), send_offsets.data(), MPI_INT64_T, recv.data(),
                    recv_counts.data(), recv_offsets.data(), MPI_INT64_T, m_comm),
      "MPI_Alltoallv");
  std::vector<std::vector<std::int64_t>> from_rank(m_size);
  for (int r = 0; r < m_size; ++r)
    from_rank[r].assign(recv.begin() + recv_offsets[r], recv.begin() + recv_offsets[r + 1]);
  return from_rank;
}

}  // namespace nekbone_k
