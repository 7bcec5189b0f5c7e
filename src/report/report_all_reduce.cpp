// SPDX-License-Identifier: BSD-3-Clause
// The terminal report of how the all-reduces were tuned.
#include <fmt/format.h>

#include "report/report.hpp"
#include "report/report_candidates.hpp"

namespace nekbone_k {

std::string all_reduce_text(const AllReduceRecord& tuning, ReportDetail detail) {
  std::string text = fmt::format("\n{}", heading("All-reduces"));
  std::vector<CandidateRow> rows;
  for (const AllReduceResult& c : tuning.candidates) rows.push_back(candidate_row(c, c.timing));
  if (tuning.rounds == 0 && nothing_amiss(rows)) {
    text += untimed_text(rows, "all-reduce", "all-reduces", "verified");
  } else {
    CandidateTable table("all-reduce", has_predictions(rows), detail);
    table.add_section(rows,
                      tuning.rounds == 0
                          ? "two doubles, from a kernel to every host: not timed"
                          : fmt::format("two doubles, from a kernel to every host; {}, {} in each",
                                        counted(tuning.rounds, "round"), tuning.repeats));
    text += table.text();
  }
  text += off_model_text(off_their_model(rows));
  text +=
      wrap("  Selected: ", tuning.selected < 0 ? "none; every all-reduce is WRONG or unavailable"
                                               : tuning.candidates[tuning.selected].strategy.name);
  if (!tuning.cache_note.empty()) text += wrap("    cache: ", tuning.cache_note);
  return text +
         wrap("  ", fmt::format("Verified in {}, timed in {}", seconds_text(tuning.verify_seconds),
                                seconds_text(tuning.tune_seconds)));
}

}  // namespace nekbone_k
