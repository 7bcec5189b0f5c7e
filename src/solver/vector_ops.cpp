#include "solver/vector_ops.hpp"

#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_mult.hpp>
#include <KokkosBlas1_nrm2_squared.hpp>
#include <array>
#include <type_traits>

#include "core/lanes.hpp"

namespace nekbone_k {
namespace {

using Range = Kokkos::RangePolicy<ExecutionSpace>;

template <class Value>
KOKKOS_FORCEINLINE_FUNCTION Value read(const double* from) {
  if constexpr (std::is_same_v<Value, double>) {
    return *from;
  } else {
    return read_lanes(from);
  }
}

template <class Value>
KOKKOS_FORCEINLINE_FUNCTION void write(double* to, const Value& value) {
  if constexpr (std::is_same_v<Value, double>) {
    *to = value;
  } else {
    write_lanes(to, value);
  }
}

/// z = M r at entry a (and the lanes after it), for the two M there are. Types, so that no kernel
/// branches on which it is.
struct Identity {
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value operator()(LocalIndex, const Value& r) const {
    return r;
  }
};
struct Diagonal {
  const double* entries;
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value operator()(LocalIndex a, const Value& r) const {
    return read<Value>(entries + a) * r;
  }
};

/// action(M), with M of its own type.
template <class Action>
auto with_preconditioner(const ConstDeviceVector<double>& inverse_diagonal, const Action& action) {
  if (inverse_diagonal.extent(0) > 0) return action(Diagonal{inverse_diagonal.data()});
  return action(Identity{});
}

/// r as it is, or r = r - alpha ap, entry by entry.
struct AsIs {
  const double* r;
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value operator()(LocalIndex a) const {
    return read<Value>(r + a);
  }
};
struct Updated {
  double alpha;
  const double* ap;
  double* r;
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION Value operator()(LocalIndex a) const {
    const Value value = read<Value>(r + a) - alpha * read<Value>(ap + a);
    write(r + a, value);
    return value;
  }
};

/// The products of a residual that is read, or updated, on the way. A team sums a chunk of entries:
/// several a thread, so that a GPU has more than one read under way, and whole registers of a CPU.
template <class Residual, class Preconditioner>
struct ProductsKernel {
  static constexpr int lanes = static_cast<int>(Lanes::size());
  static constexpr int team_size = is_host_device ? 1 : 256;
  static constexpr int steps = is_host_device ? 512 : 8;
  static constexpr LocalIndex chunk = team_size * steps * lanes;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 0>>;
  using Team = typename Policy::member_type;

  VectorRange range;
  Residual residual;
  Preconditioner preconditioner;
  DeviceVector<ResidualProducts> parts;  // one a team

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const LocalIndex first = team.league_rank() * chunk;
    double r_dot_r = 0, r_dot_z = 0;
    if (first >= range.first_owned && chunk <= range.size - first) {
      Lanes rr(0.0), rz(0.0);
      NEKBONE_K_UNROLL
      for (int step = 0; step < steps; ++step) {
        const LocalIndex a = first + (step * team_size + team.team_rank()) * lanes;
        const Lanes r = residual.template operator()<Lanes>(a);
        rr += r * r;
        rz += r * preconditioner(a, r);
      }
      for (int lane = 0; lane < lanes; ++lane) {
        r_dot_r += rr[lane];
        r_dot_z += rz[lane];
      }
    } else {  // where entries begin to be owned, and at the end
      const LocalIndex size = range.size - first < chunk ? range.size - first : chunk;
      for (LocalIndex at = team.team_rank(); at < size; at += team_size) {
        const LocalIndex a = first + at;
        const double r = residual.template operator()<double>(a);
        if (a < range.first_owned) continue;
        r_dot_r += r * r;
        r_dot_z += r * preconditioner(a, r);
      }
    }
    team.team_reduce(Kokkos::Sum<double>(r_dot_r));
    team.team_reduce(Kokkos::Sum<double>(r_dot_z));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      parts(team.league_rank()) = {r_dot_r, r_dot_z};
    });
  }
};

template <class Residual, class Preconditioner>
ResidualProducts sum_products(const char* label, VectorRange range, const Residual& residual,
                              const Preconditioner& preconditioner,
                              const DeviceVector<ResidualProducts>& parts,
                              const RankSum<ResidualProducts>& sum) {
  using Kernel = ProductsKernel<Residual, Preconditioner>;
  const LocalIndex n_teams = (range.size + Kernel::chunk - 1) / Kernel::chunk;
  Kokkos::parallel_for(label, typename Kernel::Policy(n_teams, Kernel::team_size),
                       Kernel{range, residual, preconditioner, parts});
  sum.start(parts);
  return sum.wait();
}

template <class Preconditioner>
void update_solution_and_direction_with(VectorRange range, const Preconditioner& z, double alpha,
                                        double beta, const DeviceVector<double>& r,
                                        const DeviceVector<double>& x,
                                        const DeviceVector<double>& p) {
  Kokkos::parallel_for(
      "nekbone_k: update solution and direction", Range(0, range.size),
      KOKKOS_LAMBDA(const LocalIndex a) {
        const double direction = p(a);
        x(a) += alpha * direction;
        p(a) = z(a, r(a)) + beta * direction;
      });
}

}  // namespace

FusedVectorOps::FusedVectorOps(const Communicator& comm, VectorRange range,
                               ConstDeviceVector<double> inverse_diagonal,
                               const AllReduceStrategy& all_reduce)
    : m_range(range),
      m_inverse_diagonal(std::move(inverse_diagonal)),
      m_parts("nekbone_k: parts of products",
              range.size / ProductsKernel<AsIs, Identity>::chunk + 1),
      m_sum(comm, all_reduce) {}

ResidualProducts FusedVectorOps::products(const DeviceVector<double>& r) const {
  return with_preconditioner(m_inverse_diagonal, [&](const auto& z) {
    return sum_products("nekbone_k: products", m_range, AsIs{r.data()}, z, m_parts, m_sum);
  });
}

ResidualProducts FusedVectorOps::update_residual(double alpha, const DeviceVector<double>& ap,
                                                 const DeviceVector<double>& r) const {
  return with_preconditioner(m_inverse_diagonal, [&](const auto& z) {
    return sum_products("nekbone_k: update residual", m_range, Updated{alpha, ap.data(), r.data()},
                        z, m_parts, m_sum);
  });
}

void FusedVectorOps::update_solution_and_direction(double alpha, double beta,
                                                   const DeviceVector<double>& r,
                                                   const DeviceVector<double>& x,
                                                   const DeviceVector<double>& p) const {
  with_preconditioner(m_inverse_diagonal, [&](const auto& z) {
    update_solution_and_direction_with(m_range, z, alpha, beta, r, x, p);
  });
}

KokkosKernelsVectorOps::KokkosKernelsVectorOps(const Communicator& comm, VectorRange range,
                                               ConstDeviceVector<double> inverse_diagonal)
    : m_comm(comm), m_range(range), m_inverse_diagonal(inverse_diagonal) {
  if (inverse_diagonal.extent(0) > 0)
    m_z = DeviceVector<double>("nekbone_k: preconditioned residual", inverse_diagonal.extent(0));
}

ResidualProducts KokkosKernelsVectorOps::products(const DeviceVector<double>& r) const {
  const std::pair<LocalIndex, LocalIndex> owned(m_range.first_owned, m_range.size);
  const auto r_owned = Kokkos::subview(r, owned);
  std::array<double, 2> products{KokkosBlas::nrm2_squared(r_owned)};
  if (m_z.extent(0) == 0) {
    products[1] = products[0];
  } else {
    KokkosBlas::mult(0.0, m_z, 1.0, m_inverse_diagonal, r);
    products[1] = KokkosBlas::dot(r_owned, Kokkos::subview(m_z, owned));
  }
  m_comm.sum(products);
  return {products[0], products[1]};
}

ResidualProducts KokkosKernelsVectorOps::update_residual(double alpha,
                                                         const DeviceVector<double>& ap,
                                                         const DeviceVector<double>& r) const {
  KokkosBlas::axpby(-alpha, ap, 1.0, r);
  return products(r);
}

void KokkosKernelsVectorOps::update_solution_and_direction(double alpha, double beta,
                                                           const DeviceVector<double>& r,
                                                           const DeviceVector<double>& x,
                                                           const DeviceVector<double>& p) const {
  KokkosBlas::axpby(alpha, p, 1.0, x);
  KokkosBlas::axpby(1.0, m_z.extent(0) == 0 ? r : m_z, beta, p);
}

}  // namespace nekbone_k
