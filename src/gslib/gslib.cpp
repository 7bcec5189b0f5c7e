// SPDX-License-Identifier: BSD-3-Clause
// The functions of gslib, by those of nekbone_k/gs.h. That one is symmetric: all copies contribute,
// and all get the result. Flags of copies are added here.
#define NEKBONE_K_GSLIB_LONG_NAMES
#include "gslib/gslib.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gslib/messages.hpp"
#include "library/nekbone_k/gs.h"

using nekbone_k::gslib::die;

/// The handle of gslib.
struct gs_data {
  nekbone_k_gs* gs = nullptr;
  std::size_t n = 0;                    ///< points of this rank
  std::vector<std::size_t> flagged;     ///< its flagged points
  std::vector<std::size_t> sourceless;  ///< those whose copies are all flagged, on every rank
  std::function<void()> finish;         ///< ends the operation under way, if any
};

namespace {

/// The library takes this many components at once.
constexpr unsigned most_components = 64;

void require_ok(int code, const char* function) {
  if (code != NEKBONE_K_GS_OK) die(function, nekbone_k_gs_error_text());
}

/// The same after set-up and tuning, where these codes come with one text on all ranks. Collective.
void require_ok_on_all(int code, MPI_Comm comm, const char* function) {
  if (code == NEKBONE_K_GS_INVALID || code == NEKBONE_K_GS_UNAVAILABLE)
    nekbone_k::gslib::die_together(function, nekbone_k_gs_error_text(), comm);
  require_ok(code, function);
}

// ---- Values -------------------------------------------------------------------------------------

/// Where the values of an operation are.
enum class Shape { vector, many };

/// The values of an operation, as the caller gave them.
struct Values {
  Shape shape;
  void* u;  ///< values of points, or addresses of arrays
  unsigned components;

  template <class T>
  T& at(std::size_t point, unsigned component) const {
    if (shape == Shape::many)
      return static_cast<T*>(static_cast<void* const*>(u)[component])[point];
    return static_cast<T*>(u)[point * components + component];
  }
};

/// Calls `action` with a zero of a type of values.
template <class Action>
void with_domain(gs_dom dom, const char* function, const Action& action) {
  switch (dom) {
    case gs_double:
      return action(double{});
    case gs_float:
      return action(float{});
    case gs_int:
      return action(int{});
    case gs_long:
      return action(long{});
    case gs_long_long:
      return action(static_cast<long long>(0));
    default:
      die(function,
          "the type of values has the number " + std::to_string(dom) + "; allowed: 0 to 4");
  }
}

template <class T>
constexpr int type_number() {
  if constexpr (std::is_same_v<T, double>) return NEKBONE_K_GS_DOUBLE;
  if constexpr (std::is_same_v<T, float>) return NEKBONE_K_GS_FLOAT;
  return sizeof(T) == 4 ? NEKBONE_K_GS_INT32 : NEKBONE_K_GS_INT64;
}

int operation_number(gs_op op, const char* function) {
  switch (op) {
    case gs_add:
      return NEKBONE_K_GS_ADD;
    case gs_mul:
      return NEKBONE_K_GS_MUL;
    case gs_min:
      return NEKBONE_K_GS_MIN;
    case gs_max:
      return NEKBONE_K_GS_MAX;
    default:
      die(function, "the operation has the number " + std::to_string(op) + "; allowed: 0 to 4");
  }
}

/// The neutral value of an operation. It changes no bit of a result, not even of a sum of -0.0 or
/// of a maximum of infinities.
template <class T>
T neutral(gs_op op) {
  using Limits = std::numeric_limits<T>;
  if (op == gs_add) return std::is_floating_point_v<T> ? T(-0.0) : T(0);
  if (op == gs_mul) return T(1);
  if (op == gs_min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
}

/// The result of no values, by the rules of gslib.
template <class T>
T result_of_nothing(gs_op op) {
  if (op == gs_mul) return T(1);
  if (op == gs_min) return std::numeric_limits<T>::max();
  if (op == gs_max) return std::numeric_limits<T>::lowest();
  return T(0);
}

// ---- Common leading bits ------------------------------------------------------------------------
// The children of node n of a binary tree are 2n and 2n + 1. The closest common ancestor of a set
// of nodes is that of its first and its last node in pre-order, which are a minimum and a maximum.

/// Of nothing, and of the node 0, which contributes nothing. It is neutral in a minimum.
constexpr std::int64_t no_place = std::numeric_limits<std::int64_t>::max();

/// The place of a node in pre-order: its bits, aligned to the left, then its depth.
std::int64_t place_of(std::uint32_t node) {
  if (node == 0) return no_place;
  const auto depth = static_cast<int>(std::bit_width(node));
  return static_cast<std::int64_t>(std::uint64_t{node} << (32 - depth) << 6) | depth;
}

std::uint32_t node_at(std::int64_t place) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(place) >> 6 >> (32 - (place & 63)));
}

std::uint32_t common_ancestor(std::uint32_t a, std::uint32_t b) {
  while (a != b) (a > b ? a : b) >>= 1;
  return a;
}

template <class T>
std::uint32_t node_of(T value) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
}

/// The operation on one component. It also writes to flagged points. The caller restores those
/// that get no result.
template <class T>
void combine_leading_bits(const gs_data& data, const Values& values, unsigned component,
                          bool flagged_contribute, const char* function) {
  std::vector<std::int64_t> places(2 * data.n);  // to find the first, and minus those for the last
  const auto set = [&](std::size_t p, std::int64_t place) {
    places[p] = place;
    places[data.n + p] = place == no_place ? no_place : -place;
  };
  for (std::size_t p = 0; p < data.n; ++p) set(p, place_of(node_of(values.at<T>(p, component))));
  if (!flagged_contribute)
    for (const std::size_t p : data.flagged) set(p, no_place);
  const std::vector<std::int64_t> own = places;
  require_ok(nekbone_k_gs_op(data.gs, places.data(), NEKBONE_K_GS_INT64, 2,
                             NEKBONE_K_GS_BY_COMPONENT, NEKBONE_K_GS_MIN),
             function);
  const auto write = [&](std::size_t p) {
    values.at<T>(p, component) =
        places[p] == no_place
            ? T(0)
            : static_cast<T>(common_ancestor(node_at(places[p]), node_at(-places[data.n + p])));
  };
  for (std::size_t p = 0; p < data.n; ++p)
    if (places[p] != own[p] || places[data.n + p] != own[data.n + p]) write(p);
  if (!flagged_contribute)
    for (const std::size_t p : data.flagged) write(p);
}

// ---- Operations ---------------------------------------------------------------------------------

/// Values of flagged points, which an operation must not change.
template <class T>
std::vector<T> flagged_values(const gs_data& data, const Values& values) {
  std::vector<T> saved;
  saved.reserve(data.flagged.size() * values.components);
  for (const std::size_t p : data.flagged)
    for (unsigned c = 0; c < values.components; ++c) saved.push_back(values.at<T>(p, c));
  return saved;
}

template <class T>
void restore_flagged(const gs_data& data, const Values& values, const std::vector<T>& saved) {
  std::size_t next = 0;
  for (const std::size_t p : data.flagged)
    for (unsigned c = 0; c < values.components; ++c) values.at<T>(p, c) = saved[next++];
}

template <class T>
void fill(const std::vector<std::size_t>& points, const Values& values, T value) {
  for (const std::size_t p : points)
    for (unsigned c = 0; c < values.components; ++c) values.at<T>(p, c) = value;
}

/// Combines more components than the library takes at once, by arrays of one component.
template <class T>
void combine_in_parts(const gs_data& data, const Values& values, int operation,
                      const char* function) {
  std::vector<T> copy;
  std::vector<void*> arrays(values.components);
  if (values.shape == Shape::vector) copy.resize(data.n * values.components);
  for (unsigned c = 0; c < values.components; ++c) {
    arrays[c] = values.shape == Shape::vector ? copy.data() + c * data.n
                                              : static_cast<void* const*>(values.u)[c];
    if (values.shape == Shape::vector)
      for (std::size_t p = 0; p < data.n; ++p) copy[c * data.n + p] = values.at<T>(p, c);
  }
  for (unsigned first = 0; first < values.components; first += most_components) {
    const unsigned count = std::min(most_components, values.components - first);
    require_ok(nekbone_k_gs_op(data.gs, static_cast<void*>(arrays.data() + first), type_number<T>(),
                               static_cast<int>(count), NEKBONE_K_GS_SEPARATE, operation),
               function);
  }
  if (values.shape == Shape::vector)
    for (unsigned c = 0; c < values.components; ++c)
      for (std::size_t p = 0; p < data.n; ++p) values.at<T>(p, c) = copy[c * data.n + p];
}

void finish(gs_data& data) {
  if (data.finish) std::exchange(data.finish, {})();
}

/// Begins an operation; finish() ends it.
template <class T>
void start(gs_data& data, const Values& values, gs_op op, bool transpose, const char* function) {
  std::vector<T> saved;
  if (transpose) saved = flagged_values<T>(data, values);
  // The arrays of `values` may be gone when the operation ends.
  std::vector<void*> arrays;
  Values kept = values;
  if (values.shape == Shape::many) {
    void* const* const given = static_cast<void* const*>(values.u);
    arrays.assign(given, given + values.components);
  }
  bool is_under_way = false;
  if (op == gs_bpr) {
    for (unsigned c = 0; c < values.components; ++c)
      combine_leading_bits<T>(data, values, c, transpose, function);
  } else {
    const int operation = operation_number(op, function);
    if (!transpose) fill(data.flagged, values, neutral<T>(op));
    is_under_way = values.components <= most_components;
    if (is_under_way)
      require_ok(nekbone_k_gs_start(
                     data.gs, values.u, type_number<T>(), static_cast<int>(values.components),
                     values.shape == Shape::many ? NEKBONE_K_GS_SEPARATE : NEKBONE_K_GS_INTERLEAVED,
                     operation),
                 function);
    else
      combine_in_parts<T>(data, values, operation, function);
  }
  data.finish = [=, &data, arrays = std::move(arrays), saved = std::move(saved)]() mutable {
    if (is_under_way) require_ok(nekbone_k_gs_finish(data.gs), function);
    if (kept.shape == Shape::many) kept.u = static_cast<void*>(arrays.data());
    if (transpose)
      restore_flagged(data, kept, saved);
    else
      fill(data.sourceless, kept, result_of_nothing<T>(op));
  };
}

/// Begins an operation after the one that is under way, if any.
void start(gs_data* data, const Values& values, gs_dom dom, gs_op op, unsigned transpose,
           const char* function) {
  if (data == nullptr) die(function, "the handle is NULL");
  finish(*data);
  if (values.components == 0) return;
  if (data->n > 0) {
    if (values.u == nullptr) die(function, "values were given as NULL");
    for (unsigned c = 0; values.shape == Shape::many && c < values.components; ++c)
      if (static_cast<void* const*>(values.u)[c] == nullptr)
        die(function, "array " + std::to_string(c) + " of the values was given as NULL");
  }
  with_domain(dom, function,
              [&]<class T>(T) { start<T>(*data, values, op, transpose != 0, function); });
}

void combine(gs_data* data, const Values& values, gs_dom dom, gs_op op, unsigned transpose,
             const char* function) {
  start(data, values, dom, op, transpose, function);
  finish(*data);
}

// ---- Operations in two steps --------------------------------------------------------------------

/// The handle of each operation that is not waited for; NULL if the number is free. Never
/// destroyed, because programs end without waiting.
std::vector<gs_data*>& waits() {
  static auto* const all = new std::vector<gs_data*>;
  return *all;
}

constexpr const char* no_number = "the address of the number to wait for is NULL";

int wait_number(gs_data* data) {
  auto& all = waits();
  const auto free = std::find(all.begin(), all.end(), nullptr);
  const auto number = free - all.begin();
  if (free == all.end()) all.push_back(nullptr);
  all[number] = data;
  return static_cast<int>(number);
}

// ---- Set-up -------------------------------------------------------------------------------------

/// A handle of the library for the absolute values of ids.
nekbone_k_gs* make_gs(const long long* id, std::size_t n, MPI_Comm comm, const std::string& options,
                      const char* function) {
  if (n > 0 && id == nullptr) die(function, "the ids are NULL");
  std::vector<std::int64_t> ids(n);
  for (std::size_t p = 0; p < n; ++p) ids[p] = id[p] < 0 ? -id[p] : id[p];
  nekbone_k_gs* gs = nullptr;
  const int code =
      nekbone_k_gs_create(comm, static_cast<std::int64_t>(n), ids.data(), options.c_str(), &gs);
  if (comm != MPI_COMM_NULL) require_ok_on_all(code, comm, function);
  require_ok(code, function);
  return gs;
}

/// Per point, whether it is flagged if all copies of an id but one are flagged. The owner of an id
/// depends on the id, so that no rank owns all.
std::vector<bool> flags_but_one(nekbone_k_gs* gs, const long long* id, std::size_t n, MPI_Comm comm,
                                const char* function) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> mine(n, nobody);
  for (std::size_t p = 0; p < n; ++p)
    if (id[p] > 0)
      mine[p] =
          (rank + id[p] % size) % size * (std::int64_t{1} << 32) + static_cast<std::int64_t>(p);
  std::vector<std::int64_t> first = mine;
  require_ok(nekbone_k_gs_op(gs, first.data(), NEKBONE_K_GS_INT64, 1, NEKBONE_K_GS_BY_COMPONENT,
                             NEKBONE_K_GS_MIN),
             function);
  std::vector<bool> flags(n);
  for (std::size_t p = 0; p < n; ++p) flags[p] = id[p] < 0 || first[p] != mine[p];
  return flags;
}

std::string options_of(gs_method method, const char* function) {
  std::string options = "tuning.budget_seconds=0.5;";
  if (method == gs_crystal_router)
    options += "strategies=[host-crystal];";
  else if (method < gs_auto || method > gs_all_reduce)
    die(function, "the method has the number " + std::to_string(method) + "; allowed: 0 to 3");
  if (const char* const more = std::getenv("NEKBONE_K_GSLIB_OPTIONS")) options += more;
  return options;
}

/// Prints the strategy on rank 0.
void report(nekbone_k_gs* gs, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank != 0) return;
  const char* text = nullptr;
  require_ok(nekbone_k_gs_report(gs, &text), "gs_setup");
  const auto report = nlohmann::json::parse(text);
  std::string line = "gs_setup: nekbone-k, " + report["points"].dump() + " points, strategy " +
                     report["strategy"].get<std::string>();
  for (const auto& tuning : report["tunings"]) {
    const auto& all = tuning["candidates"];
    const auto verified = std::count_if(all.begin(), all.end(), [](const auto& candidate) {
      return candidate["verified"] == true;
    });
    line += ", selected from " + std::to_string(verified);
  }
  nekbone_k::gslib::say(line);
}

}  // namespace

gs_data* gslib_gs_setup(const long long* id, unsigned n, const comm* ranks, int unique,
                        gs_method method, int verbose) {
  constexpr const char* function = "gs_setup";
  if (ranks == nullptr) die(function, "the communicator is NULL");
  auto data = std::make_unique<gs_data>();
  data->n = n;
  data->gs = make_gs(id, n, ranks->c, options_of(method, function), function);
  std::vector<bool> flags(n);
  if (unique != 0) flags = flags_but_one(data->gs, id, n, ranks->c, function);
  for (std::size_t p = 0; p < n; ++p)
    if (flags[p] || id[p] < 0) data->flagged.push_back(p);
  int any = data->flagged.empty() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, ranks->c);
  if (any != 0) {
    std::vector<std::int32_t> has_source(n, 1);
    for (const std::size_t p : data->flagged) has_source[p] = 0;
    require_ok(nekbone_k_gs_op(data->gs, has_source.data(), NEKBONE_K_GS_INT32, 1,
                               NEKBONE_K_GS_BY_COMPONENT, NEKBONE_K_GS_MAX),
               function);
    for (const std::size_t p : data->flagged)
      if (has_source[p] == 0) data->sourceless.push_back(p);
  }
  if (method == gs_auto)
    require_ok_on_all(nekbone_k_gs_tune(data->gs, NEKBONE_K_GS_DOUBLE, 1, nullptr, nullptr),
                      ranks->c, function);
  if (verbose != 0) report(data->gs, ranks->c);
  return data.release();
}

void gslib_gs_free(gs_data* gsh) {
  if (gsh == nullptr) return;
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  if (has_ended != 0)
    return nekbone_k::gslib::say("gs_free: not freed, because MPI_Finalize was called before it");
  finish(*gsh);
  for (gs_data*& waiting : waits())
    if (waiting == gsh) waiting = nullptr;
  require_ok(nekbone_k_gs_free(&gsh->gs), "gs_free");
  delete gsh;
}

void gslib_gs_unique(long long* id, unsigned n, const comm* ranks) {
  constexpr const char* function = "gs_unique";
  if (ranks == nullptr) die(function, "the communicator is NULL");
  nekbone_k_gs* gs = make_gs(id, n, ranks->c, {}, function);
  const std::vector<bool> flags = flags_but_one(gs, id, n, ranks->c, function);
  require_ok(nekbone_k_gs_free(&gs), function);
  for (std::size_t p = 0; p < n; ++p)
    if (flags[p] && id[p] > 0) id[p] = -id[p];
}

void gslib_gs(void* u, gs_dom dom, gs_op op, unsigned transpose, gs_data* gsh, array*) {
  combine(gsh, {Shape::vector, u, 1}, dom, op, transpose, "gs");
}

void gslib_gs_vec(void* u, unsigned vn, gs_dom dom, gs_op op, unsigned transpose, gs_data* gsh,
                  array*) {
  combine(gsh, {Shape::vector, u, vn}, dom, op, transpose, "gs_vec");
}

void gslib_gs_many(void* const* u, unsigned vn, gs_dom dom, gs_op op, unsigned transpose,
                   gs_data* gsh, array*) {
  combine(gsh, {Shape::many, static_cast<void*>(const_cast<void**>(u)), vn}, dom, op, transpose,
          "gs_many");
}

void gslib_igs(void* u, gs_dom dom, gs_op op, unsigned transpose, gs_data* gsh, array*,
               int* handle) {
  if (handle == nullptr) die("igs", no_number);
  start(gsh, {Shape::vector, u, 1}, dom, op, transpose, "igs");
  *handle = wait_number(gsh);
}

void gslib_igs_vec(void* u, unsigned vn, gs_dom dom, gs_op op, unsigned transpose, gs_data* gsh,
                   array*, int* handle) {
  if (handle == nullptr) die("igs_vec", no_number);
  start(gsh, {Shape::vector, u, vn}, dom, op, transpose, "igs_vec");
  *handle = wait_number(gsh);
}

void gslib_igs_many(void* const* u, unsigned vn, gs_dom dom, gs_op op, unsigned transpose,
                    gs_data* gsh, array*, int* handle) {
  if (handle == nullptr) die("igs_many", no_number);
  start(gsh, {Shape::many, static_cast<void*>(const_cast<void**>(u)), vn}, dom, op, transpose,
        "igs_many");
  *handle = wait_number(gsh);
}

void gslib_gs_wait(int handle) {
  auto& all = waits();
  if (handle < 0 || handle >= static_cast<int>(all.size()) || all[handle] == nullptr)
    die("gs_wait", "no operation has the handle " + std::to_string(handle));
  // A second operation of the same handle ends the first one. Then this ends the second one early.
  finish(*std::exchange(all[handle], nullptr));
}
