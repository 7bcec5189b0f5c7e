/// @file
/// Proves exchange strategies right before they may be timed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "gs/field_kind.hpp"
#include "gs/halo_exchange.hpp"

namespace nekbone_k {

class GatherScatter;

/// Shares of the shared DOFs of a plan, and what they combine to; each (n_shared, components).
template <class T>
struct VerificationSample {
  DeviceField<T> shares, combined;
};

/// What is exchanged to verify strategies, and the samples of it that they share, each made when
/// first used.
struct VerifiedPlan {
  /// Operation, components and number of the call.
  template <class T>
  using Samples = std::map<std::tuple<Reduction, int, int>, VerificationSample<T>>;

  template <class T>
  const VerificationSample<T>& sample(int rank, Reduction op, int components, int call);

  std::shared_ptr<const DeviceHaloPlan> plan;
  std::tuple<Samples<double>, Samples<float>> samples;
};

/// Proves strategies right for one plan, and for a third of its DOFs alone, whose messages are of
/// other sizes and forms.
///
/// Each share is a whole number, or ± a power of two for multiply, computed from the DOF's global
/// id, the rank it comes from and the number of the call, so the combination is exact in any order
/// and every rank can compute it without a message: that is the reference. All operations on double
/// are tried, addition on float, on three components and on the kind of field that is to be
/// exchanged, each twice with other data and at another offset in memory, or where one kernel can
/// do an exchange six times, every other one by that kernel; before each call every receive buffer
/// is poisoned with what the operation cannot absorb (NaN for add and multiply, +∞ for max, -∞ for
/// min).
class Verifier {
 public:
  /// `comm` outlives the object. Not collective.
  Verifier(const Communicator& comm, std::shared_ptr<const DeviceHaloPlan> plan);

  /// Empty if `strategy` combines the shared DOFs of the plan correctly on every rank, else what is
  /// wrong on the lowest rank where it is: the operation, the first bad DOF by global id, what was
  /// expected and what was found; or what the strategy threw there. Collective, with the same
  /// result on every rank. Waits for messages that take longer than `patience` seconds count as
  /// thrown errors, where the strategy can give them up. Throws UnavailableError on every rank if
  /// the strategy does.
  std::string verify(const Strategy& strategy, double patience = for_ever,
                     const FieldKind& kind = {});

  /// The same of an exchange of the plan that has been used: of one more sum, with data that it has
  /// not seen. `field`, shape (>= n_shared, components of the exchange), is written to; entries
  /// that are not shared must stay as they are. After a failure other than WRONG its messages may
  /// still be on their way from or into it. T is float or double. Collective.
  template <class T>
  std::string verify_again(HaloExchange<T>& exchange, const DeviceField<T>& field);

 private:
  const Communicator& m_comm;
  VerifiedPlan m_whole;
  std::optional<VerifiedPlan> m_thinned;  // made by verify()
};

/// Empty if the exchange that `gs` itself has for one double a DOF, and CG goes by, combines one
/// sum right, else what is wrong or what was thrown, as Verifier::verify_again(). Collective.
std::string verify_in_use(GatherScatter& gs);

}  // namespace nekbone_k
