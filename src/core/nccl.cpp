// SPDX-License-Identifier: BSD-3-Clause
#include "core/nccl.hpp"

#ifdef NEKBONE_K_HAVE_NCCL

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/errors.hpp"

namespace nekbone_k {
namespace {

/// The ranks of `comm` as numbers in MPI_COMM_WORLD.
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
  const std::string reason = comm.first_text(failure);
  if (!reason.empty()) throw UnavailableError(reason);
  return nccl;
}

}  // namespace

void check_nccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess)
    throw InternalError(fmt::format("{}: {}", call, ncclGetErrorString(code)));
}

ncclComm_t nccl_communicator(const Communicator& comm, NcclUse use) {
  static auto* const communicators = [] {
    auto* const made = new std::map<std::pair<NcclUse, std::vector<int>>, ncclComm_t>;
    Kokkos::push_finalize_hook([made] {
      for (const auto& [key, nccl] : *made) ncclCommDestroy(nccl);
    });
    return made;
  }();
  ncclComm_t& nccl = (*communicators)[{use, world_ranks(comm)}];
  if (nccl == nullptr) nccl = begin_nccl(comm);
  return nccl;
}

}  // namespace nekbone_k

#endif
