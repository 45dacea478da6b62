// What `stabctl replay --under` starts: the tool's words, the trial's program, and the settings that make the trial's layouts.
#include "stabd/engine/trial/by_hand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ByHand : public ::testing::Test {
 protected:
  ByHand() {
    request_.launch.exec_path = "/build/program";
    request_.launch.argv = {"program", "--size", "3"};
    request_.launch.env = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
    request_.launch.directory = directory_.path();
    request_.launch.aslr = false;
    request_.seed = 18446744073709551615u;
    request_.layout.code = abi::CodeMode::kShuffle;
    request_.layout.stack = abi::StackMode::kOff;
    request_.layout.heap = abi::HeapMode::kOff;
    request_.layout.epoch_ns = 5'000'000;
  }
  HandRun by(const std::vector<std::string>& tool) {
    const auto run = by_hand(request_, tool, directory_.path());
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : HandRun();
  }

  TemporaryDirectory directory_;
  TrialRequest request_;
};

TEST_F(ByHand, TheToolComesFirstAndTheProgramsArgumentsLast) {
  const HandRun run = by({"perf", "stat", "-d"});
  EXPECT_EQ(run.argv, (std::vector<std::string>{"perf", "stat", "-d", "/build/program", "--size", "3"}));
  EXPECT_EQ(run.directory, directory_.path());
  EXPECT_FALSE(run.aslr) << "addresses are part of the layout";
}

TEST_F(ByHand, ItsLayoutsAreThoseOfTheTrial) {
  const HandRun run = by({"true"});
  for (const char* setting : {"STAB_CODE=shuffle", "STAB_STACK=off", "STAB_HEAP=off", "STAB_SEED=18446744073709551615",
                              "STAB_EPOCH=5000us", "PATH=/usr/bin:/bin"})
    EXPECT_THAT(run.env, Contains(setting));
  EXPECT_THAT(run.env, Not(Contains(StartsWith("STAB_LONG_LOOPS"))));
  EXPECT_THAT(run.env, Not(Contains(StartsWith("STAB_LAYOUT="))));
  request_.helper_switches |= helper::kLeadLoops;
  request_.layout.epoch_ns = 0;
  request_.layout.epoch_visits = 40;
  EXPECT_THAT(by({"true"}).env, Contains("STAB_LONG_LOOPS=1"));
  EXPECT_THAT(by({"true"}).env, Contains("STAB_EPOCH=40visits"));
}

TEST_F(ByHand, ALayoutScriptGoesAlong) {
  request_.script = "force 3 0\n";
  EXPECT_THAT(by({"true"}).env, Contains("STAB_LAYOUT=" + directory_.path() + "/.stab-layout-script"));
  std::ifstream file(directory_.path() + "/.stab-layout-script");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), request_.script);
}

TEST_F(ByHand, ADebuggerKeepsTheTerminal) {
  directory_.write("input", "");
  request_.stdin_paths = {directory_.path() + "/gone", directory_.path() + "/input"};
  EXPECT_EQ(by({"/usr/bin/gdb", "--args"}).input, "");
  EXPECT_EQ(by({"/usr/bin/gdb", "--args"}).input_note, "run < " + directory_.path() + "/input");
  EXPECT_EQ(by({"strace"}).input, directory_.path() + "/input") << "the first that can be read";
  request_.stdin_paths = {directory_.path() + "/gone"};
  const auto none = by_hand(request_, {"strace"}, directory_.path());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("/gone"));
}

TEST_F(ByHand, NoToolAndASimulatorAreRefused) {
  EXPECT_THAT(by_hand(request_, {}, directory_.path()).error().message, HasSubstr("names no tool"));
  request_.simulation.simulator = plan::Simulator::kCachegrind;
  EXPECT_THAT(by_hand(request_, {"perf"}, directory_.path()).error().message, HasSubstr("already runs under valgrind"));
}

}  // namespace
}  // namespace stab::engine
