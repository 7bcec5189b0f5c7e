// SPDX-License-Identifier: BSD-3-Clause
#include "core/peer_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/shared_block.hpp"

namespace nekbone_k {
namespace {

/// Unused blocks of this process, by size, and open blocks of other processes. Neither is ever
/// freed, because the system frees them when the process ends.
std::multimap<std::size_t, SharedBlock>& free_blocks() {
  static auto* const blocks = new std::multimap<std::size_t, SharedBlock>;
  return *blocks;
}
std::map<std::string, std::byte*>& open_blocks() {
  static auto* const blocks = new std::map<std::string, std::byte*>;
  return *blocks;
}

SharedBlock take_block(std::size_t bytes) {
  const auto fitting = free_blocks().lower_bound(bytes);
  if (fitting == free_blocks().end()) return make_shared_block(bytes);
  SharedBlock block = fitting->second;
  free_blocks().erase(fitting);
  return block;
}

std::byte* open_block_of(int peer, const std::string& offer) {
  try {
    std::byte* const data = open_shared_block(offer);
    open_blocks().emplace(offer, data);
    return data;
  } catch (const UnavailableError& error) {
    throw UnavailableError(
        fmt::format("rank {}'s memory cannot be opened: {}", peer, error.what()));
  }
}

/// Runs `action` on every rank. If it throws on any rank, every rank throws UnavailableError.
template <class Action>
void on_all(const Communicator& comm, const Action& action) {
  std::string failure;
  try {
    action();
  } catch (const std::exception& error) {
    failure = fmt::format("{} (rank {})", error.what(), comm.rank());
  }
  const std::string reason = comm.first_text(failure);
  if (!reason.empty()) throw UnavailableError(reason);
}

}  // namespace

bool peer_memory_may_share_gpu() {
  return std::getenv("NEKBONE_K_PEER_MEMORY_ON_SHARED_GPU") != nullptr;
}

PeerMemory::PeerMemory(const Communicator& comm, std::size_t bytes, std::span<const int> peers,
                       std::size_t n_flags) {
  // Kernels may still store into a pooled block for its previous user. Once all ranks are here,
  // those kernels have ended.
  Kokkos::fence("nekbone_k: nothing is on its way to peers");
  const bool may_share = comm.all(peer_memory_may_share_gpu());
  if (comm.max(std::int64_t{ranks_on_device(comm)}) > 1 && !may_share)
    throw UnavailableError(
        "kernels that wait for another rank's must not keep those from running, and here ranks "
        "share a GPU");
  SharedBlock block;
  on_all(comm, [&] {
    block = take_block(std::max(bytes, n_flags * sizeof(Flag)));
    m_block = std::shared_ptr<void>(nullptr,
                                    [block](void*) { free_blocks().emplace(block.bytes, block); });
    m_here = block.data;
    // Clears the flags of a reused block, before any peer can raise one.
    Kokkos::deep_copy(DeviceVector<std::byte>(m_here, n_flags * sizeof(Flag)), std::byte{0});
    Kokkos::fence("nekbone_k: flags lowered");
  });
  const std::vector<std::string> offers = comm.gather(block.offer);
  on_all(comm, [&] {
    for (const int peer : peers) {
      const auto open = open_blocks().find(offers[peer]);
      m_of_peers.push_back(open != open_blocks().end() ? open->second
                                                       : open_block_of(peer, offers[peer]));
    }
  });
}

}  // namespace nekbone_k
