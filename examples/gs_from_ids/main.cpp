// SPDX-License-Identifier: BSD-3-Clause
// A closed chain of elements with two points each: neighbours share a point, also across ranks.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <nekbone_k/gs.hpp>
#include <vector>

namespace gs = nekbone_k::gs;

// Returns how many points of this rank are wrong.
std::int64_t run(int rank, int size) {
  constexpr std::int64_t elements = 1000;  // of each rank
  std::vector<std::int64_t> ids;
  for (std::int64_t element = rank * elements; element < (rank + 1) * elements; ++element) {
    ids.push_back(1 + element);  // ids begin at 1: a point with the id 0 takes no part
    ids.push_back(1 + (element + 1) % (size * elements));
  }

  gs::GatherScatter gather_scatter(MPI_COMM_WORLD, ids, "tuning.budget_seconds=0.2");
  gather_scatter.tune<double>();
  std::vector<double> values(ids.size(), 1.0);
  gather_scatter.op(values.data(), gs::Operation::add);

  if (rank == 0) std::cout << gather_scatter.report() << '\n';
  return std::count_if(values.begin(), values.end(), [](double value) { return value != 2; });
}

int main(int argc, char** argv) {
  int rank = 0, size = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::int64_t wrong = 0;
  try {
    wrong = run(rank, size);
  } catch (const std::exception& error) {
    std::cerr << "gs_from_ids: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::cout << wrong << " points are wrong\n";
  MPI_Finalize();
  return wrong != 0;
}
