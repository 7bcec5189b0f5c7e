// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// The gather–scatter of nekbone-k for C++17: objects and exceptions over nekbone_k/gs.h, which
/// explains everything.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gs.h"

namespace nekbone_k::gs {

/// A failure: its text, and a code such as NEKBONE_K_GS_INVALID.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& what) : std::runtime_error(what), m_code(code) {}
  int code() const { return m_code; }

 private:
  int m_code;
};

enum class Operation {
  add = NEKBONE_K_GS_ADD,
  multiply = NEKBONE_K_GS_MUL,
  min = NEKBONE_K_GS_MIN,
  max = NEKBONE_K_GS_MAX
};

/// NEKBONE_K_GS_SEPARATE is a list of arrays instead.
enum class Layout {
  by_component = NEKBONE_K_GS_BY_COMPONENT,
  interleaved = NEKBONE_K_GS_INTERLEAVED
};

/// The number of a type of values: double, float, or a signed integer of 4 or 8 bytes.
template <class T>
constexpr int type_of() {
  static_assert(
      std::is_same_v<T, double> || std::is_same_v<T, float> ||
          (std::is_integral_v<T> && std::is_signed_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)),
      "values are double, float, or signed integers of 4 or 8 bytes");
  if constexpr (std::is_same_v<T, double>) return NEKBONE_K_GS_DOUBLE;
  if constexpr (std::is_same_v<T, float>) return NEKBONE_K_GS_FLOAT;
  return sizeof(T) == 4 ? NEKBONE_K_GS_INT32 : NEKBONE_K_GS_INT64;
}

/// A gather–scatter. Members are collective except report(), and throw Error. A moved-from object
/// can only be destroyed or assigned to.
class GatherScatter {
 public:
  /// `ids` has data() and size(), such as a vector of std::int64_t.
  template <class Ids>
  GatherScatter(MPI_Comm comm, const Ids& ids, const std::string& options = {}) {
    const std::int64_t* const data = ids.data();
    check(nekbone_k_gs_create(comm, static_cast<std::int64_t>(ids.size()), data, options.c_str(),
                              &m_gs));
  }
  /// Collective, too. Call finish() before it: a handle whose operation is under way is not freed.
  ~GatherScatter() { nekbone_k_gs_free(&m_gs); }
  GatherScatter(GatherScatter&& other) noexcept : m_gs(std::exchange(other.m_gs, nullptr)) {}
  GatherScatter& operator=(GatherScatter&& other) noexcept {
    std::swap(m_gs, other.m_gs);
    return *this;
  }
  GatherScatter(const GatherScatter&) = delete;
  GatherScatter& operator=(const GatherScatter&) = delete;

  /// nekbone_k_gs_op()
  template <class T>
  void op(T* values, Operation operation, int components = 1,
          Layout layout = Layout::by_component) {
    check(nekbone_k_gs_op(m_gs, values, type_of<T>(), components, static_cast<int>(layout),
                          static_cast<int>(operation)));
  }
  template <class T>
  void op(const std::vector<T*>& arrays, Operation operation) {
    check(nekbone_k_gs_op(m_gs, addresses(arrays), type_of<T>(), static_cast<int>(arrays.size()),
                          NEKBONE_K_GS_SEPARATE, static_cast<int>(operation)));
  }
  /// nekbone_k_gs_start() and nekbone_k_gs_finish()
  template <class T>
  void start(T* values, Operation operation, int components = 1,
             Layout layout = Layout::by_component) {
    check(nekbone_k_gs_start(m_gs, values, type_of<T>(), components, static_cast<int>(layout),
                             static_cast<int>(operation)));
  }
  template <class T>
  void start(const std::vector<T*>& arrays, Operation operation) {
    check(nekbone_k_gs_start(m_gs, addresses(arrays), type_of<T>(), static_cast<int>(arrays.size()),
                             NEKBONE_K_GS_SEPARATE, static_cast<int>(operation)));
  }
  void finish() { check(nekbone_k_gs_finish(m_gs)); }

  /// nekbone_k_gs_tune() for op()
  template <class T>
  void tune(int components = 1) {
    check(nekbone_k_gs_tune(m_gs, type_of<T>(), components, nullptr, nullptr));
  }
  /// nekbone_k_gs_tune() for work(portion) between start() and finish(). If the work throws, it is
  /// not called again, and the first exception is thrown when the tuning is done on all ranks.
  template <class T, class Work>
  void tune_with(Work&& work, int components = 1) {
    std::exception_ptr thrown;
    auto call_work = [&](double portion) {
      try {
        if (!thrown) work(portion);
      } catch (...) {
        thrown = std::current_exception();
      }
    };
    using Call = decltype(call_work);
    const auto call = [](double portion, void* data) { (*static_cast<Call*>(data))(portion); };
    const int code = nekbone_k_gs_tune(m_gs, type_of<T>(), components, call, &call_work);
    if (thrown) std::rethrow_exception(thrown);
    check(code);
  }

  /// The report as JSON.
  std::string report() const {
    const char* json = nullptr;
    check(nekbone_k_gs_report(m_gs, &json));
    return json;
  }

 private:
  template <class T>
  static void* addresses(const std::vector<T*>& arrays) {
    return static_cast<void*>(const_cast<T**>(arrays.data()));  // the library only reads the list
  }
  static void check(int code) {
    if (code != NEKBONE_K_GS_OK) throw Error(code, nekbone_k_gs_error_text());
  }

  nekbone_k_gs* m_gs = nullptr;
};

}  // namespace nekbone_k::gs
