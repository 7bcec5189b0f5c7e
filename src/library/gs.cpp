// SPDX-License-Identifier: BSD-3-Clause
// The functions of C: each turns exceptions into a code and a text.
#include "library/nekbone_k/gs.h"

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/give_up.hpp"
#include "library/handle.hpp"
#include "library/process.hpp"

/// The handle of C.
struct nekbone_k_gs {
  std::unique_ptr<nekbone_k::LibraryHandle> handle;
  bool has_failed = false;  ///< messages may still be under way
  std::string report;
};

namespace {

thread_local std::string last_error;

int failure(int code, const char* text) {
  try {
    last_error = text;
  } catch (const std::exception&) {
    last_error.clear();  // no memory for the text; the code remains
  }
  return code;
}

int code_of(const std::exception& error) {
  if (dynamic_cast<const nekbone_k::InputError*>(&error) != nullptr) return NEKBONE_K_GS_INVALID;
  if (dynamic_cast<const nekbone_k::UnavailableError*>(&error) != nullptr)
    return NEKBONE_K_GS_UNAVAILABLE;
  return nekbone_k::is_out_of_memory(error) ? NEKBONE_K_GS_NO_MEMORY : NEKBONE_K_GS_FAILED;
}

/// Runs `action` and returns the code of its exception.
template <class Action>
int code_from(const Action& action) {
  try {
    action();
    return NEKBONE_K_GS_OK;
  } catch (const std::exception& error) {
    return failure(code_of(error), error.what());
  } catch (...) {
    return failure(NEKBONE_K_GS_FAILED, "internal error: an unknown exception; free the handle");
  }
}

/// Runs action(handle), if the handle can be used.
template <class Action>
int code_with(nekbone_k_gs* gs, const Action& action) {
  if (gs == nullptr) return failure(NEKBONE_K_GS_INVALID, "the handle is NULL");
  if (gs->has_failed)
    return failure(NEKBONE_K_GS_FAILED, "an earlier call with this handle failed; free it");
  return code_from([&] {
    if (const std::string why = nekbone_k::why_not_running(); !why.empty())
      throw nekbone_k::InputError(why);
    action(*gs->handle);
  });
}

/// code_with() for what is collective. After a failure, messages may still be under way.
template <class Action>
int code_of_all_with(nekbone_k_gs* gs, const Action& action) {
  const int code = code_with(gs, action);
  if (code == NEKBONE_K_GS_FAILED || code == NEKBONE_K_GS_NO_MEMORY) gs->has_failed = true;
  return code;
}

/// Makes a handle. comm_of() is the communicator, and is called when MPI runs.
template <class CommOf>
int create(const CommOf& comm_of, int64_t n, const int64_t* ids, const char* options,
           nekbone_k_gs** gs) {
  if (gs != nullptr) *gs = nullptr;
  return code_from([&] {
    // The ranks compare their faults, so that none waits for another.
    std::string fault = nekbone_k::start_process();
    const MPI_Comm comm = comm_of();
    if (comm == MPI_COMM_NULL) throw nekbone_k::InputError("the communicator is MPI_COMM_NULL");
    int is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter != 0)
      throw nekbone_k::InputError(
          "the communicator connects two groups; give one of a single group");
    if (gs == nullptr) fault = "the address of the handle is NULL";
    auto made = std::make_unique<nekbone_k_gs>();
    made->handle = std::make_unique<nekbone_k::LibraryHandle>(comm, n, ids, options, fault);
    *gs = made.release();
  });
}

}  // namespace

int nekbone_k_gs_create(MPI_Comm comm, int64_t n, const int64_t* ids, const char* options,
                        nekbone_k_gs** gs) {
  return create([&] { return comm; }, n, ids, options, gs);
}

int nekbone_k_gs_create_fortran(MPI_Fint comm, int64_t n, const int64_t* ids, const char* options,
                                nekbone_k_gs** gs) {
  return create([&] { return MPI_Comm_f2c(comm); }, n, ids, options, gs);
}

int nekbone_k_gs_op(nekbone_k_gs* gs, void* values, int type, int components, int layout,
                    int operation) {
  return code_of_all_with(gs, [&](nekbone_k::LibraryHandle& handle) {
    handle.op(values, {type, components, layout, operation});
  });
}

int nekbone_k_gs_start(nekbone_k_gs* gs, void* values, int type, int components, int layout,
                       int operation) {
  return code_of_all_with(gs, [&](nekbone_k::LibraryHandle& handle) {
    handle.start(values, {type, components, layout, operation});
  });
}

int nekbone_k_gs_finish(nekbone_k_gs* gs) {
  return code_of_all_with(gs, [](nekbone_k::LibraryHandle& handle) { handle.finish(); });
}

int nekbone_k_gs_tune(nekbone_k_gs* gs, int type, int components, nekbone_k_gs_work work,
                      void* data) {
  return code_of_all_with(gs, [&](nekbone_k::LibraryHandle& handle) {
    nekbone_k::CallerWork caller;
    if (work != nullptr) caller = [=](double portion) { work(portion, data); };
    handle.tune(type, components, caller);
  });
}

int nekbone_k_gs_report(nekbone_k_gs* gs, const char** json) {
  if (json == nullptr) return failure(NEKBONE_K_GS_INVALID, "the address of the text is NULL");
  return code_with(gs, [&](nekbone_k::LibraryHandle& handle) {
    gs->report = handle.report();
    *json = gs->report.c_str();
  });
}

int nekbone_k_gs_free(nekbone_k_gs** gs) {
  if (gs == nullptr || *gs == nullptr) return NEKBONE_K_GS_OK;
  return code_from([&] {
    const std::string why = nekbone_k::why_not_running();
    if (why.empty() && !(*gs)->has_failed && (*gs)->handle->is_started())
      throw nekbone_k::InputError("an operation is under way; finish it first");
    const std::unique_ptr<nekbone_k_gs> owned(std::exchange(*gs, nullptr));
    // If it failed, its messages may still be under way. Its memory then stays until the end.
    if (!why.empty() || owned->has_failed) nekbone_k::give_up(std::move(owned->handle));
    if (!why.empty()) throw nekbone_k::InputError(why + "; this one is not freed");
    owned->handle.reset();
  });
}

const char* nekbone_k_gs_error_text(void) { return last_error.c_str(); }

const char* nekbone_k_gs_version(void) { return nekbone_k::version_string; }
