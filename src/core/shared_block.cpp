// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared_block.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>

#include "core/errors.hpp"
#include "core/gpu_api.hpp"
#include "core/types.hpp"

namespace nekbone_k {
namespace {

/// The word that the owner writes behind a block and into its offer.
using Word = std::uint64_t;

constexpr std::size_t granularity = std::size_t{2} << 20;

/// Bytes of the whole allocation, with space for the word.
[[maybe_unused]] std::size_t allocated_for(std::size_t bytes) {
  return (bytes + sizeof(Word) + granularity - 1) / granularity * granularity;
}

/// The word behind a block in an allocation of `bytes`.
[[maybe_unused]] DeviceVector<Word> word_of(std::byte* data, std::size_t bytes) {
  return DeviceVector<Word>(reinterpret_cast<Word*>(data + bytes - sizeof(Word)), 1);
}
using HostWord = Kokkos::View<Word*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Writes a new word behind the block in an allocation of `bytes`, and offers the block. `place`
/// says where other processes find it.
[[maybe_unused]] SharedBlock offered(std::byte* data, std::size_t bytes, const std::string& place) {
  std::random_device random;
  Word word = Word{random()} << 32 | random();
  Kokkos::deep_copy(word_of(data, bytes), HostWord(&word, 1));
  Kokkos::fence("nekbone_k: word written");
  return {data, bytes - sizeof(Word), fmt::format("{} {} {}", word, bytes, place)};
}

/// The parsed offer: the word, the size of the allocation and its place.
struct Offer {
  explicit Offer(const std::string& text) {
    std::istringstream in(text);
    in >> word >> bytes;
    in.get();  // the space before the place
    place = text.substr(std::min<std::size_t>(in.tellg(), text.size()));
  }
  Word word = 0;
  std::size_t bytes = 0;
  std::string place;
};

[[maybe_unused]] void require_word(std::byte* data, const Offer& offer) {
  Word found = 0;
  Kokkos::deep_copy(HostWord(&found, 1), word_of(data, offer.bytes));
  if (found != offer.word)
    throw UnavailableError("other memory was found in its place; do ranks run in containers?");
}

#if defined(NEKBONE_K_GPU)

#ifdef KOKKOS_ENABLE_CUDA
auto allocate(void** data, std::size_t bytes) { return cudaMalloc(data, bytes); }
#else
// Ordinary HIP memory is coherent between GPUs only when kernels end; fine-grained memory is
// coherent while they run.
auto allocate(void** data, std::size_t bytes) {
  return hipExtMallocWithFlags(data, bytes, hipDeviceMallocFinegrained);
}
#endif
using IpcHandle = NEKBONE_K_GPU(IpcMemHandle_t);

void require_shared(NEKBONE_K_GPU(Error_t) code, const char* what) {
  if (code == NEKBONE_K_GPU(Success)) return;
  static_cast<void>(NEKBONE_K_GPU(GetLastError)());  // so that no later call sees this error
  throw UnavailableError(fmt::format("{}: {}", what, NEKBONE_K_GPU(GetErrorString)(code)));
}

#elif defined(__linux__)

[[noreturn]] void give_up(const char* what) {
  throw UnavailableError(fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Throws UnavailableError because `what` is wrong at the place of another process's memory.
[[noreturn]] void give_up_finding(const std::string& path, const char* what) {
  throw UnavailableError(
      fmt::format("{} {}; ranks in different PID namespaces (containers) do not find each other's "
                  "memory",
                  path, what));
}

/// A file that is closed with the object unless keep() was called.
class OpenFile {
 public:
  explicit OpenFile(int file) : m_file(file) {}
  ~OpenFile() {
    if (!m_is_kept && m_file >= 0) close(m_file);
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

#endif

}  // namespace

#if defined(NEKBONE_K_GPU)

// Rounded up to whole pages of the driver: a handle covers a whole driver allocation, which small
// blocks share.
SharedBlock make_shared_block(std::size_t bytes) {
  const std::size_t allocated = allocated_for(bytes);
  void* data = nullptr;
  require_shared(allocate(&data, allocated), "allocating memory for other processes");
  IpcHandle handle;
  const auto code = NEKBONE_K_GPU(IpcGetMemHandle)(&handle, data);
  if (code != NEKBONE_K_GPU(Success)) static_cast<void>(NEKBONE_K_GPU(Free)(data));
  require_shared(code, "sharing device memory");
  return offered(static_cast<std::byte*>(data), allocated,
                 std::string(reinterpret_cast<const char*>(&handle), sizeof handle));
}

std::byte* open_shared_block(const std::string& text) {
  const Offer offer(text);
  IpcHandle handle;
  require(offer.place.size() == sizeof handle, "an offer of device memory is of another length");
  std::memcpy(&handle, offer.place.data(), sizeof handle);
  void* data = nullptr;
  require_shared(
      NEKBONE_K_GPU(IpcOpenMemHandle)(&data, handle, NEKBONE_K_GPU(IpcMemLazyEnablePeerAccess)),
      "opening device memory");
  try {
    require_word(static_cast<std::byte*>(data), offer);
  } catch (...) {
    static_cast<void>(NEKBONE_K_GPU(IpcCloseMemHandle)(data));
    throw;
  }
  return static_cast<std::byte*>(data);
}

#elif defined(__linux__)

// An unnamed file, which others open through this process in /proc. The system removes it however
// the run ends.
SharedBlock make_shared_block(std::size_t bytes) {
  const std::size_t allocated = allocated_for(bytes);
  OpenFile file(memfd_create("nekbone-k", MFD_CLOEXEC));
  if (file.number() < 0) give_up("making memory shared with other ranks");
  errno = posix_fallocate(file.number(), 0, static_cast<off_t>(allocated));
  if (errno != 0) give_up("allocating memory shared with other ranks");
  struct stat status {};
  if (fstat(file.number(), &status) != 0) give_up("making memory shared with other ranks");
  const SharedBlock block = offered(
      map(file.number(), allocated), allocated,
      fmt::format("{} {} /proc/{}/fd/{}", status.st_dev, status.st_ino, getpid(), file.number()));
  file.keep();
  return block;
}

std::byte* open_shared_block(const std::string& text) {
  const Offer offer(text);
  dev_t device = 0;
  ino_t inode = 0;
  std::string path;
  std::istringstream(offer.place) >> device >> inode >> path;
  const auto is_it = [&](const struct stat& found) {
    return found.st_dev == device && found.st_ino == inode &&
           static_cast<std::size_t>(found.st_size) == offer.bytes;
  };
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) give_up_finding(path, "does not exist");
    give_up(path.c_str());
  }
  // Check before opening, because opening a device or a pipe may have side effects.
  if (!is_it(found)) give_up_finding(path, "is another file");
  const OpenFile file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0 || fstat(file.number(), &found) != 0) give_up(path.c_str());
  if (!is_it(found)) give_up_finding(path, "is another file");
  std::byte* const data = map(file.number(), offer.bytes);
  try {
    require_word(data, offer);
  } catch (...) {
    munmap(data, offer.bytes);
    throw;
  }
  return data;
}

#else

SharedBlock make_shared_block(std::size_t) {
  throw UnavailableError("sharing memory between processes is only known on Linux");
}
std::byte* open_shared_block(const std::string&) { return nullptr; }

#endif

}  // namespace nekbone_k
