/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that starts neither MPI nor Kokkos: the library does, and ends both. Prints the sum of
 * 1 over all ranks on each, which ci/check-install.sh compares with the number of ranks. */
#include <nekbone_k/gs.h>
#include <stdio.h>

static int done(int code) {
  if (code != NEKBONE_K_GS_OK) fprintf(stderr, "%s\n", nekbone_k_gs_error_text());
  return code == NEKBONE_K_GS_OK;
}

int main(void) {
  const int64_t ids[] = {7, 0};
  int32_t values[] = {1, 42};
  /* Twice: a second handle comes after the last one is freed. */
  for (int i = 0; i < 2; ++i) {
    nekbone_k_gs* gs = NULL;
    values[0] = 1;
    if (!done(nekbone_k_gs_create(MPI_COMM_WORLD, 2, ids, NULL, &gs))) return 1;
    if (!done(nekbone_k_gs_op(gs, values, NEKBONE_K_GS_INT32, 1, NEKBONE_K_GS_BY_COMPONENT,
                              NEKBONE_K_GS_ADD)))
      return 1;
    if (!done(nekbone_k_gs_free(&gs))) return 1;
  }
  printf("%d %d\n", (int)values[0], (int)values[1]);
  return 0;
}
