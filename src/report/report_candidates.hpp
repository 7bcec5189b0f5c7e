// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The report's table of candidates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/format.hpp"
#include "report/report.hpp"
#include "tuning/stage.hpp"

namespace nekbone_k {

/// One row of the table: a candidate and its timing in one stage.
struct CandidateRow {
  std::string name, memory;
  bool available, verified, selected;
  std::string failure;
  const StageResult* stage;  ///< null if the stage did not time it
};

/// Makes a row from a tuner's result. `stage` must outlive the row.
template <class Result>
CandidateRow candidate_row(const Result& c, const std::optional<StageResult>& stage) {
  return {c.strategy.name, c.strategy.memory,        c.available, c.verified, c.selected,
          c.failure,       stage ? &*stage : nullptr};
}

/// Whether at least one candidate is verified and none is wrong.
bool nothing_amiss(const std::vector<CandidateRow>& rows);

/// Replaces the table if no candidate was timed and nothing_amiss(). `one` and `several` are the
/// noun for candidates, e.g. "strategy" and "strategies". `state` is their state, e.g. "verified".
std::string untimed_text(const std::vector<CandidateRow>& rows, const std::string& one,
                         const std::string& several, const std::string& state);

/// Whether the cost model predicts the time of any candidate.
bool has_predictions(const std::vector<CandidateRow>& rows);

/// Candidates whose measured time is several times the predicted time or a fraction of it, e.g.
/// "NAME 7.5x". Adds `added` seconds to both times before it compares them.
std::vector<std::string> off_their_model(const std::vector<CandidateRow>& rows, double added = 0);

/// The line on off_their_model(), for exchanges alone and with work; empty if both are empty.
std::string off_model_text(const std::vector<std::string>& alone,
                           const std::vector<std::string>& with_work = {});

/// The meaning of a stage's costs.
enum class CostKind {
  time,         ///< measured time
  beyond_work,  ///< difference to the work alone; may be indistinguishable from 0
};

/// Whether the 95 % confidence interval of a difference contains 0.
bool contains_zero(const Summary& difference);

/// A table of candidates in sections, one for each stage.
class CandidateTable {
 public:
  /// `what` and `where` are the headings of CandidateRow's name and memory. `has_predictions` adds
  /// a column for predicted times.
  CandidateTable(const std::string& what, bool has_predictions, ReportDetail detail,
                 const std::string& where = "memory");

  /// Adds the candidates of one stage under a title that says what was timed. Unavailable
  /// candidates come last, in one row per reason. Unless the report is full, shows only the fastest
  /// verified candidates, the selected one and its ties, and counts the others.
  void add_section(const std::vector<CandidateRow>& rows, const std::string& title,
                   CostKind kind = CostKind::time);

  std::string text() const { return m_table.text(); }

 private:
  void add_row(const CandidateRow& row, const DurationFormat& duration, CostKind kind);
  void add_unavailable(const std::vector<CandidateRow>& rows);

  bool m_has_predictions;
  ReportDetail m_detail;
  int m_sections = 0;
  Table m_table;
};

}  // namespace nekbone_k
