#include "gs/strategies/nccl.hpp"

#include "core/config.hpp"
#include "core/errors.hpp"

#ifdef NEKBONE_K_HAVE_NCCL

#include <fmt/format.h>
#ifdef KOKKOS_ENABLE_HIP
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#include "core/device.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

auto stream_of(const ExecutionSpace& space) {
#ifdef KOKKOS_ENABLE_HIP
  return space.hip_stream();
#else
  return space.cuda_stream();
#endif
}

void check_nccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess)
    throw InternalError(fmt::format("{}: {}", call, ncclGetErrorString(code)));
}

/// The ranks of `comm` by their numbers in MPI_COMM_WORLD.
std::vector<int> world_ranks(const Communicator& comm) {
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  MPI_Comm_group(comm.get(), &here);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(comm.size()), translated(comm.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group_translate_ranks(here, comm.size(), ranks.data(), world, translated.data());
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  return translated;
}

ncclComm_t begin_nccl(const Communicator& comm) {
  if (comm.max(std::int64_t{ranks_on_device(comm)}) > 1)
    throw UnavailableError("NCCL wants a GPU for each rank, and here ranks share one");
  ncclUniqueId id{};
  ncclResult_t code = comm.is_root() ? ncclGetUniqueId(&id) : ncclSuccess;
  std::string text(reinterpret_cast<const char*>(&id), sizeof id);
  text = comm.broadcast(text);
  std::memcpy(&id, text.data(), sizeof id);
  ncclComm_t nccl = nullptr;
  if (comm.all(code == ncclSuccess)) code = ncclCommInitRank(&nccl, comm.size(), id, comm.rank());
  std::string failure;
  if (code != ncclSuccess)
    failure = fmt::format("NCCL cannot begin: {} (rank {})", ncclGetErrorString(code), comm.rank());
  for (const std::string& reason : comm.gather(failure))
    if (!reason.empty()) throw UnavailableError(reason);
  return nccl;
}

ncclComm_t nccl_communicator(const Communicator& comm) {
  static auto* const communicators = [] {
    auto* const made = new std::map<std::vector<int>, ncclComm_t>;
    Kokkos::push_finalize_hook([made] {
      for (const auto& [ranks, nccl] : *made) ncclCommDestroy(nccl);
    });
    return made;
  }();
  ncclComm_t& nccl = (*communicators)[world_ranks(comm)];
  if (nccl == nullptr) nccl = begin_nccl(comm);
  return nccl;
}

class Nccl final : public Exchange {
 public:
  Nccl(const Communicator& comm, const HaloPlan& plan, const MessageBuffers& buffers)
      : m_plan(plan), m_buffers(buffers), m_nccl(nccl_communicator(comm)) {}

  void start() override {
    if (m_plan.neighbours.empty()) return;
    const auto stream = stream_of(m_buffers.stream);
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    for (const Neighbour& n : m_plan.neighbours) {
      const std::size_t begin = n.offset * m_buffers.item_bytes,
                        bytes = n.count * m_buffers.item_bytes;
      check_nccl(ncclRecv(static_cast<std::byte*>(m_buffers.receive) + begin, bytes, ncclInt8,
                          n.rank, m_nccl, stream),
                 "ncclRecv");
      check_nccl(ncclSend(static_cast<const std::byte*>(m_buffers.send) + begin, bytes, ncclInt8,
                          n.rank, m_nccl, stream),
                 "ncclSend");
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
  }

  void finish() override {}  // in the order of the stream

 private:
  const HaloPlan& m_plan;
  MessageBuffers m_buffers;
  ncclComm_t m_nccl;
};

}  // namespace

std::unique_ptr<Exchange> make_nccl(const Communicator& comm, const HaloPlan& plan,
                                    const MessageBuffers& buffers) {
  return std::make_unique<Nccl>(comm, plan, buffers);
}

}  // namespace nekbone_k

#else

namespace nekbone_k {

std::unique_ptr<Exchange> make_nccl(const Communicator&, const HaloPlan&, const MessageBuffers&) {
  throw UnavailableError("this program was built without NCCL or RCCL");
}

}  // namespace nekbone_k

#endif
