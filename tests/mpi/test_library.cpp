// SPDX-License-Identifier: BSD-3-Clause
// The C interface of the library against a plain loop over all points of all ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/communicator.hpp"
#include "core/types.hpp"
#include "gs/strategy_table.hpp"
#include "library/nekbone_k/gs.h"
#include "library/nekbone_k/gs.hpp"
#include "reduce/reduction.hpp"
#include "support/contains.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

using Ids = std::vector<std::int64_t>;

// ---- Points of each rank -----------------------------------------------------------------------

std::uint64_t hashed(std::uint64_t z) {
  z = (z ^ (z >> 33)) * 0xff51afd7ed558ccdULL;
  z = (z ^ (z >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return z ^ (z >> 33);
}

// `points` random ids from `least` on, some of which repeat on the rank.
Ids random_ids(int rank, int points, int ids, std::int64_t least) {
  Ids chosen;
  for (int p = 0; p < points; ++p)
    chosen.push_back(least +
                     static_cast<std::int64_t>(hashed(7919ULL * p + 104729ULL * rank + ids) % ids));
  return chosen;
}

// Global ids of one rank's points. Every rank can compute those of all others, so the reference
// needs no messages.
struct LibraryGraph {
  const char* name;
  Ids (*ids)(int rank, int size);
};

const LibraryGraph library_graphs[]{
    {"random", [](int rank, int) { return random_ids(rank, 150, 200, 1); }},
    {"many copies", [](int rank, int) { return random_ids(rank, 60, 30, 1); }},
    {"some ids are 0 or less", [](int rank, int) { return random_ids(rank, 150, 60, -20); }},
    {"ids beyond 32 bits",
     [](int rank, int) {
       Ids ids = random_ids(rank, 100, 50, 1);
       for (std::int64_t& id : ids) id = (std::int64_t{1} << 62) + (id % 7) * (1LL << 40) + id;
       return ids;
     }},
    {"even ranks have nothing",
     [](int rank, int) { return rank % 2 == 0 ? Ids{} : random_ids(rank, 60, 40, 1); }},
    {"nobody has points", [](int, int) { return Ids{}; }},
    {"no id is shared",
     [](int rank, int) {
       Ids ids;
       for (int p = 0; p < 20; ++p) ids.push_back(1 + 20 * rank + p);
       return ids;
     }},
    {"all ids are 0", [](int, int) { return Ids(10, 0); }},
};

// ---- Values and their combination ---------------------------------------------------------------

// A value whose combinations are exact in every type: a whole number, or ±1 or 2 to multiply.
template <class T>
T value_of(Reduction op, int rank, std::size_t point, int component) {
  const std::uint64_t h = hashed(point * 31 + rank * 1009 + component * 65537 + 1);
  if (op == Reduction::multiply) return static_cast<T>(h % 16 == 0 ? 2 : h % 2 == 0 ? 1 : -1);
  return static_cast<T>(static_cast<std::int64_t>(h % 2001) - 1000);
}

// Where the components of points are.
struct Shape {
  int components, layout;
  std::size_t at(std::size_t point, int component, std::size_t points) const {
    return layout == NEKBONE_K_GS_INTERLEAVED ? point * components + component
                                              : component * points + point;
  }
};
constexpr Shape one_component{1, NEKBONE_K_GS_BY_COMPONENT};
const Shape shapes[]{one_component,
                     {3, NEKBONE_K_GS_BY_COMPONENT},
                     {1, NEKBONE_K_GS_INTERLEAVED},
                     {3, NEKBONE_K_GS_INTERLEAVED}};

template <class T>
std::vector<T> values_of(const Ids& ids, Reduction op, const Shape& shape, int rank) {
  std::vector<T> values(ids.size() * shape.components);
  for (std::size_t p = 0; p < ids.size(); ++p)
    for (int c = 0; c < shape.components; ++c)
      values[shape.at(p, c, ids.size())] = value_of<T>(op, rank, p, c);
  return values;
}

// What the values of `rank` should be after the operation.
template <class T>
std::vector<T> expected_values(const LibraryGraph& graph, Reduction op, const Shape& shape,
                               int rank, int size) {
  std::map<std::pair<std::int64_t, int>, T> combined;
  for (int r = 0; r < size; ++r) {
    const Ids ids = graph.ids(r, size);
    for (std::size_t p = 0; p < ids.size(); ++p)
      for (int c = 0; c < shape.components && ids[p] > 0; ++c) {
        const T value = value_of<T>(op, r, p, c);
        const auto [found, is_new] = combined.try_emplace({ids[p], c}, value);
        if (is_new) continue;
        with_reduction(op, [&](auto reduction) {
          found->second = combine<decltype(reduction)::value>(found->second, value);
        });
      }
  }
  const Ids ids = graph.ids(rank, size);
  std::vector<T> values = values_of<T>(ids, op, shape, rank);
  for (std::size_t p = 0; p < ids.size(); ++p)
    for (int c = 0; c < shape.components && ids[p] > 0; ++c)
      values[shape.at(p, c, ids.size())] = combined.at({ids[p], c});
  return values;
}

int number_of(Reduction op) {
  switch (op) {
    case Reduction::add:
      return NEKBONE_K_GS_ADD;
    case Reduction::multiply:
      return NEKBONE_K_GS_MUL;
    case Reduction::min:
      return NEKBONE_K_GS_MIN;
    default:
      return NEKBONE_K_GS_MAX;
  }
}

// ---- Handles ------------------------------------------------------------------------------------

// Frees a handle at the end of a scope.
struct FreeHandle {
  void operator()(nekbone_k_gs* gs) const {
    EXPECT_EQ(nekbone_k_gs_free(&gs), NEKBONE_K_GS_OK) << nekbone_k_gs_error_text();
    EXPECT_EQ(gs, nullptr);
  }
};
using OwnedHandle = std::unique_ptr<nekbone_k_gs, FreeHandle>;

constexpr const char* quick = "tuning.budget_seconds=0; tuning.minimum_rounds=1";
// The same with few candidates, of different kinds.
constexpr const char* few =
    "strategies=[device-pairwise, device-datatypes, host-neighbour, host-crystal,"
    "device-pairwise+overlap, host-pairwise+overlap]; tuning.budget_seconds=0;"
    "tuning.minimum_rounds=1";

class Library : public testing::Test {
 protected:
  OwnedHandle make(const Ids& ids, const char* options = quick) const {
    nekbone_k_gs* gs = nullptr;
    const int code = nekbone_k_gs_create(m_comm.get(), static_cast<std::int64_t>(ids.size()),
                                         ids.data(), options, &gs);
    EXPECT_EQ(code, NEKBONE_K_GS_OK) << nekbone_k_gs_error_text();
    return OwnedHandle(gs);
  }
  OwnedHandle make(const LibraryGraph& graph, const char* options = quick) const {
    return make(graph.ids(rank(), size()), options);
  }

  // Whether an operation gives the expected values; in two steps if `work` is given.
  template <class T>
  void expect_right(nekbone_k_gs* gs, const LibraryGraph& graph, Reduction op, const Shape& shape,
                    const std::function<void()>& work = {}) const {
    std::vector<T> values = values_of<T>(graph.ids(rank(), size()), op, shape, rank());
    const int type = gs::type_of<T>();
    if (work) {
      ASSERT_EQ(nekbone_k_gs_start(gs, values.data(), type, shape.components, shape.layout,
                                   number_of(op)),
                NEKBONE_K_GS_OK)
          << nekbone_k_gs_error_text();
      work();
      ASSERT_EQ(nekbone_k_gs_finish(gs), NEKBONE_K_GS_OK) << nekbone_k_gs_error_text();
    } else {
      ASSERT_EQ(
          nekbone_k_gs_op(gs, values.data(), type, shape.components, shape.layout, number_of(op)),
          NEKBONE_K_GS_OK)
          << nekbone_k_gs_error_text();
    }
    EXPECT_EQ(values, expected_values<T>(graph, op, shape, rank(), size()))
        << graph.name << ", " << name(op) << ", " << shape.components << " components, layout "
        << shape.layout;
  }

  // The operation on every type.
  void expect_right(nekbone_k_gs* gs, const LibraryGraph& graph, Reduction op,
                    const Shape& shape) const {
    expect_right<double>(gs, graph, op, shape);
    expect_right<float>(gs, graph, op, shape);
    expect_right<std::int32_t>(gs, graph, op, shape);
    expect_right<std::int64_t>(gs, graph, op, shape);
  }

  // Whether all ranks have the same code, and the same text, which contains `part`.
  void expect_failure(int code, int expected, const std::string& part) const {
    EXPECT_EQ(code, expected);
    const std::string text = nekbone_k_gs_error_text();
    EXPECT_EQ(m_comm.broadcast(text), text);
    EXPECT_TRUE(contains(text, part)) << text;
  }

  // Every operation on values in device memory, which on a CPU is host memory.
  template <class T>
  void expect_right_on_device(nekbone_k_gs* gs, const LibraryGraph& graph,
                              const Shape& shape) const {
    for (const Reduction op : all_reductions) {
      const auto values =
          to_device("values", values_of<T>(graph.ids(rank(), size()), op, shape, rank()));
      ASSERT_EQ(nekbone_k_gs_op(gs, values.data(), gs::type_of<T>(), shape.components, shape.layout,
                                number_of(op)),
                NEKBONE_K_GS_OK)
          << nekbone_k_gs_error_text();
      EXPECT_EQ(to_host(values), expected_values<T>(graph, op, shape, rank(), size()))
          << graph.name << ", " << name(op) << ", " << shape.components << " components, layout "
          << shape.layout;
    }
  }

  nlohmann::json report(nekbone_k_gs* gs) const {
    const char* text = nullptr;
    EXPECT_EQ(nekbone_k_gs_report(gs, &text), NEKBONE_K_GS_OK) << nekbone_k_gs_error_text();
    return nlohmann::json::parse(text);
  }

  int rank() const { return m_comm.rank(); }
  int size() const { return m_comm.size(); }
  bool is_last() const { return rank() == size() - 1; }

  Communicator m_comm{MPI_COMM_WORLD};
};

// ---- Operations ---------------------------------------------------------------------------------

class LibraryGraphs : public Library, public testing::WithParamInterface<LibraryGraph> {};

TEST_P(LibraryGraphs, EveryTypeOperationAndLayoutIsRight) {
  const OwnedHandle gs = make(GetParam());
  for (const Reduction op : all_reductions)
    for (const Shape& shape : shapes) expect_right(gs.get(), GetParam(), op, shape);
}

TEST_P(LibraryGraphs, StaysRightWhenTuned) {
  const OwnedHandle gs = make(GetParam(), few);
  ASSERT_EQ(nekbone_k_gs_tune(gs.get(), NEKBONE_K_GS_DOUBLE, 1, nullptr, nullptr), NEKBONE_K_GS_OK)
      << nekbone_k_gs_error_text();
  for (const Reduction op : all_reductions) expect_right(gs.get(), GetParam(), op, one_component);
  expect_right(gs.get(), GetParam(), Reduction::add, {3, NEKBONE_K_GS_INTERLEAVED});
}

INSTANTIATE_TEST_SUITE_P(All, LibraryGraphs, testing::ValuesIn(library_graphs),
                         [](const auto& graph) {
                           std::string name = graph.param.name;
                           for (char& c : name)
                             if (c == ' ') c = '_';
                           return name;
                         });

TEST_F(Library, EveryAvailableStrategyIsRight) {
  int available = 0;
  for (const Strategy& strategy : all_strategies()) {
    // Overlapped strategies have the same exchanges, so one will do.
    if (strategy.overlapped && strategy.name != "host-pairwise+overlap") continue;
    nekbone_k_gs* made = nullptr;
    const LibraryGraph& graph = library_graphs[0];
    const Ids ids = graph.ids(rank(), size());
    const std::string options = "strategies=[" + strategy.name + "]";
    const int code = nekbone_k_gs_create(m_comm.get(), static_cast<std::int64_t>(ids.size()),
                                         ids.data(), options.c_str(), &made);
    if (code != NEKBONE_K_GS_OK) {
      expect_failure(code, NEKBONE_K_GS_UNAVAILABLE, strategy.name);
      EXPECT_EQ(made, nullptr);
      continue;
    }
    ++available;
    const OwnedHandle gs(made);
    EXPECT_EQ(report(gs.get())["strategy"], strategy.name);
    expect_right(gs.get(), graph, Reduction::add, one_component);
    expect_right<std::int32_t>(gs.get(), graph, Reduction::max, shapes[1]);
    expect_right<std::int64_t>(gs.get(), graph, Reduction::multiply, shapes[3]);
  }
  EXPECT_GE(available, 4);  // MPI in host memory, at least
}

// Arrays that lie at equal distances are used as they are, others are copied.
TEST_F(Library, SeparateArraysAreRight) {
  const LibraryGraph& graph = library_graphs[2];
  const OwnedHandle gs = make(graph);
  const Ids ids = graph.ids(rank(), size());
  const std::size_t n = ids.size(), components = 3;
  const std::vector<std::vector<std::size_t>> places{
      {0, n, 2 * n}, {0, n + 4, 2 * n + 8}, {0, n + 4, 2 * n + 9}, {2 * n + 8, n + 4, 0}};
  const std::vector<float> before = values_of<float>(ids, Reduction::add, shapes[1], rank()),
                           after = expected_values<float>(graph, Reduction::add, shapes[1], rank(),
                                                          size());
  for (const auto& place : places) {
    // What lies between the arrays stays.
    std::vector<float> values(components * n + 9, 0.5F), expected = values;
    std::vector<float*> arrays;
    for (std::size_t c = 0; c < components; ++c) {
      std::copy_n(before.data() + c * n, n, values.data() + place[c]);
      std::copy_n(after.data() + c * n, n, expected.data() + place[c]);
      arrays.push_back(values.data() + place[c]);
    }
    ASSERT_EQ(nekbone_k_gs_start(gs.get(), static_cast<void*>(arrays.data()), NEKBONE_K_GS_FLOAT, 3,
                                 NEKBONE_K_GS_SEPARATE, NEKBONE_K_GS_ADD),
              NEKBONE_K_GS_OK)
        << nekbone_k_gs_error_text();
    arrays.clear();  // the list is read at the start only
    ASSERT_EQ(nekbone_k_gs_finish(gs.get()), NEKBONE_K_GS_OK) << nekbone_k_gs_error_text();
    EXPECT_EQ(values, expected);
  }
}

TEST_P(LibraryGraphs, ValuesInDeviceMemoryAreRight) {
  const OwnedHandle gs = make(GetParam(), few);
  for (const Shape& shape : shapes) {
    expect_right_on_device<double>(gs.get(), GetParam(), shape);
    expect_right_on_device<float>(gs.get(), GetParam(), shape);
    expect_right_on_device<std::int32_t>(gs.get(), GetParam(), shape);
    expect_right_on_device<std::int64_t>(gs.get(), GetParam(), shape);
  }
}

// The vectors are allocations of their own, at unequal distances.
TEST_F(Library, SeparateArraysInDeviceMemoryAreRight) {
  const LibraryGraph& graph = library_graphs[2];
  const OwnedHandle gs = make(graph, few);
  ASSERT_EQ(nekbone_k_gs_tune(gs.get(), NEKBONE_K_GS_FLOAT, 3, nullptr, nullptr), NEKBONE_K_GS_OK)
      << nekbone_k_gs_error_text();
  const std::size_t n = graph.ids(rank(), size()).size();
  const std::vector<float> before = values_of<float>(graph.ids(rank(), size()), Reduction::add,
                                                     shapes[1], rank()),
                           after = expected_values<float>(graph, Reduction::add, shapes[1], rank(),
                                                          size());
  std::vector<DeviceVector<float>> vectors;
  std::vector<float*> arrays;
  for (std::size_t c = 0; c < 3; ++c) {
    vectors.push_back(to_device("values", std::span<const float>(before.data() + c * n, n)));
    arrays.push_back(vectors.back().data());
  }
  ASSERT_EQ(nekbone_k_gs_start(gs.get(), static_cast<void*>(arrays.data()), NEKBONE_K_GS_FLOAT, 3,
                               NEKBONE_K_GS_SEPARATE, NEKBONE_K_GS_ADD),
            NEKBONE_K_GS_OK)
      << nekbone_k_gs_error_text();
  ASSERT_EQ(nekbone_k_gs_finish(gs.get()), NEKBONE_K_GS_OK) << nekbone_k_gs_error_text();
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_EQ(to_host(vectors[c]),
              std::vector<float>(after.data() + c * n, after.data() + (c + 1) * n));
}

// A handle that exchanges in two steps leaves another one free to work meanwhile.
TEST_F(Library, OtherWorkRunsBetweenStartAndFinish) {
  const LibraryGraph &graph = library_graphs[0], &other_graph = library_graphs[1];
  const OwnedHandle gs = make(graph), other = make(other_graph);
  for (const Shape& shape : shapes) {
    const auto work = [&] {
      expect_right<double>(other.get(), other_graph, Reduction::add, shape);
    };
    expect_right<double>(gs.get(), graph, Reduction::add, shape, work);
    expect_right<float>(gs.get(), graph, Reduction::min, shape, work);
    expect_right<std::int32_t>(gs.get(), graph, Reduction::multiply, shape, work);
    expect_right<std::int64_t>(gs.get(), graph, Reduction::max, shape, work);
  }
}

TEST_F(Library, CommunicatorIsDuplicated) {
  const LibraryGraph& graph = library_graphs[0];
  const Ids ids = graph.ids(rank(), size());
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  nekbone_k_gs* made = nullptr;
  ASSERT_EQ(
      nekbone_k_gs_create(comm, static_cast<std::int64_t>(ids.size()), ids.data(), nullptr, &made),
      NEKBONE_K_GS_OK);
  const OwnedHandle gs(made);
  MPI_Comm_free(&comm);
  expect_right<double>(gs.get(), graph, Reduction::add, one_component);
}

// Ranks of a part of the communicator have a handle of their own.
TEST_F(Library, PartsOfTheRanksAreIndependent) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, rank(), &half);
  int half_size = 1;
  MPI_Comm_size(half, &half_size);
  const std::int64_t id = 1;
  {
    gs::GatherScatter gs(half, std::vector<std::int64_t>{id, id}, quick);
    std::vector<double> values{1, 2};
    gs.op(values.data(), gs::Operation::add);
    EXPECT_EQ(values, std::vector<double>(2, 3.0 * half_size));
  }
  MPI_Comm_free(&half);
}

// ---- Tuning and the report ----------------------------------------------------------------------

TEST_F(Library, ReportsWhatItTuned) {
  const OwnedHandle gs = make(library_graphs[0], few);
  EXPECT_EQ(report(gs.get())["tunings"].size(), 0);
  const auto tune = [&](int type, int components) {
    ASSERT_EQ(nekbone_k_gs_tune(gs.get(), type, components, nullptr, nullptr), NEKBONE_K_GS_OK)
        << nekbone_k_gs_error_text();
  };
  tune(NEKBONE_K_GS_DOUBLE, 1);
  tune(NEKBONE_K_GS_DOUBLE, 1);  // again: replaces the first
  tune(NEKBONE_K_GS_INT32, 3);
  const nlohmann::json made = report(gs.get());
  EXPECT_EQ(made["ranks"], size());
  EXPECT_EQ(made["points"], 150 * size());
  ASSERT_EQ(made["tunings"].size(), 2);
  EXPECT_EQ(made["tunings"][0]["precision"], "double");
  EXPECT_EQ(made["tunings"][1]["precision"], "single");
  EXPECT_EQ(made["tunings"][1]["components"], 3);
  EXPECT_EQ(made["strategy"], made["tunings"][0]["selected"]);
  for (const auto& tuning : made["tunings"])
    for (const auto& candidate : tuning["candidates"]) {
      EXPECT_FALSE(candidate["overlapped"]);
      EXPECT_EQ(candidate["verified"], candidate["available"]) << candidate;
    }
  for (const Shape& shape : shapes)
    expect_right(gs.get(), library_graphs[0], Reduction::add, shape);
}

TEST_F(Library, TunesWithTheWorkOfTheCaller) {
  const LibraryGraph& graph = library_graphs[0];
  const OwnedHandle gs = make(graph, few);
  struct Work {
    std::vector<double> data = std::vector<double>(10'000, 1.0);
    int calls = 0;
    bool is_portion = true;
  } work;
  const auto run = [](double portion, void* data) {
    auto& mine = *static_cast<Work*>(data);
    ++mine.calls;
    mine.is_portion = mine.is_portion && portion > 0 && portion <= 1;
    for (double& value : mine.data) value = 1.5 * value - 0.25;
  };
  ASSERT_EQ(nekbone_k_gs_tune(gs.get(), NEKBONE_K_GS_DOUBLE, 1, run, &work), NEKBONE_K_GS_OK)
      << nekbone_k_gs_error_text();
  EXPECT_TRUE(work.is_portion);
  if (size() > 1) {
    EXPECT_GT(work.calls, 0);
  }
  bool any_overlapped = false;
  const nlohmann::json made = report(gs.get());
  for (const auto& candidate : made["tunings"][0]["candidates"])
    any_overlapped = any_overlapped || candidate["overlapped"] == true;
  EXPECT_TRUE(any_overlapped);
  for (const Reduction op : all_reductions)
    expect_right<double>(gs.get(), graph, op, one_component, [&] { run(1, &work); });
}

TEST_F(Library, TunesOnlyTheStrategiesOfTheOptions) {
  const OwnedHandle gs =
      make(library_graphs[0], "strategies=[host-pairwise, host-alltoall]\ntuning.budget_seconds=0");
  ASSERT_EQ(nekbone_k_gs_tune(gs.get(), NEKBONE_K_GS_DOUBLE, 1, nullptr, nullptr), NEKBONE_K_GS_OK);
  std::set<std::string> names;
  const nlohmann::json made = report(gs.get());
  for (const auto& candidate : made["tunings"][0]["candidates"])
    names.insert(candidate["strategy"]);
  EXPECT_EQ(names, (std::set<std::string>{"host-pairwise", "host-alltoall"}));
}

TEST_F(Library, HeaderOfCppDoesTheSame) {
  const LibraryGraph& graph = library_graphs[1];
  const Ids ids = graph.ids(rank(), size());
  gs::GatherScatter first(MPI_COMM_WORLD, ids, few);
  gs::GatherScatter gs = std::move(first);
  gs.tune<float>();
  int calls = 0;
  gs.tune_with<double>([&](double) { ++calls; });
  if (size() > 1) {
    EXPECT_GT(calls, 0);
  }
  std::vector<std::int64_t> values =
      values_of<std::int64_t>(ids, Reduction::max, shapes[3], rank());
  std::vector<std::int64_t> first_array(ids.size(), 1), second_array(ids.size(), 2);
  gs.op(std::vector<std::int64_t*>{first_array.data(), second_array.data()}, gs::Operation::min);
  EXPECT_EQ(first_array, std::vector<std::int64_t>(ids.size(), 1));
  EXPECT_EQ(second_array, std::vector<std::int64_t>(ids.size(), 2));
  gs.start(values.data(), gs::Operation::max, 3, gs::Layout::interleaved);
  gs.finish();
  EXPECT_EQ(values,
            expected_values<std::int64_t>(graph, Reduction::max, shapes[3], rank(), size()));
  EXPECT_EQ(nlohmann::json::parse(gs.report())["tunings"].size(), 2);
  try {
    gs.finish();
    FAIL() << "no operation was under way";
  } catch (const gs::Error& error) {
    EXPECT_EQ(error.code(), NEKBONE_K_GS_INVALID);
    EXPECT_TRUE(contains(error.what(), "start")) << error.what();
  }
}

TEST_F(Library, AnExceptionOfTheWorkComesToItsCallerAlone) {
  const LibraryGraph& graph = library_graphs[1];
  const Ids ids = graph.ids(rank(), size());
  gs::GatherScatter gs(MPI_COMM_WORLD, ids, few);
  int calls = 0;
  const auto work = [&](double) {
    if (is_last() && ++calls == 3) throw std::runtime_error("the work failed");
  };
  const auto tune = [&] { gs.tune_with<double>(work); };
  if (is_last() && size() > 1) {  // one rank alone has no work to time
    EXPECT_THROW(tune(), std::runtime_error);
    EXPECT_EQ(calls, 3);
  } else {
    EXPECT_NO_THROW(tune());
  }
  // All candidates are there: none was excluded because of the work.
  const auto tuning = nlohmann::json::parse(gs.report())["tunings"][0];
  for (const auto& candidate : tuning["candidates"])
    EXPECT_FALSE(contains(candidate.dump(), "the work failed")) << candidate;
  std::vector<double> values = values_of<double>(ids, Reduction::add, shapes[0], rank());
  gs.op(values.data(), gs::Operation::add);
  EXPECT_EQ(values, expected_values<double>(graph, Reduction::add, shapes[0], rank(), size()));
}

TEST_F(Library, WorkMustNotUseTheHandle) {
  const LibraryGraph& graph = library_graphs[0];
  const OwnedHandle gs = make(graph, few);
  struct Used {
    nekbone_k_gs* gs;
    std::vector<double> values;
    int calls, refused;
  } used{gs.get(), std::vector<double>(graph.ids(rank(), size()).size()), 0, 0};
  const nekbone_k_gs_work work = [](double, void* data) {
    auto& [handle, values, calls, refused] = *static_cast<Used*>(data);
    ++calls;
    if (nekbone_k_gs_op(handle, values.data(), 0, 1, 0, 0) == NEKBONE_K_GS_INVALID &&
        nekbone_k_gs_tune(handle, 0, 1, nullptr, nullptr) == NEKBONE_K_GS_INVALID)
      ++refused;
  };
  EXPECT_EQ(nekbone_k_gs_tune(gs.get(), 0, 1, work, &used), NEKBONE_K_GS_OK);
  EXPECT_EQ(used.refused, used.calls);
  expect_right<double>(gs.get(), graph, Reduction::add, one_component);
}

TEST_F(Library, RefusesACommunicatorOfTwoGroups) {
  if (size() < 2) GTEST_SKIP() << "one rank makes one group";
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  const int side = rank() % 2;
  MPI_Comm_split(m_comm.get(), side, rank(), &half);
  MPI_Intercomm_create(half, 0, m_comm.get(), 1 - side, 7, &both);
  nekbone_k_gs* gs = nullptr;
  expect_failure(nekbone_k_gs_create(both, 0, nullptr, nullptr, &gs), NEKBONE_K_GS_INVALID,
                 "two groups");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

void no_work(double) {}

TEST_F(Library, HeaderOfCppTakesAFunctionAsWork) {
  gs::GatherScatter gs(MPI_COMM_WORLD, library_graphs[0].ids(rank(), size()), few);
  EXPECT_NO_THROW(gs.tune_with<double>(no_work));
}

// ---- Bad input: the same code and text on every rank, and no hang -----------------------------

TEST_F(Library, CreateRefusesBadInputOfOneRank) {
  const Ids ids{1, 2, 3};
  const auto create = [&](std::int64_t n, const std::int64_t* data, const char* options) {
    int something = 0;
    auto* gs = reinterpret_cast<nekbone_k_gs*>(&something);
    const int code = nekbone_k_gs_create(m_comm.get(), n, data, options, &gs);
    EXPECT_EQ(gs, nullptr);
    return code;
  };
  const std::string who = "rank " + std::to_string(size() - 1) + ": ";
  expect_failure(create(is_last() ? -1 : 3, ids.data(), nullptr), NEKBONE_K_GS_INVALID,
                 who + "the number of points is -1");
  expect_failure(create(is_last() ? std::int64_t{1} << 40 : 3, ids.data(), nullptr),
                 NEKBONE_K_GS_INVALID,
                 who + "the number of points is 1099511627776; allowed: 0 to");
  expect_failure(create(3, is_last() ? nullptr : ids.data(), nullptr), NEKBONE_K_GS_INVALID,
                 who + "ids of 3 points");
  expect_failure(create(3, ids.data(), "tuning.patience=3"), NEKBONE_K_GS_INVALID,
                 "tuning.patience_seconds");
  expect_failure(create(3, ids.data(), "tuning.minimum_rounds=0"), NEKBONE_K_GS_INVALID,
                 "an integer from 1 to 10000");
  nekbone_k_gs* refused = nullptr;
  expect_failure(
      nekbone_k_gs_create(m_comm.get(), 3, ids.data(), nullptr, is_last() ? nullptr : &refused),
      NEKBONE_K_GS_INVALID, who + "the address of the handle is NULL");
  EXPECT_EQ(refused, nullptr);
  if (size() > 1)
    expect_failure(create(3, ids.data(), is_last() ? "tuning.minimum_rounds=7" : ""),
                   NEKBONE_K_GS_INVALID, who + "options differ");
}

TEST_F(Library, OperationsRefuseBadInputOfOneRank) {
  const LibraryGraph& graph = library_graphs[0];
  const OwnedHandle gs = make(graph);
  std::vector<double> values(3 * graph.ids(rank(), size()).size(), 1.0);
  const auto op = [&](void* data, int type, int components, int layout, int operation) {
    return nekbone_k_gs_op(gs.get(), data, type, components, layout, operation);
  };
  const auto bad = [&](int wrong, int right) { return is_last() ? wrong : right; };
  expect_failure(op(is_last() ? nullptr : values.data(), 0, 1, 0, 0), NEKBONE_K_GS_INVALID, "NULL");
  expect_failure(op(values.data(), bad(9, 0), 1, 0, 0), NEKBONE_K_GS_INVALID, "type 9");
  expect_failure(op(values.data(), 0, bad(0, 1), 0, 0), NEKBONE_K_GS_INVALID, "0 components");
  expect_failure(op(values.data(), 0, bad(65, 1), 0, 0), NEKBONE_K_GS_INVALID, "65 components");
  expect_failure(op(values.data(), 0, 1, bad(3, 0), 0), NEKBONE_K_GS_INVALID, "layout 3");
  std::vector<double*> arrays{values.data(), is_last() ? nullptr : values.data()};
  expect_failure(op(static_cast<void*>(arrays.data()), 0, 2, NEKBONE_K_GS_SEPARATE, 0),
                 NEKBONE_K_GS_INVALID, "one of the arrays");
  expect_failure(op(values.data(), 0, 1, 0, bad(-1, 0)), NEKBONE_K_GS_INVALID, "operation -1");
  if (size() > 1)
    expect_failure(op(values.data(), 0, bad(3, 1), 0, 0), NEKBONE_K_GS_INVALID,
                   "different numbers of components");
  expect_failure(nekbone_k_gs_tune(gs.get(), bad(4, 0), 1, nullptr, nullptr), NEKBONE_K_GS_INVALID,
                 "type 4");
  if (size() > 1) {
    const nekbone_k_gs_work nothing = [](double, void*) {};
    expect_failure(nekbone_k_gs_tune(gs.get(), 0, 1, is_last() ? nothing : nullptr, nullptr),
                   NEKBONE_K_GS_INVALID, "pass it on all or on none");
    expect_failure(nekbone_k_gs_tune(gs.get(), 0, bad(2, 1), nullptr, nullptr),
                   NEKBONE_K_GS_INVALID, "different numbers of components");
  }
  // None of this broke the handle.
  expect_right<double>(gs.get(), graph, Reduction::add, one_component);
  // The ranks have agreed on this operation, so each checks for itself.
  expect_failure(op(nullptr, 0, 1, 0, 0), NEKBONE_K_GS_INVALID, "NULL");
  expect_right<double>(gs.get(), graph, Reduction::add, one_component);
}

TEST_F(Library, RefusesStepsInTheWrongOrder) {
  const LibraryGraph& graph = library_graphs[0];
  OwnedHandle gs = make(graph);
  expect_failure(nekbone_k_gs_finish(gs.get()), NEKBONE_K_GS_INVALID, "start one first");
  const auto meanwhile = [&] {
    std::vector<double> others(graph.ids(rank(), size()).size(), 1.0);
    expect_failure(nekbone_k_gs_start(gs.get(), others.data(), 0, 1, 0, 0), NEKBONE_K_GS_INVALID,
                   "finish it first");
    expect_failure(nekbone_k_gs_tune(gs.get(), 0, 1, nullptr, nullptr), NEKBONE_K_GS_INVALID,
                   "finish it first");
    nekbone_k_gs* held = gs.get();
    expect_failure(nekbone_k_gs_free(&held), NEKBONE_K_GS_INVALID, "finish it first");
    EXPECT_EQ(held, gs.get());
  };
  expect_right<double>(gs.get(), graph, Reduction::add, one_component, meanwhile);
}

TEST_F(Library, RefusesNullAndOverlapWithoutWork) {
  const char* text = nullptr;
  nekbone_k_gs* none = nullptr;
  double value = 0;
  expect_failure(nekbone_k_gs_op(nullptr, &value, 0, 1, 0, 0), NEKBONE_K_GS_INVALID, "NULL");
  expect_failure(nekbone_k_gs_report(nullptr, &text), NEKBONE_K_GS_INVALID, "NULL");
  expect_failure(nekbone_k_gs_create(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr),
                 NEKBONE_K_GS_INVALID, "NULL");
  expect_failure(nekbone_k_gs_create(MPI_COMM_NULL, 0, nullptr, nullptr, &none),
                 NEKBONE_K_GS_INVALID, "MPI_COMM_NULL");
  EXPECT_EQ(nekbone_k_gs_free(&none), NEKBONE_K_GS_OK);
  EXPECT_EQ(nekbone_k_gs_free(nullptr), NEKBONE_K_GS_OK);

  const OwnedHandle gs = make(library_graphs[0], "strategies=host-pairwise+overlap");
  expect_failure(nekbone_k_gs_report(gs.get(), nullptr), NEKBONE_K_GS_INVALID, "NULL");
  expect_failure(nekbone_k_gs_tune(gs.get(), NEKBONE_K_GS_DOUBLE, 1, nullptr, nullptr),
                 NEKBONE_K_GS_INVALID, "pass work to nekbone_k_gs_tune");
  expect_right<double>(gs.get(), library_graphs[0], Reduction::add, one_component);
}

}  // namespace
}  // namespace nekbone_k
