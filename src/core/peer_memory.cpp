#include "core/peer_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/gpu_api.hpp"

namespace nekbone_k {
namespace {

/// How another process finds a block.
using Handle = std::string;

struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Handle handle;
};

constexpr std::size_t granularity = std::size_t{2} << 20;

[[maybe_unused]] std::size_t rounded_up(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + granularity - 1) / granularity) * granularity;
}

#if defined(NEKBONE_K_GPU)

#ifdef KOKKOS_ENABLE_CUDA
auto allocate(void** data, std::size_t bytes) { return cudaMalloc(data, bytes); }
#else
// Ordinary memory is coherent between GPUs when kernels end; this one also while they run.
auto allocate(void** data, std::size_t bytes) {
  return hipExtMallocWithFlags(data, bytes, hipDeviceMallocFinegrained);
}
#endif
using IpcHandle = NEKBONE_K_GPU(IpcMemHandle_t);

void require_shared(NEKBONE_K_GPU(Error_t) code, const char* what) {
  if (code == NEKBONE_K_GPU(Success)) return;
  static_cast<void>(NEKBONE_K_GPU(GetLastError)());  // so that nobody else meets it
  throw UnavailableError(fmt::format("{}: {}", what, NEKBONE_K_GPU(GetErrorString)(code)));
}

// Whole pages of the driver's: a handle is of a whole allocation, and small ones share one.
Block make_block(std::size_t bytes) {
  Block block{nullptr, rounded_up(bytes), {}};
  void* data = nullptr;
  require_shared(allocate(&data, block.bytes), "allocating memory for other processes");
  block.data = static_cast<std::byte*>(data);
  IpcHandle handle;
  const auto code = NEKBONE_K_GPU(IpcGetMemHandle)(&handle, data);
  if (code != NEKBONE_K_GPU(Success)) static_cast<void>(NEKBONE_K_GPU(Free)(data));
  require_shared(code, "sharing device memory");
  block.handle.assign(reinterpret_cast<const char*>(&handle), sizeof handle);
  return block;
}

std::byte* open_block(const Handle& of_other) {
  IpcHandle handle;
  std::memcpy(&handle, of_other.data(), sizeof handle);
  void* data = nullptr;
  require_shared(
      NEKBONE_K_GPU(IpcOpenMemHandle)(&data, handle, NEKBONE_K_GPU(IpcMemLazyEnablePeerAccess)),
      "opening another rank's device memory");
  return static_cast<std::byte*>(data);
}

#elif defined(__linux__)

[[noreturn]] void give_up(const char* what) {
  throw UnavailableError(fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Closes a file at its end, unless it is kept.
class OpenFile {
 public:
  OpenFile(int file, const char* what) : m_file(file) {
    if (file < 0) give_up(what);
  }
  ~OpenFile() {
    if (!m_is_kept) close(m_file);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return m_file; }
  void keep() { m_is_kept = true; }

 private:
  int m_file;
  bool m_is_kept = false;
};

std::byte* map(int file, std::size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) give_up("mapping memory shared with other ranks");
  return static_cast<std::byte*>(data);
}

// A file without a name, which others open through this process: nothing of it is left over,
// however the run ends.
Block make_block(std::size_t bytes) {
  OpenFile file(memfd_create("nekbone-k", MFD_CLOEXEC), "making memory shared with other ranks");
  Block block{nullptr, rounded_up(bytes), fmt::format("/proc/{}/fd/{}", getpid(), file.number())};
  errno = posix_fallocate(file.number(), 0, static_cast<off_t>(block.bytes));
  if (errno != 0) give_up("allocating memory shared with other ranks");
  block.data = map(file.number(), block.bytes);
  file.keep();
  return block;
}

std::byte* open_block(const Handle& handle) {
  const OpenFile file(open(handle.c_str(), O_RDWR | O_CLOEXEC), "opening another rank's memory");
  struct stat status {};
  if (fstat(file.number(), &status) != 0) give_up("opening another rank's memory");
  return map(file.number(), static_cast<std::size_t>(status.st_size));
}

#else

Block make_block(std::size_t) {
  throw UnavailableError("sharing memory between processes is only known on Linux");
}
std::byte* open_block(const Handle&) { return nullptr; }

#endif

/// Blocks of this process not in use, by size, and those of other processes that it has open.
/// Neither is ever freed: the system does it when the process ends.
std::multimap<std::size_t, Block>& free_blocks() {
  static auto* const blocks = new std::multimap<std::size_t, Block>;
  return *blocks;
}
std::map<Handle, std::byte*>& open_blocks() {
  static auto* const blocks = new std::map<Handle, std::byte*>;
  return *blocks;
}

Block take_block(std::size_t bytes) {
  const auto fitting = free_blocks().lower_bound(bytes);
  if (fitting == free_blocks().end()) return make_block(bytes);
  Block block = fitting->second;
  free_blocks().erase(fitting);
  return block;
}

/// Runs `action` on every rank; what it threw on one becomes an UnavailableError on all.
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
  // A block that is used again must not get what kernels still store into it for who had it before:
  // all ranks' have ended once all ranks are here.
  Kokkos::fence("nekbone_k: nothing is on its way to peers");
  const bool may_share = comm.all(peer_memory_may_share_gpu());
  if (comm.max(std::int64_t{ranks_on_device(comm)}) > 1 && !may_share)
    throw UnavailableError(
        "kernels that wait for another rank's must not keep those from running, and here ranks "
        "share a GPU");
  Block block;
  on_all(comm, [&] {
    block = take_block(std::max(bytes, n_flags * sizeof(Flag)));
    m_block = std::shared_ptr<void>(nullptr,
                                    [block](void*) { free_blocks().emplace(block.bytes, block); });
    m_here = block.data;
    // Of a block that was used before: before any peer can raise a flag in it.
    Kokkos::deep_copy(DeviceVector<std::byte>(m_here, n_flags * sizeof(Flag)), std::byte{0});
    Kokkos::fence("nekbone_k: flags lowered");
  });
  const std::vector<std::string> handles = comm.gather(block.handle);
  on_all(comm, [&] {
    for (const int peer : peers) {
      auto& open = open_blocks()[handles[peer]];
      if (open == nullptr) open = open_block(handles[peer]);
      m_of_peers.push_back(open);
    }
  });
}

}  // namespace nekbone_k
