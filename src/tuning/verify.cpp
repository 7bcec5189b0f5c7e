// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/errors.hpp"
#include "core/give_up.hpp"
#include "gs/gather_scatter.hpp"
#include "tuning/tuning_guard.hpp"

namespace nekbone_k {
namespace {

/// A share that combines exactly in any order: small whole numbers, or ±2^-2 … ±2^2 for multiply.
double share(Reduction op, GlobalId id, int rank, int component, int call) {
  std::uint64_t h = static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ULL +
                    rank * 0x632be59bd9b4e019ULL + component * 0xd6e8feb86659fd93ULL +
                    call * 0xa0761d6478bd642fULL;
  h = (h ^ (h >> 31)) * 0x94d049bb133111ebULL;
  h ^= h >> 29;
  if (op == Reduction::multiply) {
    const double sign = h & 1 ? -1 : 1;
    return sign * std::ldexp(1.0, static_cast<int>((h >> 1) % 5) - 2);
  }
  return static_cast<double>(h % 2001) - 1000;
}

template <class T>
T poison_for(Reduction op) {
  if (op == Reduction::max) return std::numeric_limits<T>::infinity();
  if (op == Reduction::min) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::quiet_NaN();
}

double reference(const HaloPlan& plan, LocalIndex s, Reduction op, int component, int call) {
  double value = 0;
  with_reduction(op, [&](auto reduction) {
    constexpr Reduction r = decltype(reduction)::value;
    value = share(op, plan.ids[s], plan.share_ranks[plan.share_offsets[s]], component, call);
    for (LocalIndex at = plan.share_offsets[s] + 1; at < plan.share_offsets[s + 1]; ++at)
      value = combine<r>(value, share(op, plan.ids[s], plan.share_ranks[at], component, call));
  });
  return value;
}

/// Whether any entry of `right` differs from that of `field`; a NaN differs from everything.
template <class T>
bool differ(const DeviceField<T>& field, const DeviceField<T>& right) {
  const auto components = static_cast<int>(right.extent(1));
  LocalIndex unequal = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: compare with the reference",
      Kokkos::RangePolicy<ExecutionSpace>(0, static_cast<LocalIndex>(right.extent(0))),
      KOKKOS_LAMBDA(const LocalIndex s, LocalIndex& count) {
        for (int c = 0; c < components; ++c)
          if (!(field(s, c) == right(s, c))) ++count;
      },
      unequal);
  return unequal > 0;
}

/// The number of entries of `field` behind its first `n_shared` that are not `value`.
template <class T>
LocalIndex count_touched(const DeviceField<T>& field, LocalIndex n_shared, T value) {
  const auto components = static_cast<int>(field.extent(1));
  LocalIndex touched = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: entries that nobody shares",
      Kokkos::RangePolicy<ExecutionSpace>(n_shared, static_cast<LocalIndex>(field.extent(0))),
      KOKKOS_LAMBDA(const LocalIndex a, LocalIndex& count) {
        for (int c = 0; c < components; ++c) count += field(a, c) != value;
      },
      touched);
  return touched;
}

/// "double" or "float", as in C++.
template <class T>
constexpr const char* value_name = sizeof(T) == sizeof(double) ? "double" : "float";

/// The wrong DOF with the smallest global id in `field` on this rank, compared with `combined`.
template <class T>
std::string first_bad_dof(const DeviceField<T>& field, const DeviceField<T>& combined,
                          const HaloPlan& plan, int rank, Reduction op) {
  const auto host = Kokkos::create_mirror_view_and_copy(HostMemory(), field);
  const auto right = Kokkos::create_mirror_view_and_copy(HostMemory(), combined);
  GlobalId first_id = std::numeric_limits<GlobalId>::max();
  std::string first;
  for (LocalIndex s = 0; s < plan.n_shared(); ++s)
    for (int c = 0; c < static_cast<int>(field.extent(1)); ++c) {
      const auto expected = static_cast<double>(right(s, c));
      // Compare in this form, so that a NaN counts as wrong.
      if (static_cast<double>(host(s, c)) == expected || plan.ids[s] >= first_id) continue;
      first_id = plan.ids[s];
      first =
          fmt::format("WRONG {} of {}: DOF {} is {} on rank {}, should be {}", name(op),
                      value_name<T>, plan.ids[s], static_cast<double>(host(s, c)), rank, expected);
    }
  return first;
}

/// The plan of the shared DOFs whose id is a multiple of three: shorter messages, of which hardly
/// any is one block of DOFs. Collective.
std::shared_ptr<const DeviceHaloPlan> thinned(const Communicator& comm, const HaloPlan& plan) {
  std::vector<GlobalId> ids;
  for (const GlobalId id : plan.ids)
    if (id % 3 == 0) ids.push_back(id);
  return std::make_shared<DeviceHaloPlan>(make_halo_plan(comm, ids));
}

template <class T>
VerificationSample<T> make_sample(const HaloPlan& plan, int rank, Reduction op, int components,
                                  int call) {
  const auto field = [&](const std::string& label) {
    return DeviceField<T>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), plan.n_shared(),
                          components);
  };
  VerificationSample<T> sample{field("nekbone_k: verified shares"),
                               field("nekbone_k: verified combinations")};
  const auto shares = Kokkos::create_mirror_view(sample.shares);
  const auto combined = Kokkos::create_mirror_view(sample.combined);
  for (LocalIndex s = 0; s < plan.n_shared(); ++s)
    for (int c = 0; c < components; ++c) {
      shares(s, c) = static_cast<T>(share(op, plan.ids[s], rank, c, call));
      combined(s, c) = static_cast<T>(reference(plan, s, op, c, call));
    }
  Kokkos::deep_copy(sample.shares, shares);
  Kokkos::deep_copy(sample.combined, combined);
  return sample;
}

}  // namespace

template <class T>
const VerificationSample<T>& VerifiedPlan::sample(int rank, Reduction op, int components,
                                                  int call) {
  auto& made = std::get<Samples<T>>(samples);
  const std::tuple key(op, components, call);
  auto found = made.find(key);
  if (found == made.end())
    found = made.emplace(key, make_sample<T>(plan->host, rank, op, components, call)).first;
  return found->second;
}

namespace {

/// Steps that all ranks do or, after a failure on one rank, none. So no rank waits for another that
/// failed.
class VerificationSteps {
 public:
  explicit VerificationSteps(const Communicator& comm) : m_comm(comm) {}

  template <class Action>
  void step(const Action& action) {
    if (m_failure.empty()) agree(thrown_by(m_comm.rank(), action));
  }
  void agree(const std::string& failure_here) {
    const std::string failure = m_comm.first_text(failure_here);
    if (m_failure.empty()) m_failure = failure;
  }
  /// Exchanges the shares of the sample in the first entries of `field`, and compares the result.
  /// With `by_kernel`, it uses one kernel if the strategy can. Returns whether all messages have
  /// arrived; otherwise they may still be under way.
  template <class T>
  bool try_exchange(HaloExchange<T>& exchange, const HaloPlan& plan,
                    const VerificationSample<T>& sample, const DeviceField<T>& field, Reduction op,
                    bool by_kernel) {
    bool done = false;
    step([&] {
      Kokkos::deep_copy(
          Kokkos::subview(field, std::pair<LocalIndex, LocalIndex>(0, plan.n_shared()),
                          Kokkos::ALL),
          sample.shares);
      exchange.poison(poison_for<T>(op));
      done = by_kernel && exchange.exchange_by_kernel(field, op);
      m_was_by_kernel |= done;
      if (done) return;
      exchange.pack(field);
      exchange.post();
    });
    step([&] {
      if (done) return;
      exchange.wait();
      exchange.unpack(field, op);
    });
    if (!m_failure.empty()) return false;
    agree(differ(field, sample.combined)
              ? first_bad_dof(field, sample.combined, plan, m_comm.rank(), op)
              : "");
    return true;
  }

  const std::string& failure() const { return m_failure; }
  /// Whether one kernel did an exchange.
  bool was_by_kernel() const { return m_was_by_kernel; }

 private:
  const Communicator& m_comm;
  std::string m_failure;
  bool m_was_by_kernel = false;
};

/// One strategy under test.
class Verification {
 public:
  Verification(const Communicator& comm, const Strategy& strategy, double patience)
      : m_comm(comm),
        m_steps(comm),
        m_own(std::make_unique<Communicator>(comm.get())),
        m_strategy(strategy),
        m_patience(patience) {}
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;
  ~Verification() {
    // Leak the communicator: MPICH would reuse its context for the next one, which would then get
    // old messages.
    if (!failure().empty()) give_up(std::move(m_own));
  }

  template <class T>
  void try_operation(VerifiedPlan& verified, Reduction op, int components) {
    const HaloPlan& plan = verified.plan->host;
    std::unique_ptr<HaloExchange<T>> exchange;
    m_steps.step([&] {
      exchange = std::make_unique<HaloExchange<T>>(*m_own, verified.plan, m_strategy, components,
                                                   m_patience);
    });
    // If only some ranks could make it, destruction would wait for the others.
    if (!failure().empty()) give_up(std::move(exchange));
    // With one kernel, each way alternates between two buffers. More calls use a buffer again.
    int calls = 2;
    for (int call = 0; call < calls && failure().empty(); ++call) {
      const VerificationSample<T>& sample = verified.sample<T>(m_comm.rank(), op, components, call);
      // First at the start of an allocation, then one value behind it, which is less aligned.
      const DeviceVector<T> memory("nekbone_k: verification",
                                   std::size_t(plan.n_shared()) * components + 1);
      const DeviceField<T> field(memory.data() + call % 2, plan.n_shared(), components);
      // First in parts, as if other work came in between, then in one call.
      if (m_steps.try_exchange(*exchange, plan, sample, field, op, call % 2 == 1)) {
        if (m_steps.was_by_kernel()) calls = 6;
        continue;
      }
      // Messages may still be under way, into its buffers and from the field: leak both.
      give_up(std::move(exchange));
      give_up(memory);
    }
  }

  const std::string& failure() const { return m_steps.failure(); }

 private:
  const Communicator& m_comm;
  VerificationSteps m_steps;
  // Its own, so that late messages reach no other candidate.
  std::unique_ptr<Communicator> m_own;
  const Strategy& m_strategy;
  double m_patience;
};

}  // namespace

Verifier::Verifier(const Communicator& comm, std::shared_ptr<const DeviceHaloPlan> plan)
    : m_comm(comm), m_whole{std::move(plan), {}} {}

std::string Verifier::verify(const Strategy& strategy, double patience, const FieldKind& kind) {
  Verification verification(m_comm, strategy, patience);
  for (const Reduction op : all_reductions) verification.try_operation<double>(m_whole, op, 1);
  std::vector<FieldKind> added{{3, Precision::double_}, {1, Precision::single}};
  if (kind != FieldKind{} && std::find(added.begin(), added.end(), kind) == added.end())
    added.push_back(kind);
  for (const FieldKind& field : added)
    with_value_type(field.precision, [&]<class T>(T) {
      verification.try_operation<T>(m_whole, Reduction::add, field.components);
    });
  if (!m_thinned) m_thinned = VerifiedPlan{thinned(m_comm, m_whole.plan->host), {}};
  verification.try_operation<double>(*m_thinned, Reduction::add, 1);
  return verification.failure();
}

template <class T>
std::string Verifier::verify_again(HaloExchange<T>& exchange, const DeviceField<T>& field) {
  constexpr T untouched = 0.5;  // not a sum of whole numbers
  Kokkos::deep_copy(field, untouched);
  VerificationSteps steps(m_comm);
  const HaloPlan& plan = m_whole.plan->host;
  const auto components = static_cast<int>(field.extent(1));
  steps.try_exchange(exchange, plan,
                     m_whole.sample<T>(m_comm.rank(), Reduction::add, components, 2), field,
                     Reduction::add, true);
  if (!steps.failure().empty()) return steps.failure();
  const LocalIndex touched = count_touched(field, plan.n_shared(), untouched);
  steps.agree(touched > 0 ? fmt::format("WRONG add of {}: {} entries that rank {} does not "
                                        "share are not as they were",
                                        value_name<T>, touched, m_comm.rank())
                          : "");
  return steps.failure();
}

std::string verify_in_use(GatherScatter& gs) {
  const DeviceField<double> field("nekbone_k: verified in use", gs.message_plan()->host.n_shared(),
                                  1);
  const std::string failure = Verifier(gs.communicator(), gs.message_plan())
                                  .verify_again(gs.exchange_in_use<double>(), field);
  // Messages may still be sent from it: leak it.
  if (!failure.empty()) give_up(field);
  return failure;
}

template std::string Verifier::verify_again(HaloExchange<float>&, const DeviceField<float>&);
template std::string Verifier::verify_again(HaloExchange<double>&, const DeviceField<double>&);

}  // namespace nekbone_k
