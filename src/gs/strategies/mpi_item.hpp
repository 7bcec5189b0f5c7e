/// @file
/// An MPI datatype for one message item.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "core/communicator.hpp"

namespace nekbone_k {

/// `item_bytes` contiguous bytes as one MPI datatype, so that counts stay DOFs and fit an int.
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

}  // namespace nekbone_k
