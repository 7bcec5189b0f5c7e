/// @file
/// What can go wrong, as exceptions whose text carries the fix. `main` turns each into one message
/// and one exit code on every rank.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nekbone_k {

/// Exit codes of the program, documented in `--help`.
enum class ExitCode : int {
  pass = 0,          ///< the run was verified
  fail = 1,          ///< ran to its end, but a result is wrong or did not converge
  bad_input = 2,     ///< the input or the command line cannot be used
  no_memory = 3,     ///< the case does not fit in memory
  internal = 4,      ///< MPI, Kokkos or this program failed, or its output cannot be written
  interrupted = 130  ///< SIGINT; SIGTERM gives 143
};

/// Base of the errors this program raises itself.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what) : std::runtime_error(what), m_code(code) {}
  ExitCode exit_code() const { return m_code; }

 private:
  ExitCode m_code;
};

/// The input file or the command line is wrong. Raised alike on every rank.
class InputError : public Error {
 public:
  explicit InputError(const std::string& what) : Error(ExitCode::bad_input, what) {}
};

/// The case needs more memory than there is. Raised alike on every rank, before allocating.
class MemoryError : public Error {
 public:
  explicit MemoryError(const std::string& what) : Error(ExitCode::no_memory, what) {}
};

/// What a run found out cannot be written. Raised alike on every rank.
class OutputError : public Error {
 public:
  explicit OutputError(const std::string& what) : Error(ExitCode::internal, what) {}
};

/// An optional feature is not available on this machine or in this build. Raised alike on every
/// rank.
class UnavailableError : public Error {
 public:
  explicit UnavailableError(const std::string& what) : Error(ExitCode::internal, what) {}
};

/// Something that should hold does not, or a library call failed. May strike one rank alone.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& what) : Error(ExitCode::internal, what) {}
};

/// Whether an exception says that memory is short. Kokkos says so by a std::runtime_error.
inline bool is_out_of_memory(const std::exception& error) {
  if (const auto* const own = dynamic_cast<const Error*>(&error))
    return own->exit_code() == ExitCode::no_memory;
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::string_view(error.what()).find("failed to allocate") != std::string_view::npos;
}

/// For objects whose end takes all ranks: whether this rank ends its own because of an exception.
/// The others may then be elsewhere, and it must be given up instead.
class Unwinding {
 public:
  bool now() const { return std::uncaught_exceptions() > m_before; }

 private:
  int m_before = std::uncaught_exceptions();
};

/// Throws InternalError with `message` unless `condition` holds. For what only a defect can break.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw InternalError(message);
}

}  // namespace nekbone_k
