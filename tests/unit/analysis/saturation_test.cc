// Saturation of queues whose answers are known: an M/M/1, an M/D/1 and an M/M/3 queue, simulated event by event, cut into windows
// as the runtime does, with loads below and above what they can serve. Throughput, latency and knee against queueing theory.
#include "analysis/report/saturation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <queue>

#include "analysis/report/causal.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

struct Queue {
  const char* name;
  uint32_t servers = 1;
  bool fixed_service = false;
  double capacity() const { return servers; }  // of servers that each serve one task a time unit
};

// Mean time inside at so many arrivals a time unit, below capacity.
double theory(const Queue& queue, double rate) {
  if (queue.fixed_service) return 1 + rate / (2 * (1 - rate));  // Pollaczek and Khinchine
  const double offered = rate, c = queue.servers;
  double sum = 0, term = 1;  // Erlang's C formula
  for (double k = 0; k < c; ++k) sum += term, term *= offered / (k + 1);
  const double waits = term * c / (c - offered) / (sum + term * c / (c - offered));
  return 1 + waits / (c - offered);
}

// Windows of one run: departures, and the integral of the number inside. A time unit is a millisecond.
void add_run(CausalData& data, uint32_t cell, const Queue& queue, double rate, uint64_t seed) {
  constexpr double kWindow = 500, kUnit = 1e6;
  constexpr int kWindows = 60;
  Rng rng(seed);
  const auto exponential = [&] { return -std::log(1 - rng.uniform()); };
  CausalTrial trial;
  trial.id = data.trials.size() + 1;
  trial.cell = cell;
  const auto index = static_cast<uint32_t>(data.trials.size());
  data.trials.push_back(trial);
  std::priority_queue<double, std::vector<double>, std::greater<>> ends;  // of the tasks that are served
  double now = 0, arrival = exponential() / rate;
  uint64_t waiting = 0;
  const auto serve = [&] { ends.push(now + (queue.fixed_service ? 1 : exponential())); };
  for (int w = -10; w < kWindows; ++w) {  // the first ones fill the queue
    const double end = (w + 11) * kWindow;
    double inside = 0;
    uint64_t departures = 0, arrivals = 0;
    while (true) {
      const double next = std::min({arrival, ends.empty() ? INFINITY : ends.top(), end});
      inside += (next - now) * static_cast<double>(waiting + ends.size());
      now = next;
      if (now == end) break;
      if (now == arrival) {
        ++arrivals;
        arrival = now + exponential() / rate;
        if (ends.size() < queue.servers) serve();
        else ++waiting;
      } else {
        ends.pop();
        ++departures;
        if (waiting > 0) --waiting, serve();
      }
    }
    if (w < 0) continue;
    CausalWindow window;
    window.trial = index;
    window.order = static_cast<uint32_t>(w);
    window.block = static_cast<uint32_t>(w);
    window.wall_ns = static_cast<uint64_t>(kWindow * kUnit);
    window.visits = {departures, departures, arrivals};
    window.latencies.resize(3);
    window.latencies[1] = {inside * kUnit, departures};
    data.windows.push_back(std::move(window));
  }
}

class Queues : public testing::TestWithParam<Queue> {};

TEST_P(Queues, ThroughputLatencyAndKneeAreThoseOfTheory) {
  const Queue& queue = GetParam();
  const double at_one = 0.3 * queue.capacity();  // so the knee lies at load 3.33
  CausalData data;
  data.points = {{"served", PointKind::kProgress}, {"request", PointKind::kLatency}, {"arrivals", PointKind::kArrival}};
  data.factors = {"load"};
  uint64_t seed = 1;
  for (const double load : {1.0, 1.5, 2.0, 2.6, 4.0, 5.0}) {
    data.cells.push_back({{std::to_string(load)}, load});
    for (int run = 0; run < 6; ++run) add_run(data, static_cast<uint32_t>(data.cells.size() - 1), queue, load * at_one, ++seed);
  }
  const std::vector<Saturation> found = saturations_of(data);
  ASSERT_EQ(found.size(), 2u);
  const Saturation& served = found[0];
  EXPECT_EQ(served.point, "served");
  EXPECT_EQ(served.latency_point, "request");
  ASSERT_EQ(served.loads.size(), 6u);
  for (const LoadPoint& point : served.loads) {
    const double rate = point.load * at_one, per_second = 1e3 * std::min(rate, queue.capacity());
    EXPECT_NEAR(point.throughput_mean, per_second, 0.03 * per_second) << point.load;
    if (rate > 0.8 * queue.capacity()) continue;
    ASSERT_TRUE(point.latency_mean_s);
    const double latency = 1e-3 * theory(queue, rate);
    EXPECT_NEAR(*point.latency_mean_s, latency, 0.08 * latency) << point.load;
  }
  ASSERT_TRUE(served.knee) << served.refused;
  EXPECT_EQ(served.verdict, ScalingVerdict::kScalesTo);
  EXPECT_NEAR(served.knee->load, 1 / 0.3, 0.05 / 0.3);
  EXPECT_LT(served.knee->low, 1 / 0.3);
  EXPECT_GT(served.knee->high, 1 / 0.3);
  EXPECT_NEAR(served.knee->slope_after, 0, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Known, Queues, testing::Values(Queue{"mm1", 1, false}, Queue{"md1", 1, true}, Queue{"mm3", 3, false}),
                         [](const auto& param) { return param.param.name; });

std::vector<LoadedTrial> trials_of(const std::vector<double>& loads, double knee, double after, double spread, int each = 5) {
  Rng rng(7);
  std::vector<LoadedTrial> out;
  for (const double load : loads)
    for (int i = 0; i < each; ++i) {
      LoadedTrial trial;
      trial.load = load;
      trial.throughput =
          50 * std::min(load, knee) * std::pow(std::max(1.0, load / knee), after) * std::exp(spread * normal_of(rng));
      out.push_back(trial);
    }
  return out;
}

TEST(Saturation, FindsTheKneeOfTwoLines) {
  const Saturation found = saturation_of(trials_of({1, 1.5, 2, 3, 4}, 1.8, 0, 0.002), 0.05);
  ASSERT_TRUE(found.knee) << found.refused;
  EXPECT_NEAR(found.knee->load, 1.8, 0.01);
  EXPECT_NEAR(found.knee->throughput, 90, 0.5);
  EXPECT_EQ(found.verdict, ScalingVerdict::kScalesTo);
  EXPECT_LT(found.knee->high - found.knee->low, 0.05);
  EXPECT_NE(scaling_text(found).find("scales to 1.8"), std::string::npos) << scaling_text(found);
  const Saturation slower = saturation_of(trials_of({1, 1.5, 2, 3, 4}, 1.8, -0.5, 0.002), 0.05);
  EXPECT_NEAR(slower.knee->slope_after, -0.5, 0.02);
}

TEST(Saturation, SaysWhereTheKneeIsNotAmongTheLoads) {
  EXPECT_EQ(saturation_of(trials_of({1, 1.5, 2, 3, 4}, 99, 0, 0.01), 0.05).verdict, ScalingVerdict::kBeyond);
  EXPECT_EQ(saturation_of(trials_of({1, 1.5, 2, 3, 4}, 0.5, 0, 0.01), 0.05).verdict, ScalingVerdict::kSaturated);
  EXPECT_EQ(saturation_of(trials_of({1, 1.5, 2, 3, 4}, 2.6, 0, 0.5), 0.05).verdict, ScalingVerdict::kUnsure);
}

TEST(Saturation, RefusesTooFewLoadsAndTrials) {
  EXPECT_FALSE(saturation_of(trials_of({1, 2}, 1.5, 0, 0.01), 0.05).refused.empty());
  EXPECT_FALSE(saturation_of(trials_of({1, 2, 3}, 1.5, 0, 0.01, 2), 0.05).refused.empty());
  std::vector<LoadedTrial> trials = trials_of({1, 2, 3}, 1.5, 0, 0.01);
  trials[4].throughput = 0;
  EXPECT_FALSE(saturation_of(trials, 0.05).refused.empty());
}

}  // namespace
}  // namespace stab::analysis
