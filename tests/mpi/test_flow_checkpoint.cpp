// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of fields and numbers: their values, their shape, and files that are none.
#include "output/flow_checkpoint.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "flow/velocity.hpp"
#include "output/element_values.hpp"
#include "output/hdf5_file.hpp"
#include "support/reference_flow.hpp"

namespace nekbone_k {
namespace {

namespace fs = std::filesystem;

/// Numbers, and fields of one and of three components.
struct State {
  double time = 0;
  int steps = 0;
  std::vector<double> lengths;
  DeviceVector<double> pressure;
  VectorField velocity;

  void name_to(FlowArchive& archive) {
    archive.number("time", time);
    archive.count("steps", steps);
    archive.numbers("lengths", lengths);
    archive.field("pressure/0", pressure);
    archive.field("velocity/0", velocity.values);
  }
};

class FlowCheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_hdf5()) GTEST_SKIP() << "this build has no HDF5";
    std::string folder;
    if (m_comm.is_root()) {
      std::string pattern = (fs::temp_directory_path() / "nekbone-k-XXXXXX").string();
      ASSERT_NE(mkdtemp(pattern.data()), nullptr);
      folder = pattern;
    }
    m_folder = m_comm.broadcast(folder);
  }
  void TearDown() override {
    m_comm.barrier();
    if (m_comm.is_root() && !m_folder.empty()) fs::remove_all(m_folder);
  }

  std::string file(const std::string& name = "flow.h5") const { return m_folder / name; }
  /// Text of a file, on rank 0.
  std::string text_of(const std::string& path) const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const Communicator m_comm{MPI_COMM_WORLD};
  fs::path m_folder;
};

/// A space with a state by global id.
struct Space {
  Space(MPI_Comm parent, const MeshSpec& spec, int order)
      : comm(parent),
        mesh(spec, order),
        space(comm, BoxMesh(spec, order, comm.size(), comm.rank())) {}

  State state(unsigned seed) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {
        .time = 0.1 + seed,
        .steps = 1 << 30,
        .lengths = {1.0 / 3, 1e-300, none, -0.0},
        .pressure =
            to_vector_field(space, mesh, {mesh.random(seed), mesh.random(seed), mesh.random(seed)})
                .component(0),
        .velocity = to_vector_field(
            space, mesh, {mesh.random(seed + 1), mesh.random(seed + 2), mesh.random(seed + 3)})};
  }
  State empty() {
    return {.time = 0,
            .steps = 0,
            .lengths = {},
            .pressure = space.make_vector("p"),
            .velocity = VectorField("u", space)};
  }
  void save(const std::string& path, State state, const CheckpointTexts& texts = {}) const {
    save_flow(comm, path, space, texts, [&](FlowArchive& archive) { state.name_to(archive); });
  }

  Communicator comm;
  ReferenceMesh mesh;
  AssembledSpace space;
};

MeshSpec box(const std::array<int, 3>& elements) {
  MeshSpec spec;
  spec.elements = elements;
  return spec;
}

// What one number of ranks saves, another restores: entry by entry, padding included.
TEST_F(FlowCheckpointTest, HoldsTheSameValuesForAnyNumberOfRanks) {
  const MeshSpec spec = box({3, 2, 7});
  Space together(MPI_COMM_WORLD, spec, 3);
  together.save(file(), together.state(1), {{"choices", "a=1\nb=2\n"}, {"empty", ""}});
  const auto check = [&](MPI_Comm comm) {
    Space there(comm, spec, 3);
    const State expected = there.state(1);
    State found = there.empty();
    const FlowCheckpoint checkpoint(there.comm, file());
    checkpoint.restore(there.space, [&](FlowArchive& archive) { found.name_to(archive); });
    EXPECT_EQ(found.time, expected.time);
    EXPECT_EQ(found.steps, expected.steps);
    ASSERT_EQ(found.lengths.size(), 4U);
    EXPECT_EQ(found.lengths[0], expected.lengths[0]);
    EXPECT_EQ(found.lengths[1], expected.lengths[1]);
    EXPECT_TRUE(std::isnan(found.lengths[2]));
    EXPECT_TRUE(std::signbit(found.lengths[3]));
    EXPECT_EQ(checkpoint.text("choices"), "a=1\nb=2\n");
    EXPECT_EQ(checkpoint.text("empty"), "");
    EXPECT_EQ(checkpoint.number("time"), expected.time);
    const auto equal = [](const DeviceVector<double>& a, const DeviceVector<double>& b) {
      const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a),
                 y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
      ASSERT_EQ(x.extent(0), y.extent(0));
      for (std::size_t i = 0; i < x.extent(0); ++i) ASSERT_EQ(x(i), y(i)) << i;
    };
    equal(found.pressure, expected.pressure);
    equal(found.velocity.values, expected.velocity.values);
  };
  check(MPI_COMM_WORLD);
  m_comm.barrier();
  if (m_comm.is_root()) check(MPI_COMM_SELF);
}

// The place of a value in a file is that of its element and node, by the plain formula.
TEST_F(FlowCheckpointTest, HasElementsAndNodesInAPlainOrder) {
  const MeshSpec spec = box({3, 2, 7});
  Space there(MPI_COMM_WORLD, spec, 2);
  const BoxMesh& mesh = there.space.mesh();
  ElementValues values(there.space);
  const double* const found = values.from(there.state(5).pressure);
  const ById expected = there.mesh.random(5);
  std::size_t at = 0;
  for (LocalIndex e = 0; e < mesh.n_elements(); ++e)
    for (int k = 0; k < mesh.nq(); ++k)
      for (int j = 0; j < mesh.nq(); ++j)
        for (int i = 0; i < mesh.nq(); ++i)
          ASSERT_EQ(found[at++],
                    expected[mesh.global_id(mesh.lattice_point(mesh.element(e), i, j, k))]);
  EXPECT_EQ(at, values.size());
}

TEST_F(FlowCheckpointTest, ReplacesTheEarlierOneWhenItIsWhole) {
  Space there(MPI_COMM_WORLD, box({3, 2, 7}), 2);
  there.save(file(), there.state(1));
  there.save(file(), there.state(2));
  EXPECT_EQ(FlowCheckpoint(there.comm, file()).number("time"), there.state(2).time);
  m_comm.barrier();
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(m_folder)) ++files;
  EXPECT_EQ(files, 1);
}

// A state that cannot be saved: a name that is given twice.
TEST_F(FlowCheckpointTest, LeavesTheEarlierOneIfItCannotBeSaved) {
  Space there(MPI_COMM_WORLD, box({3, 2, 7}), 2);
  there.save(file(), there.state(1));
  State state = there.state(2);
  EXPECT_THROW(save_flow(there.comm, file(), there.space, {},
                         [&](FlowArchive& archive) {
                           state.name_to(archive);
                           archive.number("time", state.time);
                         }),
               FileError);
  EXPECT_EQ(FlowCheckpoint(there.comm, file()).number("time"), there.state(1).time);
  EXPECT_THROW(there.save(file("no/such/folder.h5"), state), FileError);
}

TEST_F(FlowCheckpointTest, IsRefusedIfItIsNone) {
  Space there(MPI_COMM_WORLD, box({3, 2, 7}), 2);
  there.save(file(), there.state(1));
  if (m_comm.is_root()) {
    const std::string whole = text_of(file());
    std::ofstream(file("half.h5"), std::ios::binary) << whole.substr(0, whole.size() / 2);
    std::ofstream(file("text.h5")) << "time 0.1\n";
    std::ofstream(file("empty.h5")).flush();
  }
  m_comm.barrier();
  {
    Hdf5File other = Hdf5File::create(m_comm, file("other.h5"));
    other.write_numbers("time", {1});
    other.close();
    Hdf5File newer = Hdf5File::create(m_comm, file("newer.h5"));
    newer.write_text("format", "nekbone-k flow checkpoint 2000");
    newer.close();
  }
  const auto complaint = [&](const std::string& name) -> std::string {
    try {
      const FlowCheckpoint checkpoint(m_comm, file(name));
    } catch (const FileError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint("missing.h5"), "'" + file("missing.h5") + "' does not exist");
  for (const std::string name : {"half.h5", "text.h5", "empty.h5"})
    EXPECT_NE(complaint(name).find("'" + file(name) + "' cannot be read as HDF5"),
              std::string::npos)
        << complaint(name);
  EXPECT_EQ(complaint("other.h5"), "'" + file("other.h5") + "' is no checkpoint of nekbone-k");
  EXPECT_NE(complaint("newer.h5").find("checkpoint 2000"), std::string::npos);
  EXPECT_EQ(complaint("flow.h5"), "none");
}

TEST_F(FlowCheckpointTest, FindsOutWhetherItFits) {
  EXPECT_NO_THROW(require_space(m_comm, file(), 1));
  EXPECT_NO_THROW(require_space(m_comm, "name.h5", 1));
  EXPECT_THROW(require_space(m_comm, file(), 1e30), FileError);
  EXPECT_NO_THROW(require_space(m_comm, file("missing/name.h5"), 1e30)) << "others report that";
}

TEST_F(FlowCheckpointTest, SaysWhatItLacks) {
  Space there(MPI_COMM_WORLD, box({3, 2, 7}), 2), other(MPI_COMM_WORLD, box({2, 2, 7}), 2);
  there.save(file(), there.state(1));
  const FlowCheckpoint checkpoint(m_comm, file());
  EXPECT_THROW(checkpoint.text("nothing"), FileError);
  EXPECT_THROW(checkpoint.number("nothing"), FileError);
  EXPECT_THROW(checkpoint.text("time"), FileError);
  State state = other.empty();
  try {
    checkpoint.restore(other.space, [&](FlowArchive& archive) { state.name_to(archive); });
    ADD_FAILURE() << "a field of another mesh";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("has no array 'pressure/0' of 2x2x7 elements"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(FlowCheckpointTest, IsRefusedIfNumbersAreDamaged) {
  Space there(MPI_COMM_WORLD, box({3, 2, 7}), 2);
  const std::vector<std::vector<double>> damaged{
      {1, 2}, {-1}, {1e300}, {std::numeric_limits<double>::quiet_NaN()}};
  for (std::vector<double> numbers : damaged) {
    save_flow(there.comm, file(), there.space, {},
              [&](FlowArchive& archive) { archive.numbers("steps", numbers); });
    const FlowCheckpoint checkpoint(m_comm, file());
    const auto complaint = [](const auto& action) -> std::string {
      try {
        action();
      } catch (const FileError& error) {
        return error.what();
      }
      return "none";
    };
    const std::string expected =
        numbers.size() == 1
            ? "'" + file() + "' has invalid numbers 'steps'"
            : "'" + file() + "' has " + std::to_string(numbers.size()) + " numbers 'steps'";
    EXPECT_EQ(complaint([&] { checkpoint.count("steps"); }).find(expected), 0U);
    EXPECT_EQ(complaint([&] {
                checkpoint.restore(there.space, [](FlowArchive& archive) {
                  int steps = 0;
                  archive.count("steps", steps);
                });
              }).find(expected),
              0U);
  }
}

}  // namespace
}  // namespace nekbone_k
