// An experiment's rows from submit to deletion: what went in comes out, half of an expansion is none, and nobody else's
// rows are touched.
#include "store_fixture.h"

namespace stab::store {
namespace {

using ExperimentsTest = StoreTest;

TEST_F(ExperimentsTest, KeepWhatWasSubmitted) {
  Store store = open();
  const Id id = *store.add_experiment(new_experiment());
  const ExperimentRow row = *store.experiment(id);
  EXPECT_EQ(row.name, "exp");
  EXPECT_EQ(row.state, ExperimentState::kSubmitted);
  EXPECT_EQ(row.seed, 0xffffffffffffffffu);  // all 64 bits survive
  EXPECT_EQ(row.plan_text, new_experiment().plan_text);
  EXPECT_EQ(row.submitter_uid, 1000);
  EXPECT_EQ(row.submitted_at_ns, 77);
}

TEST_F(ExperimentsTest, ExpansionReadsBack) {
  Store store = open();
  const Id id = ready(store, 3);
  const ExperimentRow row = *store.experiment(id);
  EXPECT_EQ(row.state, ExperimentState::kReady);
  EXPECT_EQ(row.schedule_fingerprint, 0xfedcba9876543210u);
  EXPECT_EQ(row.replicates, 3);
  const auto factors = *store.factors(id);
  ASSERT_EQ(factors.size(), 1u);
  EXPECT_EQ(factors[0].levels, (std::vector<std::string>{"off", "shuffle"}));
  EXPECT_EQ((*store.subjects(id))[1].name, "bzip2");
  const auto cells = *store.cells(id);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[1].env_size_bytes, 4096);
  EXPECT_EQ(cells[1].levels.at("code"), "shuffle");
  EXPECT_EQ(store.trials(id, {.kind = TrialKind::kMain, .state = {}, .block = {}})->size(), 12u);
  EXPECT_EQ(store.trials(id, {.kind = TrialKind::kPreflight, .state = {}, .block = {}})->size(), 4u);
  EXPECT_EQ(store.trials(id, {.kind = TrialKind::kMain, .state = {}, .block = 1})->size(), 4u);
  expect_sound(store);
}

TEST_F(ExperimentsTest, ExpandOnlyOnce) {
  Store store = open();
  const Id id = ready(store);
  const Status again = store.expand(id, small_expansion(2));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kBadInput);
  EXPECT_EQ(store.progress(id)->planned_total, 8);
}

TEST_F(ExperimentsTest, AFailedExpansionLeavesNothing) {
  Store store = open();
  const Id id = *store.add_experiment(new_experiment());
  Store::Expansion broken = small_expansion(2);
  broken.trials.back().cell = 99;  // no such cell: a foreign key says so
  ASSERT_FALSE(store.expand(id, broken).ok());
  EXPECT_EQ(store.experiment(id)->state, ExperimentState::kSubmitted);
  EXPECT_TRUE(store.cells(id)->empty());
  EXPECT_EQ(store.progress(id)->attempts, 0);
  EXPECT_TRUE(store.expand(id, small_expansion(2)).ok());
}

TEST_F(ExperimentsTest, ExtensionAddsBlocksAndWakesADoneOne) {
  Store store = open();
  const Id id = ready(store, 2);
  finish_experiment(store, id, 99);
  EXPECT_EQ(store.experiment(id)->finished_at_ns, 99);
  ASSERT_TRUE(store.extend(id, block_trials(2, 3), 5).ok());
  EXPECT_EQ(store.experiment(id)->state, ExperimentState::kReady);
  EXPECT_EQ(store.experiment(id)->replicates, 5);
  EXPECT_EQ(store.experiment(id)->finished_at_ns, 0);
  EXPECT_EQ(store.progress(id)->planned_total, 20);
  EXPECT_FALSE(store.extend(id, block_trials(2, 3), 5).ok());  // the same again
  EXPECT_FALSE(store.extend(id, block_trials(1, 9), 10).ok());  // places that are taken
  EXPECT_EQ(store.progress(id)->planned_total, 20);
}

TEST_F(ExperimentsTest, AreFoundByNewestNameOrNumber) {
  Store store = open();
  const Id first = ready(store, 1, "a");
  const Id second = ready(store, 1, "a");
  EXPECT_EQ(store.newest_named("a", 1000)->value().id, second);
  EXPECT_FALSE(store.newest_named("a", 1001)->has_value());
  EXPECT_FALSE(store.newest_named("b", 1000)->has_value());
  EXPECT_EQ(store.users_of_name("a")->size(), 1u);
  EXPECT_EQ(store.summary(first)->id, first);
  EXPECT_EQ(store.summary(99).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.experiments()->size(), 2u);
}

TEST_F(ExperimentsTest, DeletingRemovesEverythingOfItAndNothingElse) {
  Store store = open();
  const Id gone = ready(store, 2, "gone"), kept = ready(store, 2, "kept");
  ASSERT_TRUE(store.finish(recorded(begin_next(store, gone).id), 3).ok());
  ASSERT_TRUE(store.finish(not_recorded(begin_next(store, gone).id), 1).ok());
  ASSERT_TRUE(store.put_host_facts(gone, {{"cpu", "x"}}, 1).ok());
  ASSERT_TRUE(store.log({1, gone, "k", "t"}).ok());
  ASSERT_TRUE(store.delete_experiment(gone).ok());
  EXPECT_FALSE(store.experiment(gone).ok());
  EXPECT_EQ(store.progress(gone)->attempts, 0);
  EXPECT_TRUE(store.events(gone)->empty());
  EXPECT_TRUE(store.environments(gone)->empty());
  EXPECT_EQ(store.progress(kept)->planned_total, 8);
  EXPECT_FALSE(store.delete_experiment(gone).ok());
  expect_sound(store);
}

TEST_F(ExperimentsTest, BuildsKeepTheirStory) {
  Store store = open();
  const Id id = ready(store);
  BuildRow build = (*store.builds(id))[0];
  EXPECT_EQ(build.state, BuildState::kPlanned);
  build.state = BuildState::kDone;
  build.binary_sha256 = "cafe";
  build.log = "cc -c\n";
  build.duration_ns = 5;
  ASSERT_TRUE(store.update_build(build).ok());
  EXPECT_EQ((*store.builds(id))[0].binary_sha256, "cafe");
  EXPECT_EQ((*store.builds(id))[0].state, BuildState::kDone);
  build.id = 999;
  EXPECT_EQ(store.update_build(build).error().code, ErrorCode::kNotFound);
}

// A machine that is found as it was is no new environment, however often a run begins; one that is found otherwise is.
TEST_F(ExperimentsTest, AnEnvironmentIsKeptWhereTheMachineIsAnother) {
  Store store = open();
  const Id id = ready(store);
  const int64_t before = store.usage(id)->stored_bytes;
  for (const int64_t at_ns : {10, 20}) ASSERT_TRUE(store.put_host_facts(id, {{"kernel", "6.1"}, {"smt", "1"}}, at_ns).ok());
  ASSERT_TRUE(store.put_host_facts(id, {{"kernel", "6.8"}}, 30).ok());
  ASSERT_TRUE(store.put_host_facts(id, {{"kernel", "6.1"}, {"smt", "1"}}, 40).ok());
  const auto found = store.environments(id);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->size(), 3u);
  const int64_t since[] = {10, 30, 40};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*found)[i].number, static_cast<int>(i) + 1);
    EXPECT_EQ((*found)[i].since_ns, since[i]);
  }
  EXPECT_EQ((*found)[1].facts, (std::map<std::string, std::string>{{"kernel", "6.8"}})) << "what is no longer told is not known";
  EXPECT_EQ((*found)[2].facts, (*found)[0].facts);
  EXPECT_GT(store.usage(id)->stored_bytes, before) << "they count as stored";
  expect_sound(store);
}

TEST_F(ExperimentsTest, FactsAndEventsReadBack) {
  Store store = open();
  const Id id = ready(store);
  ASSERT_TRUE(store.put_host_facts(id, {{"kernel", "6.18"}, {"cpu", "x"}}, 1).ok());
  ASSERT_TRUE(store.put_host_facts(id, {{"cpu", "y"}}, 2).ok());
  EXPECT_EQ((*store.host_facts(id))["cpu"], "y");
  EXPECT_EQ(store.host_facts(id)->size(), 2u);
  ASSERT_TRUE(store.log({5, 0, "engine-start", "pid 1"}).ok());
  ASSERT_TRUE(store.log({6, id, "knob-set", "thp=never"}).ok());
  EXPECT_EQ(store.events(id)->size(), 1u);
  EXPECT_EQ((*store.events(0))[0].kind, "engine-start");
}

}  // namespace
}  // namespace stab::store
