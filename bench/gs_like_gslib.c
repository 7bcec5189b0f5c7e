/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Times gs() through the interface of gslib, on periodic boxes of elements. Linked with gslib and
 * with libnekbone_k_gslib, the same program compares both (bench/README.md).
 *
 * Prints a line "ORDER ELEMENTS MILLISECONDS" per box, for one gs() that adds doubles: the median
 * over samples of the mean of their calls on the slowest rank. A barrier begins each sample. Ends
 * with 1 if gs() gave wrong values. With --quick, boxes are small, to show that it works.
 */
#include <gslib.h>
#include <stdio.h>
#include <string.h>

enum { samples = 15 };
static const double sample_seconds = 0.05;

struct box {
  int order, elements; /* elements: in each direction */
};
/* Of about as many points: 2 to 3 million. */
static const struct box boxes[] = {{1, 64}, {3, 32}, {7, 16}, {11, 12}};

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The first of `elements` that part `part` of `parts` has. */
static int first_of(int elements, int parts, int part) {
  return (int)((long long)elements * part / parts);
}

/* Ids of the points of this rank, which has a brick of elements: all in x, some in y and z. */
static slong* ids_of(struct box box, const struct comm* ranks, unsigned* count) {
  int parts_y = 1;
  for (int parts = 1; parts * parts <= (int)ranks->np; ++parts)
    if (ranks->np % parts == 0) parts_y = parts;
  const int parts_z = (int)ranks->np / parts_y;
  const int part_y = (int)ranks->id % parts_y, part_z = (int)ranks->id / parts_y;
  const int begin_y = first_of(box.elements, parts_y, part_y),
            end_y = first_of(box.elements, parts_y, part_y + 1),
            begin_z = first_of(box.elements, parts_z, part_z),
            end_z = first_of(box.elements, parts_z, part_z + 1);
  const int nodes = box.order + 1;
  const slong side = (slong)box.elements * box.order; /* points of the lattice in each direction */
  *count = (unsigned)(box.elements * (end_y - begin_y) * (end_z - begin_z) * nodes * nodes * nodes);
  slong* ids = malloc(*count * sizeof *ids);
  if (ids == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  slong* id = ids;
  for (int z = begin_z; z < end_z; ++z)
    for (int y = begin_y; y < end_y; ++y)
      for (int x = 0; x < box.elements; ++x)
        for (int k = 0; k < nodes; ++k)
          for (int j = 0; j < nodes; ++j)
            for (int i = 0; i < nodes; ++i)
              *id++ = 1 + ((z * box.order + k) % side * side + (y * box.order + j) % side) * side +
                      (x * box.order + i) % side;
  return ids;
}

/* Whether gs() of ones counts the copies of points: 2 on a face, 4 on an edge, 8 at a vertex. */
static int counts_copies(double* u, unsigned count, int order, struct gs_data* handle) {
  const unsigned nodes = (unsigned)order + 1;
  int right = 1;
  for (unsigned p = 0; p < count; ++p) u[p] = 1;
  gs(u, gs_double, gs_add, 0, handle, NULL);
  for (unsigned p = 0; p < count; ++p) {
    double expected = 1;
    for (unsigned rest = p % (nodes * nodes * nodes), d = 0; d < 3; ++d, rest /= nodes)
      if (rest % nodes == 0 || rest % nodes == nodes - 1) expected *= 2;
    right &= u[p] == expected;
  }
  return right;
}

/* Seconds of `calls` calls on the slowest rank. */
static double seconds_of(int calls, double* u, struct gs_data* handle, const struct comm* ranks) {
  MPI_Barrier(ranks->c);
  double seconds = -MPI_Wtime();
  for (int call = 0; call < calls; ++call) gs(u, gs_double, gs_add, 0, handle, NULL);
  seconds += MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, ranks->c);
  return seconds;
}

int main(int argc, char** argv) {
  struct comm ranks;
  MPI_Init(&argc, &argv);
  comm_init(&ranks, MPI_COMM_WORLD);
  const int is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
  int all_right = 1;
  for (unsigned b = 0; b < sizeof boxes / sizeof *boxes; ++b) {
    struct box box = boxes[b];
    if (is_quick) box.elements = 4;
    unsigned count;
    slong* ids = ids_of(box, &ranks, &count);
    double* u = malloc(count * sizeof *u);
    if (u == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    struct gs_data* handle = gs_setup(ids, count, &ranks, 0, gs_auto, 0);
    int right = counts_copies(u, count, box.order, handle);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, ranks.c);
    all_right &= right;
    for (unsigned p = 0; p < count; ++p) u[p] = 0; /* ones would grow without limit */
    const double once = seconds_of(3, u, handle, &ranks) / 3;
    const int calls = once * 10 < sample_seconds ? (int)(sample_seconds / once) : 10;
    double milliseconds[samples];
    for (int s = 0; s < samples; ++s)
      milliseconds[s] = 1e3 * seconds_of(calls, u, handle, &ranks) / calls;
    qsort(milliseconds, samples, sizeof *milliseconds, by_value);
    if (ranks.id == 0)
      printf("%d %d %.6g\n", box.order, box.elements * box.elements * box.elements,
             milliseconds[samples / 2]);
    gs_free(handle);
    free(u);
    free(ids);
  }
  if (!all_right && ranks.id == 0) fprintf(stderr, "gs() gave a wrong number of copies\n");
  comm_free(&ranks);
  MPI_Finalize();
  return !all_right;
}
