// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// QQᵀ in two steps, with work of the caller between them.
#pragma once

#include <memory>

#include "core/errors.hpp"
#include "core/waiting.hpp"
#include "gs/gather_scatter.hpp"
#include "gs/halo_exchange.hpp"

namespace nekbone_k {

/// What GatherScatter::gs_op() does, in two steps: start() sends the messages, and finish() waits
/// for them. T is an arithmetic type of 4 or 8 bytes, also an integer. The object owns an exchange,
/// so it serves fields of one number of components by one strategy.
template <class T>
class SplitGatherScatter {
 public:
  /// `gs` outlives the object and is not deterministic. For `patience` see MessageBuffers.
  /// Collective; throws UnavailableError if the strategy is unavailable.
  SplitGatherScatter(const GatherScatter& gs, const Strategy& strategy, int components,
                     double patience = for_ever)
      : m_gs(gs),
        m_exchange(gs.communicator(), gs.message_plan(), strategy, components, patience),
        m_rows(Kokkos::view_alloc("nekbone_k: split rows", Kokkos::WithoutInitializing),
               gs.plan().n_shared(), components) {
    require(!gs.is_deterministic(), "a split gather-scatter cannot be deterministic");
  }

  /// Sends this rank's shares of the shared DOFs of `points`, and combines the points of all other
  /// rows. Shape (n_points, components), in device memory. The caller neither reads nor changes
  /// `points` until finish() returns. If it calls that at once, the exchange is `alone`, and may be
  /// one kernel, the same on all ranks. Collective.
  void start(const DeviceField<T>& points, Reduction op, bool alone = false) {
    const Assembly& assembly = m_gs.assembly();
    const LocalIndex n_shared = m_gs.plan().n_shared();
    m_points = points;
    m_op = op;
    assembly.gather(points, m_rows, op, 0, n_shared);
    m_is_exchanged =
        alone && m_gs.communicator().size() > 1 && m_exchange.exchange_by_kernel(m_rows, op);
    if (!m_is_exchanged) {
      m_exchange.pack(m_rows);
      m_exchange.post();
    }
    assembly.gather_scatter(points, op, n_shared, assembly.n_rows());
  }

  /// Waits for the messages and writes the shared DOFs to the points. Its kernels may still run on
  /// return. Collective.
  void finish() {
    if (!m_is_exchanged) {
      m_exchange.wait();
      m_exchange.unpack(m_rows, m_op);
    }
    m_gs.assembly().scatter(m_rows, m_points, 0, m_gs.plan().n_shared());
    m_points = {};
  }

  /// See Exchange::check().
  void check() const { m_exchange.check(); }

 private:
  const GatherScatter& m_gs;
  HaloExchange<T> m_exchange;
  DeviceField<T> m_rows, m_points;
  Reduction m_op = Reduction::add;
  bool m_is_exchanged = false;  ///< by start(), in one kernel
};

}  // namespace nekbone_k
