// An engine that stops at random moments, again and again: whatever happens, places are finished in the order of
// the schedule, each is recorded once or used up its attempts, and no attempt is forgotten.
#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "store/trial_machine.h"
#include "store_fixture.h"

namespace stab::store {
namespace {

class ResumeTest : public StoreTest {
 protected:
  static constexpr int kMaxAttempts = 4;

  // One life of an engine: runs until it dies or everything is done. Returns false when it is done. Appends the
  // places it recorded.
  bool live(Rng& rng, Id id, std::vector<uint32_t>& recorded_places) {
    Store store = open();
    EXPECT_TRUE(store.recover(1, kMaxAttempts).ok());
    std::optional<TrialRow> trial = *store.next_trial(id);
    if (!trial) return false;
    EXPECT_TRUE(store.claim(trial->id, {"boot", 1}).ok());
    while (true) {
      if (rng.below(4) == 0) return true;  // dies after the claim
      const bool good = rng.below(8) != 0;
      const Outcome outcome = good ? recorded(trial->id) : not_recorded(trial->id);
      if (good) recorded_places.push_back(trial->order);
      // The next place is known before this one is finished only where this one will not come back.
      const std::vector<TrialRow> planned =
          *store.trials(id, {.kind = TrialKind::kMain, .state = TrialState::kPlanned, .block = {}, .limit = 1});
      if (good && !planned.empty()) {
        EXPECT_TRUE(store.finish_and_claim({outcome}, {kMaxAttempts, kMaxAttempts}, {planned[0].id}, {"boot", 1}).ok());
        trial = planned[0];
        continue;
      }
      EXPECT_TRUE(store.finish(outcome, kMaxAttempts).ok());
      trial = *store.next_trial(id);
      if (!trial) return false;
      EXPECT_TRUE(store.claim(trial->id, {"boot", 1}).ok());
    }
  }
};

TEST_F(ResumeTest, AnyNumberOfDeathsGivesTheSameSchedule) {
  Rng rng(1999);
  for (int round = 0; round < 12; ++round) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    Id id = 0;
    {
      Store store = open();
      id = ready(store, 6);
    }
    std::vector<uint32_t> places;
    int lives = 1;
    while (live(rng, id, places)) ASSERT_LT(++lives, 1000);
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
    EXPECT_EQ(std::set<uint32_t>(places.begin(), places.end()).size(), places.size());

    Store store = open();
    expect_sound(store);
    Progress progress = *store.progress(id);
    EXPECT_EQ(progress.planned_total, 24);
    EXPECT_EQ(progress.by_state[TrialState::kRecorded], static_cast<int64_t>(places.size()));
    EXPECT_EQ(progress.by_state[TrialState::kPlanned], 0);
    const std::vector<TrialRow> attempts = *store.trials(id, {.kind = TrialKind::kMain, .state = {}, .block = {}});
    std::map<uint32_t, int> failures, losses;
    for (const TrialRow& attempt : attempts) {
      EXPECT_LE(failures[attempt.order] += attempt.state == TrialState::kFailed, kMaxAttempts);
      EXPECT_LE(losses[attempt.order] += attempt.state == TrialState::kLost, kMaxAttempts);
      EXPECT_EQ(attempt.seed, 0xf000000000000000u + attempt.order);  // replacements keep their layout
      EXPECT_FALSE(attempt.state == TrialState::kPlanned || is_under_way(attempt.state)) << name(attempt.state);
    }
  }
}

}  // namespace
}  // namespace stab::store
