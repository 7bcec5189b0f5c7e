/// @file
/// Everything a run finds out, before it is written anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/case.hpp"
#include "core/communicator.hpp"
#include "core/machine.hpp"
#include "core/memory_bandwidth.hpp"
#include "gs/all_reduce_tuner.hpp"
#include "gs/audit.hpp"
#include "gs/library_versions.hpp"
#include "gs/machine_paths.hpp"
#include "gs/message_layout.hpp"
#include "gs/mpi_probe.hpp"
#include "gs/tuner.hpp"
#include "mesh/partition_model.hpp"

namespace nekbone_k {

/// What MPI says of device memory, and what came of handing it the memory of kernels.
struct TransferRecord {
  bool on_host = true;  ///< kernels run on the host, so that it was host memory
  MpiProbe probe;       ///< without entries on one rank, and where it was not tried
  std::string why_not;  ///< why it was not tried; empty if it was, or there is only one rank
  double seconds = 0;   ///< that trying took
};

/// Where and with what the run was made.
struct MachineRecord {
  std::string version, commit, compiler, build_type;
  std::string kokkos_version, backend;  ///< backend: name of the execution space
  int concurrency = 1;                  ///< threads of the execution space on a rank
  std::string mpi_library;
  LibraryVersions libraries;  ///< of rank 0
  std::string processor;      ///< of rank 0's node
  int ranks = 1, nodes = 1;
  std::vector<int> ranks_per_node;
  std::vector<std::string> hosts;           ///< of each rank
  std::vector<std::string> devices;         ///< of each rank; "host" without an accelerator
  std::vector<std::string> binding;         ///< of each rank: cores it may run on, e.g. "0-1"
  std::vector<std::string> warnings;        ///< "what is the matter; what to do"
  MemoryBandwidth bandwidth;                ///< of all ranks at once; zeros: not measured
  std::optional<TransferRecord> transfers;  ///< MPI's, once tried
  std::optional<MachinePaths> paths;        ///< what the paths of exchanges cost, once measured
  std::string started;                      ///< UTC, ISO 8601
};

/// One way to divide the elements among the ranks.
struct GridCandidate {
  PartitionModel model;
  /// No rank has more elements than in the best balanced way. Others are no choice, however fast
  /// their exchange is: Ax costs more.
  bool balanced = true;
  bool tried = false;                   ///< is to be measured
  std::optional<StageResult> timing{};  ///< of one exchange, where it was
};

/// How the elements are divided among the ranks, and why.
struct GridRecord {
  int order = 0;                          ///< at which exchanges were modelled and measured
  std::vector<GridCandidate> candidates;  ///< the best by the model first; one where it is pinned
  int selected = 0;                       ///< index in candidates
  std::string why;                        ///< how it was selected, in words
  bool replayed = false;                  ///< it is the choice of an earlier run
  std::string strategy;                   ///< by which the exchanges were measured, if they were
  int rounds = 0, repeats = 1;            ///< exchanges timed together for one sample
  double plan_seconds = 0, verify_seconds = 0, tune_seconds = 0;

  const Partition& partition() const { return candidates[selected].model.partition; }
};

/// One order: its mesh, its halo and its tuning.
struct OrderRecord {
  int order = 0;
  bool compiled = true;  ///< false: the slower kernel with a run-time order
  std::int64_t total_dofs = 0, total_local_points = 0;
  Spread elements, owned_dofs, boundary_elements, interior_elements;  ///< a rank
  Spread shared_dofs, neighbours;                                     ///< a rank
  Spread message_bytes;      ///< of one message of the field that is tuned for, over all messages
  Spread sent_bytes;         ///< of all messages of such a field that a rank sends
  MessageLayouts layouts;    ///< of the messages of all ranks
  double setup_seconds = 0;  ///< numbering, halo plan and, where used, geometric factors
  TuningResult tuning;
  /// With tuning mode cached: whether the choice of an earlier run was taken, and in words which or
  /// why not.
  bool replayed = false;
  std::string cache_note;
};

/// How the sums over the ranks were chosen; `replayed` and `cache_note` as in OrderRecord.
struct AllReduceRecord : AllReduceTuning {
  bool replayed = false;
  std::string cache_note;
};

/// What deterministic sums cost: an iteration of CG with them and with ordinary ones, medians of
/// interleaved rounds, s.
struct SummationCost {
  double deterministic_seconds = 0, ordinary_seconds = 0;
  int rounds = 0, iterations = 0;  ///< iterations of a round

  double ratio() const { return deterministic_seconds / ordinary_seconds; }
};

/// An exchange that was chosen, but wrong as CG would have used it.
struct LeftOut {
  std::string strategy, failure;
};

/// The CG run.
struct SolveRecord {
  int order = 0;
  std::string strategy, all_reduce;
  bool kernels_sum = false;  ///< Kokkos Kernels' products, by MPI_Allreduce; p·Ap by all_reduce
  std::vector<LeftOut> left_out;
  int iterations = 0;
  double tolerance = 0;            ///< asked for; 0: a fixed number of iterations
  bool converged = false;          ///< with a tolerance: reached it
  bool broke_down = false;         ///< a NaN or infinity, or an operator that is not positive
  double rhs_norm = 0;             ///< ‖b‖
  double residual = 0;             ///< recursive ‖r‖ at the end
  double true_residual = 0;        ///< ‖b - A x‖ computed anew
  std::optional<double> error;     ///< largest error relative to the largest exact value
  std::optional<double> error_l2;  ///< mass-weighted L2 error, relative
  std::vector<double> history;     ///< ‖r‖ after each iteration, beginning with ‖b‖
  double setup_seconds = 0, solve_seconds = 0;
  std::int64_t total_dofs = 0, total_local_points = 0, elements = 0;
  double flops = 0;            ///< /s, Nekbone's count: E Np (12 Nq + 34) iterations / time
  double dofs_per_second = 0;  ///< unique unmasked DOFs · iterations / time
  double bytes_per_dof = 0;    ///< least bytes an iteration and unique DOF, all kernels launched
  double bandwidth = 0;        ///< B/s by those bytes
  double peak_memory = 0;      ///< B, largest resident set summed over the ranks
  std::optional<Audit> audit;  ///< of the exchange, where there was something to compare with
  std::string why_no_audit;    ///< where there would be to users; empty elsewhere
  std::optional<Audit> sum_audit;  ///< of the sums over the ranks
  /// With deterministic sums: of the solution (see checksum()), and what they cost.
  std::optional<std::uint64_t> checksum;
  std::optional<SummationCost> summation_cost;
  bool passed = false;
  std::string verdict;  ///< why it passed or failed, in a sentence
};

struct RunRecord {
  Case input;
  MachineRecord machine;
  GridRecord grid;
  std::vector<OrderRecord> orders;
  std::optional<AllReduceRecord> all_reduce;  ///< where something is solved
  std::optional<SolveRecord> solve;
  std::vector<std::string> warnings;  ///< what casts doubt on the figures; see doubts.hpp
  double total_seconds = 0;
  bool passed = false;
  bool complete = false;  ///< all was done that the input asks for
};

}  // namespace nekbone_k
