/// @file
/// Lists of indices in little memory.
#pragma once

#include <string>
#include <vector>

#include "core/types.hpp"

namespace nekbone_k {

/// A list: entry i is base + pattern[1 + i], and pattern[0] is the number of entries.
struct IndexList {
  LocalIndex base;
  const LocalIndex* pattern;

  KOKKOS_FORCEINLINE_FUNCTION LocalIndex count() const { return pattern[0]; }
  /// Entries less `base`.
  KOKKOS_FORCEINLINE_FUNCTION const LocalIndex* differences() const { return pattern + 1; }
  KOKKOS_FORCEINLINE_FUNCTION LocalIndex operator[](LocalIndex i) const {
    return base + differences()[i];
  }
};

/// Lists of indices of which many are alike but for where they begin, as those of a mesh's elements
/// and points are. A list is kept as its first entry and a pattern, the differences from that, and
/// alike lists share their pattern: kernels that read all lists then read patterns from cache.
/// (PetscSF looks for strided blocks for the same reason: Zhang et al. 2022.)
class IndexLists {
 public:
  /// The lists in kernels, valid as long as they are.
  struct Reader {
    const LocalIndex *bases, *begins, *patterns;

    KOKKOS_FORCEINLINE_FUNCTION IndexList operator()(LocalIndex list) const {
      return {bases[list], patterns + begins[list]};
    }
  };

  Reader reader() const { return {m_bases.data(), m_begins.data(), m_patterns.data()}; }
  /// Lists [first, end) have one pattern. With a stride their bases are that far from each other,
  /// and so are entries i of all of them; without, 0, bases[list] is to be asked.
  struct Run {
    LocalIndex first, end, stride;
    bool operator==(const Run&) const = default;
  };
  /// All lists in ascending runs. As many as `shortest_even_run` lists with a stride are a run of
  /// their own, other lists as many as have one pattern; what is longer than `longest_run` is cut.
  const Kokkos::View<const Run*, DeviceMemory>& runs() const { return m_runs; }
  static constexpr LocalIndex longest_run = 512, shortest_even_run = 16;
  /// Bytes in memory without the runs; also the least that reading every list once moves.
  double least_bytes() const {
    return double{sizeof(LocalIndex)} *
           static_cast<double>(m_bases.extent(0) + m_begins.extent(0) + m_patterns.extent(0));
  }

 private:
  friend class IndexListsBuilder;
  DeviceVector<LocalIndex> m_bases, m_begins, m_patterns;
  Kokkos::View<const Run*, DeviceMemory> m_runs;
};

/// Takes lists one after another, in host memory. Linear in time.
class IndexListsBuilder {
 public:
  explicit IndexListsBuilder(LocalIndex n_lists);

  /// Appends the list of entries[0 … n), n > 0.
  void add(const LocalIndex* entries, LocalIndex n);

  IndexLists to_device(const std::string& label) const;

 private:
  std::vector<IndexLists::Run> find_runs() const;

  std::vector<LocalIndex> m_bases, m_begins, m_patterns, m_pattern;
  // Where in m_patterns a pattern of each hash was last put, -1 for nowhere. One that another has
  // driven out is put there again: that costs memory, and no search.
  std::vector<LocalIndex> m_last;
};

}  // namespace nekbone_k
