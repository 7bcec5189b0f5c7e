// SPDX-License-Identifier: BSD-3-Clause
// QQᵀ by every strategy against a plain loop over all points of all ranks.
#include "gs/gather_scatter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "support/available_strategies.hpp"
#include "support/pretended_nodes.hpp"

namespace nekbone_k {

namespace {

using Ids = std::vector<GlobalId>;

// ---- Points of each rank -----------------------------------------------------------------------

// Global ids of one rank's points. Every rank can compute those of all others, so the reference
// needs no messages.
struct Graph {
  std::string name;
  Ids (*ids)(int rank, int size);
};

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 33)) * 0xff51afd7ed558ccdULL;
  z = (z ^ (z >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return z ^ (z >> 33);
}

// `points` random ids below `ids`, some of which repeat on the rank.
Ids random_ids(int rank, int points, int ids) {
  Ids chosen(points);
  for (int p = 0; p < points; ++p)
    chosen[p] = static_cast<GlobalId>(mixed(7919ULL * p + 104729ULL * rank + ids) % ids);
  return chosen;
}

// Points of the rank's elements in a box that is periodic in every direction.
Ids periodic_box(int rank, int size, int nx, int ny, int nz, int N) {
  Ids ids;
  for (int e = 0; e < nx * ny * nz; ++e) {
    if (e * size / (nx * ny * nz) != rank) continue;
    const int ex = e % nx, ey = e / nx % ny, ez = e / (nx * ny);
    for (int k = 0; k <= N; ++k)
      for (int j = 0; j <= N; ++j)
        for (int i = 0; i <= N; ++i) {
          const int x = (ex * N + i) % (nx * N), y = (ey * N + j) % (ny * N),
                    z = (ez * N + k) % (nz * N);
          ids.push_back(x + GlobalId{nx} * N * (y + GlobalId{ny} * N * z));
        }
  }
  return ids;
}

const std::vector<Graph> graphs{
    {"random", [](int rank, int) { return random_ids(rank, 150, 200); }},
    {"random with many copies", [](int rank, int) { return random_ids(rank, 120, 30); }},
    {"negative ids in between",
     [](int rank, int) {
       Ids ids = random_ids(rank, 150, 80);
       for (std::size_t p = rank % 3; p < ids.size(); p += 3) ids[p] = -1 - GlobalId(p % 5);
       return ids;
     }},
    {"ids beyond 32 bits",
     [](int rank, int) {
       Ids ids = random_ids(rank, 100, 50);
       for (GlobalId& id : ids) id = (GlobalId{1} << 40) * (id % 7) + id;
       return ids;
     }},
    {"even ranks have nothing",
     [](int rank, int) { return rank % 2 == 0 ? Ids{} : random_ids(rank, 60, 40); }},
    {"only the last rank has points",
     [](int rank, int size) { return rank < size - 1 ? Ids{} : random_ids(rank, 60, 40); }},
    {"nobody has points", [](int, int) { return Ids{}; }},
    {"only negative ids",
     [](int, int) {
       return Ids{-1, -1, -2};
     }},
    {"one id, many times on every rank", [](int rank, int) { return Ids(rank + 3, 5); }},
    {"nothing shared between ranks",
     [](int rank, int) {
       Ids ids = random_ids(rank, 60, 40);
       for (GlobalId& id : ids) id += 1000 * rank;
       return ids;
     }},
    // 300 rows with stride 1, some on one rank and some on all, then rows with stride 2.
    {"long even pieces",
     [](int rank, int) {
       Ids ids;
       for (int copy = 0; copy < 3; ++copy)
         for (int p = 0; p < 300; ++p) ids.push_back(p < 200 ? 1000 + 300 * rank + p : p);
       for (int p = 0; p < 200; ++p) {
         ids.push_back(100'000 + 200 * rank + p);
         ids.push_back(500'000 + 200 * rank + p);
       }
       for (int p = 0; p < 200; ++p) ids.push_back(100'000 + 200 * rank + p);
       return ids;
     }},
    {"periodic box", [](int rank, int size) { return periodic_box(rank, size, 3, 2, 2, 2); }},
    {"one element in a periodic direction",
     [](int rank, int size) { return periodic_box(rank, size, 1, 4, 2, 2); }},
};

std::vector<Ids> ids_of_all_ranks(const Graph& graph, int size) {
  std::vector<Ids> ids(size);
  for (int r = 0; r < size; ++r) ids[r] = graph.ids(r, size);
  return ids;
}

// ---- Values ------------------------------------------------------------------------------------

enum class Data {
  exact,  // integers, or ±1/2, ±1, ±2 for multiply: the result is exact in any order
  real    // all bits in use: another order gives other bits
};

// `what` is a point or an id. `call` makes repeated uses different.
template <class T>
T value_at(Data data, Reduction op, int rank, std::int64_t what, int component, int call) {
  const std::uint64_t h = mixed(mixed(mixed(what + 1) + 31 * rank + 1000003 * component) + call);
  const bool multiply = op == Reduction::multiply;
  if (data == Data::exact)
    return static_cast<T>(multiply ? std::ldexp(h % 2 == 0 ? 1.0 : -1.0, int(h / 2 % 3) - 1)
                                   : static_cast<double>(h % 41) - 20);
  const double unit = static_cast<double>(h >> 11) * 0x1p-53;  // in [0, 1)
  return static_cast<T>(multiply ? (h % 2 == 0 ? 0.5 + unit : -0.5 - unit) : 2 * unit - 1);
}

template <class T>
T combined(Reduction op, T a, T b) {
  switch (op) {
    case Reduction::add:
      return a + b;
    case Reduction::multiply:
      return a * b;
    case Reduction::min:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

// Combines values in the documented order: the points of a DOF on a rank in ascending order, then
// the ranks in ascending order.
template <class T>
struct Fold {
  bool empty = true;
  T value = 0;

  void add(Reduction op, T more) {
    value = empty ? more : combined(op, value, more);
    empty = false;
  }
};

// Combined values by id and component.
template <class T>
using Combined = std::map<GlobalId, std::vector<T>>;

// The combined value of every id, by component, from all points of all ranks.
template <class T>
Combined<T> reference_of_points(const std::vector<Ids>& ids_of_rank, Data data, Reduction op,
                                int components, int call) {
  std::map<GlobalId, std::vector<Fold<T>>> total;
  for (int rank = 0; rank < static_cast<int>(ids_of_rank.size()); ++rank) {
    const Ids& ids = ids_of_rank[rank];
    std::map<GlobalId, std::vector<Fold<T>>> on_rank;
    for (int p = 0; p < static_cast<int>(ids.size()); ++p) {
      auto& folds = on_rank[ids[p]];
      folds.resize(components);
      for (int c = 0; c < components; ++c)
        folds[c].add(op, value_at<T>(data, op, rank, p, c, call));
    }
    for (const auto& [id, folds] : on_rank) {
      auto& totals = total[id];
      totals.resize(components);
      for (int c = 0; c < components; ++c) totals[c].add(op, folds[c].value);
    }
  }
  Combined<T> values;
  for (const auto& [id, folds] : total)
    for (const Fold<T>& fold : folds) values[id].push_back(fold.value);
  return values;
}

// The references of one graph. Kept, because the tests of all strategies need the same ones.
class References {
 public:
  explicit References(const std::vector<Ids>& ids_of_rank) : m_ids_of_rank(ids_of_rank) {}

  const std::vector<Ids>& ids_of_rank() const { return m_ids_of_rank; }

  template <class T>
  const Combined<T>& of(Data data, Reduction op, int components, int call) {
    auto& known = std::get<Known<T>>(m_known);
    const auto [found, is_new] = known.try_emplace(std::tuple(data, op, components, call));
    if (is_new) found->second = reference_of_points<T>(m_ids_of_rank, data, op, components, call);
    return found->second;
  }

 private:
  template <class T>
  using Known = std::map<std::tuple<Data, Reduction, int, int>, Combined<T>>;

  std::vector<Ids> m_ids_of_rank;
  std::tuple<Known<double>, Known<float>> m_known;
};

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
DeviceField<T> points_field(const Ids& ids, Data data, Reduction op, int rank, int components,
                            int call) {
  const DeviceField<T> points("points", ids.size(), components);
  const auto host = Kokkos::create_mirror_view(points);
  for (int p = 0; p < static_cast<int>(ids.size()); ++p)
    for (int c = 0; c < components; ++c) host(p, c) = value_at<T>(data, op, rank, p, c, call);
  Kokkos::deep_copy(points, host);
  return points;
}

// Describes the first point that differs from the reference in any bit; empty if there is none.
template <class T>
std::string first_difference(const DeviceField<T>& points, References& references, Data data,
                             Reduction op, int rank, int call) {
  const int components = static_cast<int>(points.extent(1));
  const Combined<T>& reference = references.of<T>(data, op, components, call);
  const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), points);
  const Ids& ids = references.ids_of_rank()[rank];
  for (int p = 0; p < static_cast<int>(ids.size()); ++p)
    for (int c = 0; c < components; ++c) {
      const T expected =
          ids[p] < 0 ? value_at<T>(data, op, rank, p, c, call) : reference.at(ids[p]).at(c);
      if (same_bits<T>(host(p, c), expected)) continue;
      std::ostringstream text;
      text << std::hexfloat << "rank " << rank << ", point " << p << ", DOF " << ids[p]
           << ", component " << c << ": " << host(p, c) << " instead of " << expected;
      return text.str();
    }
  return {};
}

// Calls gs_op once. Returns its first wrong value, or nothing.
template <class T>
std::string try_gs_op(GatherScatter& gs, References& references, Data data, Reduction op,
                      int components, int call = 0) {
  const int rank = gs.communicator().rank();
  const auto points =
      points_field<T>(references.ids_of_rank()[rank], data, op, rank, components, call);
  gs.gs_op(points, op);
  return first_difference<T>(points, references, data, op, rank, call);
}

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

// ---- Every strategy ----------------------------------------------------------------------------

// A graph with its gather–scatter.
struct BoxCase {
  BoxCase(const Communicator& comm, const Graph& graph)
      : name(graph.name),
        references(ids_of_all_ranks(graph, comm.size())),
        gs(comm, references.ids_of_rank()[comm.rank()]) {
    const HaloPlan& plan = gs.plan();
    ranks_of_shared.resize(plan.n_shared());
    for (int r = 0; r < comm.size(); ++r) {
      const Ids& ids = references.ids_of_rank()[r];
      const std::set<GlobalId> on_rank(ids.begin(), ids.end());
      for (LocalIndex s = 0; s < plan.n_shared(); ++s)
        if (on_rank.contains(plan.ids[s])) ranks_of_shared[s].push_back(r);
    }
  }

  std::string name;
  References references;
  GatherScatter gs;
  std::vector<std::vector<int>> ranks_of_shared;  // by shared DOF, ascending
};

class GatherScatterBy : public testing::TestWithParam<std::tuple<Strategy, Reduction, int>> {
 protected:
  // Made once, because the tests differ only in the strategy.
  static void SetUpTestSuite() {
    s_comm = std::make_unique<Communicator>(MPI_COMM_WORLD);
    for (const Graph& graph : graphs) s_cases.push_back(std::make_unique<BoxCase>(*s_comm, graph));
    s_nan_gs = std::make_unique<GatherScatter>(*s_comm, ids_of_nan(s_comm->rank()));
  }
  static void TearDownTestSuite() {
    s_nan_gs.reset();
    s_cases.clear();
    s_comm.reset();
  }
  void SetUp() override {
    if (const std::string why = why_unavailable(m_comm, std::get<0>(GetParam())); !why.empty())
      GTEST_SKIP() << why;
  }
  // Tests of a strategy follow each other. They keep its exchanges, which take long to make.
  GatherScatterBy() {
    for (const auto& c : s_cases)
      if (c->gs.strategy().name != m_strategy.name) c->gs.select(m_strategy);
    if (s_nan_gs->strategy().name != m_strategy.name) s_nan_gs->select(m_strategy);
  }
  static Ids ids_of_nan(int rank) { return {5, 1000 + rank, 5}; }

  static std::unique_ptr<Communicator> s_comm;
  static std::vector<std::unique_ptr<BoxCase>> s_cases;
  static std::unique_ptr<GatherScatter> s_nan_gs;

  const Communicator& m_comm = *s_comm;
  const int m_rank = m_comm.rank();
  const Strategy& m_strategy = std::get<0>(GetParam());
  const Reduction m_op = std::get<1>(GetParam());
  const int m_components = std::get<2>(GetParam());

  template <class T>
  void expect_assembled_sum(BoxCase& tested);
};

std::unique_ptr<Communicator> GatherScatterBy::s_comm;
std::vector<std::unique_ptr<BoxCase>> GatherScatterBy::s_cases;
std::unique_ptr<GatherScatter> GatherScatterBy::s_nan_gs;

// The steps of an exchange of an assembled field with entries beyond the shared DOFs.
template <class T>
void GatherScatterBy::expect_assembled_sum(BoxCase& tested) {
  constexpr int beyond = 13;
  GatherScatter& gs = tested.gs;
  const HaloPlan& plan = gs.plan();
  const DeviceField<T> field("assembled", plan.n_shared() + beyond, m_components);
  const auto host = Kokkos::create_mirror_view(field);

  for (int call = 0; call < 2; ++call) {
    for (int c = 0; c < m_components; ++c) {
      for (LocalIndex s = 0; s < plan.n_shared(); ++s)
        host(s, c) = value_at<T>(Data::real, m_op, m_rank, plan.ids[s], c, call);
      for (int b = 0; b < beyond; ++b) host(plan.n_shared() + b, c) = T(-1);
    }
    Kokkos::deep_copy(field, host);

    EventLog log;
    const FieldExchange<T> exchange = gs.exchange_of(field, m_op, &log);
    exchange.pack();
    exchange.post();
    log.record("work");
    const std::pair rest{plan.n_shared(), plan.n_shared() + beyond};
    Kokkos::deep_copy(Kokkos::subview(field, rest, Kokkos::ALL), T(7));  // concurrent work
    exchange.wait();
    exchange.unpack();
    EXPECT_EQ(log.events(), (std::vector<std::string>{"exchange packed", "exchange posted", "work",
                                                      "exchange waited for", "exchange unpacked"}));

    Kokkos::deep_copy(host, field);
    for (int c = 0; c < m_components; ++c) {
      for (LocalIndex s = 0; s < plan.n_shared(); ++s) {
        Fold<T> expected;
        for (const int r : tested.ranks_of_shared[s])
          expected.add(m_op, value_at<T>(Data::real, m_op, r, plan.ids[s], c, call));
        EXPECT_TRUE(same_bits<T>(host(s, c), expected.value))
            << tested.name << ", DOF " << plan.ids[s] << ": " << host(s, c) << " instead of "
            << expected.value;
      }
      for (int b = 0; b < beyond; ++b) EXPECT_EQ(host(plan.n_shared() + b, c), T(7));
    }
  }
}

// One test of points and of assembled fields, whose exchanges take longer to make than to use. The
// next operation uses them again.
TEST_P(GatherScatterBy, CombinesInRankOrderToTheLastBitAtEveryUse) {
  for (const auto& c : s_cases) {
    References& ids = c->references;
    for (const Data data : {Data::exact, Data::real}) {
      EXPECT_EQ(try_gs_op<double>(c->gs, ids, data, m_op, m_components), "") << c->name;
      EXPECT_EQ(try_gs_op<float>(c->gs, ids, data, m_op, m_components), "") << c->name;
    }
    expect_assembled_sum<double>(*c);
    expect_assembled_sum<float>(*c);
  }
  References& ids = s_cases[1]->references;
  GatherScatter& gs = s_cases[1]->gs;
  const int other_components = 4 - m_components;
  for (int call = 0; call < 4; ++call) {
    EXPECT_EQ(try_gs_op<double>(gs, ids, Data::real, m_op, m_components, call), "") << call;
    // Exchanges of other fields in between.
    EXPECT_EQ(try_gs_op<float>(gs, ids, Data::real, m_op, m_components, call), "") << call;
    EXPECT_EQ(try_gs_op<double>(gs, ids, Data::real, m_op, other_components, call), "") << call;
  }
}

TEST_P(GatherScatterBy, SpreadsANaNToEveryCopy) {
  // One id occurs twice on every rank. One of its points has a NaN: the first, the last or another.
  const Ids ids = ids_of_nan(m_rank);
  GatherScatter& gs = *s_nan_gs;
  const DeviceField<double> points("points", ids.size(), m_components);
  const auto host = Kokkos::create_mirror_view(points);
  for (int rank = 0; rank < m_comm.size(); ++rank)
    for (const int point : {0, 2}) {
      Kokkos::deep_copy(host, 2.0);
      if (m_rank == rank) host(point, 0) = std::numeric_limits<double>::quiet_NaN();
      Kokkos::deep_copy(points, host);
      gs.gs_op(points, m_op);
      Kokkos::deep_copy(host, points);
      EXPECT_TRUE(std::isnan(host(0, 0))) << "from point " << point << " of rank " << rank;
      EXPECT_TRUE(std::isnan(host(2, 0))) << "from point " << point << " of rank " << rank;
      EXPECT_EQ(host(1, 0), 2);
      for (int c = 1; c < m_components; ++c) EXPECT_FALSE(std::isnan(host(0, c)));
    }
}

INSTANTIATE_TEST_SUITE_P(Strategies, GatherScatterBy,
                         testing::Combine(testing::ValuesIn(all_strategies().begin(),
                                                            all_strategies().end()),
                                          testing::ValuesIn(all_reductions), testing::Values(1, 3)),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param).name + "_" +
                                            name(std::get<1>(test.param)) + "_" +
                                            std::to_string(std::get<2>(test.param)));
                         });

// ---- Independent of the operation --------------------------------------------------------------

class GatherScatterTest : public testing::Test {
 protected:
  const Communicator m_comm{MPI_COMM_WORLD};
  const int m_rank = m_comm.rank();
};

TEST_F(GatherScatterTest, OfOnesIsTheMultiplicity) {
  struct Box {
    int nx, ny, nz, N;
  };
  for (const auto& [nx, ny, nz, N] :
       {Box{4, 3, 2, 2}, Box{2, 2, 2, 1}, Box{1, 3, 1, 3}, Box{1, 1, 1, 1}, Box{1, 1, 1, 4}}) {
    const Ids ids = periodic_box(m_rank, m_comm.size(), nx, ny, nz, N);
    GatherScatter gs(m_comm, ids);
    for (const Strategy& strategy : available_strategies(m_comm)) {
      gs.select(strategy);
      const DeviceField<double> points("ones", ids.size(), 1);
      Kokkos::deep_copy(points, 1.0);
      gs.gs_op(points, Reduction::add);
      const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), points);
      // In a periodic box, the multiplicity is 2 to the number of element faces with the point.
      for (std::size_t p = 0; p < ids.size(); ++p) {
        const int q = static_cast<int>(p) % ((N + 1) * (N + 1) * (N + 1));
        const int i = q % (N + 1), j = q / (N + 1) % (N + 1), k = q / ((N + 1) * (N + 1));
        const int faces = (i % N == 0) + (j % N == 0) + (k % N == 0);
        EXPECT_EQ(host(p, 0), std::ldexp(1.0, faces)) << strategy.name << ", node " << q;
      }
    }
  }
}

TEST_F(GatherScatterTest, StrategiesAndCopiesAgreeBitwise) {
  const Graph& graph = graphs[0];
  const Ids ids = graph.ids(m_rank, m_comm.size());
  GatherScatter gs(m_comm, ids);
  for (const Reduction op : all_reductions) {
    std::vector<double> first;
    for (const Strategy& strategy : available_strategies(m_comm)) {
      gs.select(strategy);
      const auto points = points_field<double>(ids, Data::real, op, m_rank, 1, 0);
      gs.gs_op(points, op);
      const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), points);
      const std::vector<double> result(host.data(), host.data() + ids.size());
      if (first.empty()) first = result;
      EXPECT_EQ(std::memcmp(result.data(), first.data(), 8 * ids.size()), 0) << strategy.name;
    }

    // All points of an id must have the same bits on all ranks.
    const int count = static_cast<int>(ids.size());
    std::vector<double> values(std::size_t(count) * m_comm.size());
    Ids all(values.size());
    MPI_Allgather(first.data(), count, MPI_DOUBLE, values.data(), count, MPI_DOUBLE, m_comm.get());
    MPI_Allgather(ids.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, m_comm.get());
    std::map<GlobalId, double> of_id;
    for (std::size_t p = 0; p < all.size(); ++p) {
      const double value = of_id.try_emplace(all[p], values[p]).first->second;
      EXPECT_TRUE(same_bits(value, values[p])) << "DOF " << all[p];
    }
  }
}

TEST_F(GatherScatterTest, HasARowForEveryDofOfSeveralPointsOrRanks) {
  for (const Graph& graph : graphs) {
    const std::vector<Ids> ids_of_rank = ids_of_all_ranks(graph, m_comm.size());
    std::map<GlobalId, std::pair<int, std::set<int>>> points_and_ranks;  // all points; ranks
    std::map<GlobalId, int> points_here;
    for (int r = 0; r < m_comm.size(); ++r)
      for (const GlobalId id : ids_of_rank[r]) points_and_ranks[id].second.insert(r);
    for (const GlobalId id : ids_of_rank[m_rank]) ++points_here[id];
    LocalIndex rows = 0, shared = 0, joined = 0;
    for (const auto& [id, points] : points_here) {
      if (id < 0) continue;
      const bool several_ranks = points_and_ranks[id].second.size() > 1;
      if (several_ranks) ++shared;
      if (several_ranks || points > 1) ++rows, joined += points;
    }
    const GatherScatter gs(m_comm, ids_of_rank[m_rank]);
    EXPECT_EQ(gs.plan().n_shared(), shared) << graph.name;
    EXPECT_EQ(gs.n_rows(), rows) << graph.name;
    EXPECT_EQ(gs.assembly().n_joined_points(), joined) << graph.name;
    EXPECT_EQ(gs.assembly().n_points(), static_cast<LocalIndex>(ids_of_rank[m_rank].size()));
  }
}

// Counts the calls of an exchange, to see which exchange is in use.
struct Calls {
  int made = 0, posted = 0, waited = 0;
};
Calls exchange_calls;

class Counting final : public Exchange {
 public:
  explicit Counting(std::unique_ptr<Exchange> inner) : m_inner(std::move(inner)) {
    ++exchange_calls.made;
  }
  void post() override {
    ++exchange_calls.posted;
    m_inner->post();
  }
  Arrival wait() override {
    ++exchange_calls.waited;
    return m_inner->wait();
  }

 private:
  std::unique_ptr<Exchange> m_inner;
};

TEST_F(GatherScatterTest, UsesTheSelectedStrategy) {
  Strategy counting = all_strategies().front();
  counting.name = "counting";
  counting.make = [](const Communicator& comm, const HaloPlan& plan,
                     const MessageBuffers& buffers) -> std::unique_ptr<Exchange> {
    return std::make_unique<Counting>(all_strategies().front().make(comm, plan, buffers));
  };
  exchange_calls = {};
  const int with_others = m_comm.size() > 1 ? 1 : 0;  // alone, a rank exchanges nothing

  References ids(ids_of_all_ranks(graphs[0], m_comm.size()));
  GatherScatter gs(m_comm, ids.ids_of_rank()[m_rank]);
  const auto use = [&] {
    EXPECT_EQ(try_gs_op<double>(gs, ids, Data::real, Reduction::add, 1), "") << gs.strategy().name;
  };
  EXPECT_EQ(gs.strategy().name, first_strategy().name);
  use();
  EXPECT_EQ(exchange_calls.made, 0);

  gs.select(counting);
  EXPECT_EQ(gs.strategy().name, "counting");
  use();
  use();
  EXPECT_EQ(exchange_calls.made, 1);
  EXPECT_EQ(exchange_calls.posted, 2 * with_others);
  EXPECT_EQ(exchange_calls.waited, 2 * with_others);

  gs.select(all_strategies().back());
  EXPECT_EQ(gs.strategy().name, all_strategies().back().name);
  use();
  EXPECT_EQ(exchange_calls.posted, 2 * with_others);

  gs.select(counting);
  use();
  EXPECT_EQ(exchange_calls.made, 2);
  EXPECT_EQ(exchange_calls.posted, 3 * with_others);
}

TEST_F(GatherScatterTest, KeepsAStrategyForEachKindOfField) {
  Strategy counting = all_strategies().front();
  counting.name = "counting";
  counting.make = [](const Communicator& comm, const HaloPlan& plan,
                     const MessageBuffers& buffers) -> std::unique_ptr<Exchange> {
    return std::make_unique<Counting>(all_strategies().front().make(comm, plan, buffers));
  };
  exchange_calls = {};
  const int with_others = m_comm.size() > 1 ? 1 : 0;  // alone, a rank exchanges nothing
  const FieldKind floats{1, Precision::single}, vectors{3, Precision::double_};
  References ids(ids_of_all_ranks(graphs[0], m_comm.size()));
  GatherScatter gs(m_comm, ids.ids_of_rank()[m_rank]);
  const auto use_doubles = [&](int components) {
    EXPECT_EQ(try_gs_op<double>(gs, ids, Data::real, Reduction::add, components), "");
  };
  const auto use_floats = [&] {
    EXPECT_EQ(try_gs_op<float>(gs, ids, Data::exact, Reduction::add, 1), "");
  };
  gs.select(floats, counting);
  EXPECT_EQ(gs.strategy(floats).name, "counting");
  EXPECT_EQ(gs.strategy().name, first_strategy().name);
  EXPECT_EQ(gs.strategy(vectors).name, first_strategy().name);
  use_doubles(1);
  use_doubles(3);
  EXPECT_EQ(exchange_calls.posted, 0);
  use_floats();
  EXPECT_EQ(exchange_calls.made, 1);
  EXPECT_EQ(exchange_calls.posted, 1 * with_others);

  gs.select(vectors, counting);
  use_floats();
  EXPECT_EQ(exchange_calls.made, 1);  // floats keep their resources
  use_doubles(3);
  EXPECT_EQ(exchange_calls.made, 2);

  gs.select(all_strategies().back());
  EXPECT_EQ(gs.strategy(floats).name, all_strategies().back().name);
  EXPECT_EQ(gs.strategy(vectors).name, all_strategies().back().name);
  use_floats();
  EXPECT_EQ(exchange_calls.made, 2);
}

TEST_F(GatherScatterTest, TakesANumberingMadeByTheCaller) {
  // Every DOF has two points on the rank. All DOFs but the last are shared with the other ranks.
  // The plan gets the ids in descending order.
  const std::vector<Ids> ids_of_rank = [&] {
    std::vector<Ids> ids(m_comm.size());
    for (int r = 0; r < m_comm.size(); ++r) ids[r] = {3, 8, 5, 1000 + r, 5, 3, 8, 1000 + r};
    return ids;
  }();
  const Ids& ids = ids_of_rank[m_rank];
  const Ids candidates{8, 5, 3, 1000 + m_rank};
  HaloPlan plan = make_halo_plan(m_comm, candidates);
  std::map<GlobalId, LocalIndex> row_of_id;
  for (LocalIndex s = 0; s < plan.n_shared(); ++s) row_of_id[plan.ids[s]] = s;
  for (const GlobalId id : candidates)
    row_of_id.try_emplace(id, static_cast<LocalIndex>(row_of_id.size()));
  std::vector<LocalIndex> point_rows;
  for (const GlobalId id : ids) point_rows.push_back(row_of_id.at(id));

  GatherScatter gs(m_comm, std::move(plan), Assembly(4, point_rows));
  EXPECT_EQ(gs.n_rows(), 4);
  References references(ids_of_rank);
  for (const Reduction op : all_reductions)
    EXPECT_EQ(try_gs_op<double>(gs, references, Data::real, op, 2), "");
}

TEST_F(GatherScatterTest, ByStrategiesThatKnowNodesAlsoBetweenThem) {
  for (const int ranks_per_node : {1, 2, 3}) {
    const PretendedNodes nodes(ranks_per_node);
    std::vector<Strategy> strategies = available_strategies(m_comm);
    std::erase_if(strategies, [](const Strategy& s) {
      return s.name.find("peer-memory") == s.name.npos && s.name.find("node-aware") == s.name.npos;
    });
    for (const Graph& graph : graphs) {
      References ids(ids_of_all_ranks(graph, m_comm.size()));
      GatherScatter gs(m_comm, ids.ids_of_rank()[m_rank]);
      for (const Strategy& strategy : strategies) {
        gs.select(strategy);
        const auto expect = [&]<class T>(T, Reduction op, int components, int call) {
          EXPECT_EQ(try_gs_op<T>(gs, ids, Data::exact, op, components, call), "") << graph.name;
        };
        for (int call = 0; call < 3; ++call) {
          expect(double(), Reduction::add, 1, call);
          expect(double(), Reduction::max, 3, call);
          expect(float(), Reduction::add, 3, call);
        }
      }
    }
  }
}

TEST_F(GatherScatterTest, OfOneRankNeedsNoOther) {
  // Each rank uses its own gather–scatter at different times, so no call may wait for other ranks.
  const Communicator alone(MPI_COMM_SELF);
  if (m_rank != 0) return;
  References ids({{4, 1, 4, -3, 1, 1, 9}});
  GatherScatter gs(alone, ids.ids_of_rank()[0]);
  for (const Strategy& strategy : available_strategies(alone)) {
    gs.select(strategy);
    EXPECT_EQ(try_gs_op<double>(gs, ids, Data::real, Reduction::add, 1), "") << strategy.name;
  }
}

}  // namespace
}  // namespace nekbone_k
