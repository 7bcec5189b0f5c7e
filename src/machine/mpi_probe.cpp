// SPDX-License-Identifier: BSD-3-Clause
#include "machine/mpi_probe.hpp"

#include <fmt/format.h>
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/errors.hpp"
#include "core/format.hpp"
#include "core/give_up.hpp"
#include "core/message_memory.hpp"
#include "core/statistics.hpp"
#include "core/system.hpp"
#include "core/types.hpp"
#include "core/waiting.hpp"

namespace nekbone_k {
namespace {

using Bytes = std::vector<unsigned char>;

/// Size of the areas before and after a message that must stay unchanged, in bytes. A multiple of
/// the alignment of memory.
constexpr std::size_t guard_bytes = 256;
constexpr unsigned char untouched = 0xa5;

/// The next and the previous rank in the ring of this rank.
struct Ring {
  int next = 0, previous = 0;
  bool exists = false;  ///< whether the ring has a rank to send to
};

/// The ring of this rank for a place. With `to_itself`, a rank that is alone on its node is a ring.
Ring find_ring(const std::vector<int>& nodes, ProbePlace place, int rank, bool to_itself) {
  std::vector<int> places(nodes.size());  // position of each rank on its node
  std::map<int, int> ranks_so_far;
  for (std::size_t r = 0; r < nodes.size(); ++r) places[r] = ranks_so_far[nodes[r]]++;
  const std::vector<int>& same = place == ProbePlace::within_node ? nodes : places;
  std::vector<int> members;
  for (std::size_t r = 0; r < nodes.size(); ++r)
    if (same[r] == same[rank]) members.push_back(static_cast<int>(r));
  const std::size_t n = members.size();
  const std::size_t here = std::find(members.begin(), members.end(), rank) - members.begin();
  return {members[(here + 1) % n], members[(here + n - 1) % n],
          n > 1 || (to_itself && place == ProbePlace::within_node)};
}

/// The content of a message. Messages that could be confused have different content.
Bytes content(std::size_t bytes, int from, int message, int tag, int repeat) {
  std::uint32_t state = (1 + message + 2 * (tag + 4096U * (repeat + 64U * from))) * 2654435761U;
  Bytes result(bytes);
  for (unsigned char& byte : result) {  // generator of Numerical Recipes; its high bits are good
    state = 1664525U * state + 1013904223U;
    byte = static_cast<unsigned char>(state >> 24);
  }
  return result;
}

/// Device memory, and staging memory beside it, for a message at any offset.
class Buffer {
 public:
  explicit Buffer(std::size_t most_bytes)
      : m_device_memory(most_bytes + 2 * guard_bytes),
        m_staging_memory(most_bytes + 2 * guard_bytes),
        m_device(m_device_memory.as_vector<unsigned char>(most_bytes + 2 * guard_bytes)),
        m_staging(m_staging_memory.as_vector<unsigned char>(most_bytes + 2 * guard_bytes)) {}

  void* at(const ProbeEntry& entry) const {
    auto* const begin = entry.memory == ProbeMemory::direct ? m_device.data() : m_staging.data();
    return begin + guard_bytes + entry.offset;
  }
  /// Sets the message and the guards beside it.
  void set(const Bytes& bytes, std::size_t offset) const {
    Bytes all(with_guards(bytes.size(), offset), untouched);
    std::copy(bytes.begin(), bytes.end(), all.begin() + guard_bytes + offset);
    const Kokkos::View<const unsigned char*, HostMemory> host(all.data(), all.size());
    const std::pair<std::size_t, std::size_t> used(0, all.size());
    Kokkos::deep_copy(Kokkos::subview(m_device, used), host);
    Kokkos::deep_copy(Kokkos::subview(m_staging, used), host);
  }
  /// The message and the guards beside it.
  Bytes get(const ProbeEntry& entry) const {
    Bytes all(with_guards(entry.bytes, entry.offset));
    const std::pair<std::size_t, std::size_t> used(0, all.size());
    Kokkos::deep_copy(Kokkos::View<unsigned char*, HostMemory>(all.data(), all.size()),
                      Kokkos::subview(m_device, used));
    return all;
  }
  /// Copies the bytes of the message from device to staging memory, or back.
  void stage(const ProbeEntry& entry) const {
    Kokkos::deep_copy(part(m_staging, entry), part(m_device, entry));
  }
  void unstage(const ProbeEntry& entry) const {
    Kokkos::deep_copy(part(m_device, entry), part(m_staging, entry));
  }

 private:
  /// Less than the buffer, because small messages would else take as long as the largest.
  static std::size_t with_guards(std::size_t bytes, std::size_t offset) {
    return guard_bytes + offset + bytes + guard_bytes;
  }
  template <class View>
  static View part(const View& all, const ProbeEntry& entry) {
    const std::size_t begin = guard_bytes + entry.offset;
    return Kokkos::subview(all, std::pair(begin, begin + entry.bytes));
  }

  DeviceMessageMemory m_device_memory;
  HostMessageMemory m_staging_memory;
  DeviceVector<unsigned char> m_device;
  Kokkos::View<unsigned char*, StagingMemory> m_staging;
};

/// The error in a receive buffer; empty if there is none.
std::string compare(const Bytes& got, const Bytes& expected, std::size_t offset, int from) {
  std::size_t wrong = 0, undelivered = 0, first = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const unsigned char byte = got[guard_bytes + offset + i];
    if (byte == expected[i]) continue;
    if (wrong++ == 0) first = i;
    if (byte == static_cast<unsigned char>(~expected[i])) ++undelivered;
  }
  if (wrong > 0)
    return fmt::format(
        "{} of {} bytes from rank {} are wrong{}, the first at byte {}: {:#04x} instead of {:#04x}",
        wrong, expected.size(), from, wrong == undelivered ? " as they did not arrive" : "", first,
        got[guard_bytes + offset + first], expected[first]);
  const auto message = got.begin() + guard_bytes + offset;
  const auto is_untouched = [](unsigned char byte) { return byte == untouched; };
  if (!std::all_of(got.begin(), message, is_untouched) ||
      !std::all_of(message + expected.size(), got.end(), is_untouched))
    return fmt::format("memory beside the {} bytes from rank {} was changed", expected.size(),
                       from);
  return {};
}

/// The transfers of one place and memory.
class PathProbe {
 public:
  PathProbe(const Communicator& comm, const ProbeOptions& options, const Ring& ring)
      : m_comm(comm),
        m_options(options),
        m_ring(ring),
        m_send{buffer(), buffer()},
        m_receive{buffer(), buffer()} {}

  /// Fills in the failure and the time. Returns false if a transfer threw. Collective.
  bool run(ProbeEntry& entry, int tag) {
    std::vector<double> samples;
    bool thrown = false;
    for (int repeat = 0; repeat < m_options.repeats && entry.ok(); ++repeat) {
      std::string failure;
      try {
        failure = run_once(entry, tag, repeat, samples);
      } catch (const std::exception& error) {
        failure = error.what();
        thrown = true;
      }
      entry.failure = agree(failure);
    }
    if (entry.ok()) entry.seconds = m_comm.max(median(samples));
    return m_comm.all(!thrown);
  }

 private:
  Buffer buffer() const {
    const auto most = [](const std::vector<std::size_t>& values) {
      return *std::max_element(values.begin(), values.end());
    };
    return Buffer(most(m_options.sizes) + most(m_options.offsets));
  }

  std::string run_once(const ProbeEntry& entry, int tag, int repeat, std::vector<double>& samples) {
    RingMessages messages{{m_ring.next, m_ring.previous},
                          {m_ring.previous, m_ring.next},
                          {m_send[0].at(entry), m_send[1].at(entry)},
                          {m_receive[0].at(entry), m_receive[1].at(entry)},
                          static_cast<int>(entry.bytes),
                          tag};
    std::array<Bytes, 2> expected;
    for (int m = 0; m < 2; ++m) {
      expected[m] = content(entry.bytes, messages.from[m], m, tag, repeat);
      Bytes poison = expected[m];
      for (unsigned char& byte : poison) byte = static_cast<unsigned char>(~byte);
      m_receive[m].set(poison, entry.offset);
      m_send[m].set(content(entry.bytes, m_comm.rank(), m, tag, repeat), entry.offset);
    }
    m_comm.barrier();
    const double begin = wall_seconds();
    if (m_ring.exists) transfer(entry, messages);
    samples.push_back(m_ring.exists ? wall_seconds() - begin : 0.0);
    for (int m = 0; m < 2 && m_ring.exists; ++m)
      if (std::string wrong =
              compare(m_receive[m].get(entry), expected[m], entry.offset, messages.from[m]);
          !wrong.empty())
        return wrong;
    return {};
  }

  void transfer(const ProbeEntry& entry, const RingMessages& messages) const {
    const bool staged = entry.memory == ProbeMemory::staged;
    for (int m = 0; m < 2 && staged; ++m) m_send[m].stage(entry);
    m_options.transfer(m_comm, entry, messages);
    for (int m = 0; m < 2 && staged; ++m) m_receive[m].unstage(entry);
  }

  /// The failure of the first rank that has one, and the number of further ranks that have one.
  /// Collective.
  std::string agree(const std::string& failure) const {
    std::string text;
    int more = -1;
    const std::vector<std::string> failures = m_comm.gather(failure);
    for (int r = 0; r < m_comm.size(); ++r) {
      if (failures[r].empty()) continue;
      if (++more == 0) text = fmt::format("rank {}: {}", r, failures[r]);
    }
    if (more > 0) text += fmt::format("; and on {} more rank{}", more, more == 1 ? "" : "s");
    return text;
  }

  const Communicator& m_comm;
  const ProbeOptions& m_options;
  Ring m_ring;
  std::array<Buffer, 2> m_send, m_receive;
};

}  // namespace

std::string name(ProbePlace place) {
  return place == ProbePlace::within_node ? "within a node" : "between nodes";
}

std::string name(const ProbeEntry& path) {
  return name(path.place) + (path.memory == ProbeMemory::staged ? ", by way of the host" : "");
}

std::string claim_text(const MpiClaim& claim) {
  if (!claim.device) return "no query in this MPI says whether it is GPU-aware";
  return fmt::format("{} says: {}GPU-aware", claim.query, *claim.device ? "" : "not ");
}

std::string failure_text(const ProbeEntry& entry) {
  return fmt::format("{}, {} at {} B: {}", name(entry),
                     bytes_text(static_cast<double>(entry.bytes)), entry.offset, entry.failure);
}

void send_ring_messages(const Communicator& comm, const RingMessages& messages, double limit) {
  std::array<MPI_Request, 4> requests;
  requests.fill(MPI_REQUEST_NULL);
  for (int m = 0; m < 2; ++m)
    check_mpi(MPI_Irecv(messages.receive[m], messages.bytes, MPI_BYTE, messages.from[m],
                        messages.tag + m, comm.get(), &requests[m]),
              "MPI_Irecv");
  for (int m = 0; m < 2; ++m)
    check_mpi(MPI_Isend(messages.send[m], messages.bytes, MPI_BYTE, messages.to[m],
                        messages.tag + m, comm.get(), &requests[2 + m]),
              "MPI_Isend");
  if (!wait_until([&] { return are_done(requests); }, limit))
    throw InternalError(fmt::format("messages were not there after {:g} s", limit));
}

MpiClaim mpi_claim(const Communicator& comm) {
  MpiClaim claim;
#if defined(KOKKOS_ENABLE_HIP)
#if defined(MPIX_ROCM_AWARE_SUPPORT)  // Open MPI from version 5
  claim = {"MPIX_Query_rocm_support", MPIX_Query_rocm_support() == 1};
#elif defined(MPIX_GPU_SUPPORT_HIP)  // MPICH and its derivatives
  int supported = 0;
  check_mpi(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_HIP, &supported), "MPIX_GPU_query_support");
  claim = {"MPIX_GPU_query_support", supported != 0};
#endif
#elif defined(MPIX_CUDA_AWARE_SUPPORT)  // Open MPI
  claim = {"MPIX_Query_cuda_support", MPIX_Query_cuda_support() == 1};
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int supported = 0;
  check_mpi(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported), "MPIX_GPU_query_support");
  claim = {"MPIX_GPU_query_support", supported != 0};
#endif
  if (claim.device) claim.device = comm.broadcast(std::int64_t{*claim.device}) != 0;
  return claim;
}

MpiProbe probe_mpi(const Communicator& comm, const ProbeOptions& options) {
  // Use a new communicator, so that abandoned messages meet no other messages.
  auto own = std::make_unique<Communicator>(comm.get());
  const std::vector<int> nodes = nodes_of_ranks(comm);
  MpiProbe probe{DeviceMemory::name(), mpi_claim(comm), {}, false};
  std::vector<std::unique_ptr<PathProbe>> paths;
  int tag = 0;
  for (const ProbePlace place : {ProbePlace::within_node, ProbePlace::between_nodes}) {
    const Ring ring = find_ring(nodes, place, comm.rank(), options.to_itself);
    if (comm.all(!ring.exists)) continue;
    for (const ProbeMemory memory : {ProbeMemory::direct, ProbeMemory::staged}) {
      if (memory == ProbeMemory::staged && !options.staged) continue;
      paths.push_back(std::make_unique<PathProbe>(*own, options, ring));
      bool usable = true;
      for (const std::size_t bytes : options.sizes)
        for (const std::size_t offset : options.offsets) {
          if (!usable) continue;
          if (memory == ProbeMemory::staged && offset != options.offsets.front()) continue;
          ProbeEntry entry{place, memory, bytes, offset, {}, 0};
          options.before(entry);
          comm.barrier();  // if the job crashes now, rank 0 has named the transfer
          usable = paths.back()->run(entry, tag);
          tag += 2;
          options.after(entry);
          probe.entries.push_back(std::move(entry));
        }
      probe.stuck = probe.stuck || !usable;
    }
  }
  if (probe.stuck) {  // abandoned messages may still arrive, so never free their memory
    give_up(std::move(own));
    for (auto& path : paths) give_up(std::move(path));
  }
  return probe;
}

}  // namespace nekbone_k
