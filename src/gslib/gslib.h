/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The gather–scatter of nekbone-k under the names of gslib, for programs that were written for
 * gslib. docs/library.md says what is the same and what is not.
 *
 * Functions are named gslib_gs_setup, …. The short names gs_setup, gs_add, uint, … are defined as
 * well, unless the program defines NEKBONE_K_GSLIB_LONG_NAMES before it includes this file.
 *
 * All functions are collective over the communicator of their handle. They end the program if an
 * argument is invalid, because gslib has no return codes.
 */
#ifndef NEKBONE_K_GSLIB_H
#define NEKBONE_K_GSLIB_H

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GNUC__)
#define NEKBONE_K_GSLIB_API __attribute__((visibility("default")))
#else
#define NEKBONE_K_GSLIB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): the names are those of gslib. */
/** A communicator, with its rank and its number of ranks. Functions below use only `c`. */
struct comm {
  unsigned id, np;
  MPI_Comm c;
};

/** Memory that gslib uses for messages. This library has its own and ignores it. */
struct array {
  void* ptr;
  size_t n, max;
};

/** A handle. */
struct gs_data;
/* NOLINTEND(readability-identifier-naming) */

/** Types of values. */
typedef enum { gs_double, gs_float, gs_int, gs_long, gs_long_long, gs_dom_n } gs_dom;

/** Operations. `gs_bpr` gives the common leading bits of two positive integers of 32 bits, that is,
 * their closest common ancestor if the children of node n of a tree are 2n and 2n + 1. */
typedef enum { gs_add, gs_mul, gs_min, gs_max, gs_bpr, gs_op_n } gs_op;

/** How to exchange. `gs_auto` tunes and selects the fastest strategy. The others measure nothing:
 * `gs_crystal_router` uses host-crystal, and `gs_pairwise` and `gs_all_reduce` a pairwise one. */
typedef enum { gs_auto, gs_pairwise, gs_crystal_router, gs_all_reduce } gs_method;

/**
 * Makes a handle.
 *
 * @param id       per point: its id, or 0 if it takes no part. Points of all ranks with the same
 *                 absolute value of the id are copies. A negative id flags a copy.
 * @param n        number of points of this rank
 * @param comm     the ranks; its communicator is duplicated
 * @param unique   if not 0, all copies of an id but one are flagged, as by gslib_gs_unique()
 * @param method   see gs_method
 * @param verbose  if not 0, rank 0 prints one line about the strategy
 */
NEKBONE_K_GSLIB_API struct gs_data* gslib_gs_setup(const long long* id, unsigned n,
                                                   const struct comm* comm, int unique,
                                                   gs_method method, int verbose);

/** Frees a handle. */
NEKBONE_K_GSLIB_API void gslib_gs_free(struct gs_data* gsh);

/** Flags all copies of each id but one that is not flagged, in place. */
NEKBONE_K_GSLIB_API void gslib_gs_unique(long long* id, unsigned n, const struct comm* comm);

/**
 * Combines u[i] over all copies of an id.
 *
 * @param u          n values in host memory
 * @param dom        type of the values
 * @param op         how to combine
 * @param transpose  0: copies that are not flagged contribute, and all get the result. If all
 *                   copies are flagged, they get the neutral element of the operation. 1: all
 *                   copies contribute, and those that are not flagged get the result.
 * @param gsh        the handle
 * @param buf        is ignored
 */
NEKBONE_K_GSLIB_API void gslib_gs(void* u, gs_dom dom, gs_op op, unsigned transpose,
                                  struct gs_data* gsh, struct array* buf);
/** The same for vn components of each point: u[i * vn + component]. */
NEKBONE_K_GSLIB_API void gslib_gs_vec(void* u, unsigned vn, gs_dom dom, gs_op op,
                                      unsigned transpose, struct gs_data* gsh, struct array* buf);
/** The same for vn arrays: u[component][i]. */
NEKBONE_K_GSLIB_API void gslib_gs_many(void* const* u, unsigned vn, gs_dom dom, gs_op op,
                                       unsigned transpose, struct gs_data* gsh, struct array* buf);

/** As the three above, in two steps: they send messages, and gslib_gs_wait() ends the operation.
 * Meanwhile the values may be neither read nor written. All ranks begin operations, and wait for
 * them, in the same order. */
NEKBONE_K_GSLIB_API void gslib_igs(void* u, gs_dom dom, gs_op op, unsigned transpose,
                                   struct gs_data* gsh, struct array* buf, int* handle);
NEKBONE_K_GSLIB_API void gslib_igs_vec(void* u, unsigned vn, gs_dom dom, gs_op op,
                                       unsigned transpose, struct gs_data* gsh, struct array* buf,
                                       int* handle);
NEKBONE_K_GSLIB_API void gslib_igs_many(void* const* u, unsigned vn, gs_dom dom, gs_op op,
                                        unsigned transpose, struct gs_data* gsh, struct array* buf,
                                        int* handle);
/** Ends the operation that has this handle. */
NEKBONE_K_GSLIB_API void gslib_gs_wait(int handle);

/** The handle behind a number that fgslib_gs_setup() gave to Fortran. */
NEKBONE_K_GSLIB_API struct gs_data* gslib_gs_hf2c(int handle);

#ifndef NEKBONE_K_GSLIB_LONG_NAMES

#define gs gslib_gs
#define gs_vec gslib_gs_vec
#define gs_many gslib_gs_many
#define igs gslib_igs
#define igs_vec gslib_igs_vec
#define igs_many gslib_igs_many
#define gs_wait gslib_gs_wait
#define gs_setup gslib_gs_setup
#define gs_free gslib_gs_free
#define gs_unique gslib_gs_unique
#define gs_hf2c gslib_gs_hf2c
#define gs_sint gs_int
#define gs_slong gs_long_long

#define sint signed int
#define uint unsigned int
#define slong signed long long
#define ulong unsigned long long

typedef MPI_Comm comm_ext;
typedef struct array buffer;
#define null_buffer \
  { NULL, 0, 0 }

/** Gives `c` a duplicate of a communicator. */
static inline void comm_init(struct comm* c, comm_ext parent) {
  int rank, size;
  MPI_Comm_dup(parent, &c->c);
  MPI_Comm_rank(c->c, &rank);
  MPI_Comm_size(c->c, &size);
  c->id = (unsigned)rank;
  c->np = (unsigned)size;
}
static inline void comm_free(struct comm* c) { MPI_Comm_free(&c->c); }

/** Buffers hold nothing: this library ignores them. */
static inline void buffer_init(buffer* b, size_t bytes) {
  (void)bytes;
  b->ptr = NULL;
  b->n = b->max = 0;
}
static inline void buffer_free(buffer* b) {
  free(b->ptr);
  b->ptr = NULL;
  b->n = b->max = 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
