// What a user has, held against what that user may have.
#include "stabd/daemon/rights/quotas.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "base/clock.h"
#include "tests/unit/stabd/engine/own_broker.h"
#include "tests/unit/store/store_fixture.h"

namespace stab::daemon {
namespace {

constexpr uid_t kOwner = 990, kUser = 1000;  // whose the fixture's experiments are

class QuotasTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    engine::Engine::Options options;
    options.database = path_;
    options.clock = &clock_;
    options.broker = engine::own_broker(directory_ + "/broker");
    auto engine = engine::Engine::open(options);
    if (!engine) std::abort();
    engine_ = *std::move(engine);
    upkeep_ = std::make_unique<Upkeep>(*engine_, config_, [](const LogEntry&) {});
  }
  Quotas quotas() const { return Quotas(config_, *upkeep_, kOwner); }
  store::Store& lab() { return engine_->store(); }
  static Peer peer(uid_t uid) {
    Peer one;
    one.uid = uid;
    return one;
  }
  // Why not; empty: it may.
  static std::string why_not(const Status& status) {
    if (status) return "";
    EXPECT_EQ(status.error().code, ErrorCode::kDenied) << status.error().message;
    return status.error().message;
  }

  SystemClock clock_;
  Config config_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Upkeep> upkeep_;
};

TEST_F(QuotasTest, APriorityIsBoundedForEverybodyAndBelowOnesOwnForMost) {
  config_.quota.priority = 5;
  EXPECT_EQ(why_not(quotas().check_priority(peer(kUser), 5)), "");
  EXPECT_EQ(why_not(quotas().check_priority(peer(kUser), -1000)), "");
  EXPECT_EQ(why_not(quotas().check_priority(peer(kUser), 6)), "priority 6 is above your highest, 5");
  EXPECT_EQ(why_not(quotas().check_priority(peer(kOwner), 6)), "");
  EXPECT_EQ(why_not(quotas().check_priority(peer(0), 1000)), "");
  const Status slip = quotas().check_priority(peer(0), 1001);
  ASSERT_FALSE(slip.ok());
  EXPECT_EQ(slip.error().code, ErrorCode::kBadInput);
}

TEST_F(QuotasTest, OnlyWhatIsNotOverCountsAsANumber) {
  config_.quota.experiments = 2;
  const store::Id first = ready(lab(), 2, "a");
  EXPECT_EQ(why_not(quotas().check_number(lab(), peer(kUser))), "");
  ready(lab(), 2, "b");
  EXPECT_EQ(why_not(quotas().check_number(lab(), peer(kUser))),
            "you have 2 experiments that aren't over, and may have 2; wait for one, or cancel one");
  EXPECT_EQ(why_not(quotas().check_number(lab(), peer(kUser + 1))), "");
  EXPECT_EQ(why_not(quotas().check_number(lab(), peer(kOwner))), "");
  ASSERT_TRUE(lab().cancel(first, "", 5).ok());
  EXPECT_EQ(why_not(quotas().check_number(lab(), peer(kUser))), "");
}

TEST_F(QuotasTest, TrialsCountInOneExperimentAndInAll) {
  store::NewExperiment had = store::new_experiment();
  had.promised_trials = 60;
  ASSERT_TRUE(lab().add_experiment(had).ok());
  config_.quota.trials = 100;
  config_.quota.all_trials = 70;
  EXPECT_EQ(why_not(quotas().check_trials(lab(), peer(kUser), 100, 10)), "");
  EXPECT_EQ(why_not(quotas().check_trials(lab(), peer(kUser), 101, 1)), "that makes 101 trials, and yours may have 100");
  EXPECT_NE(why_not(quotas().check_trials(lab(), peer(kUser), 20, 11)).find("makes 71 trials of all"), std::string::npos);
  EXPECT_EQ(why_not(quotas().check_trials(lab(), peer(0), 101, 1000)), "");
}

TEST_F(QuotasTest, AnExperimentMoreIsHeldAgainstAllOfThem) {
  ready(lab(), 2);
  EXPECT_EQ(why_not(quotas().check(lab(), peer(kUser), 10, 100, 0)), "");
  config_.quota.stored_experiments = 1;
  EXPECT_NE(why_not(quotas().check(lab(), peer(kUser), 10, 100, 0)).find("1 experiments in the database"), std::string::npos);
  config_.quota.stored_experiments = 1000;
  config_.quota.stored_bytes = static_cast<uint64_t>(lab().usage_of(kUser)->stored_bytes) + 99;
  EXPECT_NE(why_not(quotas().check(lab(), peer(kUser), 10, 100, 0)).find("bytes of the database"), std::string::npos);
  EXPECT_EQ(why_not(quotas().check(lab(), peer(kUser), 10, 99, 0)), "");
  // A full disk is everybody's.
  config_.retention.free_bytes = UINT64_MAX;
  EXPECT_NE(why_not(quotas().check(lab(), peer(0), 10, 1, 0)).find("the daemon's disk"), std::string::npos);
}

}  // namespace
}  // namespace stab::daemon
