// Regions and windows as they are stored, read, copied and deleted.
#include "store_fixture.h"

namespace stab::store {
namespace {

class CausalRows : public StoreTest {
 protected:
  static CausalRun run(int64_t first) {
    CausalRun run;
    run.pauses = "cpu-time";
    run.cpus = 1;
    run.period_ns = 1'000'000;
    run.run_ns = 2'000'000'000;
    run.waits = 7;
    run.degradations = "kernel-not-sampled";
    run.points = {{"round", 1}, {"request", 2}, {"request", 3}};
    for (int64_t i = 0; i < 3; ++i) {
      WindowRow window;
      window.position = first + i;
      window.block = window.position / 2;
      window.kind = static_cast<uint32_t>(i % 2);
      window.region = static_cast<uint32_t>(i % 2);
      window.permille = window.region * 250;
      window.wall_ns = 250'000'000 + i;
      window.growth_ns = 5;
      window.layout = 9;
      window.counts = {{0, 100 + i, 0}, {2, 10, 123}};
      run.windows.push_back(window);
    }
    run.region_samples = {{1, 800, 800'000'000}};
    return run;
  }
  static Outcome with_windows(Id trial, int64_t first) {
    Outcome outcome = recorded(trial);
    outcome.causal = run(first);
    return outcome;
  }
};

TEST_F(CausalRows, ComeBackAsTheyWereStored) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.put_regions(id, 1, {{1, 1, true, "/s/a.c", 12, "spin", 345}, {1, 2, false, "", 0, "mix", 3}}).ok());
  const auto regions = store.regions(id);
  ASSERT_EQ(regions->size(), 2u);
  EXPECT_EQ(regions->at(0).file, "/s/a.c");
  EXPECT_EQ(regions->at(0).pilot_samples, 345);
  EXPECT_FALSE(regions->at(1).candidate);
  // Once: a second pilot must not change what windows were of.
  EXPECT_FALSE(store.put_regions(id, 1, {{1, 1, true, "/s/b.c", 1, "", 1}}).ok());
  EXPECT_EQ(store.regions(id)->at(0).file, "/s/a.c");

  const TrialRow trial = begin_next(store, id);
  EXPECT_EQ(*store.next_window(id, trial.subject, trial.cell), 0);
  ASSERT_TRUE(store.finish(with_windows(trial.id, 0), 3).ok());
  EXPECT_EQ(*store.next_window(id, trial.subject, trial.cell), 3);
  EXPECT_EQ(*store.next_window(id, trial.subject, 1 - trial.cell), 0);
  const auto trials = store.causal_trials(id);
  ASSERT_TRUE(trials.ok()) << trials.error().message;
  ASSERT_EQ(trials->size(), 1u);
  const CausalRun& read = trials->at(0).run;
  EXPECT_EQ(read.pauses, "cpu-time");
  EXPECT_EQ(read.waits, 7);
  EXPECT_EQ(read.degradations, "kernel-not-sampled");
  EXPECT_EQ(read.points, run(0).points);
  ASSERT_EQ(read.windows.size(), 3u);
  EXPECT_EQ(read.windows[2].position, 2);
  EXPECT_EQ(read.windows[2].block, 1);
  EXPECT_EQ(read.windows[2].wall_ns, 250'000'002);
  EXPECT_EQ(read.windows[1].layout, 9);
  ASSERT_EQ(read.windows[1].counts.size(), 2u);
  EXPECT_EQ(read.windows[1].counts[1].point, 2u);
  EXPECT_EQ(read.windows[1].counts[1].inside_ns, 123);
  ASSERT_EQ(read.region_samples.size(), 1u);
  EXPECT_EQ(read.region_samples[0].cpu_ns, 800'000'000);
  expect_sound(store);
}

// A point has one number in the whole experiment, whatever order a trial met it in.
TEST_F(CausalRows, NumberPointsOnce) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.finish(with_windows(begin_next(store, id).id, 0), 3).ok());
  Outcome other = with_windows(begin_next(store, id).id, 3);
  std::swap(other.causal->points[0], other.causal->points[2]);
  ASSERT_TRUE(store.finish(other, 3).ok());
  const auto trials = store.causal_trials(id);
  ASSERT_EQ(trials->size(), 2u);
  EXPECT_EQ(trials->at(1).run.points, run(0).points);
  // What was its first point is the experiment's third.
  EXPECT_EQ(trials->at(1).run.windows[0].counts[0].visits, 10);
  EXPECT_EQ(trials->at(1).run.windows[0].counts[1].visits, 100);
}

TEST_F(CausalRows, TravelWithTheirExperimentAndGoWithIt) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.put_regions(id, 0, {{0, 1, true, "/s/a.c", 12, "spin", 345}}).ok());
  ASSERT_TRUE(store.finish(with_windows(begin_next(store, id).id, 0), 3).ok());
  const std::string bundle = path_ + ".bundle";
  ASSERT_TRUE(store.bundle(id, bundle).ok());
  const auto copy = store.import_experiment(bundle, id);
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(store.regions(*copy)->size(), 1u);
  ASSERT_EQ(store.causal_trials(*copy)->size(), 1u);
  EXPECT_EQ(store.causal_trials(*copy)->at(0).run.windows[2].counts[0].visits, 102);
  ASSERT_TRUE(store.delete_experiment(id).ok());
  EXPECT_TRUE(store.causal_trials(id)->empty());
  EXPECT_EQ(store.causal_trials(*copy)->size(), 1u);
  expect_sound(store);
}

// Whoever made a bundle may have written anything into it.
TEST_F(CausalRows, AWindowThatCountsWhatIsNotThereStoresNothing) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow trial = begin_next(store, id);
  Outcome wrong = with_windows(trial.id, 0);
  wrong.causal->windows[1].counts[0].point = 3;
  EXPECT_FALSE(store.finish(wrong, 3).ok());
  EXPECT_TRUE(store.causal_trials(id)->empty());
  ASSERT_TRUE(store.finish(with_windows(trial.id, 0), 3).ok());
}

}  // namespace
}  // namespace stab::store
