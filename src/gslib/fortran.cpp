// SPDX-License-Identifier: BSD-3-Clause
// The functions of gslib for Fortran. All arguments are addresses, handles and operations are
// numbers. Each has a second name without the prefix, as in the gslib inside Nekbone.
#define NEKBONE_K_GSLIB_LONG_NAMES
#include <mpi.h>

#include <string>
#include <vector>

#include "gslib/gslib.h"
#include "gslib/messages.hpp"

using nekbone_k::gslib::die;

namespace {

/// Handles by their numbers; NULL if one is free again. Never destroyed, because programs in
/// Fortran often end without freeing.
std::vector<gs_data*>& handles() {
  static auto* const all = new std::vector<gs_data*>;
  return *all;
}

comm communicator(MPI_Fint number, int ranks, const char* function) {
  comm made{0, 1, MPI_Comm_f2c(number)};
  int rank = 0, size = 0;
  MPI_Comm_rank(made.c, &rank);
  MPI_Comm_size(made.c, &size);
  if (size != ranks)
    die(function, "the number of ranks is given as " + std::to_string(ranks) +
                      ", but the communicator has " + std::to_string(size));
  made.id = static_cast<unsigned>(rank);
  made.np = static_cast<unsigned>(size);
  return made;
}

unsigned count(int n, const char* function) {
  if (n < 0) die(function, "a number of points or components is " + std::to_string(n));
  return static_cast<unsigned>(n);
}

gs_data*& handle_of(int number, const char* function) {
  if (number < 0 || number >= static_cast<int>(handles().size()) || handles()[number] == nullptr)
    die(function, "no handle has the number " + std::to_string(number));
  return handles()[number];
}

/// The arguments of an operation, from their numbers in Fortran.
struct Arguments {
  gs_data* gsh;
  gs_dom dom;
  gs_op op;
  unsigned transpose;
  int bytes;  ///< of a value

  Arguments(const int* handle, const int* dom_number, const int* op_number, const int* transposed,
            const char* function)
      : gsh(handle_of(*handle, function)), transpose(*transposed != 0 ? 1 : 0) {
    if (*dom_number < 1 || *dom_number > 3)
      die(function, "the type of values is " + std::to_string(*dom_number) +
                        "; allowed: 1 (real*8), 2 (integer*4), 3 (integer*8)");
    if (*op_number < 1 || *op_number > 4)
      die(function, "the operation is " + std::to_string(*op_number) +
                        "; allowed: 1 (add), 2 (multiply), 3 (minimum), 4 (maximum)");
    dom = *dom_number == 1 ? gs_double : *dom_number == 2 ? gs_int : gs_long_long;
    op = static_cast<gs_op>(*op_number - 1);
    bytes = dom == gs_int ? 4 : 8;
  }
};

}  // namespace

gs_data* gslib_gs_hf2c(int handle) { return handle_of(handle, "gs_hf2c"); }

// NEKBONE_K_FORTRAN(NAME, PARAMETERS) declares fgslib_NAME_ with its second name, and begins its
// definition.
#define NEKBONE_K_FORTRAN(name, parameters)                                                \
  NEKBONE_K_GSLIB_API void fgslib_##name##_ parameters;                                    \
  NEKBONE_K_GSLIB_API __attribute__((alias("fgslib_" #name "_"))) void name##_ parameters; \
  void fgslib_##name##_ parameters

extern "C" {

NEKBONE_K_FORTRAN(gs_setup_pick, (int* handle, const long long* id, const int* n,
                                  const MPI_Fint* ranks, const int* np, const int* method)) {
  const comm made = communicator(*ranks, *np, "gs_setup");
  gs_data* const gsh =
      gslib_gs_setup(id, count(*n, "gs_setup"), &made, 0, static_cast<gs_method>(*method), 1);
  *handle = static_cast<int>(handles().size());
  handles().push_back(gsh);
}

NEKBONE_K_FORTRAN(gs_setup, (int* handle, const long long* id, const int* n, const MPI_Fint* ranks,
                             const int* np)) {
  const int method = gs_auto;
  fgslib_gs_setup_pick_(handle, id, n, ranks, np, &method);
}

NEKBONE_K_FORTRAN(gs_free, (const int* handle)) {
  gs_data*& gsh = handle_of(*handle, "gs_free");
  gslib_gs_free(gsh);
  gsh = nullptr;
}

NEKBONE_K_FORTRAN(gs_unique, (long long* id, const int* n, const MPI_Fint* ranks, const int* np)) {
  const comm made = communicator(*ranks, *np, "gs_unique");
  gslib_gs_unique(id, count(*n, "gs_unique"), &made);
}

NEKBONE_K_FORTRAN(gs_op, (const int* handle, void* u, const int* dom, const int* op,
                          const int* transpose)) {
  const Arguments given(handle, dom, op, transpose, "gs_op");
  gslib_gs(u, given.dom, given.op, given.transpose, given.gsh, nullptr);
}

NEKBONE_K_FORTRAN(gs_op_vec, (const int* handle, void* u, const int* n, const int* dom,
                              const int* op, const int* transpose)) {
  const Arguments given(handle, dom, op, transpose, "gs_op_vec");
  gslib_gs_vec(u, count(*n, "gs_op_vec"), given.dom, given.op, given.transpose, given.gsh, nullptr);
}

NEKBONE_K_FORTRAN(gs_op_many,
                  (const int* handle, void* u1, void* u2, void* u3, void* u4, void* u5, void* u6,
                   const int* n, const int* dom, const int* op, const int* transpose)) {
  const Arguments given(handle, dom, op, transpose, "gs_op_many");
  void* const u[]{u1, u2, u3, u4, u5, u6};
  if (*n > 6) die("gs_op_many", "there are " + std::to_string(*n) + " arrays; allowed: up to 6");
  gslib_gs_many(u, count(*n, "gs_op_many"), given.dom, given.op, given.transpose, given.gsh,
                nullptr);
}

NEKBONE_K_FORTRAN(gs_op_fields, (const int* handle, void* u, const int* stride, const int* n,
                                 const int* dom, const int* op, const int* transpose)) {
  const Arguments given(handle, dom, op, transpose, "gs_op_fields");
  if (*n < 0) return;
  std::vector<void*> fields;
  for (int f = 0; f < *n; ++f)
    fields.push_back(static_cast<char*>(u) + std::ptrdiff_t{1} * f * *stride * given.bytes);
  gslib_gs_many(fields.data(), static_cast<unsigned>(*n), given.dom, given.op, given.transpose,
                given.gsh, nullptr);
}

NEKBONE_K_FORTRAN(igs_op, (const int* handle, void* u, const int* dom, const int* op,
                           const int* transpose, int* wait)) {
  const Arguments given(handle, dom, op, transpose, "igs_op");
  gslib_igs(u, given.dom, given.op, given.transpose, given.gsh, nullptr, wait);
}

NEKBONE_K_FORTRAN(igs_op_vec, (const int* handle, void* u, const int* n, const int* dom,
                               const int* op, const int* transpose, int* wait)) {
  const Arguments given(handle, dom, op, transpose, "igs_op_vec");
  gslib_igs_vec(u, count(*n, "igs_op_vec"), given.dom, given.op, given.transpose, given.gsh,
                nullptr, wait);
}

NEKBONE_K_FORTRAN(igs_op_many,
                  (const int* handle, void* u1, void* u2, void* u3, void* u4, void* u5, void* u6,
                   const int* n, const int* dom, const int* op, const int* transpose, int* wait)) {
  const Arguments given(handle, dom, op, transpose, "igs_op_many");
  void* const u[]{u1, u2, u3, u4, u5, u6};
  if (*n > 6) die("igs_op_many", "there are " + std::to_string(*n) + " arrays; allowed: up to 6");
  gslib_igs_many(u, count(*n, "igs_op_many"), given.dom, given.op, given.transpose, given.gsh,
                 nullptr, wait);
}

NEKBONE_K_FORTRAN(gs_op_wait, (const int* wait)) { gslib_gs_wait(*wait); }

}  // extern "C"
