// Every state with every event, drawn once more; what the store does with a pair that is illegal; and that nothing else
// writes an experiment's state.
#include "store/experiment_machine.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "store_fixture.h"
#include "tests/places.h"

namespace stab::store {
namespace {

using S = ExperimentState;
using E = ExperimentEvent;

// One line a state, one letter an event in the order of ExperimentEvent: the state that follows, '.' for illegal.
constexpr std::string_view kPicture[] = {
    //E R F P X C G U T N I    (expand run finish pause fail cancel resume unplanned extend rerun import)
    "r..pfc....p",  // submitted
    ".R.pfc..rrp",  // ready
    ".Rdpfc..RRp",  // running
    "...p.crs.pp",  // paused
    ".....c..rrd",  // done
    "...ccc....c",  // cancelled
    ".....crs.rf",  // failed
};

char letter(S state) {
  constexpr std::string_view kLetters = "srRpdcf";
  return kLetters[static_cast<size_t>(state)];
}

TEST(ExperimentMachine, EveryPair) {
  for (int state = 0; state < kExperimentStateCount; ++state) {
    std::string row;
    for (int event = 0; event < kExperimentEventCount; ++event) {
      const ExperimentStep next = step(static_cast<S>(state), static_cast<E>(event));
      row += next.legal ? letter(next.state) : '.';
      if (!next.legal) {
        EXPECT_EQ(next.state, static_cast<S>(state));
      }
    }
    EXPECT_EQ(row, kPicture[static_cast<size_t>(state)]) << name(static_cast<S>(state));
  }
}

TEST(ExperimentMachine, NamesDiffer) {
  std::set<std::string_view> names;
  for (int event = 0; event < kExperimentEventCount; ++event) names.insert(name(static_cast<E>(event)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kExperimentEventCount));
}

// docs/reference/run-states.md shows the same table.
TEST(ExperimentMachine, IsAsThePageSays) {
  std::string table = "| |", line = "\n|---|";
  for (int event = 0; event < kExperimentEventCount; ++event) {
    table += " " + std::string(name(static_cast<E>(event))) + " |";
    line += "---|";
  }
  table += line;
  for (int state = 0; state < kExperimentStateCount; ++state) {
    table += "\n| " + std::string(name(static_cast<S>(state))) + " |";
    for (int event = 0; event < kExperimentEventCount; ++event) {
      const ExperimentStep next = step(static_cast<S>(state), static_cast<E>(event));
      table += next.legal ? " " + std::string(name(next.state)) + " |" : " |";
    }
  }
  std::ifstream file(STAB_SOURCE_DIR "/docs/reference/run-states.md");
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(file), {}).find(table), std::string::npos) << table;
}

class ExperimentLife : public StoreTest {
 protected:
  // By the shortest way that the table has.
  Id in_state(Store& store, S wanted) {
    const Id id = wanted == S::kSubmitted ? *store.add_experiment(new_experiment()) : ready(store, 1);
    const auto raise = [&](E event) { EXPECT_TRUE(store.advance(id, event, "why", 7).ok()) << name(event); };
    if (wanted == S::kRunning || wanted == S::kDone) raise(E::kRun);
    if (wanted == S::kDone) raise(E::kFinish);
    if (wanted == S::kPaused) raise(E::kPause);
    if (wanted == S::kCancelled) raise(E::kCancel);
    if (wanted == S::kFailed) raise(E::kFail);
    EXPECT_EQ(store.summary(id)->state, wanted);
    return id;
  }
};

TEST_F(ExperimentLife, TheStoreTakesEveryLegalPairAndNoOther) {
  Store store = open();
  for (int state = 0; state < kExperimentStateCount; ++state)
    for (int event = 0; event < kExperimentEventCount; ++event) {
      const S from = static_cast<S>(state);
      const ExperimentStep next = step(from, static_cast<E>(event));
      const Id id = in_state(store, from);
      const auto done = store.advance(id, static_cast<E>(event), "", 9);
      EXPECT_EQ(done.ok(), next.legal) << name(from) << " x " << name(static_cast<E>(event));
      EXPECT_EQ(store.summary(id)->state, next.state) << name(from) << " x " << name(static_cast<E>(event));
      if (done) continue;
      EXPECT_EQ(done.error().code, ErrorCode::kInternal);
      EXPECT_NE(done.error().message.find("is " + std::string(name(from)) + ", which allows no '"), std::string::npos)
          << done.error().message;
    }
  EXPECT_EQ(store.advance(9999, E::kRun, "", 1).error().code, ErrorCode::kNotFound);
}

TEST_F(ExperimentLife, WhatIsOverKeepsWhenAndWhy) {
  Store store = open();
  const Id id = in_state(store, S::kCancelled);
  ASSERT_TRUE(store.advance(id, E::kFail, "the laboratory is broken", 99).ok());
  EXPECT_EQ(store.summary(id)->failure, "why");
  EXPECT_EQ(store.summary(id)->finished_at_ns, 7);
}

TEST_F(ExperimentLife, ResumeKnowsWhetherThereIsASchedule) {
  Store store = open();
  const Id planned = in_state(store, S::kPaused), unplanned = *store.add_experiment(new_experiment());
  ASSERT_TRUE(store.advance(unplanned, E::kFail, "a file of its plan is missing", 1).ok());
  EXPECT_EQ(*store.resume(planned, 2), S::kReady);
  EXPECT_EQ(*store.resume(unplanned, 2), S::kSubmitted);
  EXPECT_EQ(store.summary(unplanned)->failure, "");
  EXPECT_FALSE(store.resume(planned, 3).ok());
}

// Another attempt at a trial of what is done is only run if the experiment waits again.
TEST_F(ExperimentLife, RerunWakesWhatIsDone) {
  Store store = open();
  const Id id = ready(store, 1);
  const TrialRow first = begin_next(store, id);
  ASSERT_TRUE(store.finish(not_recorded(first.id), 1)->quarantined);
  finish_experiment(store, id, 5);
  ASSERT_TRUE(store.rerun(first.id).ok());
  EXPECT_EQ(store.summary(id)->state, S::kReady);
  ASSERT_TRUE(store.advance(id, E::kCancel, "", 6).ok());
  const TrialRow second = begin_next(store, id);
  ASSERT_TRUE(store.finish(not_recorded(second.id), 1).ok());
  const auto refused = store.rerun(second.id);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "experiment " + std::to_string(id) + " is cancelled; none of its trials runs any more");
  expect_sound(store);
}

TEST(ExperimentMachine, NothingElseWritesAState) {
  int writers = 0;
  for (const char* folder : {"/store", "/stabd", "/stabctl"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(STAB_SOURCE_DIR + std::string(folder))) {
      if (file.path().extension() != ".cc") continue;
      std::ifstream stream(file.path());
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      for (size_t at = text.find("experiments SET "); at != std::string::npos; at = text.find("experiments SET ", at + 1)) {
        const std::string statement = text.substr(at, text.find(';', at) - at);
        if (statement.find("state =") == std::string::npos) continue;
        ++writers;
        EXPECT_EQ(file.path().filename(), "experiments.cc") << statement;
        EXPECT_NE(statement.find("WHERE id = ? AND state = ?"), std::string::npos) << "unguarded: " << statement;
      }
    }
  EXPECT_EQ(writers, 1) << "Store::State::advance";
}

}  // namespace
}  // namespace stab::store
