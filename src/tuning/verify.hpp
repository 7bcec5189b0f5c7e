// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Verifies exchange strategies before they are timed.
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

/// Shares of the shared DOFs of a plan and their combinations; each (n_shared, components), in
/// device memory.
template <class T>
struct VerificationSample {
  DeviceField<T> shares, combined;
};

/// A plan for verification, and the samples that all strategies share. Samples are made at first
/// use.
struct VerifiedPlan {
  /// Key: operation, components and number of the call.
  template <class T>
  using Samples = std::map<std::tuple<Reduction, int, int>, VerificationSample<T>>;

  template <class T>
  const VerificationSample<T>& sample(int rank, Reduction op, int components, int call);

  std::shared_ptr<const DeviceHaloPlan> plan;
  std::tuple<Samples<double>, Samples<float>> samples;
};

/// Verifies strategies on one plan, and on about a third of its DOFs, whose messages have other
/// sizes and forms.
///
/// Each share is a whole number, or ± a power of two for multiply. Every rank can compute it from
/// the global id of the DOF, the rank of the share and the number of the call. Combinations are
/// exact in any order, so the reference needs no messages. The cases are:
///
/// - all operations on double, with one component;
/// - addition on double with three components, on float, and on the kind of field of the run;
/// - addition on double on a third of the DOFs.
///
/// Each case runs twice, with other data and at another offset in memory. If one kernel can do an
/// exchange, it runs six times, every second time by that kernel. Before each call, all receive
/// buffers get values that the operation cannot absorb: NaN for add and multiply, +∞ for max, -∞
/// for min.
class Verifier {
 public:
  /// `comm` outlives the object. Not collective.
  Verifier(const Communicator& comm, std::shared_ptr<const DeviceHaloPlan> plan);

  /// Verifies `strategy` for the plan. Returns empty if it combines all shared DOFs correctly on
  /// every rank. Otherwise returns the error of the lowest rank that has one: the operation, the
  /// first wrong DOF by global id, the expected and the found value, or the exception. A wait for
  /// messages longer than `patience` seconds counts as an exception if the strategy can end it.
  /// Throws UnavailableError on every rank if the strategy does. Collective, with the same result
  /// on every rank.
  std::string verify(const Strategy& strategy, double patience = for_ever,
                     const FieldKind& kind = {});

  /// Verifies an exchange of the plan that has been in use, by one more addition with new data.
  /// Writes to `field`, shape (>= n_shared, components of the exchange), in device memory; entries
  /// that are not shared must not change. After a failure other than WRONG, its messages may still
  /// be under way, from or into `field`. T is float or double. Collective.
  template <class T>
  std::string verify_again(HaloExchange<T>& exchange, const DeviceField<T>& field);

 private:
  const Communicator& m_comm;
  VerifiedPlan m_whole;
  std::optional<VerifiedPlan> m_thinned;  // made by verify()
};

/// Verifies the exchange that `gs` and CG use for one double per DOF, by one addition. Returns the
/// error or the exception as Verifier::verify_again() does; empty if there is none. Collective.
std::string verify_in_use(GatherScatter& gs);

}  // namespace nekbone_k
