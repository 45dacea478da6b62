// Machines from hwloc's synthetic descriptions, and which CPUs are chosen on them and why.
#include "stabd/engine/machine/topology.h"

#include <gtest/gtest.h>

namespace stab::engine {
namespace {

// Two cores of two threads: cpus 0,1 are core 0; 2,3 are core 1.
const Topology kTwoByTwo({{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {3, 1, 0}});

std::pair<int, int> cpus(const Result<host::Placement>& placement) {
  return placement ? std::pair(placement->trial_cpu, placement->housekeeping_cpu) : std::pair(-9, -9);
}

TEST(CpuPlacement, AutoUsesTwoCores) {
  EXPECT_EQ(cpus(place(kTwoByTwo, "auto", "auto")), std::pair(2, 0));
}

TEST(CpuPlacement, NeverTheSiblingWhileThereIsAnotherCore) {
  EXPECT_EQ(cpus(place(kTwoByTwo, "pu:1", "auto")), std::pair(1, 2));
  EXPECT_EQ(cpus(place(kTwoByTwo, "auto", "pu:3")), std::pair(0, 3));
}

TEST(CpuPlacement, OneCoreTwoThreads) {
  const auto placement = place(Topology({{0, 0, 0}, {1, 0, 0}}), "auto", "auto");
  EXPECT_EQ(cpus(placement), std::pair(1, 0));
  EXPECT_NE(placement->why.find("two threads of one core"), std::string::npos) << placement->why;
}

TEST(CpuPlacement, OneUnitSaysThatItDisturbs) {
  const auto placement = place(Topology({{4, 0, 0}}), "auto", "auto");
  EXPECT_EQ(cpus(placement), std::pair(4, 4));
  EXPECT_NE(placement->why.find("disturb"), std::string::npos);
}

TEST(CpuPlacement, WordsOfThePlan) {
  EXPECT_EQ(cpus(place(kTwoByTwo, "2-3", "0")), std::pair(3, 0));
  EXPECT_EQ(cpus(place(kTwoByTwo, "core:0", "core:1")), std::pair(1, 2));
  EXPECT_EQ(cpus(place(kTwoByTwo, "numa:0", "auto")), std::pair(3, 0));
  EXPECT_EQ(cpus(place(kTwoByTwo, "none", "auto")), std::pair(-1, -1));
  EXPECT_EQ(cpus(place(kTwoByTwo, "pu:3", "none")), std::pair(3, -1));
}

TEST(CpuPlacement, WrongWords) {
  for (const char* words : {"socket:1", "3-2", "a", "core:", "1,,2", "pu:-1"}) {
    const auto placement = place(kTwoByTwo, words, "auto");
    ASSERT_FALSE(placement.ok()) << words;
    EXPECT_EQ(placement.error().code, ErrorCode::kBadInput) << words;
  }
  const auto absent = place(kTwoByTwo, "pu:9", "auto");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kUnavailable);
}

TEST(Topology, SyntheticCoresAndThreads) {
  const auto topology = Topology::synthetic("core:3 pu:2");
  ASSERT_TRUE(topology.ok()) << topology.error().text();
  ASSERT_EQ(topology->units().size(), 6u);
  EXPECT_EQ(topology->units()[0].core, topology->units()[1].core);
  EXPECT_NE(topology->units()[1].core, topology->units()[2].core);
}

TEST(Topology, ThisMachine) {
  const auto topology = Topology::discover();
  ASSERT_TRUE(topology.ok()) << topology.error().text();
  EXPECT_TRUE(place(*topology, "auto", "auto").ok());
}

}  // namespace
}  // namespace stab::engine
