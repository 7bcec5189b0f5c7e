// SPDX-License-Identifier: BSD-3-Clause
#include "solver/cg_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nekbone_k {
namespace {

using Of = SetAlphaAndBeta::Of;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Applies rules to a state on the host.
class CgStateRules : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_host_device) GTEST_SKIP() << "the history is in device memory";
    m_state.most_iterations = 9;
  }
  void begin(double r_dot_r, double r_dot_z) {
    BeginClassic{m_scalars}({r_dot_r, r_dot_z}, m_state);
  }
  void set_alpha_and_beta(Of of, double r_dot_r, double r_dot_z, double z_dot_az) {
    SetAlphaAndBeta{m_scalars, of}({r_dot_r, r_dot_z, z_dot_az}, m_state);
  }

  CgScalars m_scalars{Kokkos::View<CgState, DeviceMemory>("state"),
                      DeviceVector<double>("history", 10)};
  CgState m_state;
};

TEST_F(CgStateRules, ClassicIsTheTextbook) {
  begin(16, 8);
  SetAlpha{m_scalars}({4}, m_state);
  EXPECT_EQ(m_state.alpha, 2);
  SetBeta{m_scalars}({9, 2}, m_state);
  EXPECT_EQ(m_state.beta, 0.25);
  EXPECT_EQ(m_state.iterations, 1);
  EXPECT_EQ(m_state.status, CgStatus::running);
  EXPECT_EQ(m_scalars.history(0), 4);
  EXPECT_EQ(m_scalars.history(1), 3);
}

TEST_F(CgStateRules, EnergyOfTheNextDirectionFollows) {
  set_alpha_and_beta(Of::b, 16, 8, 4);
  EXPECT_EQ(m_state.alpha, 2);
  EXPECT_EQ(m_state.beta, 0);
  set_alpha_and_beta(Of::iterate, 4, 4, 5);
  EXPECT_EQ(m_state.beta, 0.5);
  EXPECT_EQ(m_state.p_dot_ap, 5 - 0.25 * 4);
  EXPECT_EQ(m_state.alpha, 1);
  // Computed anew: of the same iterate, from the same earlier direction.
  set_alpha_and_beta(Of::replaced, 4, 2, 5);
  EXPECT_EQ(m_state.iterations, 1);
  EXPECT_EQ(m_state.beta, 0.25);
  EXPECT_EQ(m_state.p_dot_ap, 5 - 0.0625 * 4);
}

TEST_F(CgStateRules, StopsAtTheTolerance) {
  m_state.tolerance = 0.5;
  set_alpha_and_beta(Of::b, 16, 16, 1);
  set_alpha_and_beta(Of::iterate, 4, 4, 1);  // equal to the tolerance
  EXPECT_EQ(m_state.status, CgStatus::converged);
  EXPECT_EQ(m_state.alpha, 0);
  set_alpha_and_beta(Of::iterate, 1, 1, 1);
  set_alpha_and_beta(Of::replaced, 1, 1, 1);
  EXPECT_EQ(m_state.iterations, 1);
  EXPECT_EQ(m_state.alpha, 0);
}

TEST_F(CgStateRules, ClassicKeepsTheLastStepForX) {
  m_state.tolerance = 0.5;
  begin(16, 16);
  SetAlpha{m_scalars}({4}, m_state);
  SetBeta{m_scalars}({1, 1}, m_state);
  EXPECT_EQ(m_state.status, CgStatus::converged);
  EXPECT_EQ(m_state.alpha, 4);
  SetAlpha{m_scalars}({4}, m_state);  // the next iteration has added it
  EXPECT_EQ(m_state.alpha, 0);
}

TEST_F(CgStateRules, DoesTheIterationsOfTheInput) {
  m_state.most_iterations = 1;
  set_alpha_and_beta(Of::b, 16, 16, 1);
  EXPECT_EQ(m_state.status, CgStatus::running);
  set_alpha_and_beta(Of::iterate, 4, 4, 1);
  EXPECT_EQ(m_state.status, CgStatus::finished);
  m_state = {};
  begin(16, 16);
  EXPECT_EQ(m_state.status, CgStatus::finished);
  EXPECT_EQ(m_state.iterations, 0);
}

TEST_F(CgStateRules, BreaksDownWithoutPositiveEnergy) {
  for (const double energy : {0.0, -1.0, not_a_number, std::numeric_limits<double>::infinity()}) {
    m_state = {};
    m_state.most_iterations = 9;
    set_alpha_and_beta(Of::b, 16, 16, energy);
    EXPECT_EQ(m_state.status, CgStatus::broke_down) << energy;
    EXPECT_EQ(m_state.alpha, 0);
    m_state = {};
    m_state.most_iterations = 9;
    begin(16, 16);
    SetAlpha{m_scalars}({energy}, m_state);
    EXPECT_EQ(m_state.status, CgStatus::broke_down) << energy;
  }
  m_state = {};
  begin(not_a_number, 1);
  EXPECT_EQ(m_state.status, CgStatus::broke_down);
}

// The difference of energies may be negative by rounding alone. CG then begins anew along z.
TEST_F(CgStateRules, BeginsAnewIfRoundingSpoilsTheEnergy) {
  set_alpha_and_beta(Of::b, 1, 1, 1);
  set_alpha_and_beta(Of::iterate, 1e-26, 1, 0.5);
  EXPECT_EQ(m_state.status, CgStatus::running);
  EXPECT_EQ(m_state.beta, 0);
  EXPECT_EQ(m_state.alpha, 2);
  set_alpha_and_beta(Of::iterate, 1e-26, 1, -0.5);
  EXPECT_EQ(m_state.status, CgStatus::running);
  EXPECT_EQ(m_state.alpha, 0);
  EXPECT_EQ(m_state.iterations, 2);
}

TEST_F(CgStateRules, OnlyCountsPastUnderflow) {
  set_alpha_and_beta(Of::b, 1, 1, 1);
  set_alpha_and_beta(Of::iterate, 0, 0, 0);
  set_alpha_and_beta(Of::iterate, 0, 0, 0);
  EXPECT_EQ(m_state.status, CgStatus::running);
  EXPECT_EQ(m_state.iterations, 2);
  EXPECT_EQ(m_state.alpha, 0);
  EXPECT_EQ(m_state.beta, 0);
}

}  // namespace
}  // namespace nekbone_k
