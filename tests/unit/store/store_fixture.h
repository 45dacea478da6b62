// Verbs for tests of the store: a database in a fresh directory, an experiment of 2 subjects x 2 cells x n blocks
// and its trials run by hand.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace stab::store {

inline std::vector<NewTrial> block_trials(int first_block, int blocks) {
  std::vector<NewTrial> trials;
  for (int b = first_block; b < first_block + blocks; ++b)
    for (int subject = 0; subject < 2; ++subject)
      for (int cell = 0; cell < 2; ++cell) {
        NewTrial trial;
        trial.order = static_cast<uint32_t>(b * 4 + subject * 2 + cell);
        trial.subject = subject;
        trial.cell = cell;
        trial.build = 0;
        trial.block = static_cast<uint32_t>(b);
        trial.link = cell == 0 ? 1 : 0;
        trial.seed = 0xf000000000000000u + trial.order;
        trials.push_back(trial);
      }
  return trials;
}

inline Store::Expansion small_expansion(int blocks) {
  Store::Expansion e;
  e.factors = {{"code", {"off", "shuffle"}}};
  e.subjects = {{0, "lua/fib", "lua", "fib"}, {1, "bzip2", "bzip2", "bzip2"}};
  e.cells.resize(2);
  e.cells[0] = {0, "code=off", "off", "off", "off", 500'000'000, 0, {{"code", "off"}}};
  e.cells[1] = {1, "code=shuffle", "shuffle", "off", "off", 500'000'000, 4096, {{"code", "shuffle"}}};
  BuildRow build;
  build.name = "lua";
  build.program = "lua";
  e.builds = {build};
  e.trials = block_trials(0, blocks);
  e.preflight = block_trials(0, 1);
  e.schedule_fingerprint = 0xfedcba9876543210u;
  e.schedule_version = 1;
  e.replicates = blocks;
  return e;
}

inline NewExperiment new_experiment(const std::string& name = "exp") {
  NewExperiment e;
  e.name = name;
  e.plan_text = "[experiment]\nname = \"exp\"\n";
  e.plan_path = "exp.toml";
  e.plan_directory = "/plans";
  e.seed = 0xffffffffffffffffu;
  e.submitter_uid = 1000;
  e.submitter_gid = 1001;
  e.submitted_at_ns = 77;
  return e;
}

inline Outcome recorded(Id trial, double seconds = 0.5) {
  Outcome o;
  o.trial = trial;
  o.state = TrialState::kVerified;
  o.started_at_ns = 1000;
  o.finished_at_ns = 2000;
  o.wall_ns = static_cast<int64_t>(seconds * 1e9);
  o.exit_status = 0;
  o.user_ns = 400'000'000;
  o.stdout_sha256 = "ab";
  o.cpu = 1;
  o.layouts_executed = 40;
  o.responses = {{"task-clock", 1.5, 15, 20, 20, ""}, {"cycles", {}, {}, {}, {}, "no PMU"}};
  o.ledger = {{"migrations", 0}, {"steal_ns", 12}};
  o.epochs = std::string("\x01\0\xff", 3);  // bytes, of which the store knows nothing
  return o;
}

inline Outcome not_recorded(Id trial, TrialState state = TrialState::kFailed) {
  Outcome o;
  o.trial = trial;
  o.state = state;
  o.failure = "exit status 1, expected 0";
  return o;
}

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Memory where there is: what syncs cost is not tested here, that they happen is.
    std::string name = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/stab-store-XXXXXX");
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ + "/lab.db";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Store open(Store::Access access = Store::Access::kWrite) {
    Result<Store> store = Store::open(path_, access);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    if (!store.ok()) std::abort();
    return *std::move(store);
  }
  // A ready experiment with 4 x blocks trials.
  Id ready(Store& store, int blocks = 2, const std::string& name = "exp") {
    const Result<Id> id = store.add_experiment(new_experiment(name));
    EXPECT_TRUE(id.ok());
    const Status done = store.expand(*id, small_expansion(blocks));
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    return *id;
  }
  // As a run that finds nothing left to do.
  static void finish_experiment(Store& store, Id id, int64_t at_ns) {
    EXPECT_TRUE(store.advance(id, ExperimentEvent::kRun, "", at_ns).ok());
    EXPECT_TRUE(store.advance(id, ExperimentEvent::kFinish, "", at_ns).ok());
  }
  // Claims the next trial.
  TrialRow begin_next(Store& store, Id experiment, TrialKind kind = TrialKind::kMain) {
    const Result<std::optional<TrialRow>> next = store.next_trial(experiment, kind);
    EXPECT_TRUE(next.ok() && next->has_value());
    EXPECT_TRUE(store.claim((*next)->id, {"boot-1", 500}).ok());
    return **next;
  }
  void expect_sound(Store& store) {
    const auto problems = store.check();
    ASSERT_TRUE(problems.ok()) << problems.error().message;
    EXPECT_TRUE(problems->empty()) << problems->front();
  }

  std::string directory_, path_;
};

}  // namespace stab::store
