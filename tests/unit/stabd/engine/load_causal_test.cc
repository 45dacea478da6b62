// From stored windows to a causal report: made windows of a program whose truth is known, two functions on one CPU, one of
// which takes 60 % of a round. Made in this test only.
#include "stabd/engine/results/load_causal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <set>

#include "analysis/causal_report/causal.h"
#include "base/rng.h"
#include "plan/causal.h"
#include "plan/parse.h"
#include "runtime/causal/causal_abi.h"
#include "tests/golden/record.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

const std::vector<store::RegionRow> kRegions = {{0, 1, true, "/p/src/a.c", 0, "a", 60}, {0, 2, true, "/p/src/b.c", 0, "b", 30}};
constexpr double kShares[] = {0, 0.6, 0.3};  // of a round's time, by region

class LoadCausal : public ::testing::Test {
 protected:
  LoadCausal() { store_.emplace(*store::Store::open(directory_.path() + "/causal.db", store::Store::Access::kWrite)); }

  plan::Plan plan_of(const std::string& keys = "") {
    const plan::Parsed parsed = plan::parse_plan(
        "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 6\nmargin = \"2%\"\n"
        "[causal]\nunit = \"function\"\ncandidates = [\"a\", \"b\"]\n"
        "explore = \"0%\"\n" + keys + "[[program]]\nname = \"p\"\nrun = [\"true\"]\n",
        "x.toml");
    EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
    return *parsed.plan;
  }

  // 88 windows a trial, of 250 ms of CPU time each; a round takes 1 ms. `noise`: of a window's time.
  store::CausalRun run_of(const plan::Plan& plan, int64_t first, Rng& rng, double noise) {
    store::CausalRun run;
    run.pauses = "cpu-time";
    run.cpus = 1;
    run.period_ns = 1'000'000;
    run.points = {{"round", 1}};
    const plan::CausalRegions regions{2, {}};
    const auto arms =
        plan::arms_from(*plan.causal, plan.experiment.seed, "causal p all", static_cast<uint64_t>(first), 88, regions);
    for (const plan::CausalArm& arm : arms) {
      store::WindowRow window;
      window.position = first + static_cast<int64_t>(run.windows.size());
      window.block = window.position / static_cast<int64_t>(plan::arms_in_block(*plan.causal, regions));
      window.kind = static_cast<uint32_t>(arm.kind);
      window.region = arm.region;
      window.permille = arm.permille;
      window.cpu_ns = window.wall_ns = static_cast<int64_t>(250e6 * std::exp(noise * (rng.uniform() - 0.5)));
      const double share = kShares[arm.region], speedup = arm.permille / 1000.0;
      const bool slower = arm.kind == plan::CausalArmKind::kSlowdown, null = arm.kind == plan::CausalArmKind::kNull;
      // A round takes longer by what a sampled thread really pauses.
      const double round = 1e6 * (slower || null ? 1 + share * speedup : 1);
      const double rounds = 250e6 / round;
      if (!slower) window.growth_ns = static_cast<int64_t>(rounds * 1e6 * share * speedup);
      window.region_samples = static_cast<int64_t>(rounds * share);
      window.samples = static_cast<int64_t>(rounds);
      window.counts = {{0, static_cast<int64_t>(std::lround(rounds)), 0}};
      run.cpu_ns += window.cpu_ns;
      run.windows.push_back(window);
    }
    run.run_ns = run.cpu_ns;
    run.samples = run.cpu_ns / 1'000'000;
    run.region_samples = {{1, run.samples * 6 / 10, 0}, {2, run.samples * 3 / 10, 0}};
    return run;
  }

  std::vector<causal_report::CausalData> recorded(const plan::Plan& plan, double noise = 0.02) {
    Rng rng(7);
    int64_t first = 0;
    const auto id = record_experiment(*store_, plan, [&](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
      outcome.wall_ns = 1'000'000'000;
      outcome.causal = run_of(plan, first, rng, noise);
      first += 88;
    });
    EXPECT_TRUE(id);
    EXPECT_TRUE(store_->put_regions(*id, 0, kRegions).ok());
    const auto loaded = load_causal(*store_, *store_->experiment(*id));
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    return loaded ? *loaded : std::vector<causal_report::CausalData>();
  }

  // Runs that are windows as a whole, each as `change` leaves it.
  template <typename Change>
  std::optional<causal_report::CausalData> whole_runs(Change change) {
    const plan::Plan plan = plan_of("experiments = \"trials\"\n");
    Rng rng(1);
    int64_t number = 0;
    const auto id = record_experiment(*store_, plan, [&](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
      outcome.wall_ns = 1'000'000'000;
      outcome.causal = run_of(plan, number, rng, 0.02);
      outcome.causal->windows.resize(1);
      outcome.causal->points.clear();
      outcome.causal->windows[0].counts.clear();
      change(number++, outcome);
    });
    EXPECT_TRUE(id);
    if (!id) return {};
    EXPECT_TRUE(store_->put_regions(*id, 0, kRegions).ok());
    const auto programs = load_causal(*store_, *store_->experiment(*id));
    EXPECT_TRUE(programs) << programs.error().message;
    return programs ? std::optional(programs->at(0)) : std::nullopt;
  }

  TemporaryDirectory directory_;
  std::optional<store::Store> store_;
};

TEST_F(LoadCausal, GivesTheCurvesThatTheWindowsHave) {
  const auto programs = recorded(plan_of());
  ASSERT_EQ(programs.size(), 1u);
  const causal_report::CausalData& data = programs[0];
  EXPECT_EQ(causal_report::fault_of(data).value_or(""), "");
  EXPECT_EQ(data.program, "p");
  EXPECT_EQ(data.trials.size(), 6u);
  EXPECT_EQ(data.windows.size(), 6u * 88);
  ASSERT_EQ(data.lines.size(), 2u);
  EXPECT_EQ(data.lines[0].name, "a");
  EXPECT_FALSE(data.incomplete);
  const auto report = causal_report::analyse_causal(data, 10);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->curves.size(), 2u);
  for (const causal_report::CausalCurve& curve : report->curves)
    for (const causal_report::CausalArm& arm : curve.arms) {
      const double truth = kShares[curve.line + 1] * arm.speedup;
      EXPECT_NEAR(arm.effect.speedup.estimate, truth, 0.004) << curve.line << " " << arm.speedup;
      EXPECT_EQ(curve.verdict, causal_report::LineVerdict::kWorthIt);
    }
  ASSERT_EQ(report->nulls.size(), 1u);
  EXPECT_TRUE(report->nulls[0].holds);
  // What a coz viewer gets has both lines.
  const std::string coz = causal_report::coz_profile(data, 0);
  EXPECT_NE(coz.find("selected=a"), std::string::npos) << coz.substr(0, 400);
}

// The table allows no such kind, but another program may have changed the file.
TEST_F(LoadCausal, RefusesAWindowOfAnUnknownKind) {
  recorded(plan_of());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((directory_.path() + "/causal.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "PRAGMA ignore_check_constraints = ON; UPDATE windows SET kind = 4 WHERE number = 7", nullptr,
                         nullptr, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  const auto loaded = load_causal(*store_, *store_->experiment(1));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(loaded.error().message.find("unknown kind 4"), std::string::npos) << loaded.error().message;
}

TEST_F(LoadCausal, TakesWholeRunsByTheBlocksOfTheirList) {
  const auto loaded = whole_runs([](int64_t, store::Outcome& outcome) { outcome.causal->windows[0].flags = causal::kWindowCut; });
  ASSERT_TRUE(loaded);
  const causal_report::CausalData& data = *loaded;
  EXPECT_EQ(data.points[0].name, "end-to-end");
  EXPECT_EQ(data.windows.size(), 6u);
  EXPECT_EQ(data.trials.size(), 1u);  // one block of the list has more arms than there are runs
  EXPECT_EQ(data.windows[0].visits[0], 1u);
  EXPECT_EQ(data.windows[0].flags, 0u);
  EXPECT_TRUE(data.whole_runs);
}

// Two speedups of an old plan that its windows don't tell apart are one, rather than no report at all.
TEST_F(LoadCausal, ReadsOldPlansWhoseSpeedupsAreNearerThanWindowsTell) {
  plan::Plan plan = plan_of();
  const size_t at = plan.text.find("explore");
  plan.text.insert(at, "speedups = [\"25%\", \"25.02%\"]\n");
  plan.causal->speedups = {0.25, 0.2502};
  const auto programs = recorded(plan);
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].speedups, std::vector<double>{0.25});
  EXPECT_EQ(causal_report::fault_of(programs[0]).value_or(""), "");
}

// Where the code doesn't move while a trial runs, its windows share the layout that the schedule gave it; where each window asked
// for one, no two trials do.
TEST_F(LoadCausal, KnowsWhichWindowsShareALayout) {
  for (const std::string code : {"once", "shuffle"}) {
    plan::Plan plan = plan_of("[factors]\ncode = [\"" + code + "\"]\n");
    Rng rng(7);
    const auto id = record_experiment(*store_, plan, [&](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
      outcome.wall_ns = 1'000'000'000;
      outcome.causal = run_of(plan, 0, rng, 0.02);
      for (size_t w = 0; code == "shuffle" && w < outcome.causal->windows.size(); ++w)
        outcome.causal->windows[w].layout = static_cast<int64_t>(w);
    });
    ASSERT_TRUE(id) << id.error().message;
    ASSERT_TRUE(store_->put_regions(*id, 0, kRegions).ok());
    const auto programs = load_causal(*store_, *store_->experiment(*id));
    ASSERT_TRUE(programs) << programs.error().message;
    std::set<uint64_t> layouts;
    for (const causal_report::CausalWindow& window : programs->at(0).windows) layouts.insert(window.layout);
    EXPECT_EQ(layouts.size(), code == "once" ? 6u : 6u * 87 + 1) << code;
    EXPECT_EQ(layouts.count(0), code == "once" ? 0u : 1u);
    const auto report = causal_report::analyse_causal(programs->at(0), 0);
    ASSERT_TRUE(report) << report.error().message;
    // A line's worth is asked of layouts where these hold windows of it and baseline windows.
    EXPECT_EQ(report->layout_interactions.size(), code == "once" ? 4u : 0u);
  }
}

// A rule of the plan's leaves out a run, wherever in its block it is, and that one alone.
TEST_F(LoadCausal, LeavesOutWholeRunsOneByOne) {
  for (const int64_t excluded : {0, 3}) {
    const auto loaded = whole_runs([&](int64_t number, store::Outcome& outcome) {
      if (number == excluded) outcome.excluded_by = {"contention > 10%"};
    });
    ASSERT_TRUE(loaded);
    const causal_report::CausalData& data = *loaded;
    size_t left_out = 0;
    for (const causal_report::CausalWindow& window : data.windows) left_out += !data.trials[window.trial].excluded.empty();
    EXPECT_EQ(data.windows.size(), 6u);
    EXPECT_EQ(left_out, 1u) << "of which run " << excluded << " was to be left out";
  }
}

// Stopped before its first window: no profile, and whoever reports is told of whom and why.
TEST_F(LoadCausal, WithoutAWindowItSaysOfWhatThereIsNone) {
  const plan::Plan plan = plan_of();
  const auto id = record_experiment(*store_, plan, [](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
    outcome.wall_ns = 1'000'000'000;
  });
  ASSERT_TRUE(id);
  ASSERT_TRUE(store_->put_regions(*id, 0, kRegions).ok());
  std::vector<std::string> without;
  store::ExperimentRow row = *store_->experiment(*id);
  const auto programs = load_causal(*store_, row, &without);
  ASSERT_TRUE(programs) << programs.error().message;
  EXPECT_TRUE(programs->empty());
  EXPECT_EQ(without, std::vector<std::string>{"p"});
  row.state = store::ExperimentState::kCancelled;
  EXPECT_THAT(words_without_windows(row, without), ::testing::HasSubstr("'p': the experiment ended before its first window"));
  row.state = store::ExperimentState::kRunning;
  EXPECT_THAT(words_without_windows(row, without), ::testing::HasSubstr("no window was measured so far"));
  EXPECT_EQ(words_without_windows(row, {}), "");
}

TEST_F(LoadCausal, OfAnOrdinaryExperimentThereIsNone) {
  plan::Plan plan = *plan::parse_plan("[experiment]\nname = \"y\"\nseed = 3\nreplicates = 2\n"
                                      "[[program]]\nname = \"p\"\nrun = [\"true\"]\n",
                                      "y.toml").plan;
  const auto id = record_experiment(*store_, plan, [&](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
    outcome.wall_ns = 1'000'000'000;
  });
  ASSERT_TRUE(id);
  EXPECT_TRUE(load_causal(*store_, *store_->experiment(*id))->empty());
}

// Trials of a load have baseline windows and no lines: 40 tasks a second of real time come at every load, 100 a virtual one are
// served at most.
TEST_F(LoadCausal, ReadsTrialsOfALoad) {
  const plan::Parsed parsed = plan::parse_plan(
      "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 3\n[factors]\nload = [1, 2, 3, 4]\n"
      "[causal]\ncandidates = 0\nprogress = [\"served\"]\n[[program]]\nname = \"p\"\nrun = [\"true\"]\n",
      "x.toml");
  ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
  for (const bool begins : {false, true}) {
    double rate = 40;
    const auto record = [&](const store::TrialRow&, const plan::Cell& cell, store::Outcome& outcome) {
      const double load = cell.load_permille / 1000.0;
      rate = rate == 40 ? 40.4 : 40;  // trials differ, or there is no spread
      outcome.wall_ns = 10'000'000'000;
      store::CausalRun run;
      run.pauses = "spin";
      run.cpus = 2;
      run.period_ns = 1'000'000;
      run.points = {{"task", begins ? 2u : 4u}, {"served", 1}};
      for (int64_t i = 0; i < 10; ++i) {
        store::WindowRow window;
        window.position = i;
        window.wall_ns = 1'000'000'000;
        window.growth_ns = static_cast<int64_t>(1e9 * (1 - 1 / load));
        window.counts = {{0, std::lround(rate), 0}, {1, std::lround(std::min(rate, 100 / load)), 0}};
        run.windows.push_back(window);
      }
      outcome.causal = run;
    };
    const auto id = record_experiment(*store_, *parsed.plan, record);
    ASSERT_TRUE(id) << id.error().message;
    const auto loaded = load_causal(*store_, *store_->experiment(*id));
    ASSERT_TRUE(loaded) << loaded.error().message;
    ASSERT_EQ(loaded->size(), 1u);
    const causal_report::CausalData& data = loaded->front();
    EXPECT_TRUE(data.loads && data.lines.empty());
    ASSERT_EQ(data.cells.size(), 4u);
    EXPECT_EQ(data.cells[3].load, 4);
    const causal_report::CausalReport report = *causal_report::analyse_causal(data);
    ASSERT_EQ(report.saturations.size(), 1u);
    const causal_report::Saturation& found = report.saturations[0];
    ASSERT_EQ(found.verdict, causal_report::ScalingVerdict::kScalesTo) << found.refused;
    EXPECT_EQ(found.arrivals, "open");
    EXPECT_NEAR(found.knee->load, 2.5, 0.05);
    EXPECT_NEAR(*found.loads[1].offered, 80, 2);
    EXPECT_TRUE(found.loads[3].grows);
  }
}

}  // namespace
}  // namespace stab::engine
