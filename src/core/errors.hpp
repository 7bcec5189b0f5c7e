// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Errors as exceptions whose text says how to fix them. `main` turns each into one message and one
/// exit code on every rank.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nekbone_k {

/// Exit codes of the program, documented in `--help`.
enum class ExitCode : int {
  pass = 0,          ///< every result was verified
  fail = 1,          ///< the run ended, but a result is wrong or did not converge
  bad_input = 2,     ///< the input or the command line is invalid
  no_memory = 3,     ///< the case does not fit in memory
  internal = 4,      ///< MPI, Kokkos or this program failed, or writing output failed
  stopped = 5,       ///< a flow stopped before its end, and saved a checkpoint
  interrupted = 130  ///< SIGINT; SIGTERM gives 143
};

/// Base of the errors that this program raises.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what) : std::runtime_error(what), m_code(code) {}
  ExitCode exit_code() const { return m_code; }

 private:
  ExitCode m_code;
};

/// The input file or the command line is invalid. All ranks raise it with the same text.
class InputError : public Error {
 public:
  explicit InputError(const std::string& what) : Error(ExitCode::bad_input, what) {}
};

/// The case needs more memory than is available. All ranks raise it, before they allocate.
class MemoryError : public Error {
 public:
  explicit MemoryError(const std::string& what) : Error(ExitCode::no_memory, what) {}
};

/// The results of a run cannot be written. All ranks raise it with the same text.
class OutputError : public Error {
 public:
  explicit OutputError(const std::string& what) : Error(ExitCode::internal, what) {}
};

/// An optional feature is unavailable on this machine or in this build. All ranks raise it with the
/// same text.
class UnavailableError : public Error {
 public:
  explicit UnavailableError(const std::string& what) : Error(ExitCode::internal, what) {}
};

/// An invariant does not hold, or a library call failed. A single rank may raise it.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& what) : Error(ExitCode::internal, what) {}
};

/// Whether an exception reports a lack of memory. Kokkos reports it by std::runtime_error.
inline bool is_out_of_memory(const std::exception& error) {
  if (const auto* const own = dynamic_cast<const Error*>(&error))
    return own->exit_code() == ExitCode::no_memory;
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::string_view(error.what()).find("failed to allocate") != std::string_view::npos;
}

/// For objects whose destructor is collective: tells whether an exception is destroying the object
/// on this rank. The other ranks may then be elsewhere, so the destructor must give up its
/// resources (core/give_up.hpp).
class Unwinding {
 public:
  bool now() const { return std::uncaught_exceptions() > m_before; }

 private:
  int m_before = std::uncaught_exceptions();
};

/// Throws InternalError with `message` unless `condition` holds. For conditions that only a bug
/// breaks.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw InternalError(message);
}

}  // namespace nekbone_k
