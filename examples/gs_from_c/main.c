/* SPDX-License-Identifier: BSD-3-Clause */
/* A closed chain of elements with two points each: neighbours share a point, also across ranks. */
#include <mpi.h>
#include <nekbone_k/gs.h>
#include <stdio.h>

enum { elements = 1000, points = 2 * elements }; /* of each rank */

static void check(int code) {
  if (code == NEKBONE_K_GS_OK) return;
  fprintf(stderr, "gs_from_c: %s\n", nekbone_k_gs_error_text());
  MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  int64_t ids[points];
  double values[points];
  for (int e = 0; e < elements; ++e) {
    const int64_t element = (int64_t)rank * elements + e;
    ids[2 * e] = 1 + element; /* ids begin at 1: a point with the id 0 takes no part */
    ids[2 * e + 1] = 1 + (element + 1) % ((int64_t)size * elements);
    values[2 * e] = values[2 * e + 1] = 1;
  }

  nekbone_k_gs* gs = NULL;
  check(nekbone_k_gs_create(MPI_COMM_WORLD, points, ids, "tuning.budget_seconds=0.2", &gs));
  check(nekbone_k_gs_tune(gs, NEKBONE_K_GS_DOUBLE, 1, NULL, NULL));
  check(nekbone_k_gs_op(gs, values, NEKBONE_K_GS_DOUBLE, 1, NEKBONE_K_GS_BY_COMPONENT,
                        NEKBONE_K_GS_ADD));

  int wrong = 0;
  for (int p = 0; p < points; ++p) wrong += values[p] != 2;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const char* report = NULL;
  check(nekbone_k_gs_report(gs, &report));
  if (rank == 0) printf("%s\n%d points are wrong\n", report, wrong);

  check(nekbone_k_gs_free(&gs));
  MPI_Finalize();
  return wrong != 0;
}
