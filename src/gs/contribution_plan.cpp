// SPDX-License-Identifier: BSD-3-Clause
#include "gs/contribution_plan.hpp"

#include <algorithm>

#include "core/errors.hpp"

namespace nekbone_k {
namespace {

constexpr GlobalId no_key = -1;

/// Sends `values_of(s)` for each shared DOF of each message. Returns the values received from each
/// rank. A DOF has the same number of values in both directions.
template <class ValuesOf>
std::vector<std::vector<std::int64_t>> exchange_by_dof(const Communicator& comm,
                                                       const HaloPlan& plan,
                                                       const ValuesOf& values_of) {
  std::vector<std::vector<std::int64_t>> to_rank(comm.size());
  for (const Neighbour& n : plan.neighbours)
    for (LocalIndex slot = n.offset; slot < n.offset + n.count; ++slot)
      for (const std::int64_t value : values_of(plan.message_dofs[slot]))
        to_rank[n.rank].push_back(value);
  return comm.exchange(to_rank);
}

/// For each shared DOF, the largest number of points that any rank has of it.
std::vector<LocalIndex> find_places(const Communicator& comm, const HaloPlan& plan,
                                    const SharedPoints& shared) {
  std::vector<LocalIndex> places(plan.n_shared());
  for (LocalIndex s = 0; s < plan.n_shared(); ++s)
    places[s] = shared.offsets[s + 1] - shared.offsets[s];
  const auto theirs = exchange_by_dof(comm, plan, [&](LocalIndex s) {
    return std::vector<std::int64_t>{shared.offsets[s + 1] - shared.offsets[s]};
  });
  for (const Neighbour& n : plan.neighbours)
    for (LocalIndex at = 0; at < n.count; ++at) {
      LocalIndex& most = places[plan.message_dofs[n.offset + at]];
      most = std::max(most, static_cast<LocalIndex>(theirs[n.rank][at]));
    }
  return places;
}

/// A plan that treats every place as a DOF of its own.
HaloPlan make_message_plan(const Communicator& comm, const HaloPlan& plan,
                           const std::vector<LocalIndex>& places) {
  const auto here = places.empty() ? 0 : *std::max_element(places.begin(), places.end());
  const std::int64_t most = comm.max(std::int64_t{here});
  std::vector<GlobalId> ids;
  for (LocalIndex s = 0; s < plan.n_shared(); ++s)
    for (LocalIndex place = 0; place < places[s]; ++place)
      ids.push_back(plan.ids[s] * most + place);
  HaloPlan messages = make_halo_plan(comm, ids);
  require(messages.ids == ids, "places of contributions are not numbered as their DOFs");
  return messages;
}

struct Source {
  GlobalId key;
  LocalIndex from;
};

}  // namespace

ContributionPlan make_contribution_plan(const Communicator& comm, const HaloPlan& plan,
                                        const SharedPoints& shared) {
  const std::vector<LocalIndex> places = find_places(comm, plan, shared);
  ContributionPlan made;
  made.messages = make_message_plan(comm, plan, places);

  std::vector<std::vector<Source>> sources(plan.n_shared());
  for (LocalIndex s = 0; s < plan.n_shared(); ++s) {
    const LocalIndex begin = shared.offsets[s], count = shared.offsets[s + 1] - begin;
    for (LocalIndex place = 0; place < places[s]; ++place) {
      if (place < count) sources[s].push_back({shared.keys[begin + place], ~made.n_places()});
      made.place_points.push_back(place < count ? shared.points[begin + place]
                                                : ContributionPlan::no_point);
    }
  }
  const auto keys = exchange_by_dof(comm, plan, [&](LocalIndex s) {
    std::vector<std::int64_t> own(shared.keys.begin() + shared.offsets[s],
                                  shared.keys.begin() + shared.offsets[s + 1]);
    own.resize(places[s], no_key);
    return own;
  });
  for (std::size_t n = 0; n < plan.neighbours.size(); ++n) {
    const Neighbour& dofs = plan.neighbours[n];
    const Neighbour& message = made.messages.neighbours[n];
    require(message.rank == dofs.rank, "messages of contributions have other neighbours");
    LocalIndex at = 0;
    for (LocalIndex slot = dofs.offset; slot < dofs.offset + dofs.count; ++slot) {
      const LocalIndex s = plan.message_dofs[slot];
      for (LocalIndex place = 0; place < places[s]; ++place, ++at) {
        const GlobalId key = keys[dofs.rank][at];
        if (key != no_key) sources[s].push_back({key, message.offset + at});
      }
    }
    require(at == message.count, "messages of contributions have another length");
  }

  made.source_offsets.push_back(0);
  for (std::vector<Source>& of_dof : sources) {
    std::sort(of_dof.begin(), of_dof.end(),
              [](const Source& a, const Source& b) { return a.key < b.key; });
    for (const Source& source : of_dof) made.sources.push_back(source.from);
    made.source_offsets.push_back(static_cast<LocalIndex>(made.sources.size()));
  }
  return made;
}

}  // namespace nekbone_k
