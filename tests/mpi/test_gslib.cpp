// SPDX-License-Identifier: BSD-3-Clause
// The drop-in for gslib against a plain loop over all points of all ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#define NEKBONE_K_GSLIB_LONG_NAMES
#include "core/communicator.hpp"
#include "gslib/gslib.h"

// For Fortran, by its names. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void fgslib_gs_setup_(int*, const long long*, const int*, const MPI_Fint*, const int*);
void fgslib_gs_setup_pick_(int*, const long long*, const int*, const MPI_Fint*, const int*,
                           const int*);
void fgslib_gs_free_(const int*);
void fgslib_gs_unique_(long long*, const int*, const MPI_Fint*, const int*);
void fgslib_gs_op_(const int*, void*, const int*, const int*, const int*);
void fgslib_gs_op_vec_(const int*, void*, const int*, const int*, const int*, const int*);
void fgslib_gs_op_many_(const int*, void*, void*, void*, void*, void*, void*, const int*,
                        const int*, const int*, const int*);
void fgslib_gs_op_fields_(const int*, void*, const int*, const int*, const int*, const int*,
                          const int*);
void fgslib_igs_op_(const int*, void*, const int*, const int*, const int*, int*);
void fgslib_gs_op_wait_(const int*);
void gs_op_(const int*, void*, const int*, const int*, const int*);
}
// NOLINTEND(readability-identifier-naming)

namespace nekbone_k {
namespace {

using SignedIds = std::vector<long long>;

// ---- Points of each rank
// -------------------------------------------------------------------------

std::uint64_t scrambled(std::uint64_t z) {
  z = (z ^ (z >> 33)) * 0xff51afd7ed558ccdULL;
  z = (z ^ (z >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return z ^ (z >> 33);
}

// Ids from -most to most. Every rank can compute those of all others.
SignedIds random_signed_ids(int rank, int points, int most) {
  SignedIds ids;
  for (int p = 0; p < points; ++p)
    ids.push_back(
        static_cast<long long>(scrambled(7919ULL * p + 104729ULL * rank + 13) % (2 * most + 1)) -
        most);
  return ids;
}

struct SignedGraph {
  const char* name;
  SignedIds (*ids)(int rank);
};

const SignedGraph signed_graphs[]{
    {"random signs", [](int rank) { return random_signed_ids(rank, 120, 80); }},
    {"no flags",
     [](int rank) {
       SignedIds ids = random_signed_ids(rank, 120, 80);
       for (long long& id : ids) id = std::abs(id);
       return ids;
     }},
    {"every copy of many ids is flagged",
     [](int rank) {
       SignedIds ids = random_signed_ids(rank, 120, 80);
       for (long long& id : ids)
         if (id % 3 == 0) id = -std::abs(id);
       return ids;
     }},
    {"few ids, and odd ranks have flags only",
     [](int rank) {
       SignedIds ids = random_signed_ids(rank, 60, 9);
       for (long long& id : ids) id = rank % 2 == 1 ? -std::abs(id) : std::abs(id);
       return ids;
     }},
    {"even ranks have nothing",
     [](int rank) { return rank % 2 == 0 ? SignedIds{} : random_signed_ids(rank, 50, 30); }},
    {"large ids", [](int rank) {
       SignedIds ids = random_signed_ids(rank, 60, 20);
       for (long long& id : ids) id *= 1LL << 50;
       return ids;
     }}};

// ---- Values and their combination
// -----------------------------------------------------------------

constexpr gs_op all_ops[]{gs_add, gs_mul, gs_min, gs_max, gs_bpr};

// A value whose combinations are exact in every type: a whole number, or ±1 or 2 to multiply.
template <class T>
T gslib_value(gs_op op, int rank, std::size_t point, unsigned component) {
  const std::uint64_t h = scrambled(point * 31 + rank * 1009 + component * 65537 + 1);
  if (op == gs_mul) return static_cast<T>(h % 16 == 0 ? 2 : h % 2 == 0 ? 1 : -1);
  if (op == gs_bpr) return static_cast<T>(h % 9 == 0 ? 0 : 5000 + h % 64);
  return static_cast<T>(static_cast<std::int64_t>(h % 2001) - 1000);
}

template <class T>
void combine_as_gslib(gs_op op, T& a, T b) {
  if (op == gs_add) a += b;
  if (op == gs_mul) a *= b;
  if (op == gs_min) a = std::min(a, b);
  if (op == gs_max) a = std::max(a, b);
  if (op == gs_bpr && b != 0) {
    auto first = static_cast<std::uint32_t>(a), second = static_cast<std::uint32_t>(b);
    if (first == 0) first = second;
    while (first != second) (first > second ? first : second) /= 2;
    a = static_cast<T>(first);
  }
}

template <class T>
T neutral_of_gslib(gs_op op) {
  if (op == gs_mul) return 1;
  if (op == gs_min) return std::numeric_limits<T>::max();
  if (op == gs_max) return std::numeric_limits<T>::lowest();
  return 0;
}

// The values of component `component` before the operation.
template <class T>
std::vector<T> gslib_values(const SignedIds& ids, gs_op op, int rank, unsigned component = 0) {
  std::vector<T> values;
  for (std::size_t p = 0; p < ids.size(); ++p)
    values.push_back(gslib_value<T>(op, rank, p, component));
  return values;
}

// And after it.
template <class T>
std::vector<T> expected_of_gslib(const SignedGraph& graph, gs_op op, bool transpose, int rank,
                                 int size, unsigned component = 0) {
  std::map<long long, T> combined;
  for (int r = 0; r < size; ++r) {
    const SignedIds ids = graph.ids(r);
    for (std::size_t p = 0; p < ids.size(); ++p)
      if (ids[p] > 0 || (ids[p] < 0 && transpose))
        combine_as_gslib(
            op, combined.try_emplace(std::abs(ids[p]), neutral_of_gslib<T>(op)).first->second,
            gslib_value<T>(op, r, p, component));
  }
  const SignedIds ids = graph.ids(rank);
  std::vector<T> values = gslib_values<T>(ids, op, rank, component);
  for (std::size_t p = 0; p < ids.size(); ++p) {
    if (ids[p] == 0 || (ids[p] < 0 && transpose)) continue;
    const auto found = combined.find(std::abs(ids[p]));
    values[p] = found == combined.end() ? neutral_of_gslib<T>(op) : found->second;
  }
  return values;
}

// ---- Handles ------------------------------------------------------------------------------------

struct FreeGsData {
  void operator()(gs_data* gsh) const { gslib_gs_free(gsh); }
};
using OwnedGsData = std::unique_ptr<gs_data, FreeGsData>;

class Gslib : public testing::Test {
 protected:
  Gslib() {
    setenv("NEKBONE_K_GSLIB_OPTIONS",
           "tuning.budget_seconds=0; tuning.minimum_rounds=1;"
           "strategies=[device-pairwise, device-datatypes, host-crystal]",
           1);
  }
  ~Gslib() override { unsetenv("NEKBONE_K_GSLIB_OPTIONS"); }

  OwnedGsData make(const SignedGraph& graph, gs_method method = gs_pairwise, int unique = 0) const {
    const SignedIds ids = graph.ids(rank());
    return OwnedGsData(
        gslib_gs_setup(ids.data(), static_cast<unsigned>(ids.size()), &m_ranks, unique, method, 0));
  }

  template <class T>
  void expect_right(gs_data* gsh, const SignedGraph& graph, gs_dom dom, gs_op op,
                    bool transpose) const {
    std::vector<T> values = gslib_values<T>(graph.ids(rank()), op, rank());
    gslib_gs(values.data(), dom, op, transpose ? 1 : 0, gsh, nullptr);
    EXPECT_EQ(values, expected_of_gslib<T>(graph, op, transpose, rank(), size()))
        << graph.name << ", type " << dom << ", operation " << op << ", transpose " << transpose;
  }
  void expect_right(gs_data* gsh, const SignedGraph& graph) const {
    for (const gs_op op : all_ops)
      for (const bool transpose : {false, true}) {
        expect_right<double>(gsh, graph, gs_double, op, transpose);
        expect_right<float>(gsh, graph, gs_float, op, transpose);
        expect_right<int>(gsh, graph, gs_int, op, transpose);
        expect_right<long>(gsh, graph, gs_long, op, transpose);
        expect_right<long long>(gsh, graph, gs_long_long, op, transpose);
      }
  }

  int rank() const { return m_comm.rank(); }
  int size() const { return m_comm.size(); }

  Communicator m_comm{MPI_COMM_WORLD};
  comm m_ranks{static_cast<unsigned>(m_comm.rank()), static_cast<unsigned>(m_comm.size()),
               m_comm.get()};
};

class GslibGraphs : public Gslib, public testing::WithParamInterface<SignedGraph> {};

TEST_P(GslibGraphs, EveryTypeAndOperationIsRightBothWays) {
  const OwnedGsData gsh = make(GetParam());
  expect_right(gsh.get(), GetParam());
}

TEST_P(GslibGraphs, ComponentsAreRight) {
  const SignedGraph& graph = GetParam();
  const OwnedGsData gsh = make(graph);
  const SignedIds ids = graph.ids(rank());
  const std::size_t n = ids.size();
  for (const unsigned components : {1U, 3U, 70U})  // the library takes up to 64 at once
    for (const gs_op op : {gs_add, gs_max, gs_bpr})
      for (const bool transpose : {false, true}) {
        std::vector<std::vector<double>> expected, arrays;
        std::vector<double> interleaved(n * components);
        for (unsigned c = 0; c < components; ++c) {
          expected.push_back(expected_of_gslib<double>(graph, op, transpose, rank(), size(), c));
          arrays.push_back(gslib_values<double>(ids, op, rank(), c));
          for (std::size_t p = 0; p < n; ++p) interleaved[p * components + c] = arrays[c][p];
        }
        // Arrays at equal distances, with a gap between them, are not copied.
        const std::size_t distance = n + 5;
        std::vector<double> together(distance * components, 17.0);
        std::vector<void*> far, near;
        for (unsigned c = 0; c < components; ++c) {
          std::copy(arrays[c].begin(), arrays[c].end(),
                    together.begin() + static_cast<std::ptrdiff_t>(c * distance));
          far.push_back(arrays[components - 1 - c].data());  // in another order
          near.push_back(together.data() + c * distance);
        }
        gslib_gs_vec(interleaved.data(), components, gs_double, op, transpose, gsh.get(), nullptr);
        gslib_gs_many(far.data(), components, gs_double, op, transpose, gsh.get(), nullptr);
        gslib_gs_many(near.data(), components, gs_double, op, transpose, gsh.get(), nullptr);
        EXPECT_EQ(arrays, expected);
        for (unsigned c = 0; c < components; ++c) {
          const auto begin = together.begin() + static_cast<std::ptrdiff_t>(c * distance);
          EXPECT_EQ(std::vector<double>(begin, begin + n), expected[c]);
          EXPECT_EQ(std::vector<double>(begin + n, begin + distance), std::vector<double>(5, 17.0));
          std::vector<double> component;
          for (std::size_t p = 0; p < n; ++p) component.push_back(interleaved[p * components + c]);
          EXPECT_EQ(component, expected[c]);
        }
      }
}

INSTANTIATE_TEST_SUITE_P(All, GslibGraphs, testing::ValuesIn(signed_graphs), [](const auto& graph) {
  std::string name = graph.param.name;
  std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
  return name;
});

TEST_F(Gslib, EveryMethodIsRight) {
  for (const gs_method method : {gs_auto, gs_pairwise, gs_crystal_router, gs_all_reduce}) {
    const OwnedGsData gsh = make(signed_graphs[0], method);
    expect_right(gsh.get(), signed_graphs[0]);
  }
}

// ---- Bits ---------------------------------------------------------------------------------------

TEST_F(Gslib, RepetitionGivesTheSameBits) {
  const SignedGraph& graph = signed_graphs[1];
  const OwnedGsData gsh = make(graph, gs_auto);
  const SignedIds ids = graph.ids(rank());
  std::vector<double> values;
  for (std::size_t p = 0; p < ids.size(); ++p)
    values.push_back(1.0 / static_cast<double>(1 + scrambled(p + 1000 * rank()) % 997));
  std::vector<double> first = values;
  gslib_gs(first.data(), gs_double, gs_add, 0, gsh.get(), nullptr);
  for (int i = 0; i < 20; ++i) {
    std::vector<double> again = values;
    gslib_gs(again.data(), gs_double, gs_add, 0, gsh.get(), nullptr);
    EXPECT_TRUE(ids.empty() ||
                std::memcmp(again.data(), first.data(), again.size() * sizeof(double)) == 0);
  }
}

// What flagged copies contribute changes no bit.
TEST_F(Gslib, FlaggedCopiesKeepZerosAndInfinities) {
  const SignedIds ids{1 + rank(), -1 - rank()};
  const OwnedGsData gsh(gslib_gs_setup(ids.data(), 2, &m_ranks, 0, gs_pairwise, 0));
  const double infinity = std::numeric_limits<double>::infinity();
  const auto result = [&](double value, gs_op op) {
    std::vector<double> values{value, 5.0};
    gslib_gs(values.data(), gs_double, op, 0, gsh.get(), nullptr);
    EXPECT_EQ(std::memcmp(&values[0], &values[1], sizeof(double)), 0);
    return values[0];
  };
  EXPECT_TRUE(std::signbit(result(-0.0, gs_add)));
  EXPECT_EQ(result(infinity, gs_min), infinity);
  EXPECT_EQ(result(-infinity, gs_max), -infinity);
  EXPECT_TRUE(std::isnan(result(std::numeric_limits<double>::quiet_NaN(), gs_max)));
}

// ---- Operations in two steps --------------------------------------------------------------------

TEST_F(Gslib, OperationsMayBeUnderWayTogether) {
  const SignedGraph &graph = signed_graphs[0], &other_graph = signed_graphs[3];
  const OwnedGsData gsh = make(graph), other = make(other_graph);
  const SignedIds ids = graph.ids(rank()), other_ids = other_graph.ids(rank());
  for (const bool transpose : {false, true}) {
    std::vector<double> first = gslib_values<double>(ids, gs_add, rank());
    std::vector<int> second = gslib_values<int>(ids, gs_max, rank(), 1);
    std::vector<long long> third = gslib_values<long long>(other_ids, gs_bpr, rank());
    std::vector<float> fourth = gslib_values<float>(other_ids, gs_min, rank());
    int waits[4];
    {
      // The list of arrays may be gone before the operation ends.
      std::vector<void*> list{second.data()};
      gslib_igs(first.data(), gs_double, gs_add, transpose, gsh.get(), nullptr, &waits[0]);
      gslib_igs_many(list.data(), 1, gs_int, gs_max, transpose, gsh.get(), nullptr, &waits[1]);
      list[0] = nullptr;
    }
    gslib_igs(third.data(), gs_long_long, gs_bpr, transpose, other.get(), nullptr, &waits[2]);
    gslib_gs_wait(waits[2]);
    gslib_igs_vec(fourth.data(), 1, gs_float, gs_min, transpose, other.get(), nullptr, &waits[3]);
    for (const int wait : {0, 1, 3}) gslib_gs_wait(waits[wait]);
    EXPECT_EQ(first, expected_of_gslib<double>(graph, gs_add, transpose, rank(), size()));
    EXPECT_EQ(second, expected_of_gslib<int>(graph, gs_max, transpose, rank(), size(), 1));
    EXPECT_EQ(third, expected_of_gslib<long long>(other_graph, gs_bpr, transpose, rank(), size()));
    EXPECT_EQ(fourth, expected_of_gslib<float>(other_graph, gs_min, transpose, rank(), size()));
  }
}

// ---- Unique copies ------------------------------------------------------------------------------

TEST_F(Gslib, UniqueLeavesOneCopyOfEachId) {
  for (const SignedGraph& graph : signed_graphs) {
    const SignedIds given = graph.ids(rank());
    SignedIds ids = given;
    gslib_gs_unique(ids.data(), static_cast<unsigned>(ids.size()), &m_ranks);
    for (std::size_t p = 0; p < ids.size(); ++p) {
      EXPECT_EQ(std::abs(ids[p]), std::abs(given[p]));
      EXPECT_LE(ids[p], given[p]);  // flags stay
    }
    std::vector<std::vector<std::int64_t>> sent(size(),
                                                std::vector<std::int64_t>(ids.begin(), ids.end()));
    std::map<long long, int> owners;
    for (const auto& theirs : m_comm.exchange(sent))
      for (const std::int64_t id : theirs)
        if (id > 0) ++owners[id];
    std::map<long long, int> expected;
    for (int r = 0; r < size(); ++r)
      for (const long long id : graph.ids(r))
        if (id > 0) expected[id] = 1;
    EXPECT_EQ(owners, expected) << graph.name;

    // A handle that is set up as unique does the same.
    const OwnedGsData by_ids(
        gslib_gs_setup(ids.data(), static_cast<unsigned>(ids.size()), &m_ranks, 0, gs_pairwise, 0)),
        by_flag = make(graph, gs_pairwise, 1);
    for (const unsigned transpose : {0U, 1U}) {
      std::vector<double> one = gslib_values<double>(ids, gs_add, rank()), other = one;
      gslib_gs(one.data(), gs_double, gs_add, transpose, by_ids.get(), nullptr);
      gslib_gs(other.data(), gs_double, gs_add, transpose, by_flag.get(), nullptr);
      EXPECT_EQ(one, other);
    }
  }
}

// ---- Fortran ------------------------------------------------------------------------------------

TEST_F(Gslib, FunctionsForFortranDoTheSame) {
  const SignedGraph& graph = signed_graphs[0];
  const SignedIds ids = graph.ids(rank());
  const int n = static_cast<int>(ids.size()), np = size(), crystal = gs_crystal_router;
  const MPI_Fint ranks = MPI_Comm_c2f(MPI_COMM_WORLD);
  setenv("NEKBONE_K_GSLIB_OPTIONS", "tuning.budget_seconds=0; tuning.minimum_rounds=1", 1);
  int handles[2];
  testing::internal::CaptureStdout();
  fgslib_gs_setup_(&handles[0], ids.data(), &n, &ranks, &np);
  fgslib_gs_setup_pick_(&handles[1], ids.data(), &n, &ranks, &np, &crystal);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(printed.find("gs_setup: ") != std::string::npos, rank() == 0) << printed;
  EXPECT_EQ(printed.find("host-crystal") != std::string::npos, rank() == 0) << printed;
  EXPECT_NE(gslib_gs_hf2c(handles[0]), gslib_gs_hf2c(handles[1]));

  const int real8 = 1, integer4 = 2, integer8 = 3, add = 1, multiply = 2, minimum = 3, maximum = 4;
  for (const int& handle : handles)
    for (const int transpose : {0, 1}) {
      const auto expected = [&]<class T>(gs_op op, T, unsigned component = 0) {
        return expected_of_gslib<T>(graph, op, transpose != 0, rank(), size(), component);
      };
      std::vector<double> doubles = gslib_values<double>(ids, gs_add, rank());
      fgslib_gs_op_(&handle, doubles.data(), &real8, &add, &transpose);
      EXPECT_EQ(doubles, expected(gs_add, 0.0));
      doubles = gslib_values<double>(ids, gs_mul, rank());
      gs_op_(&handle, doubles.data(), &real8, &multiply, &transpose);
      EXPECT_EQ(doubles, expected(gs_mul, 0.0));
      std::vector<int> ints = gslib_values<int>(ids, gs_min, rank());
      const int one = 1, two = 2;
      fgslib_gs_op_vec_(&handle, ints.data(), &one, &integer4, &minimum, &transpose);
      EXPECT_EQ(ints, expected(gs_min, 0));
      std::vector<long long> longs = gslib_values<long long>(ids, gs_max, rank()),
                             others = gslib_values<long long>(ids, gs_max, rank(), 1);
      fgslib_gs_op_many_(&handle, longs.data(), others.data(), nullptr, nullptr, nullptr, nullptr,
                         &two, &integer8, &maximum, &transpose);
      EXPECT_EQ(longs, expected(gs_max, 0LL));
      EXPECT_EQ(others, expected(gs_max, 0LL, 1));

      // Two arrays of integer*8, at a distance of n + 3 values.
      const int stride = n + 3;
      longs = gslib_values<long long>(ids, gs_add, rank());
      others = gslib_values<long long>(ids, gs_add, rank(), 1);
      std::vector<long long> fields(longs);
      fields.resize(stride, 7);
      fields.insert(fields.end(), others.begin(), others.end());
      fgslib_gs_op_fields_(&handle, fields.data(), &stride, &two, &integer8, &add, &transpose);
      EXPECT_EQ(std::vector<long long>(fields.begin(), fields.begin() + n), expected(gs_add, 0LL));
      EXPECT_EQ(std::vector<long long>(fields.begin() + stride, fields.end()),
                expected(gs_add, 0LL, 1));
      EXPECT_EQ(fields[n], 7);

      int wait = -1;
      doubles = gslib_values<double>(ids, gs_add, rank());
      fgslib_igs_op_(&handle, doubles.data(), &real8, &add, &transpose, &wait);
      fgslib_gs_op_wait_(&wait);
      EXPECT_EQ(doubles, expected(gs_add, 0.0));
    }
  for (const int& handle : handles) fgslib_gs_free_(&handle);

  SignedIds unique = ids, expected = ids;
  fgslib_gs_unique_(unique.data(), &n, &ranks, &np);
  gslib_gs_unique(expected.data(), static_cast<unsigned>(n), &m_ranks);
  EXPECT_EQ(unique, expected);
}

}  // namespace
}  // namespace nekbone_k
