/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function of gslib with NULL, by the number in the argument; 0 calls gs_free() after
 * MPI_Finalize, and then ends well. ci/check-install.sh compares the messages. */
#include <gslib.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0;
  const slong id[] = {1, 2, -3, 4};
  double u[] = {1, 1, 1, 1};
  void* const arrays[] = {u, NULL};
  MPI_Init(&argc, &argv);
  struct comm ranks = {0, 1, MPI_COMM_WORLD};
  struct gs_data* gsh = gs_setup(id, 4, &ranks, 0, gs_pairwise, 0);
  if (fault == 1) gs(NULL, gs_double, gs_add, 0, gsh, NULL);
  if (fault == 2) gs_vec(NULL, 70, gs_double, gs_add, 0, gsh, NULL);
  if (fault == 3) gs_many(arrays, 2, gs_double, gs_add, 0, gsh, NULL);
  if (fault == 4) igs(u, gs_double, gs_add, 0, gsh, NULL, NULL);
  MPI_Finalize();
  gs_free(gsh);
  return 0;
}
