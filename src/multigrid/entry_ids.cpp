// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/entry_ids.hpp"

#include "operators/node_ids.hpp"

namespace nekbone_k {

std::vector<GlobalId> entry_ids(const AssembledSpace& space) {
  const DeviceVector<GlobalId> ids("nekbone_k: entry ids", space.size());
  Kokkos::deep_copy(ids, GlobalId{-1});
  const NodeReader node(space);
  const NodeIds node_ids(space);
  const int nq = space.layout().nq, points = space.layout().points();
  const LocalIndex zero_slot = space.zero_slot();
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "nekbone_k: entry ids", Policy(0, std::int64_t{space.layout().n_elements} * points),
      KOKKOS_LAMBDA(const std::int64_t at) {
        const auto position = static_cast<LocalIndex>(at / points);
        const int q = static_cast<int>(at % points), i = q % nq, j = q / nq % nq, k = q / (nq * nq);
        const LocalIndex entry =
            node.entry(position / ElementLayout::lanes, position % ElementLayout::lanes, i, j, k);
        if (entry != zero_slot) ids(entry) = node_ids(position, i, j, k);
      });
  std::vector<GlobalId> host(space.size());
  const Kokkos::View<GlobalId*, HostMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> view(
      host.data(), host.size());
  Kokkos::deep_copy(view, ids);
  return host;
}

BoxMesh whole_mesh(const MeshSpec& mesh, int order) {
  return BoxMesh(mesh.divided_by({}), order, 1, 0);
}

std::vector<GlobalId> dof_ids(const BoxMesh& mesh) {
  std::vector<GlobalId> ids;
  LatticePoint p;
  for (p[2] = 0; p[2] < mesh.lattice_length(2); ++p[2])
    for (p[1] = 0; p[1] < mesh.lattice_length(1); ++p[1])
      for (p[0] = 0; p[0] < mesh.lattice_length(0); ++p[0])
        if (!mesh.is_masked(p)) ids.push_back(mesh.global_id(p));
  return ids;
}

}  // namespace nekbone_k
