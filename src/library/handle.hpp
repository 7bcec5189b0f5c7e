// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What a handle of the C interface owns.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/communicator.hpp"
#include "core/types.hpp"
#include "gs/gather_scatter.hpp"
#include "gs/split_gather_scatter.hpp"
#include "library/options.hpp"
#include "library/process.hpp"
#include "tuning/tuner.hpp"

namespace nekbone_k {

/// The values of an operation, as the arguments of the C interface describe them.
struct FieldArguments {
  int type, components, layout, operation;
  auto operator<=>(const FieldArguments&) const = default;
};

/// Work of the caller beside an exchange; empty if there is none.
using CallerWork = std::function<void(double portion)>;

/// A gather–scatter of the library. Members are collective, except report(). They throw InputError
/// on every rank if an argument is invalid on any, where nekbone_k/gs.h says so.
class LibraryHandle {
 public:
  /// `n` and `ids` as in nekbone_k_gs_create(). Duplicates `comm`.
  /// `fault` says what else is wrong on this rank.
  LibraryHandle(MPI_Comm comm, std::int64_t n, const std::int64_t* ids, const char* options,
                const std::string& fault);

  /// Operations; see nekbone_k/gs.h.
  void op(void* values, const FieldArguments& field);
  void start(void* values, const FieldArguments& field);
  void finish();
  void tune(int type, int components, const CallerWork& work);

  std::string report() const;
  bool is_started() const { return static_cast<bool>(m_finish); }

 private:
  /// For values of one type and number of components: the operation, a copy of values that are not
  /// by component or that kernels cannot reach, and interleaved values of the host on the device.
  template <class T>
  struct Resources {
    SplitGatherScatter<T> split;
    DeviceField<T> copy;
    DeviceVector<T> interleaved;
  };
  template <class T>
  using ByComponents = std::map<int, std::unique_ptr<Resources<T>>>;

  template <class T>
  Resources<T>& resources(int components);
  /// `alone`: no work of the caller comes before finish().
  void start(void* values, const FieldArguments& field, bool alone);
  template <class T>
  void start_field(void* values, const FieldArguments& field, Reduction op, bool alone);
  /// Throws InputError, if work that tune() runs uses the handle, on this rank alone: the others
  /// are in the tuner.
  void require_not_tuned() const;
  void check(const void* values, const FieldArguments& field);
  void use(const TuningResult& result);

  HandleCount m_count;
  Communicator m_comm;
  LibraryOptions m_options;
  GatherScatter m_gs;
  std::set<FieldArguments> m_agreed;  ///< arguments that all ranks have compared
  std::tuple<ByComponents<double>, ByComponents<float>, ByComponents<std::int32_t>,
             ByComponents<std::int64_t>>
      m_resources;
  std::function<void()> m_finish;  ///< ends the operation under way, if any
  bool m_is_tuning = false;        ///< while the caller's work runs in tune()
  std::vector<TuningResult> m_tunings;
  std::int64_t m_points_of_all_ranks = 0, m_most_shared = 0;
};

}  // namespace nekbone_k
