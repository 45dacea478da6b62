// The life of trials on disk: order, one record a place, replacement, quarantine, recovery. What a crash leaves is in
// crash_test.cc and resume_test.cc.
#include <ctime>

#include "store_fixture.h"

namespace stab::store {
namespace {

using TrialsTest = StoreTest;

TEST_F(TrialsTest, RunInTheOrderOfTheSchedule) {
  Store store = open();
  const Id id = ready(store);
  for (uint32_t order = 0; order < 8; ++order) {
    const TrialRow trial = begin_next(store, id);
    EXPECT_EQ(trial.order, order);
    EXPECT_EQ(trial.seed, 0xf000000000000000u + order);
    EXPECT_EQ(trial.attempt, 1);
    ASSERT_TRUE(store.finish(recorded(trial.id), 3).ok());
  }
  EXPECT_FALSE(store.next_trial(id)->has_value());
  EXPECT_EQ(store.progress(id)->by_state[TrialState::kRecorded], 8);
  expect_sound(store);
}

TEST_F(TrialsTest, ATrialIsRecordedOnce) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow trial = begin_next(store, id);
  ASSERT_TRUE(store.finish(recorded(trial.id, 0.5), 3).ok());
  const auto again = store.finish(recorded(trial.id, 9.9), 3);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kInternal);
  EXPECT_EQ(store.outcome(trial.id)->wall_ns, 500'000'000);  // the first result stands
  ASSERT_FALSE(store.finish(not_recorded(trial.id), 3).ok());
  EXPECT_EQ(store.trial(trial.id)->state, TrialState::kRecorded);
  EXPECT_EQ(store.progress(id)->attempts, 8);
  expect_sound(store);
}

TEST_F(TrialsTest, OnlyClaimedOnesFinishAndOnlyPlannedOnesAreClaimed) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow next = **store.next_trial(id);
  EXPECT_FALSE(store.finish(recorded(next.id), 3).ok());
  EXPECT_EQ(store.outcome(next.id).error().message, "trial " + std::to_string(next.id) + " has no outcome: it is planned");
  EXPECT_EQ(store.outcome(12345).error().message, "trial 12345 does not exist");
  ASSERT_TRUE(store.claim(next.id, {"boot", 1}).ok());
  EXPECT_FALSE(store.claim(next.id, {"boot", 1}).ok());
  EXPECT_TRUE(store.finish(recorded(next.id), 3).ok());  // claim and outcome are enough
  EXPECT_FALSE(store.claim(next.id, {"boot", 1}).ok());
  EXPECT_EQ(store.claim(12345, {"boot", 1}).error().code, ErrorCode::kNotFound);
  Outcome planned = recorded(next.id);
  planned.state = TrialState::kPlanned;
  EXPECT_FALSE(store.finish(planned, 3).ok());
}

TEST_F(TrialsTest, AnOutcomeReadsBackWhole) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow trial = begin_next(store, id);
  Outcome written = recorded(trial.id);
  written.signal = 9;
  written.dose_json = "{\"layouts\":40}";
  written.helper_cpu_ns = 7;
  written.stdout_head = std::string("a\0b", 3);
  written.excluded_by = {"migrations > 0"};
  ASSERT_TRUE(store.finish(written, 3).ok());
  const Outcome read = *store.outcome(trial.id);
  EXPECT_EQ(read.state, TrialState::kRecorded);
  EXPECT_EQ(read.wall_ns, written.wall_ns);
  EXPECT_EQ(read.signal, 9);
  EXPECT_EQ(read.user_ns, written.user_ns);
  EXPECT_EQ(read.system_ns, std::nullopt);
  EXPECT_EQ(read.dose_json, written.dose_json);
  EXPECT_EQ(read.stdout_head, written.stdout_head);
  EXPECT_EQ(read.started_at_ns, 1000);
  EXPECT_EQ(read.ledger, written.ledger);
  EXPECT_EQ(read.excluded_by, written.excluded_by);
  ASSERT_EQ(read.responses.size(), 2u);
  EXPECT_EQ(read.responses[0].name, "cycles");
  EXPECT_EQ(read.responses[0].value, std::nullopt);
  EXPECT_EQ(read.responses[0].reason, "no PMU");
  EXPECT_EQ(read.responses[1].value, 1.5);
}

TEST_F(TrialsTest, AnUnavailableCounterIsNeverANumberAndANumberHasNoExcuse) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow trial = begin_next(store, id);
  Outcome both = recorded(trial.id);
  both.responses = {{"cycles", 0.0, {}, {}, {}, "no PMU"}};
  EXPECT_FALSE(store.finish(both, 3).ok());
  Outcome neither = recorded(trial.id);
  neither.responses = {{"cycles", {}, {}, {}, {}, ""}};
  EXPECT_FALSE(store.finish(neither, 3).ok());
  // A refused outcome leaves the trial as it was, and finishing it properly still works.
  EXPECT_EQ(store.trial(trial.id)->state, TrialState::kClaimed);
  EXPECT_FALSE(store.outcome(trial.id).ok());
  EXPECT_TRUE(store.finish(recorded(trial.id), 3).ok());
}

TEST_F(TrialsTest, AFailedOneIsReplacedInItsPlaceBeforeTheRest) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow first = begin_next(store, id);
  const Replacement replacement = *store.finish(not_recorded(first.id), 3);
  ASSERT_TRUE(replacement.next_attempt.has_value());
  EXPECT_FALSE(replacement.quarantined);
  const TrialRow again = **store.next_trial(id);
  EXPECT_EQ(again.id, *replacement.next_attempt);
  EXPECT_EQ(again.order, first.order);
  EXPECT_EQ(again.block, first.block);
  EXPECT_EQ(again.seed, first.seed);
  EXPECT_EQ(again.link, first.link);
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(store.outcome(first.id)->failure, "exit status 1, expected 0");
  const Progress progress = *store.progress(id);
  EXPECT_EQ(progress.planned_total, 8);  // the replaced attempt is not a place of its own
  EXPECT_EQ(progress.attempts, 9);
  expect_sound(store);
}

TEST_F(TrialsTest, ACellThatKeepsFailingIsQuarantinedAndTheRestGoesOn) {
  Store store = open();
  const Id id = ready(store, 3);
  Replacement last;
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const TrialRow trial = begin_next(store, id);
    EXPECT_EQ(trial.order, 0u);
    last = *store.finish(not_recorded(trial.id, TrialState::kTimeout), 2);
  }
  EXPECT_TRUE(last.quarantined);
  EXPECT_FALSE(last.next_attempt.has_value());
  int ran = 0;
  while (store.next_trial(id)->has_value()) {
    const TrialRow trial = begin_next(store, id);
    EXPECT_FALSE(trial.subject == 0 && trial.cell == 0);
    ASSERT_TRUE(store.finish(recorded(trial.id), 2).ok());
    ++ran;
  }
  EXPECT_EQ(ran, 9);
  Progress progress = *store.progress(id);
  EXPECT_EQ(progress.by_state[TrialState::kQuarantined], 2);
  EXPECT_EQ(progress.by_state[TrialState::kTimeout], 1);
  expect_sound(store);
}

TEST_F(TrialsTest, PreflightFailuresQuarantineNothing) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow trial = begin_next(store, id, TrialKind::kPreflight);
  const Replacement replacement = *store.finish(not_recorded(trial.id), 1);
  EXPECT_FALSE(replacement.quarantined);
  EXPECT_FALSE(replacement.next_attempt.has_value());
  EXPECT_EQ(store.progress(id)->by_state[TrialState::kPlanned], 8);
}

TEST_F(TrialsTest, RecoveryTurnsOpenOnesIntoLostAndReplacesThem) {
  Id id = 0, claimed = 0, preflight = 0;
  {
    Store store = open();
    id = ready(store);
    ASSERT_TRUE(store.finish(recorded(begin_next(store, id).id), 3).ok());
    claimed = begin_next(store, id).id;
    preflight = begin_next(store, id, TrialKind::kPreflight).id;
  }
  Store store = open();
  const Recovery recovery = *store.recover(99, 3);
  EXPECT_EQ(recovery.lost.size(), 2u);
  EXPECT_EQ(recovery.replacements.size(), 2u);
  EXPECT_EQ(store.trial(claimed)->state, TrialState::kLost);
  EXPECT_EQ(store.trial(preflight)->state, TrialState::kLost);
  const TrialRow next = **store.next_trial(id);
  EXPECT_EQ(next.order, 1u);
  EXPECT_EQ(next.attempt, 2);
  EXPECT_TRUE(store.recover(100, 3)->lost.empty());  // idempotent
  expect_sound(store);
}

// Only whoever asks for a replay runs it: another attempt would be planned for ever.
TEST_F(TrialsTest, ALostReplayIsNotAskedForAgain) {
  Id id = 0, replay = 0;
  {
    Store store = open();
    id = ready(store, 1);
    ASSERT_TRUE(store.add_trials(id, TrialKind::kReplay, block_trials(0, 1)).ok());
    replay = begin_next(store, id, TrialKind::kReplay).id;
  }
  Store store = open();
  const Recovery recovery = *store.recover(99, 3);
  EXPECT_EQ(recovery.lost, std::vector<Id>{replay});
  EXPECT_TRUE(recovery.replacements.empty());
  const auto planned = *store.trials(id, {.kind = TrialKind::kReplay, .state = TrialState::kPlanned, .block = {}});
  EXPECT_EQ(planned.size(), block_trials(0, 1).size() - 1);
  const auto again = store.rerun(replay);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("replay the trial that it repeats"), std::string::npos) << again.error().message;
  expect_sound(store);
}

TEST_F(TrialsTest, ATrialThatIsLostAgainAndAgainIsQuarantined) {
  Store store = open();
  const Id id = ready(store, 1);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    begin_next(store, id);
    const Recovery recovery = *store.recover(1, 3);
    EXPECT_EQ(recovery.quarantined_cells, attempt == 3 ? 1 : 0);
  }
  EXPECT_EQ((*store.next_trial(id))->order, 1u);
}

TEST_F(TrialsTest, LossesDoNotUseUpTheAttemptsOfAProgram) {
  Store store = open();
  const Id id = ready(store, 1);
  for (int loss = 1; loss <= 3; ++loss) {
    begin_next(store, id);
    ASSERT_EQ((*store.recover(1, 100)).quarantined_cells, 0);
  }
  for (int failure = 1; failure <= 3; ++failure) {
    const TrialRow trial = begin_next(store, id);
    EXPECT_EQ(trial.order, 0u);
    EXPECT_EQ(store.finish(not_recorded(trial.id), 3)->quarantined, failure == 3);
  }
}

TEST_F(TrialsTest, FinishAndClaimIsOneCommit) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow first = begin_next(store, id);
  const TrialRow second = **store.next_trial(id);
  ASSERT_TRUE(store.finish_and_claim({recorded(first.id)}, {3, 3}, {second.id}, {"boot", 1}).ok());
  EXPECT_EQ(store.trial(first.id)->state, TrialState::kRecorded);
  EXPECT_EQ(store.trial(second.id)->state, TrialState::kClaimed);
  // The second half fails: the first is undone with it.
  ASSERT_FALSE(store.finish_and_claim({recorded(second.id)}, {3, 3}, {first.id}, {"boot", 1}).ok());
  EXPECT_EQ(store.trial(second.id)->state, TrialState::kClaimed);
  EXPECT_FALSE(store.outcome(second.id).ok());
}

// A sliced block: its trials are claimed together, end together, and come back together.
TEST_F(TrialsTest, ABlockIsClaimedFinishedAndRepeatedWhole) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow first = **store.next_trial(id);
  const std::vector<TrialRow> block = *store.planned_beside(first);
  ASSERT_EQ(block.size(), 2u);  // the cells of its subject
  EXPECT_EQ(block[0].id, first.id);
  EXPECT_EQ(block[1].subject, first.subject);
  EXPECT_EQ(block[1].block, first.block);
  ASSERT_TRUE(store.claim({block[0].id, block[1].id}, {"boot", 1}).ok());

  // All or none: a second claim of one undoes that of the other.
  const TrialRow next = **store.next_trial(id);
  ASSERT_FALSE(store.claim({next.id, block[0].id}, {"boot", 1}).ok());
  EXPECT_EQ(store.trial(next.id)->state, TrialState::kPlanned);

  Outcome spoiled = not_recorded(block[1].id, TrialState::kLost);
  const auto replaced = store.finish_and_claim({not_recorded(block[0].id), spoiled}, {3, 100}, {}, {});
  ASSERT_TRUE(replaced.ok()) << replaced.error().text();
  const std::vector<TrialRow> again = *store.planned_beside(**store.next_trial(id));
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].order, block[0].order);
  EXPECT_EQ(again[1].order, block[1].order);
  EXPECT_EQ(again[0].attempt, 2);
  EXPECT_EQ(again[1].attempt, 2);
}

TEST_F(TrialsTest, HalfABlockIsNeverStored) {
  Store store = open();
  const Id id = ready(store);
  const std::vector<TrialRow> block = *store.planned_beside(**store.next_trial(id));
  ASSERT_TRUE(store.claim({block[0].id, block[1].id}, {"boot", 1}).ok());
  // The second outcome is of a trial that doesn't run.
  const TrialRow other = **store.next_trial(id);
  ASSERT_FALSE(store.finish_and_claim({recorded(block[0].id), recorded(other.id)}, {3, 100}, {}, {}).ok());
  EXPECT_EQ(store.trial(block[0].id)->state, TrialState::kClaimed);
  // What a crash leaves is a whole block.
  const Recovery recovery = *store.recover(5, 3);
  EXPECT_EQ(recovery.lost, (std::vector<Id>{block[0].id, block[1].id}));
  EXPECT_EQ(store.planned_beside(**store.next_trial(id))->size(), 2u);
}

// The cell of the one that fails goes; those that it spoiled have attempts left.
TEST_F(TrialsTest, OnlyTheCellThatFailsIsQuarantined) {
  Store store = open();
  const Id id = ready(store);
  for (int failure = 1; failure <= 3; ++failure) {
    const std::vector<TrialRow> block = *store.planned_beside(**store.next_trial(id));
    ASSERT_EQ(block.size(), 2u);
    ASSERT_TRUE(store.claim({block[0].id, block[1].id}, {"boot", 1}).ok());
    const auto replaced =
        *store.finish_and_claim({not_recorded(block[0].id), not_recorded(block[1].id, TrialState::kLost)}, {3, 100}, {}, {});
    EXPECT_EQ(replaced[0].quarantined, failure == 3);
    EXPECT_FALSE(replaced[1].quarantined);
  }
  const std::vector<TrialRow> left = *store.planned_beside(**store.next_trial(id));
  EXPECT_EQ(left.size(), 1u);
}

TEST_F(TrialsTest, ATrialOfASlicedBlockIsNotRerunWithoutIt) {
  Store store = open();
  const Id id = ready(store);
  const std::vector<TrialRow> block = *store.planned_beside(**store.next_trial(id));
  ASSERT_TRUE(store.claim({block[0].id, block[1].id}, {"boot", 1}).ok());
  Outcome passed = recorded(block[1].id);
  passed.ledger["overlap"] = 1;
  ASSERT_TRUE(store.finish_and_claim({not_recorded(block[0].id), passed}, {1, 1}, {}, {}).ok());
  const Result<Id> again = store.rerun(block[0].id);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("sliced block"), std::string::npos) << again.error().message;
}

TEST_F(TrialsTest, CancelAndRerun) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow done = begin_next(store, id);
  ASSERT_TRUE(store.finish(recorded(done.id), 3).ok());
  const TrialRow again = begin_next(store, id);
  ASSERT_TRUE(store.finish(not_recorded(again.id), 1).ok());
  const auto quarantined = *store.trials(id, {.kind = {}, .state = TrialState::kQuarantined, .block = {}});
  ASSERT_FALSE(quarantined.empty());
  EXPECT_GT(*store.cancel_planned(id), 0);
  EXPECT_FALSE(store.next_trial(id)->has_value());
  EXPECT_EQ(store.rerun(done.id).error().code, ErrorCode::kBadInput);
  const auto cancelled = *store.trials(id, {.kind = {}, .state = TrialState::kCancelled, .block = {}});
  EXPECT_EQ(store.rerun(cancelled[0].id).error().code, ErrorCode::kBadInput);
  EXPECT_EQ(*store.rerun(quarantined[0].id), quarantined[0].id);
  const Id next = *store.rerun(again.id);
  EXPECT_NE(next, again.id);
  EXPECT_EQ(store.trial(next)->attempt, 2);
  EXPECT_EQ(store.rerun(again.id).error().code, ErrorCode::kBadInput);  // replaced already
  expect_sound(store);
}

TEST_F(TrialsTest, AStoppingRuleCancelsTheBlocksBehindIt) {
  Store store = open();
  const Id id = ready(store, 5);
  EXPECT_EQ(*store.cancel_planned(id, 3), 8);
  const auto trials = *store.trials(id, {.kind = TrialKind::kMain, .state = {}, .block = {}});
  for (const TrialRow& trial : trials)
    EXPECT_EQ(trial.state, trial.block >= 3 ? TrialState::kCancelled : TrialState::kPlanned);
}

TEST_F(TrialsTest, AddedTrialsFollowTheLastOfTheirKind) {
  Store store = open();
  const Id id = ready(store);
  const auto first = *store.add_trials(id, TrialKind::kReplay, block_trials(0, 1));
  const auto second = *store.add_trials(id, TrialKind::kReplay, block_trials(0, 1));
  EXPECT_EQ(store.trial(first[3])->order, 3u);
  EXPECT_EQ(store.trial(second[0])->order, 4u);
  EXPECT_EQ(store.progress(id)->planned_total, 8);  // main trials only
}

TEST_F(TrialsTest, ATransactionCommitsAllOrNothing) {
  Store store = open();
  const Id id = ready(store);
  const TrialRow trial = begin_next(store, id);
  {
    auto transaction = *store.begin();
    EXPECT_FALSE(store.begin().ok());
    ASSERT_TRUE(store.finish(recorded(trial.id), 3).ok());
    EXPECT_FALSE(store.finish(recorded(trial.id), 3).ok());  // fails alone, the rest stays
    EXPECT_EQ(store.trial(trial.id)->state, TrialState::kRecorded);
  }
  EXPECT_EQ(store.trial(trial.id)->state, TrialState::kClaimed);
  {
    auto transaction = *store.begin();
    ASSERT_TRUE(store.finish(recorded(trial.id), 3).ok());
    ASSERT_TRUE(transaction.commit().ok());
    EXPECT_FALSE(transaction.commit().ok());
  }
  EXPECT_EQ(store.trial(trial.id)->state, TrialState::kRecorded);
}

// How long it takes is for tests/bench/store_rate. Here only that the cost grows with the number and not with its square: as a
// ratio of CPU times of one process, which a slow or shared machine leaves alone.
TEST_F(TrialsTest, AHundredThousandAreInsertedInLinearTime) {
  Store store = open();
  const auto insert = [&](uint32_t blocks) {
    const Id id = *store.add_experiment(new_experiment());
    Store::Expansion large = small_expansion(blocks);
    const std::clock_t start = std::clock();
    EXPECT_TRUE(store.expand(id, large).ok());
    const std::clock_t took = std::clock() - start;
    EXPECT_EQ(open(Store::Access::kRead).progress(id)->planned_total, 4 * blocks);
    return static_cast<double>(took);
  };
  const double small = insert(1'000);
  EXPECT_LT(insert(25'000) / small, 25 * 6);  // a square would be 625
}

}  // namespace
}  // namespace stab::store
