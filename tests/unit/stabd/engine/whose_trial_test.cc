// Whose programs run under a tool: with this process's rights, one's own alone. What runs then is seen by replay_under_test.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "stabd/engine/experiment/engine.h"
#include "tests/unit/stabd/engine/own_broker.h"
#include "tests/unit/store/store_fixture.h"

namespace stab::engine {
namespace {

class NoOne final : public Observer {
 public:
  void phase(std::string_view) override {}
  void note(std::string_view) override {}
  void trial_done(const TrialNews&) override {}
};

class WhoseTrialTest : public store::StoreTest {
 protected:
  // Of a trial of an experiment of that user.
  Error replay_of(uid_t submitter) {
    const SystemClock clock;
    Engine::Options options;
    options.database = path_;
    options.clock = &clock;
    options.broker = own_broker(directory_ + "/broker");
    const auto engine = Engine::open(options);
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    store::NewExperiment row = store::new_experiment("of " + std::to_string(submitter));
    row.submitter_uid = submitter;
    row.plan_text = "no plan";
    store::Store& store = (*engine)->store();
    const store::Id experiment = *store.add_experiment(row);
    EXPECT_TRUE(store.expand(experiment, store::small_expansion(1)).ok());
    NoOne observer;
    StopSignal stop;
    return (*engine)->replay_under((*store.next_trial(experiment))->id, {"true"}, observer, stop).error();
  }
};

TEST_F(WhoseTrialTest, AnotherUsersProgramIsNotRun) {
  const uid_t own = ::geteuid(), other = own + 1;
  const Error refused = replay_of(other);
  EXPECT_EQ(refused.code, ErrorCode::kDenied) << refused.message;
  EXPECT_NE(refused.message.find("is user " + std::to_string(other) + "'s, and under a tool its program would run as user " +
                                 std::to_string(own)),
            std::string::npos)
      << refused.message;
  EXPECT_NE(refused.message.find("stabctl bundle"), std::string::npos) << "no way out: " << refused.message;
  // One's own comes as far as its plan.
  EXPECT_NE(replay_of(own).code, ErrorCode::kDenied);
}

}  // namespace
}  // namespace stab::engine
