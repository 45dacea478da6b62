// Slurm by fake commands: small scripts on a directory, which is the queue.
#include "stabd/engine/machines/slurm_engine.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

class Slurm : public testing::Test {
 protected:
  Slurm() : path_(::getenv("PATH")), engine_(setting()) {
    // sbatch makes a file of the job's name that holds its words.
    script("sbatch",
           "[ -e $Q/refuse ] && { echo 'sbatch: error: Invalid partition'; exit 1; }\n"
           "for word; do case $word in --job-name=*) name=${word#*=};; esac; done\n"
           "printf '%s\\n' \"$@\" > $Q/job.$name; echo 17");
    script("squeue",
           "echo . >> $Q/looks; [ -e $Q/down ] && exit 1\nfor job in $Q/job.*; do [ -e $job ] && echo \"${job##*/job.}   \"; "
           "done; exit 0");
    script("scancel", "printf '%s ' \"$@\" > $Q/cancelled");
    ::setenv("PATH", (directory_.path() + "/bin:" + path_).c_str(), 1);
  }
  ~Slurm() override { ::setenv("PATH", path_.c_str(), 1); }

  void script(const std::string& name, const std::string& text) {
    directory_.write("bin/" + name, "#!/bin/sh\nQ=" + directory_.path() + "\n" + text + "\n", 0755);
  }
  SlurmEngine::Setting setting() {
    SlurmEngine::Setting setting;
    setting.prefix = "stab-abc";
    setting.spool = "/shared/it's";
    setting.stabctl = "/opt/stabctl";
    setting.options = {"--constraint=epyc"};
    setting.clock = &clock_;
    return setting;
  }
  bool lives(int64_t epoch) {
    const auto answer = engine_.lives(3, epoch);
    EXPECT_TRUE(answer.ok());
    return answer.ok() && *answer;
  }

  TemporaryDirectory directory_;
  std::string path_;
  FakeClock clock_;
  SlurmEngine engine_;
};

TEST_F(Slurm, AJobHasANodeAndRunsTheWorker) {
  ASSERT_TRUE(engine_.start(3, 2, "").ok());
  const std::string words = directory_.read("job.stab-abc-3-2");
  for (const char* word : {"--exclusive\n", "--mem=0\n", "--no-requeue\n", "--signal=B:TERM@120\n", "--constraint=epyc\n",
                           "--wrap=exec /opt/stabctl work --slot 3 --epoch 2 --spool '/shared/it'\\''s'\n"})
    EXPECT_NE(words.find(word), std::string::npos) << words;
}

TEST_F(Slurm, ItLivesAsLongAsTheQueueKnowsIt) {
  EXPECT_FALSE(lives(1)) << "never submitted";
  ASSERT_TRUE(engine_.start(3, 2, "").ok());
  EXPECT_TRUE(lives(2)) << "submitted since the last look";
  clock_.advance(std::chrono::seconds(31));
  EXPECT_TRUE(lives(2));
  std::filesystem::remove(directory_.path() + "/job.stab-abc-3-2");
  EXPECT_TRUE(lives(2)) << "the queue is asked once in 30 s";
  clock_.advance(std::chrono::seconds(31));
  EXPECT_FALSE(lives(2));
  EXPECT_EQ(directory_.read("looks"), ".\n.\n.\n");
}

TEST_F(Slurm, NobodyIsLostWhileTheClusterIsDown) {
  directory_.write("down", "");
  EXPECT_TRUE(lives(1));
  clock_.advance(std::chrono::seconds(31));
  EXPECT_TRUE(lives(1));
  std::filesystem::remove(directory_.path() + "/down");
  clock_.advance(std::chrono::seconds(31));
  EXPECT_FALSE(lives(1));
}

TEST_F(Slurm, WhatIsRefusedSaysWhy) {
  directory_.write("refuse", "");
  const Status started = engine_.start(3, 1, "");
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message, "sbatch failed: sbatch: error: Invalid partition");
  ::setenv("PATH", "/nonexistent", 1);
  EXPECT_NE(engine_.start(3, 1, "").error().message.find("start 'sbatch'"), std::string::npos);
}

TEST_F(Slurm, StoppingAsksTheBatchProcess) {
  engine_.stop(3, 2);
  EXPECT_EQ(directory_.read("cancelled"), "--me --batch --signal=TERM --name=stab-abc-3-2 ");
}

}  // namespace
}  // namespace stab::engine
