// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Compressed lists of indices.
#pragma once

#include <string>
#include <vector>

#include "core/types.hpp"

namespace nekbone_k {

/// One list: entry i is base + pattern[1 + i]; pattern[0] is the number of entries.
struct IndexList {
  LocalIndex base;
  const LocalIndex* pattern;

  KOKKOS_FORCEINLINE_FUNCTION LocalIndex count() const { return pattern[0]; }
  /// The entries minus `base`.
  KOKKOS_FORCEINLINE_FUNCTION const LocalIndex* differences() const { return pattern + 1; }
  KOKKOS_FORCEINLINE_FUNCTION LocalIndex operator[](LocalIndex i) const {
    return base + differences()[i];
  }
};

/// Lists of indices in device memory. Many of them differ only in their first entry, such as the
/// lists of the elements and points of a mesh. A list is stored as its first entry and a pattern:
/// the differences from that entry. Equal patterns are stored once, so kernels that read all lists
/// read patterns from cache. PetscSF looks for strided blocks for the same reason (Zhang et al.
/// 2022).
class IndexLists {
 public:
  /// Access to the lists in kernels, valid during the lifetime of the IndexLists.
  struct Reader {
    const LocalIndex *bases, *begins, *patterns;

    KOKKOS_FORCEINLINE_FUNCTION IndexList operator()(LocalIndex list) const {
      return {bases[list], patterns + begins[list]};
    }
  };

  Reader reader() const { return {m_bases.data(), m_begins.data(), m_patterns.data()}; }
  /// Lists [first, end) have one pattern. With a stride, the bases of successive lists differ by
  /// it, and so do their entries i. With stride 0, read bases[list].
  struct Run {
    LocalIndex first, end, stride;
    bool operator==(const Run&) const = default;
  };
  /// All lists in ascending runs. At least `shortest_even_run` lists with a stride form a run of
  /// their own; other runs collect lists of one pattern. Runs longer than `longest_run` are cut.
  const Kokkos::View<const Run*, DeviceMemory>& runs() const { return m_runs; }
  static constexpr LocalIndex longest_run = 512, shortest_even_run = 16;
  /// Size in memory without the runs, in bytes. Reading every list once moves at least these bytes.
  double least_bytes() const {
    return double{sizeof(LocalIndex)} *
           static_cast<double>(m_bases.extent(0) + m_begins.extent(0) + m_patterns.extent(0));
  }

 private:
  friend class IndexListsBuilder;
  DeviceVector<LocalIndex> m_bases, m_begins, m_patterns;
  Kokkos::View<const Run*, DeviceMemory> m_runs;
};

/// Builds IndexLists from lists in host memory, one after another, in linear time.
class IndexListsBuilder {
 public:
  explicit IndexListsBuilder(LocalIndex n_lists);

  /// Appends the list entries[0 … n), n > 0.
  void add(const LocalIndex* entries, LocalIndex n);

  IndexLists to_device(const std::string& label) const;

 private:
  std::vector<IndexLists::Run> find_runs() const;

  std::vector<LocalIndex> m_bases, m_begins, m_patterns, m_pattern;
  // By hash: the last position in m_patterns of a pattern with that hash, or -1. A pattern that
  // another one displaced is stored again: this costs memory but needs no search.
  std::vector<LocalIndex> m_last;
};

}  // namespace nekbone_k
