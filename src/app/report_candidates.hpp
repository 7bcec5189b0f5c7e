/// @file
/// The table that a report has of candidates that were tried beside each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/format.hpp"
#include "gs/stage.hpp"

namespace nekbone_k {

/// One line: a candidate and what a stage says of it, if it was timed there.
struct CandidateRow {
  std::string name, memory;
  bool available, verified, selected;
  std::string failure;
  const StageResult* stage;
};

/// From what a tuner found out about a candidate, which outlives the row.
template <class Result>
CandidateRow candidate_row(const Result& c, const std::optional<StageResult>& stage) {
  return {c.strategy.name, c.strategy.memory,        c.available, c.verified, c.selected,
          c.failure,       stage ? &*stage : nullptr};
}

/// Whether one of them is right and none is wrong.
bool nothing_amiss(const std::vector<CandidateRow>& rows);

/// All there is to say of candidates where nothing is amiss and nothing was timed. `one` and
/// `several` are what they are called.
std::string untimed_text(const std::vector<CandidateRow>& rows, const std::string& one,
                         const std::string& several);

/// Whether of one of them it is known what it should take.
bool has_predictions(const std::vector<CandidateRow>& rows);

/// Those that took several times what was predicted, or a fraction of it: "NAME 7.5x its model".
/// `added` counts on both sides.
std::vector<std::string> off_their_model(const std::vector<CandidateRow>& rows, double added = 0);

/// The line on those; nothing if there are none.
std::string off_model_text(const std::vector<std::string>& off);

/// A table whose first column is called `what`.
class CandidateTable {
 public:
  /// `has_predictions`: with a column for what the model expects.
  CandidateTable(const std::string& what, bool has_predictions);

  /// Adds the candidates of one stage under a line that says what their times are. Those that are
  /// not available come last, a line for each reason.
  void add_section(const std::vector<CandidateRow>& rows, const std::string& title);

  std::string text() const { return m_table.text(); }

 private:
  void add_row(const CandidateRow& row, const DurationFormat& duration);

  bool m_has_predictions;
  Table m_table;
};

}  // namespace nekbone_k
