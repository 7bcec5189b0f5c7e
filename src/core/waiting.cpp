// SPDX-License-Identifier: BSD-3-Clause
#include "core/waiting.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/errors.hpp"

namespace nekbone_k {

void give_up_waiting(double patience) {
  throw InternalError(
      fmt::format("messages did not come within {:g} s; if the machine is overloaded, raise "
                  "gather_scatter.tuning.patience_seconds (doctor: --patience)",
                  patience));
}

bool are_done(std::span<MPI_Request> requests) {
  int done = 0;
  check_mpi(
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
      "MPI_Testall");
  return done != 0;
}

void wait_all(std::span<MPI_Request> requests, double patience) {
  if (!wait_until([&] { return are_done(requests); }, patience)) give_up_waiting(patience);
}

void wait_each(std::span<MPI_Request> requests, double patience,
               const std::function<void(int)>& action) {
  std::vector<int> found(requests.size());
  const auto none_is_left = [&] {
    int count = 0;
    check_mpi(MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, found.data(),
                           MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    if (count == MPI_UNDEFINED) return true;
    for (int f = 0; f < count; ++f) action(found[f]);
    return false;
  };
  if (!wait_until(none_is_left, patience)) give_up_waiting(patience);
}

}  // namespace nekbone_k
