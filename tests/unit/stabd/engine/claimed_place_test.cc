// Two laboratories of one machine don't measure on the same CPU, if there is another one.
#include "stabd/engine/machine/claimed_place.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

class ClaimedPlaces : public testing::Test {
 protected:
  ClaimedPlaces() {
    roots_.sys = directory_.path();
    for (int cpu = 0; cpu < 8; ++cpu)
      std::filesystem::create_directories(directory_.path() + "/devices/system/cpu/cpu" + std::to_string(cpu));
  }
  ClaimedPlace claimed(const std::string& machine, const std::string& cpus = "auto", const std::string& housekeeping = "auto") {
    auto topology = Topology::synthetic(machine);
    EXPECT_TRUE(topology) << topology.error().text();
    auto place = claim_place(*topology, cpus, housekeeping, roots_);
    EXPECT_TRUE(place) << place.error().text();
    return *std::move(place);
  }
  TemporaryDirectory directory_;
  host::Roots roots_;
};

TEST_F(ClaimedPlaces, EachHasACoreOfItsOwn) {
  const ClaimedPlace first = claimed("core:4 pu:2"), second = claimed("core:4 pu:2"), third = claimed("core:4 pu:2");
  EXPECT_EQ(first.placement.trial_cpu, 6);
  EXPECT_EQ(second.placement.trial_cpu, 4) << "not the other thread of the first one's core";
  EXPECT_EQ(third.placement.trial_cpu, 2);
  for (const ClaimedPlace* place : {&first, &second, &third}) {
    EXPECT_EQ(place->placement.housekeeping_cpu, 0);
    EXPECT_EQ(place->shared, "");
  }
  const ClaimedPlace fourth = claimed("core:4 pu:2"), fifth = claimed("core:4 pu:2");
  EXPECT_EQ(fourth.placement.trial_cpu, 1) << "beside its own helper rather than on another one's CPU";
  EXPECT_EQ(fifth.placement.trial_cpu, 6);
  EXPECT_NE(fifth.shared.find("another laboratory's trials run on cpu 6"), std::string::npos) << fifth.shared;
}

TEST_F(ClaimedPlaces, AClaimEndsWithWhoHasIt) {
  { const ClaimedPlace gone = claimed("core:2 pu:1"); }
  const ClaimedPlace next = claimed("core:2 pu:1");
  EXPECT_EQ(next.placement.trial_cpu, 1);
  EXPECT_EQ(next.shared, "");
  EXPECT_NE(claimed("core:2 pu:1").shared, "") << "two CPUs have no other";
}

TEST_F(ClaimedPlaces, WhatThePlanNamesIsKeptTo) {
  const ClaimedPlace first = claimed("core:4 pu:1", "1-2"), second = claimed("core:4 pu:1", "1-2"),
                     third = claimed("core:4 pu:1", "1-2");
  EXPECT_EQ(first.placement.trial_cpu, 2);
  EXPECT_EQ(second.placement.trial_cpu, 1);
  EXPECT_EQ(third.placement.trial_cpu, 2);
  EXPECT_EQ(second.shared, "");
  EXPECT_NE(third.shared, "");
  EXPECT_NE(claimed("core:4 pu:1", "1").shared, "");
}

TEST_F(ClaimedPlaces, WhatIsNotPinnedClaimsNothing) {
  const ClaimedPlace first = claimed("core:2 pu:1", "none"), second = claimed("core:2 pu:1", "none");
  EXPECT_EQ(first.shared + second.shared, "");
}

TEST_F(ClaimedPlaces, WithoutTheKernelsDirectoryNothingIsClaimed) {
  roots_.sys = directory_.path() + "/nowhere";
  const ClaimedPlace first = claimed("core:2 pu:1"), second = claimed("core:2 pu:1");
  EXPECT_EQ(first.placement.trial_cpu, second.placement.trial_cpu);
  EXPECT_EQ(second.shared, "");
}

}  // namespace
}  // namespace stab::engine
