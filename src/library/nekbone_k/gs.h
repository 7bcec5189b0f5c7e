/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The gather–scatter of nekbone-k, for C. A new handle uses a simple exchange strategy.
 * nekbone_k_gs_tune() verifies and times the candidates on the machine at hand, and selects the
 * fastest.
 *
 * A gather–scatter connects points of all ranks. Every point has a global id; points with the same
 * id are copies of one degree of freedom. An operation gives all copies their combination, such as
 * their sum.
 *
 * Every function but error_text and version returns a code: NEKBONE_K_GS_OK or the reason of a
 * failure, with a text from nekbone_k_gs_error_text(). No function throws. All functions are
 * collective over the communicator of the handle, except report, error_text and version: all ranks
 * call them in the same order. They are not thread-safe. See docs/library.md.
 */
#ifndef NEKBONE_K_GS_H
#define NEKBONE_K_GS_H

#include <mpi.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NEKBONE_K_GS_API __attribute__((visibility("default")))
#else
#define NEKBONE_K_GS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A gather–scatter. */
typedef struct nekbone_k_gs nekbone_k_gs; /* NOLINT(readability-identifier-naming) */

/** Return codes. */
enum {
  NEKBONE_K_GS_OK = 0,
  NEKBONE_K_GS_INVALID = 1,     /**< an argument or an option is invalid */
  NEKBONE_K_GS_UNAVAILABLE = 2, /**< no strategy works here, or this build lacks what is needed */
  NEKBONE_K_GS_NO_MEMORY = 3,   /**< there is not enough memory; free the handle */
  NEKBONE_K_GS_FAILED = 4       /**< MPI, Kokkos or this library failed; free the handle */
};

/** Types of values. */
enum {
  NEKBONE_K_GS_DOUBLE = 0,
  NEKBONE_K_GS_FLOAT = 1,
  NEKBONE_K_GS_INT32 = 2, /**< int32_t, which is int on most machines */
  NEKBONE_K_GS_INT64 = 3  /**< int64_t, which is long on most 64-bit machines */
};

/** Operations. If one of two values is NaN, so is their minimum and their maximum. */
enum { NEKBONE_K_GS_ADD = 0, NEKBONE_K_GS_MUL = 1, NEKBONE_K_GS_MIN = 2, NEKBONE_K_GS_MAX = 3 };

/** Where component c of point p is, for n points. */
enum {
  NEKBONE_K_GS_BY_COMPONENT = 0, /**< values[c * n + p] */
  NEKBONE_K_GS_INTERLEAVED = 1,  /**< values[p * components + c]; copied before and after */
  NEKBONE_K_GS_SEPARATE = 2      /**< values[c][p]: `values` is a list, in host memory, of addresses
                                      of arrays. They are copied before and after unless the
                                      distance from each to the next is the same. */
};

/**
 * Makes a gather–scatter. Begins with a simple strategy; nekbone_k_gs_tune() selects a fast one.
 *
 * Starts MPI and Kokkos if the program has not, and ends what it started (docs/library.md).
 *
 * @param comm     the ranks; the library uses a duplicate
 * @param n        number of points of this rank; may be 0
 * @param ids      global id of each point, in host memory; read before the function returns.
 *                 Points with an id of 0 or less take no part: operations leave them as they are.
 * @param options  settings, such as "strategies=[device-pairwise, host-pairwise];
 *                 tuning.budget_seconds=1"; NULL or "" for none. The same on every rank. Keys are
 *                 those of section gather_scatter of an input file of nekbone-k.
 * @param gs       gets the handle, or NULL after a failure
 *
 * If one rank passes invalid arguments, all ranks return the same code and text.
 */
NEKBONE_K_GS_API int nekbone_k_gs_create(MPI_Comm comm, int64_t n, const int64_t* ids,
                                         const char* options, nekbone_k_gs** gs);

/**
 * Combines the values of all points with the same id, in place.
 *
 * @param gs          the handle
 * @param values      n * components values, in host or device memory. They are ready when the
 *                    function is called, and the result is ready when it returns.
 * @param type        NEKBONE_K_GS_DOUBLE, …
 * @param components  1 to 64
 * @param layout      NEKBONE_K_GS_BY_COMPONENT, …
 * @param operation   NEKBONE_K_GS_ADD, …
 *
 * All arguments but `values` are the same on every rank. If their combination is new on all ranks,
 * the ranks compare their arguments, and if one rank passes others or invalid ones, all return the
 * same code. If it is new on some ranks only, those wait for ever. Later calls check only the
 * arguments of their own rank.
 */
NEKBONE_K_GS_API int nekbone_k_gs_op(nekbone_k_gs* gs, void* values, int type, int components,
                                     int layout, int operation);

/**
 * Begins an operation like nekbone_k_gs_op(), and returns while messages are under way. The caller
 * works on other data, then calls nekbone_k_gs_finish(). Meanwhile `values` may be neither read nor
 * written. A handle can have one operation under way.
 */
NEKBONE_K_GS_API int nekbone_k_gs_start(nekbone_k_gs* gs, void* values, int type, int components,
                                        int layout, int operation);

/** Ends the operation that nekbone_k_gs_start() began. The result is ready when it returns. */
NEKBONE_K_GS_API int nekbone_k_gs_finish(nekbone_k_gs* gs);

/**
 * Work between start and finish. It runs about this portion of the work, in (0, 1], or more if the
 * work comes in larger pieces. It must not use the handle nor throw, and need not be collective.
 */
typedef void (*nekbone_k_gs_work)(double portion, void* data);

/**
 * Verifies and times the strategies, and selects the fastest for values of this size and number of
 * components. The first call of a handle also selects it for all other values.
 *
 * @param gs          the handle
 * @param type        NEKBONE_K_GS_DOUBLE, …
 * @param components  1 to 64
 * @param work        what runs between start and finish. With it, strategies that overlap with work
 *                    are candidates, too. NULL if only nekbone_k_gs_op() will follow; then on all
 *                    ranks.
 * @param data        is passed to `work`
 */
NEKBONE_K_GS_API int nekbone_k_gs_tune(nekbone_k_gs* gs, int type, int components,
                                       nekbone_k_gs_work work, void* data);

/**
 * The report as JSON: the ranks, the points and all candidates of each call of nekbone_k_gs_tune(),
 * with their samples. The text is valid until the next call with this handle. Not collective.
 */
NEKBONE_K_GS_API int nekbone_k_gs_report(nekbone_k_gs* gs, const char** json);

/**
 * Frees the handle, if it is not NULL, and sets it to NULL. While an operation is under way, returns
 * NEKBONE_K_GS_INVALID and changes nothing. Call it before MPI_Finalize.
 */
NEKBONE_K_GS_API int nekbone_k_gs_free(nekbone_k_gs** gs);

/** The text of the last failure in this thread, or "". Valid until the next failure. */
NEKBONE_K_GS_API const char* nekbone_k_gs_error_text(void);

/** The version of the library, such as "0.2.0". */
NEKBONE_K_GS_API const char* nekbone_k_gs_version(void);

/** nekbone_k_gs_create() for Fortran, whose communicators are integers. */
NEKBONE_K_GS_API int nekbone_k_gs_create_fortran(MPI_Fint comm, int64_t n, const int64_t* ids,
                                                 const char* options, nekbone_k_gs** gs);

#ifdef __cplusplus
}
#endif

#endif
