// SPDX-License-Identifier: BSD-3-Clause
#include "library/handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/commit.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "library/nekbone_k/gs.h"
#include "tuning/tuning_guard.hpp"
#include "tuning/tuning_json.hpp"

namespace nekbone_k {
namespace {

using Json = nlohmann::ordered_json;

/// As for the components of an input file: enough for a velocity, a temperature and many species.
constexpr int most_components = 64;

/// By their numbers in nekbone_k/gs.h.
constexpr std::array type_bytes{8, 4, 4, 8};
constexpr std::array operations{Reduction::add, Reduction::multiply, Reduction::min,
                                Reduction::max};

bool is_index_of(int number, const auto& table) {
  return number >= 0 && number < static_cast<int>(table.size());
}

/// Calls `action` with a zero of a type of values.
template <class Action>
void with_type(int type, const Action& action) {
  switch (type) {
    case NEKBONE_K_GS_DOUBLE:
      return action(double{});
    case NEKBONE_K_GS_FLOAT:
      return action(float{});
    case NEKBONE_K_GS_INT32:
      return action(std::int32_t{});
    default:
      return action(std::int64_t{});
  }
}

/// Strategies move bytes, so an integer counts as a number of the same size.
FieldKind kind_of(int type, int components) {
  return {components, type_bytes[type] == 4 ? Precision::single : Precision::double_};
}

constexpr const char* under_way = "an operation is under way; finish it first";

/// What is wrong with a type and a number of components; empty if nothing is.
std::string fault_of(int type, int components) {
  if (!is_index_of(type, type_bytes))
    return fmt::format("type {} is unknown; allowed: NEKBONE_K_GS_DOUBLE, _FLOAT, _INT32, _INT64",
                       type);
  if (components < 1 || components > most_components)
    return fmt::format("{} components were given; allowed: 1 to {}", components, most_components);
  return {};
}

std::string fault_of(const FieldArguments& field) {
  if (const std::string fault = fault_of(field.type, field.components); !fault.empty())
    return fault;
  if (field.layout < NEKBONE_K_GS_BY_COMPONENT || field.layout > NEKBONE_K_GS_SEPARATE)
    return fmt::format(
        "layout {} is unknown; allowed: NEKBONE_K_GS_BY_COMPONENT, _INTERLEAVED, _SEPARATE",
        field.layout);
  if (!is_index_of(field.operation, operations))
    return fmt::format("operation {} is unknown; allowed: NEKBONE_K_GS_ADD, _MUL, _MIN, _MAX",
                       field.operation);
  return {};
}

/// Throws InputError on every rank if `fault` is not empty on one. Collective.
void require_no_fault(const Communicator& comm, const std::string& fault) {
  const std::string first =
      comm.first_text(fault.empty() ? fault : fmt::format("rank {}: {}", comm.rank(), fault));
  if (!first.empty()) throw InputError(first);
}

/// An argument, and what to say if the ranks passed different ones.
struct CommonArgument {
  int value;
  const char* difference;
};

constexpr const char* different_types = "the ranks passed different types of values";
constexpr const char* different_components = "the ranks passed different numbers of components";

/// Throws InputError on every rank unless the arguments are the same on all. Collective.
void require_same(const Communicator& comm, std::initializer_list<CommonArgument> arguments) {
  std::vector<double> bounds;
  for (const auto& [value, _] : arguments) bounds.insert(bounds.end(), {1.0 * value, -1.0 * value});
  comm.max(bounds);
  std::size_t at = 0;
  for (const CommonArgument& argument : arguments) {
    if (bounds[at] != -bounds[at + 1]) throw InputError(argument.difference);
    at += 2;
  }
}

/// The options, checked on all ranks together with the ids. Collective.
LibraryOptions checked_options(const Communicator& comm, std::int64_t n, const std::int64_t* ids,
                               const char* text, std::string fault) {
  const std::string given = text == nullptr ? "" : text;
  LibraryOptions options;
  constexpr std::int64_t most = std::numeric_limits<LocalIndex>::max();
  if (n < 0 || n > most)
    fault = fmt::format("the number of points is {}; allowed: 0 to {}", n, most);
  if (n > 0 && ids == nullptr) fault = fmt::format("ids of {} points were given as NULL", n);
  try {
    options = parse_library_options(given);
  } catch (const InputError& error) {
    fault = error.what();
  }
  if (comm.broadcast(given) != given)
    fault = "options differ from those of rank 0; pass the same text on every rank";
  require_no_fault(comm, fault);
  return options;
}

/// Ids as a GatherScatter wants them: negative if a point joins nothing.
std::vector<GlobalId> joining_ids(std::int64_t n, const std::int64_t* ids) {
  std::vector<GlobalId> joining(ids, ids + n);
  for (GlobalId& id : joining)
    if (id <= 0) id = -1;
  return joining;
}

/// Excludes strategies whose messages are late, and watches nothing else.
class PatienceGuard final : public NoGuard {
 public:
  explicit PatienceGuard(double patience) : m_patience(patience) {}
  double patience() const override { return m_patience; }

 private:
  double m_patience;
};

/// Copies values between the layout of the caller, in memory that kernels reach, and `field`.
/// `inward` is the direction: from `values` to `field`.
template <class T>
void copy_interleaved(T* values, const DeviceField<T>& field, bool inward) {
  const auto components = static_cast<int>(field.extent(1));
  Kokkos::parallel_for(
      "nekbone_k: interleaved values",
      Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(field.extent(0))),
      KOKKOS_LAMBDA(const LocalIndex p) {
        for (int c = 0; c < components; ++c) {
          T& value = values[std::size_t(p) * components + c];
          if (inward)
            field(p, c) = value;
          else
            value = field(p, c);
        }
      });
}

/// A vector of the caller in host memory.
template <class T>
using HostValues = Kokkos::View<T*, HostMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The arrays as the columns of a field, without a copy, if they lie at equal distances and do not
/// overlap; otherwise a field without points.
template <class T>
DeviceField<T> as_field(const std::vector<T*>& arrays, std::size_t n) {
  const std::size_t components = arrays.size();
  std::uintptr_t bytes = n * sizeof(T);
  const auto address = [&](std::size_t c) { return reinterpret_cast<std::uintptr_t>(arrays[c]); };
  if (components > 1) bytes = address(1) - address(0);
  for (std::size_t c = 1; c < components; ++c)
    if (address(c) < address(c - 1) || address(c) - address(c - 1) != bytes) return {};
  if (bytes < n * sizeof(T) || bytes % sizeof(T) != 0) return {};
  const DeviceField<T> all(arrays[0], bytes / sizeof(T), components);
  return Kokkos::subview(all, std::pair<std::size_t, std::size_t>(0, n), Kokkos::ALL);
}

/// Copies between an array of the caller and a vector of the device. `inward` is the direction: to
/// the vector.
template <class T, class Column>
void copy_array(T* array, const Column& column, bool inward) {
  const std::size_t n = column.extent(0);
  if (is_host_device || is_device_memory(array)) {
    const DeviceVector<T> there(array, n);
    if (inward)
      Kokkos::deep_copy(column, there);
    else
      Kokkos::deep_copy(there, column);
  } else {
    const HostValues<T> here(array, n);
    if (inward)
      Kokkos::deep_copy(column, here);
    else
      Kokkos::deep_copy(here, column);
  }
}

std::string why_no_candidate(const TuningResult& result) {
  std::string reasons;
  for (const CandidateResult& candidate : result.candidates)
    reasons += fmt::format("; {}: {}", candidate.strategy.name, candidate.failure);
  return "no strategy works here" + reasons;
}

}  // namespace

LibraryHandle::LibraryHandle(MPI_Comm comm, std::int64_t n, const std::int64_t* ids,
                             const char* options, const std::string& fault)
    : m_comm(comm),
      m_options(checked_options(m_comm, n, ids, options, fault)),
      m_gs(m_comm, joining_ids(n, ids)) {
  m_points_of_all_ranks = m_comm.sum(n);
  m_most_shared = m_comm.max(std::int64_t{m_gs.plan().n_shared()});
  if (m_options.strategies.empty()) return;  // the first strategy works everywhere
  std::string reasons;
  for (const Strategy& strategy : m_options.chosen_strategies()) {
    const std::string why = why_unavailable(m_comm, strategy);
    if (why.empty()) {
      m_gs.select(strategy);
      return;
    }
    reasons += fmt::format("; {}: {}", strategy.name, why);
  }
  throw UnavailableError("no strategy of the options is available" + reasons);
}

template <class T>
LibraryHandle::Resources<T>& LibraryHandle::resources(int components) {
  auto& made = std::get<ByComponents<T>>(m_resources);
  auto found = made.find(components);
  if (found == made.end()) {
    const Strategy& strategy =
        m_gs.strategy({components, sizeof(T) == 4 ? Precision::single : Precision::double_});
    found = made.emplace(components, new Resources<T>{{m_gs, strategy, components}, {}, {}}).first;
  }
  return *found->second;
}

void LibraryHandle::require_not_tuned() const {
  if (m_is_tuning) throw InputError("the handle is being tuned; the work must not use it");
}

void LibraryHandle::check(const void* values, const FieldArguments& field) {
  require_not_tuned();
  std::string fault = fault_of(field);
  if (is_started()) fault = under_way;
  if (fault.empty() && m_gs.assembly().n_points() > 0) {
    const auto* const arrays = static_cast<const void* const*>(values);
    if (values == nullptr)
      fault = "values were given as NULL";
    else if (field.layout == NEKBONE_K_GS_SEPARATE &&
             std::find(arrays, arrays + field.components, nullptr) != arrays + field.components)
      fault = "one of the arrays of values was given as NULL";
  }
  if (!m_agreed.contains(field)) {
    require_no_fault(m_comm, fault);
    require_same(m_comm, {{field.type, different_types},
                          {field.components, different_components},
                          {field.layout, "the ranks passed different layouts"},
                          {field.operation, "the ranks passed different operations"}});
    m_agreed.insert(field);
  } else if (!fault.empty()) {
    throw InputError(fault);
  }
}

template <class T>
void LibraryHandle::start_field(void* given, const FieldArguments& field, Reduction op,
                                bool alone) {
  Resources<T>& used = resources<T>(field.components);
  const std::size_t n = m_gs.assembly().n_points(), size = n * field.components;
  const auto end = [&used] {
    Kokkos::fence("nekbone_k: gather-scatter of the library");
    used.split.check();
  };
  const auto start_in_place = [&](const DeviceField<T>& points) {
    used.split.start(points, op, alone);
    m_finish = [&used, end] {
      used.split.finish();
      end();
    };
  };
  const auto make_copy = [&] {
    if (used.copy.extent(0) == n) return;
    used.copy =
        DeviceField<T>(Kokkos::view_alloc("nekbone_k: copy of values", Kokkos::WithoutInitializing),
                       n, field.components);
  };

  if (field.layout == NEKBONE_K_GS_SEPARATE) {
    std::vector<T*> arrays(field.components, nullptr);
    if (n > 0) std::copy_n(static_cast<T* const*>(given), field.components, arrays.begin());
    const bool on_device =
        is_host_device || std::all_of(arrays.begin(), arrays.end(), is_device_memory);
    if (const DeviceField<T> points = as_field(arrays, n); on_device && points.extent(0) == n)
      return start_in_place(points);
    make_copy();
    const auto copy_all = [&used](const std::vector<T*>& all, bool inward) {
      for (std::size_t c = 0; c < all.size(); ++c)
        copy_array(all[c], Kokkos::subview(used.copy, Kokkos::ALL, c), inward);
    };
    copy_all(arrays, true);
    used.split.start(used.copy, op, alone);
    m_finish = [=, &used] {
      used.split.finish();
      copy_all(arrays, false);
      end();
    };
    return;
  }

  T* const values = static_cast<T*>(given);
  const bool on_device = is_host_device || is_device_memory(values);
  const bool interleaved = field.layout == NEKBONE_K_GS_INTERLEAVED && field.components > 1;
  if (on_device && !interleaved) return start_in_place(DeviceField<T>(values, n, field.components));
  make_copy();
  // Values that kernels do not reach pass through a vector as they are.
  DeviceVector<T> there;
  T* reachable = values;
  if (!on_device) {
    if (interleaved && used.interleaved.extent(0) != size)
      used.interleaved = uninitialized<T>("nekbone_k: interleaved values of the host", size);
    there = interleaved ? used.interleaved : DeviceVector<T>(used.copy.data(), size);
    Kokkos::deep_copy(there, HostValues<T>(values, size));
    reachable = there.data();
  }
  if (interleaved) copy_interleaved(reachable, used.copy, true);
  used.split.start(used.copy, op, alone);
  m_finish = [=, &used] {
    used.split.finish();
    if (interleaved) copy_interleaved(reachable, used.copy, false);
    if (!on_device) Kokkos::deep_copy(HostValues<T>(values, size), there);
    end();
  };
}

void LibraryHandle::start(void* values, const FieldArguments& field, bool alone) {
  check(values, field);
  with_type(field.type,
            [&]<class T>(T) { start_field<T>(values, field, operations[field.operation], alone); });
}

void LibraryHandle::start(void* values, const FieldArguments& field) {
  start(values, field, /*alone=*/false);
}

void LibraryHandle::op(void* values, const FieldArguments& field) {
  start(values, field, /*alone=*/true);
  finish();
}

void LibraryHandle::finish() {
  if (!is_started()) throw InputError("no operation is under way; start one first");
  std::exchange(m_finish, {})();
}

void LibraryHandle::tune(int type, int components, const CallerWork& work) {
  require_not_tuned();
  std::string fault = fault_of(type, components);
  if (is_started()) fault = under_way;
  require_no_fault(m_comm, fault);
  require_same(m_comm, {{type, different_types},
                        {components, different_components},
                        {work ? 1 : 0,
                         "some ranks passed work and others NULL; pass it on all or on none"}});
  std::vector<Strategy> strategies = m_options.chosen_strategies();
  if (!work) {
    std::erase_if(strategies, [](const Strategy& strategy) { return strategy.overlapped; });
    if (strategies.empty())
      throw InputError(
          "option 'strategies' has only strategies that overlap with work (+overlap); name another "
          "one, or pass work to nekbone_k_gs_tune");
  }
  const OverlapWork overlap{.name = work ? "the caller's work" : "none",
                            .meanwhile = [&](double portion) {
                              if (!work) return;
                              m_is_tuning = true;
                              work(portion);
                              m_is_tuning = false;
                            }};
  PatienceGuard guard(m_options.patience);
  const TuningResult result = nekbone_k::tune(m_gs, kind_of(type, components), strategies, overlap,
                                              m_options.tuning, guard);
  m_is_tuning = false;  // also if the work threw
  use(result);
}

void LibraryHandle::use(const TuningResult& result) {
  if (result.selected < 0) throw UnavailableError(why_no_candidate(result));
  // Resources of other kinds stay. They use the first selection, too.
  const bool is_first = m_tunings.empty();
  if (is_first) m_gs.select(result.candidates[result.selected].strategy);
  std::apply(
      [&](auto&... by_components) {
        const auto forget = [&]<class T>(ByComponents<T>& made) {
          const bool has_size = (sizeof(T) == 4) == (result.kind.precision == Precision::single);
          if (is_first)
            made.clear();
          else if (has_size)
            made.erase(result.kind.components);
        };
        (forget(by_components), ...);
      },
      m_resources);
  std::erase_if(m_tunings,
                [&](const TuningResult& earlier) { return earlier.kind == result.kind; });
  m_tunings.push_back(result);
}

std::string LibraryHandle::report() const {
  Json tunings = Json::array();
  for (const TuningResult& tuning : m_tunings) tunings.push_back(tuning_json(tuning));
  const Json report = {
      {"version", version_string},         {"commit", commit_string},
      {"backend", ExecutionSpace::name()}, {"ranks", m_comm.size()},
      {"points", m_points_of_all_ranks},   {"most_shared_dofs", m_most_shared},
      {"strategy", m_gs.strategy().name},  {"tunings", tunings},
  };
  return report.dump(2);
}

}  // namespace nekbone_k
