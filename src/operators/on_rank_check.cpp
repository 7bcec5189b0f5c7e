// SPDX-License-Identifier: BSD-3-Clause
#include "operators/on_rank_check.hpp"

#include <fmt/format.h>

#include "operators/node_ids.hpp"

namespace nekbone_k {
namespace {

/// An integer from 1 to 1024 that differs for most ids.
KOKKOS_FUNCTION double weight(GlobalId id) {
  return static_cast<double>((static_cast<std::uint64_t>(id) * 0x9e37'79b9'7f4a'7c15ULL >> 54) + 1);
}

/// DOFs of the rank's box: lattice points not on a Dirichlet face.
double dofs_of_box(const BoxMesh& mesh) {
  double dofs = 1;
  for (int d = 0; d < 3; ++d) {
    std::int64_t length = mesh.lattice_length(d);
    if (!mesh.spec().periodic[d]) {
      if (mesh.box().begin[d] == 0) --length;
      if (mesh.box().end[d] == mesh.spec().elements[d]) --length;
    }
    dofs *= static_cast<double>(length);
  }
  return dofs;
}

}  // namespace

std::string check_on_rank(const Communicator& comm, AssembledSpace& space) {
  const NodeIds ids(space);
  const DeviceVector<double> sums = space.make_vector("on-rank sums");
  space.assemble_here(
      KOKKOS_LAMBDA(const LocalIndex e, int i, int j, int k) { return weight(ids(e, i, j, k)); },
      sums);
  space.gather_rows(sums, 0, space.n_rows());

  const NodeReader nodes(space);
  const int nq = space.layout().nq, points = space.layout().points();
  double dofs = 0;
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "nekbone_k: check of the on-rank gather-scatter",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          0, std::int64_t{space.layout().n_elements} * points),
      KOKKOS_LAMBDA(const std::int64_t at, double& dof_sum, std::int64_t& wrong_nodes) {
        const auto e = static_cast<LocalIndex>(at / points);
        const int q = static_cast<int>(at % points), i = q % nq, j = q / nq % nq, k = q / (nq * nq);
        const double value =
            sums(nodes.entry(e / ElementLayout::lanes, e % ElementLayout::lanes, i, j, k));
        const double multiple = value / weight(ids(e, i, j, k));
        if (value == 0) return;  // a Dirichlet node
        dof_sum += 1 / multiple;
        if (!(multiple >= 1) || multiple != Kokkos::floor(multiple)) ++wrong_nodes;
      },
      dofs, wrong);

  const double expected = dofs_of_box(space.mesh());
  std::string failure;
  if (wrong > 0)
    failure = fmt::format("WRONG on-rank QQ^T: rank {} has {} nodes that got other DOFs' values",
                          comm.rank(), wrong);
  else if (dofs != expected)
    failure = fmt::format("WRONG on-rank QQ^T: rank {} joins its nodes to {} DOFs, not {}",
                          comm.rank(), dofs, expected);
  return comm.first_text(failure);
}

}  // namespace nekbone_k
