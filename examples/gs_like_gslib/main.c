/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was written for gslib: same includes and calls as with gslib. A closed chain of
 * elements with two points each, where neighbours share a point. */
#include <gslib.h>
#include <stdio.h>

enum { elements = 1000, points = 2 * elements }; /* of each rank */

int main(int argc, char** argv) {
  struct comm ranks;
  slong ids[points];
  double values[points], owned = 0, all = 0;
  MPI_Init(&argc, &argv);
  comm_init(&ranks, MPI_COMM_WORLD);
  for (int e = 0; e < elements; ++e) {
    const slong element = (slong)ranks.id * elements + e;
    ids[2 * e] = 1 + element;
    ids[2 * e + 1] = 1 + (element + 1) % ((slong)ranks.np * elements);
    values[2 * e] = values[2 * e + 1] = 1;
  }

  struct gs_data* handle = gs_setup(ids, points, &ranks, 0, gs_auto, 1);
  gs(values, gs_double, gs_add, 0, handle, NULL);
  gs_free(handle);

  /* Each id has exactly one unflagged copy, so their number is the number of ids. */
  gs_unique(ids, points, &ranks);
  int wrong = 0;
  for (int p = 0; p < points; ++p) {
    wrong += values[p] != 2;
    owned += ids[p] > 0;
  }
  MPI_Allreduce(&owned, &all, 1, MPI_DOUBLE, MPI_SUM, ranks.c);
  wrong += all != (double)elements * ranks.np;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, ranks.c);
  if (ranks.id == 0) printf("%d points are wrong\n", wrong);

  comm_free(&ranks);
  MPI_Finalize();
  return wrong != 0;
}
