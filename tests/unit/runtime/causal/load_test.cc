// Amplified load in a simulated machine: queues whose servers pay as load.h says, against the same queues with arrivals that
// really come so many times as often, and both against queueing theory.
#include "runtime/causal/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "runtime/causal/regions.h"

namespace stab::causal {
namespace {

constexpr uint64_t kPeriodNs = 1'000'000;
constexpr uint64_t kGeneratorWait = 0x1111, kDiskWait = 0x2222;

struct Queue {
  const char* name;
  uint32_t servers = 1;
  bool fixed_service = false;
  double disk_share = 0;  // of a service that is a wait for the world, in the thread that serves
};

// Mean time inside, in service times, at so many arrivals a service time.
double theory(const Queue& queue, double rate) {
  if (queue.fixed_service) return 1 + rate / (2 * (1 - rate));  // Pollaczek and Khinchine
  const double c = queue.servers;
  double sum = 0, term = 1;  // Erlang's C formula
  for (double k = 0; k < c; ++k) sum += term, term *= rate / (k + 1);
  const double last = term * c / (c - rate);
  return 1 + last / (sum + last) / (c - rate);
}

// The thread that makes arrivals: when it wakes it visits the point, and its next wait is not made longer.
class Generator {
 public:
  explicit Generator(uint32_t permille) : permille_(permille) {}
  uint64_t end_of_wait(uint64_t waited_ns) {
    sites_.waited_at(kGeneratorWait);
    const bool stretched = has_begun_ && !sites_.is_one(kGeneratorWait);
    sites_.arrived();
    has_begun_ = true;
    return waited_ns + (stretched ? extra_ns(waited_ns, permille_) : 0);
  }

 private:
  uint32_t permille_;
  bool has_begun_ = false;
  ArrivalSites sites_{};
};

// What a service takes in real time: its work pays at each sample and before its end is visited, its wait when it is over.
uint64_t served_in(uint64_t service_ns, double disk_share, uint32_t permille) {
  const auto disk_ns = static_cast<uint64_t>(static_cast<double>(service_ns) * disk_share);
  uint64_t took = disk_ns + extra_ns(disk_ns, permille);
  for (uint64_t left = service_ns - disk_ns; left > 0;) {
    const uint64_t slice = std::min(left, kPeriodNs);
    took += slice + extra_ns(slice, permille);
    left -= slice;
  }
  return took;
}

struct Simulated {
  double rate = 0;     // departures a virtual second
  double inside_ns = 0;  // mean, virtual
  std::vector<double> each_ns;
};

// `raise` makes the arrivals come really so many times as often; `permille` amplifies.
Simulated simulate(const Queue& queue, double utilization, double raise, uint32_t permille, size_t tasks) {
  constexpr double kServiceNs = 2e6;
  Rng rng(11);
  const auto exponential = [&] { return -std::log(1 - rng.uniform()); };
  Generator generator(permille);
  std::vector<uint64_t> free_at(queue.servers, 0);
  uint64_t at = 0, last = 0;
  double inside = 0;
  Simulated run;
  for (size_t i = 0; i < tasks; ++i) {
    const auto gap = static_cast<uint64_t>(exponential() * kServiceNs / utilization / queue.servers / raise);
    const auto service = static_cast<uint64_t>(queue.fixed_service ? kServiceNs : kServiceNs * exponential());
    at += generator.end_of_wait(gap);
    uint64_t& server = *std::min_element(free_at.begin(), free_at.end());
    server = std::max(server, at) + served_in(service, queue.disk_share, permille);
    last = std::max(last, server);
    const uint64_t stay = server - at;
    run.each_ns.push_back(static_cast<double>(stay - not_virtual_ns(stay, permille)));
    inside += run.each_ns.back();
  }
  run.inside_ns = inside / static_cast<double>(tasks);
  run.rate = 1e9 * static_cast<double>(tasks) / static_cast<double>(last - not_virtual_ns(last, permille));
  return run;
}

class AmplifiedQueue : public testing::TestWithParam<Queue> {};

TEST_P(AmplifiedQueue, IsTheQueueWithReallyMoreArrivals) {
  const Queue& queue = GetParam();
  for (const double load : {1.0, 1.5, 2.0, 2.6, 3.0}) {
    const Simulated amplified = simulate(queue, 0.3, 1, static_cast<uint32_t>(std::lround(1000 * load)), 20'000);
    const Simulated real = simulate(queue, 0.3, load, kLoadOne, 20'000);
    EXPECT_NEAR(amplified.rate, real.rate, 1e-4 * real.rate) << load;
    for (size_t i = 0; i < real.each_ns.size(); ++i)  // task by task, to the rounding of gaps
      ASSERT_NEAR(amplified.each_ns[i], real.each_ns[i], 20'000) << load << " " << i;
    EXPECT_NEAR(amplified.inside_ns, real.inside_ns, 1e-3 * real.inside_ns) << load;
  }
}

TEST_P(AmplifiedQueue, HasTheThroughputAndLatencyOfTheory) {
  const Queue& queue = GetParam();
  for (const double load : {1.0, 1.5, 2.0, 2.6}) {
    const double utilization = 0.3 * load;
    const Simulated run = simulate(queue, 0.3, 1, static_cast<uint32_t>(std::lround(1000 * load)), 400'000);
    EXPECT_NEAR(run.rate, 500 * queue.servers * utilization, 0.01 * 500 * queue.servers * utilization) << load;
    const double inside = 2e6 * theory(queue, utilization * queue.servers);
    EXPECT_NEAR(run.inside_ns, inside, 0.04 * inside) << load;
  }
}

TEST_P(AmplifiedQueue, IsServedNoFasterThanItsServersCan) {
  const Queue& queue = GetParam();
  const Simulated run = simulate(queue, 0.3, 1, 6000, 100'000);
  EXPECT_NEAR(run.rate, 500 * queue.servers, 0.02 * 500 * queue.servers);
}

INSTANTIATE_TEST_SUITE_P(Known, AmplifiedQueue,
                         testing::Values(Queue{"mm1", 1, false, 0}, Queue{"md1", 1, true, 0}, Queue{"mm3", 3, false, 0},
                                         Queue{"disk", 1, false, 0.6}),
                         [](const auto& param) { return param.param.name; });

TEST(AmplifiedLoad, VirtualTimeIsAnMthAndNothingIsLost) {
  for (const uint32_t permille : {1000u, 1500u, 3333u, 100'000u})
    for (const uint64_t own : {uint64_t{0}, uint64_t{1}, uint64_t{999}, uint64_t{1'000'001}, uint64_t{123'456'789'012}}) {
      const uint64_t wall = own + extra_ns(own, permille);
      EXPECT_NEAR(static_cast<double>(wall - not_virtual_ns(wall, permille)), static_cast<double>(own), 2.0) << permille;
    }
  EXPECT_EQ(extra_ns(5'000, 1000), 0u);
  EXPECT_EQ(extra_ns(5'000, 3000), 10'000u);
  EXPECT_EQ(not_virtual_ns(5'000, 0), 0u);
}

TEST(ArrivalSites, AreTheWaitsBeforeArrivalsAndNoOthers) {
  ArrivalSites sites{};
  sites.arrived();  // without any wait: a task that came at the start
  EXPECT_FALSE(sites.is_one(0));
  sites.waited_at(kGeneratorWait);
  EXPECT_FALSE(sites.is_one(kGeneratorWait));
  sites.arrived();
  sites.waited_at(kDiskWait);
  EXPECT_TRUE(sites.is_one(kGeneratorWait));
  EXPECT_FALSE(sites.is_one(kDiskWait));
  sites.waited_at(kGeneratorWait);
  sites.arrived();
  sites.arrived();  // two tasks at once
  for (uint64_t site = 1; site <= 4; ++site) sites.waited_at(site), sites.arrived();
  EXPECT_TRUE(sites.is_one(4));
}

TEST(AmplifiedLoad, AScriptOfLoadsThatCantBeIsRefused) {
  const auto area = std::make_unique<Area>();
  Script& script = area->script;
  std::copy(std::begin(kAreaMagic), std::end(kAreaMagic), script.magic);
  script.version = kCausalVersion;
  script.header_bytes = sizeof(Area);
  script.period_ns = kPeriodNs;
  script.window_ns = 100 * kPeriodNs;
  for (const uint32_t load : {0u, 1000u, 1500u, kMostLoadPermille}) {
    script.load_permille = load;
    EXPECT_EQ(fault_of(*area), nullptr) << load;
  }
  for (const uint32_t load : {1u, 999u, kMostLoadPermille + 1}) {
    script.load_permille = load;
    ASSERT_NE(fault_of(*area), nullptr) << load;
  }
}

}  // namespace
}  // namespace stab::causal
