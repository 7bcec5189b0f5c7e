// SPDX-License-Identifier: BSD-3-Clause
#include "gs/index_runs.hpp"

#include <algorithm>

namespace nekbone_k {
namespace {

/// Appends a run in pieces of at most `longest` positions.
void add_run(IndexRun run, LocalIndex longest, std::vector<IndexRun>& runs) {
  for (LocalIndex at = 0; at < run.count; at += longest)
    runs.push_back({run.begin + at, std::min(longest, run.count - at), run.first + at * run.stride,
                    run.stride});
}

}  // namespace

std::vector<IndexRun> find_runs(std::span<const LocalIndex> indices, LocalIndex begin,
                                LocalIndex end, LocalIndex shortest, LocalIndex longest) {
  std::vector<IndexRun> runs;
  LocalIndex irregular = begin;  // first position that is in no run yet
  for (LocalIndex at = begin; at < end;) {
    LocalIndex next = at + 1, stride = 0;
    if (next < end && indices[at] >= 0 && indices[next] >= 0) stride = indices[next] - indices[at];
    while (stride != 0 && next < end && indices[next] >= 0 &&
           indices[next] - indices[next - 1] == stride)
      ++next;
    if (stride != 0 && next - at >= shortest) {
      add_run({irregular, at - irregular, 0, 0}, longest, runs);
      add_run({at, next - at, indices[at], stride}, longest, runs);
      irregular = at = next;
    } else {
      // The last of these positions may begin a run.
      at = std::max(at + 1, next - 1);
    }
  }
  add_run({irregular, end - irregular, 0, 0}, longest, runs);
  return runs;
}

}  // namespace nekbone_k
