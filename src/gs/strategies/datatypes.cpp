// SPDX-License-Identifier: BSD-3-Clause
#include "gs/strategies/datatypes.hpp"

#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/types.hpp"
#include "gs/strategies/mpi_item.hpp"

namespace nekbone_k {
namespace {

/// A committed MPI datatype of entries of a field with components.
class EntriesType {
 public:
  /// All components of each of the n DOFs, as in an OutgoingField.
  EntriesType(const LocalIndex* dofs, LocalIndex n, const OutgoingField& field) {
    const auto value_bytes = static_cast<MPI_Aint>(field.value_bytes);
    MPI_Datatype value = MPI_DATATYPE_NULL, far = MPI_DATATYPE_NULL, dof = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(static_cast<int>(value_bytes), MPI_BYTE, &value),
              "MPI_Type_contiguous");
    check_mpi(MPI_Type_create_hvector(field.components, 1,
                                      static_cast<MPI_Aint>(field.component_stride) * value_bytes,
                                      value, &far),
              "MPI_Type_create_hvector");
    // Consecutive DOFs begin one value apart, wherever their other components are.
    check_mpi(MPI_Type_create_resized(far, 0, value_bytes, &dof), "MPI_Type_create_resized");
    check_mpi(MPI_Type_create_indexed_block(n, 1, dofs, dof, &m_type),
              "MPI_Type_create_indexed_block");
    check_mpi(MPI_Type_commit(&m_type), "MPI_Type_commit");
    for (MPI_Datatype* const part : {&value, &far, &dof}) MPI_Type_free(part);
  }
  ~EntriesType() {
    if (m_type != MPI_DATATYPE_NULL) MPI_Type_free(&m_type);
  }
  EntriesType(EntriesType&& other) noexcept
      : m_type(std::exchange(other.m_type, MPI_DATATYPE_NULL)) {}
  EntriesType& operator=(EntriesType&&) = delete;

  MPI_Datatype get() const { return m_type; }

 private:
  MPI_Datatype m_type = MPI_DATATYPE_NULL;
};

class Datatypes final : public Exchange {
 public:
  Datatypes(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_comm(comm), m_plan(plan), m_buffers(buffers), m_item(buffers.item_bytes) {
    m_requests.reserve(2 * plan.neighbours.size());
  }

  bool pack(const OutgoingField& field) override {
    if (field.component_stride != m_stride) m_types.clear();
    m_stride = field.component_stride;
    if (m_types.empty())
      for (const Neighbour& n : m_plan.neighbours)
        m_types.emplace_back(m_plan.message_dofs.data() + n.offset, n.count, field);
    m_field = field.data;
    return true;
  }

  void post() override {
    m_requests.clear();
    const void* const field = std::exchange(m_field, nullptr);
    if (m_plan.neighbours.empty()) return;
    m_buffers.stream.fence("nekbone_k: field computed and receive drained, before MPI has them");
    post_receives(m_comm, m_plan, m_buffers, m_buffers.receive, m_item, tag, m_requests);
    for (std::size_t p = 0; p < m_plan.neighbours.size(); ++p) {
      const Neighbour& n = m_plan.neighbours[p];
      MPI_Request& request = m_requests.emplace_back();
      check_mpi(field != nullptr
                    ? MPI_Isend(field, 1, m_types[p].get(), n.rank, tag, m_comm.get(), &request)
                    : MPI_Isend(m_buffers.message(m_buffers.send, n), n.count, m_item.get(), n.rank,
                                tag, m_comm.get(), &request),
                "MPI_Isend");
    }
  }

  Arrival wait() override {
    wait_all(m_requests, m_buffers.patience);
    return {};
  }

 private:
  static constexpr int tag = 25;

  const Communicator& m_comm;
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  MpiItem m_item;
  std::vector<EntriesType> m_types;  // by neighbour, for components m_stride apart
  std::size_t m_stride = 0;
  const void* m_field = nullptr;  // of the current call; null if it sends `send`
  std::vector<MPI_Request> m_requests;
};

}  // namespace

std::unique_ptr<Exchange> make_datatypes(const Communicator& comm, const HaloPlan& plan,
                                         const MessageBuffers& buffers) {
  if (!is_host_device) throw UnavailableError(datatypes_missing);
  return std::make_unique<Datatypes>(comm, plan, buffers);
}

}  // namespace nekbone_k
