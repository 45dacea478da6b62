// Saturation of queues whose answers are known: an M/M/1, an M/D/1 and an M/M/3 queue, simulated event by event, cut into windows
// as the runtime does, with loads below and above what they can serve. Throughput, latency and knee against queueing theory.
#include "analysis/causal_report/saturation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <queue>

#include "analysis/causal_report/causal.h"
#include "analysis/causal_report/load_arrivals.h"
#include "analysis/report/report_data/report_pen.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

using namespace causal_report;

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
  data.points = {{"served", PointKind::kProgress},
                 {"request", PointKind::kLatency},
                 {"arrivals", PointKind::kArrival}};
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

std::vector<LoadedTrial> trials_of(const std::vector<double>& loads, double knee, double after, double spread,
                                           int each = 5) {
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

// Arrivals in real time: of an open loop as many at every load, of a closed one fewer and fewer.
std::vector<LoadedTrial> arriving(double share_at_most_load, uint64_t each = 1000, double spread = 0.01) {
  Rng rng(3);
  std::vector<LoadedTrial> out = trials_of({1, 1.5, 2, 3, 4}, 2.2, 0, 0.005);
  for (LoadedTrial& trial : out) {
    const double share = 1 - (1 - share_at_most_load) * (trial.load - 1) / 3;
    trial.wall_s = 10;
    trial.arrivals = static_cast<uint64_t>(static_cast<double>(each) * share * std::exp(spread * normal_of(rng)));
    trial.offered = trial.load * static_cast<double>(trial.arrivals) / trial.wall_s;
  }
  return out;
}

TEST(Arrivals, OfAnOpenLoopAreAsManyAtEveryLoad) {
  const ArrivalsCheck open = check_arrivals(arriving(1), 0.05);
  EXPECT_EQ(open.verdict, ArrivalsVerdict::kOpen);
  const ArrivalsCheck closed = check_arrivals(arriving(0.5), 0.05);
  EXPECT_EQ(closed.verdict, ArrivalsVerdict::kClosed);
  EXPECT_EQ(closed.load, 4);
  EXPECT_NEAR(closed.share->estimate, 0.5, 0.02);
  EXPECT_EQ(check_arrivals(arriving(0.95, 1000, 0.05), 0.05).verdict, ArrivalsVerdict::kUnsure);
  EXPECT_EQ(check_arrivals(trials_of({1, 2, 3}, 2, 0, 0.01), 0.05).verdict, ArrivalsVerdict::kUnknown);
  EXPECT_EQ(check_arrivals({}, 0.05).verdict, ArrivalsVerdict::kUnknown);
}

// Windows of trials with arrivals, as the loader makes them.
CausalData arriving_data(double share_at_most_load, uint64_t each, double foreign = 0) {
  CausalData data;
  data.points = {{"served", PointKind::kProgress}, {"task", PointKind::kArrival}};
  data.factors = {"load"};
  data.loads = true;
  for (const double load : {1.0, 1.5, 2.0, 3.0, 4.0}) data.cells.push_back({{report::plain(load)}, load});
  for (const LoadedTrial& loaded : arriving(share_at_most_load, each)) {
    CausalTrial trial;
    trial.id = data.trials.size() + 1;
    for (uint32_t cell = 0; cell < 5; ++cell)
      if (data.cells[cell].load == loaded.load) trial.cell = cell;
    CausalWindow window;
    window.trial = static_cast<uint32_t>(data.trials.size());
    window.wall_ns = 10'000'000'000;
    window.credited_ns = static_cast<uint64_t>(1e10 * (1 - 1 / loaded.load));
    const double seconds = 10 / loaded.load;
    const double served = std::min(loaded.offered, 0.22 * static_cast<double>(each)) * seconds;
    window.visits = {static_cast<uint64_t>(served), loaded.arrivals};
    window.foreign_share = foreign;
    data.trials.push_back(trial);
    data.windows.push_back(window);
  }
  return data;
}

TEST(Arrivals, DecideWhetherThereIsAKnee) {
  const CausalReport open = *analyse_causal(arriving_data(1, 1000));
  ASSERT_EQ(open.saturations.size(), 1u);
  EXPECT_EQ(open.saturations[0].verdict, ScalingVerdict::kScalesTo) << open.saturations[0].refused;
  EXPECT_NEAR(open.saturations[0].knee->load, 2.2, 0.05);
  EXPECT_FALSE(open.saturations[0].loads[2].grows);
  EXPECT_TRUE(open.saturations[0].loads[4].grows);
  const std::string text = render_causal_text(open, 100, false);
  EXPECT_NE(text.find("Amplified load"), std::string::npos) << text;
  EXPECT_NE(text.find("grows"), std::string::npos) << text;
  EXPECT_EQ(text.find("slowdown"), std::string::npos) << text;

  CausalData data = arriving_data(0.5, 1000);
  const CausalReport closed = *analyse_causal(data);
  EXPECT_EQ(closed.saturations[0].verdict, ScalingVerdict::kRefused);
  EXPECT_NE(closed.saturations[0].refused.find("closed = true"), std::string::npos) << closed.saturations[0].refused;
  EXPECT_FALSE(closed.saturations[0].knee);
  data.closed_loop = true;
  const CausalReport declared = *analyse_causal(data);
  EXPECT_NE(declared.saturations[0].verdict, ScalingVerdict::kRefused);
  ASSERT_FALSE(declared.caveats.empty());
  EXPECT_EQ(declared.caveats[0].code, CausalCaveatCode::kClosedLoop);

  const CausalReport few = *analyse_causal(arriving_data(1, 15));
  EXPECT_NE(few.saturations[0].refused.find("tasks arrived"), std::string::npos) << few.saturations[0].refused;
  const CausalReport busy = *analyse_causal(arriving_data(1, 1000, 0.3));
  EXPECT_NE(busy.saturations[0].refused.find("CPUs of their own"), std::string::npos) << busy.saturations[0].refused;
}

}  // namespace
}  // namespace stab::analysis
