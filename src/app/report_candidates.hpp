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

/// An empty table whose first column is called `what`.
Table candidate_table(const std::string& what);

/// Adds the candidates of one stage under a line that says what their times are.
void add_section(Table& table, const std::vector<CandidateRow>& rows, const std::string& title);

}  // namespace nekbone_k
