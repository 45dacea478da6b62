// Trials behind a gate that closes while they run: one is waited for once and for no longer than the plan says, and nothing is
// waited for where no trial is left. The machine's thermal zone is a file here, and the program heats it.
#include "stabd/engine/experiment/trial_sequence.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "plan/parse.h"
#include "stabd/engine/experiment/engine.h"
#include "tests/places.h"
#include "tests/unit/stabd/engine/own_broker.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kDeadline{2000};
constexpr milliseconds kNoteTakes{500};  // the wait begins before the note about it, on a busy machine by so much
constexpr char kZone[] = "sys/class/thermal/thermal_zone0/temp";

// Keeps what it is told, and when.
class Listener final : public Observer {
 public:
  explicit Listener(const Clock& clock) : clock_(&clock) {}
  void phase(std::string_view) override {}
  void note(std::string_view text) override { notes_.emplace_back(clock_->monotonic_raw(), text); }
  void trial_done(const TrialNews&) override {}
  void at_closed_gate() override {
    if (at_gate) at_gate();
  }
  std::function<void()> at_gate;

  int64_t notes_with(std::string_view begin) const {
    return std::count_if(notes_.begin(), notes_.end(), [&](const auto& note) { return note.second.starts_with(begin); });
  }
  // From the first note about a closed gate to the last one.
  nanoseconds waited() const {
    const auto is_of_gate = [](const auto& note) {
      return note.second.starts_with("waiting: ") || note.second.starts_with("gave up waiting: ");
    };
    const auto first = std::find_if(notes_.begin(), notes_.end(), is_of_gate);
    const auto last = std::find_if(notes_.rbegin(), notes_.rend(), is_of_gate);
    return first == notes_.end() ? nanoseconds(0) : last->first - first->first;
  }

 private:
  const Clock* clock_;
  std::vector<std::pair<nanoseconds, std::string>> notes_;
};

class TrialSequenceTest : public testing::Test {
 protected:
  TrialSequenceTest() {
    directory_.write(kZone, "30000\n");
    Engine::Options options;
    options.database = directory_.path() + "/lab.db";
    options.clock = &clock_;
    options.broker = own_broker(directory_.path() + "/broker");
    options.roots.sys = directory_.path() + "/sys";
    options.installation.bin = STAB_BUILD_ROOT "/bin";
    options.installation.launcher = STAB_LAUNCHER;
    options.installation.worker = STAB_PROGRAMS "/stab-worker";
    auto engine = Engine::open(options);
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    if (!engine) std::abort();
    engine_ = *std::move(engine);
  }

  // An experiment whose program heats the machine in its run of that number.
  store::Id heats_in(int run, int replicates) {
    const std::string runs = directory_.path() + "/runs", zone = directory_.path() + "/" + kZone;
    const std::string program = directory_.write("heats", "#!/bin/sh\necho run >> " + runs + "\n[ $(wc -l < " + runs + ") -ne " +
                                                              std::to_string(run) + " ] || echo 90000 > " + zone + "\n");
    const std::string text = "[experiment]\nname = \"heats\"\nseed = 5\nreplicates = " + std::to_string(replicates) +
                             "\npreflight = false\n[[program]]\nname = \"heats\"\nrun = [\"/bin/sh\", \"" + program +
                             "\"]\n[machine.gates]\ntemperature = 50\ndeadline = \"" + std::to_string(kDeadline.count()) +
                             "ms\"\n";
    const plan::Parsed parsed = plan::parse_plan(text, "heats.toml");
    EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
    if (!parsed.plan) std::abort();
    const auto id = engine_->submit(*parsed.plan, directory_.path(), ::geteuid(), ::getegid());
    EXPECT_TRUE(id.ok()) << id.error().text();
    return *id;
  }
  RunEnd run(store::Id experiment, Observer& observer) {
    StopSignal stop;
    return run(experiment, observer, stop);
  }
  RunEnd run(store::Id experiment, Observer& observer, StopSignal& stop) {
    const auto end = engine_->run(experiment, observer, stop);
    EXPECT_TRUE(end.ok()) << end.error().text();
    return end ? *end : RunEnd::kRejected;
  }
  int64_t recorded(store::Id experiment) { return engine_->store().progress(experiment)->count(store::TrialState::kRecorded); }
  int64_t gate_events(store::Id experiment) {
    const auto events = engine_->store().events(experiment);
    EXPECT_TRUE(events.ok()) << events.error().text();
    return std::count_if(events->begin(), events->end(), [](const store::EventRow& event) { return event.kind == "gate"; });
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(TrialSequenceTest, BehindTheLastTrialNoGateIsWaitedFor) {
  const store::Id experiment = heats_in(2, 2);
  Listener listener(clock_);
  EXPECT_EQ(run(experiment, listener), RunEnd::kDone);
  EXPECT_EQ(recorded(experiment), 2);
  EXPECT_EQ(gate_events(experiment), 0);
  EXPECT_EQ(listener.notes_with("waiting: "), 0);
}

TEST_F(TrialSequenceTest, AClosedGateIsWaitedForOnce) {
  const store::Id experiment = heats_in(1, 3);
  Listener listener(clock_);
  EXPECT_EQ(run(experiment, listener), RunEnd::kStopped);
  EXPECT_EQ(recorded(experiment), 1);
  EXPECT_EQ(gate_events(experiment), 1);
  EXPECT_EQ(listener.notes_with("waiting: temperature 90 C, wanted below 50"), 1);
  EXPECT_EQ(listener.notes_with("gave up waiting: "), 1);
  EXPECT_GE(listener.waited(), kDeadline - kNoteTakes);
  EXPECT_LT(listener.waited(), 2 * kDeadline - kNoteTakes) << "it waited twice";
}

// As a daemon lets others have the machine meanwhile: two that do so in turns still come to the ends of their deadlines.
TEST_F(TrialSequenceTest, WhoGivesWayAtAClosedGateGoesOnWaitingThere) {
  const store::Id experiment = heats_in(1, 2);
  Listener first(clock_), second(clock_);
  StopSignal stop;
  int looks = 0;
  first.at_gate = [&] {
    if (++looks == 2) stop.after_this_trial();  // a second has passed
  };
  EXPECT_EQ(run(experiment, first, stop), RunEnd::kStopped);
  EXPECT_EQ(looks, 2) << "it stayed though it was asked to leave";
  EXPECT_EQ(first.notes_with("gave up waiting: "), 0);
  EXPECT_EQ(run(experiment, second), RunEnd::kStopped);
  EXPECT_EQ(second.notes_with("gave up waiting: "), 1);
  EXPECT_LT(second.waited(), kDeadline - kNoteTakes) << "its deadline began anew";
}

TEST_F(TrialSequenceTest, AfterItGaveUpItWaitsAgain) {
  const store::Id experiment = heats_in(1, 2);
  Listener first(clock_), second(clock_);
  EXPECT_EQ(run(experiment, first), RunEnd::kStopped);
  EXPECT_EQ(run(experiment, second), RunEnd::kStopped);
  EXPECT_GE(second.waited(), kDeadline - kNoteTakes);
  directory_.write(kZone, "30000\n");
  Listener third(clock_);
  EXPECT_EQ(run(experiment, third), RunEnd::kDone);
  EXPECT_EQ(recorded(experiment), 2);
}

}  // namespace
}  // namespace stab::engine
