#include "app/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "operators/elliptic_operator.hpp"
#include "operators/null_space.hpp"
#include "solver/conjugate_gradients.hpp"
#include "support/reference_operator.hpp"

namespace nekbone_k {
namespace {

MeshSpec make_spec(Deformation deformation, bool periodic, double epsilon) {
  MeshSpec spec;
  spec.elements = {2, 2, 2};
  spec.periodic = {periodic, periodic, periodic};
  spec.deformation = deformation;
  spec.epsilon = epsilon;
  return spec;
}

struct Solved {
  SolutionError error;
  CgResult cg;
};

struct Posed {
  Posed(MPI_Comm parent, ProblemKind kind, const MeshSpec& spec, int order, double lambda)
      : comm(parent),
        reference(spec, order),
        mesh(spec, order, comm.size(), comm.rank()),
        space(comm, mesh),
        geometry(space),
        a(space, geometry, lambda),
        problem(kind, spec, lambda) {}

  ById right_hand_side() {
    const auto b = space.make_vector("b");
    problem.right_hand_side(space, geometry, b);
    return to_ids(comm, space, reference, b);
  }

  Solved solve() {
    const CgVectors v{space.make_vector("x"), space.make_vector("r"), space.make_vector("p"),
                      space.make_vector("Ap")};
    problem.right_hand_side(space, geometry, v.r);
    std::function<void(const DeviceVector<double>&)> project;
    if (a.is_singular())
      project = [&](const DeviceVector<double>& r) { remove_constants(comm, space, r); };
    const FusedVectorOps jacobi({space.size(), space.n_not_owned()}, a.inverse_diagonal());
    const CgResult cg = conjugate_gradients(comm, a, jacobi, v, {1000, 1e-12}, project);
    EXPECT_TRUE(cg.converged);
    return {problem.error(comm, space, geometry, v.x, a.is_singular()), cg};
  }

  // The error of nodal values that are exact but for what `change` adds at a place.
  template <class Change>
  SolutionError error_of_exact(const SineModes& modes, bool remove_mean, const Change& change) {
    ById values(reference.n_points());
    reference.for_each_node([&](int e, int i, int j, int k) {
      const auto [x, y, z] = reference.coordinates(e, i, j, k);
      const GlobalId id = reference.id(e, i, j, k);
      values[id] = modes.solution({x, y, z}) + change(id);
    });
    return problem.error(comm, space, geometry, to_assembled(space, reference, values),
                         remove_mean);
  }

  Communicator comm;
  ReferenceMesh reference;
  BoxMesh mesh;
  AssembledSpace space;
  GeometricFactors geometry;
  EllipticOperator a;
  Problem problem;
};

TEST(ProblemX, Explore) {
  struct C { ProblemKind kind; Deformation d; bool p; double eps; double lambda; std::array<int,3> el; };
  for (const C& c : {C{ProblemKind::manufactured, Deformation::sine, false, 0.1, 1, {2,2,2}},
      C{ProblemKind::manufactured, Deformation::sine, false, 0.3, 1, {2,2,2}},
      C{ProblemKind::manufactured, Deformation::sine, false, 0.3, 1, {2,3,2}},
      C{ProblemKind::manufactured, Deformation::kershaw, false, 0.3, 1, {6,2,2}},
      C{ProblemKind::manufactured, Deformation::kershaw, false, 0.8, 1, {6,2,2}},
      C{ProblemKind::taylor_green, Deformation::none, true, 0.3, 1, {2,2,2}},
      C{ProblemKind::taylor_green, Deformation::sine, true, 0.3, 1, {2,2,2}},
      C{ProblemKind::taylor_green, Deformation::sine, true, 0.1, 0, {2,2,2}}})
    for (int order : {4,6,8,10,12,13,14,15}) {
      MeshSpec spec = make_spec(c.d, c.p, c.eps); spec.elements = c.el;
      double t = wall_seconds();
      Posed posed(MPI_COMM_WORLD, c.kind, spec, order, c.lambda);
      const auto s = posed.solve();
      if (posed.comm.is_root()) fprintf(stderr, "P %d %d eps %g lam %g N %d: max %g l2 %g its %d %g s\n", (int)c.kind, (int)c.d, c.eps, c.lambda, order, s.error.max, s.error.l2, s.cg.iterations, wall_seconds() - t);
    }
}

}  // namespace
}  // namespace nekbone_k
