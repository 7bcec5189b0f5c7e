// SPDX-License-Identifier: BSD-3-Clause
#include "report/verdict.hpp"

#include <algorithm>

namespace nekbone_k {
namespace {

template <class Tuning>
bool is_right(const Tuning& tuning) {
  return tuning.selected >= 0 &&
         std::all_of(tuning.candidates.begin(), tuning.candidates.end(),
                     [](const auto& c) { return c.verified || !c.available; });
}

/// No method of CG is wrong.
bool all_methods_right(const CgTuning& tuning) {
  return std::all_of(
      tuning.candidates.begin(), tuning.candidates.end(),
      [](const CgMethodResult& c) { return c.verified || !c.available || c.failure.empty(); });
}

bool all_orders_right(const RunRecord& record) {
  return record.orders.size() == record.input->fields_to_tune().size() &&
         std::all_of(record.orders.begin(), record.orders.end(), [](const OrderRecord& order) {
           return is_right(order.tuning) && order.on_rank_failure.empty();
         });
}

/// All exchanges and the all-reduce of a flow are right.
bool is_flow_tuned(const RunRecord& record) {
  return all_orders_right(record) && record.all_reduce && is_right(*record.all_reduce);
}

}  // namespace

bool was_stopped(const RunRecord& record) {
  return record.flow && !record.flow->stopped.empty() && record.flow->checkpoint_failure.empty() &&
         is_flow_tuned(record);
}

bool has_passed(const RunRecord& record) {
  if (!all_orders_right(record)) return false;
  if (!record.input->solves()) return true;
  if (record.input->is_flow()) return is_flow_tuned(record) && record.flow && record.flow->passed;
  return record.all_reduce && is_right(*record.all_reduce) && record.solve &&
         record.solve->passed && record.solve->excluded.empty() &&
         all_methods_right(record.solve->methods);
}

}  // namespace nekbone_k
