// SPDX-License-Identifier: BSD-3-Clause
#include "gs/index_lists.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/errors.hpp"
#include "gs/index_runs.hpp"

namespace nekbone_k {
namespace {

constexpr int hash_bits = 16;

std::size_t hash(const std::vector<LocalIndex>& pattern) {
  std::uint64_t h = 0;
  for (const LocalIndex difference : pattern)
    h = (h ^ static_cast<std::uint32_t>(difference)) * 0x9e37'79b9'7f4a'7c15ULL;
  return static_cast<std::size_t>(h >> (64 - hash_bits));
}

}  // namespace

IndexListsBuilder::IndexListsBuilder(LocalIndex n_lists) : m_last(std::size_t{1} << hash_bits, -1) {
  m_bases.reserve(n_lists);
  m_begins.reserve(n_lists);
}

void IndexListsBuilder::add(const LocalIndex* entries, LocalIndex n) {
  require(n > 0, "an index list without entries");
  m_pattern.assign(1, n);
  for (LocalIndex i = 0; i < n; ++i) m_pattern.push_back(entries[i] - entries[0]);

  LocalIndex& last = m_last[hash(m_pattern)];
  // Compare the lengths first: the last pattern may be a shorter one.
  if (last < 0 || m_patterns[last] != n ||
      !std::equal(m_pattern.begin(), m_pattern.end(), m_patterns.begin() + last)) {
    require(m_patterns.size() < std::numeric_limits<LocalIndex>::max() - m_pattern.size(),
            "index lists with more than 2^31 entries; use more ranks");
    last = static_cast<LocalIndex>(m_patterns.size());
    m_patterns.insert(m_patterns.end(), m_pattern.begin(), m_pattern.end());
  }
  m_bases.push_back(entries[0]);
  m_begins.push_back(last);
}

std::vector<IndexLists::Run> IndexListsBuilder::find_runs() const {
  const auto n_lists = static_cast<LocalIndex>(m_bases.size());
  std::vector<IndexLists::Run> runs;
  for (LocalIndex first = 0, end = 0; first < n_lists; first = end) {
    while (end < n_lists && m_begins[end] == m_begins[first]) ++end;
    for (const IndexRun& run : nekbone_k::find_runs(
             m_bases, first, end, IndexLists::shortest_even_run, IndexLists::longest_run))
      runs.push_back({run.begin, run.begin + run.count, run.stride});
  }
  return runs;
}

IndexLists IndexListsBuilder::to_device(const std::string& label) const {
  IndexLists lists;
  lists.m_runs = nekbone_k::to_device(label + ": runs", find_runs());
  lists.m_bases = nekbone_k::to_device(label + ": bases", m_bases);
  lists.m_begins = nekbone_k::to_device(label + ": begins", m_begins);
  lists.m_patterns = nekbone_k::to_device(label + ": patterns", m_patterns);
  return lists;
}

}  // namespace nekbone_k
