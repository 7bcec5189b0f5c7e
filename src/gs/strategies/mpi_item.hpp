// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Items of messages as an MPI datatype.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "core/communicator.hpp"
#include "gs/exchange.hpp"

namespace nekbone_k {

/// An MPI datatype of `item_bytes` contiguous bytes, so that counts are numbers of DOFs and fit an
/// int.
class MpiItem {
 public:
  explicit MpiItem(std::size_t item_bytes) {
    check_mpi(MPI_Type_contiguous(static_cast<int>(item_bytes), MPI_BYTE, &m_type),
              "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&m_type), "MPI_Type_commit");
  }
  ~MpiItem() { MPI_Type_free(&m_type); }
  MpiItem(const MpiItem&) = delete;
  MpiItem& operator=(const MpiItem&) = delete;

  MPI_Datatype get() const { return m_type; }

 private:
  MPI_Datatype m_type = MPI_DATATYPE_NULL;
};

/// Posts the receive of each message into `buffer`, which has the layout of the receive buffer.
inline void post_receives(const Communicator& comm, const HaloPlan& plan,
                          const MessageBuffers& buffers, void* buffer, const MpiItem& item, int tag,
                          std::vector<MPI_Request>& requests) {
  for (const Neighbour& n : plan.neighbours)
    check_mpi(MPI_Irecv(buffers.message(buffer, n), n.count, item.get(), n.rank, tag, comm.get(),
                        &requests.emplace_back()),
              "MPI_Irecv");
}

}  // namespace nekbone_k
