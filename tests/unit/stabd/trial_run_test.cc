// One trial, run for real with small shell scripts: each way it can end has its state and its words, and afterwards nothing
// of it is left.
#include "stabd/trial_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "stabd/host/roots.h"
#include "stabd/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using store::Outcome;
using store::TrialState;

class TrialRun : public testing::Test {
 protected:
  TrialRun() : ledger_(Roots(), -1), cancel_(::eventfd(0, EFD_CLOEXEC)) {
    auto tree = ProcessTree::create(Roots());
    EXPECT_TRUE(tree.ok());
    tree_.emplace(std::move(*tree));
    laboratory_.launcher = STAB_LAUNCHER;
    laboratory_.clock = &clock_;
    laboratory_.tree = &*tree_;
    laboratory_.ledger = &ledger_;
    laboratory_.cancel_fd = cancel_.get();
  }

  TrialRequest shell(const std::string& script) {
    TrialRequest request;
    request.launch.exec_path = "/bin/sh";
    request.launch.directory = directory_.path();
    request.launch.argv = {"sh", "-c", script};
    request.launch.env = {"PATH=/usr/bin:/bin"};
    request.timeout = std::chrono::seconds(20);
    request.output_limit_bytes = 1 << 20;
    return request;
  }

  Outcome run(const TrialRequest& request) {
    auto outcome = run_trial(laboratory_, request);
    EXPECT_TRUE(outcome.ok()) << outcome.error().text();
    return outcome ? *outcome : Outcome();
  }

  bool gone(const std::string& pid_file) {
    const pid_t pid = std::atoi(directory_.read(pid_file).c_str());
    EXPECT_GT(pid, 0);
    return ::kill(pid, 0) != 0;
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::optional<ProcessTree> tree_;
  Ledger ledger_;
  UniqueFd cancel_;
  Laboratory laboratory_;
};

TEST_F(TrialRun, RecordsWhatHappened) {
  const Outcome outcome = run(shell("echo out; echo err >&2; sleep 0.05"));
  EXPECT_EQ(outcome.state, TrialState::kRecorded) << outcome.failure;
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.stdout_sha256, sha256("out\n"));
  EXPECT_EQ(outcome.stderr_sha256, sha256("err\n"));
  EXPECT_EQ(outcome.stdout_bytes, 4);
  ASSERT_TRUE(outcome.wall_ns.has_value());
  EXPECT_GE(*outcome.wall_ns, 50'000'000);
  EXPECT_LT(*outcome.wall_ns, 20'000'000'000);
  EXPECT_GT(*outcome.minor_faults, 0);
  EXPECT_EQ(outcome.ledger.count("involuntary_switches"), 1u);
}

TEST_F(TrialRun, AReadyTrialWaitsForItsGo) {
  {
    const ReadyTrial never(laboratory_, shell("touch ran"));
  }
  EXPECT_TRUE(tree_->empty());
  EXPECT_LE(::waitpid(-1, nullptr, WNOHANG), 0) << "a child is left";
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/ran"));

  ReadyTrial ready(laboratory_, shell("touch ran"));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/ran"));
  const Result<Outcome> outcome = ready.run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->state, TrialState::kRecorded) << outcome->failure;
  EXPECT_TRUE(std::filesystem::exists(directory_.path() + "/ran"));
}

TEST_F(TrialRun, WrongExitStatusFails) {
  const Outcome outcome = run(shell("echo hint >&2; exit 3"));
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_EQ(outcome.failure, "exit status 3, expected exit status 0");
  EXPECT_EQ(outcome.stderr_head, "hint\n");
}

TEST_F(TrialRun, WrongOutputFails) {
  TrialRequest request = shell("echo wrong");
  request.expect.stdout_sha256 = sha256("right\n");
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_NE(outcome.failure.find("stdout has sha256"), std::string::npos);
  EXPECT_EQ(outcome.stdout_head, "wrong\n");
}

TEST_F(TrialRun, LayoutFactorOnWithoutADoseFails) {
  TrialRequest request = shell("true");
  request.layout.code = abi::CodeMode::kShuffle;
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_NE(outcome.failure.find("dose contradicts cell"), std::string::npos);
}

TEST_F(TrialRun, AbsentProgramFails) {
  TrialRequest request = shell("true");
  request.launch.exec_path = "/nonexistent";
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_EQ(outcome.failure, "launcher: exec: No such file or directory");
  EXPECT_FALSE(outcome.wall_ns.has_value());
}

// A grandchild in a session of its own, its parent gone, deaf to SIGTERM.
constexpr char kEscape[] = "(setsid sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 1; done' &) ; ";

TEST_F(TrialRun, TimeoutKillsEscapedChildrenToo) {
  TrialRequest request = shell(std::string(kEscape) + "while [ ! -s child ]; do sleep 0.01; done; echo $$ > self; sleep 100");
  request.timeout = std::chrono::seconds(3);
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kTimeout);
  EXPECT_EQ(outcome.failure, "still running at its timeout, killed");
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_TRUE(gone("self"));
  EXPECT_TRUE(gone("child"));
}

TEST_F(TrialRun, NormalEndKillsEscapedChildrenToo) {
  const Outcome outcome = run(shell(std::string(kEscape) + "while [ ! -s child ]; do sleep 0.01; done"));
  EXPECT_EQ(outcome.state, TrialState::kRecorded) << outcome.failure;
  EXPECT_TRUE(gone("child"));
}

TEST_F(TrialRun, StoppedProgramTimesOut) {
  TrialRequest request = shell("kill -STOP $$");
  request.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(run(request).state, TrialState::kTimeout);
}

TEST_F(TrialRun, EndlessOutputFails) {
  TrialRequest request = shell("exec cat /dev/zero");
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_NE(outcome.failure.find("more than 1048576 bytes of output"), std::string::npos);
}

TEST_F(TrialRun, TooMuchOutputInAShortRunFails) {
  const Outcome outcome = run(shell("head -c 1048577 /dev/zero"));
  EXPECT_EQ(outcome.state, TrialState::kFailed);
}

TEST_F(TrialRun, CancelMakesItLost) {
  const uint64_t one = 1;
  ASSERT_EQ(::write(cancel_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  const Outcome outcome = run(shell("echo $$ > self; sleep 100"));
  EXPECT_EQ(outcome.state, TrialState::kLost);
}

TEST_F(TrialRun, ClosedDescriptorsDontHoldUpTheEnd) {
  const Outcome outcome = run(shell("exec 0<&- 1>&- 2>&-; exit 0"));
  EXPECT_EQ(outcome.state, TrialState::kRecorded) << outcome.failure;
}

// Deaf to everything it can be deaf to, and so are its children, which are as many as its user may have.
TEST_F(TrialRun, ForksUpToItsLimitAreKilled) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: a limit of processes would count our own";
  constexpr uid_t kNobodyElse = 64837;
  TrialRequest request = shell("trap '' TERM INT HUP QUIT; bomb() { bomb & bomb & wait; }; bomb 2>/dev/null; sleep 100");
  request.launch.directory = "/";
  request.launch.submitter = Submitter{kNobodyElse, kNobodyElse, {}};
  request.launch.limits = {{RLIMIT_NPROC, 60, 60}};
  request.timeout = std::chrono::milliseconds(700);
  const Outcome outcome = run(request);
  EXPECT_TRUE(outcome.state == TrialState::kTimeout || outcome.state == TrialState::kFailed) << outcome.failure;
  EXPECT_TRUE(tree_->empty());
  int left = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    struct stat info;
    if (::stat(entry.path().c_str(), &info) == 0 && info.st_uid == kNobodyElse) ++left;
  }
  EXPECT_EQ(left, 0);
}

// A clock that somebody sets back an hour each time it is read: records may be odd, durations are not.
class SteppedClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic_raw() const override { return real_.monotonic_raw(); }
  std::chrono::nanoseconds realtime() const override { return real_.realtime() - std::chrono::hours(++reads_); }

 private:
  SystemClock real_;
  mutable int reads_ = 0;
};

TEST_F(TrialRun, AStepOfTheClockChangesNoDuration) {
  const SteppedClock stepped;
  laboratory_.clock = &stepped;
  TrialRequest request = shell("sleep 0.05");
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kRecorded) << outcome.failure;
  EXPECT_LT(outcome.finished_at_ns, outcome.started_at_ns);
  EXPECT_GE(*outcome.wall_ns, 50'000'000);
  EXPECT_LT(*outcome.wall_ns, 20'000'000'000);
}

TEST_F(TrialRun, LongTrialsSayHowLateTheWaiterIs) {
  const Outcome shorter = run(shell("true")), longer = run(shell("sleep 1"));
  // Its first tick comes after 0.1 s, which a busy machine may take for this.
  if (*shorter.wall_ns < 90'000'000) {
    EXPECT_EQ(shorter.ledger.count("loop_latency_ns"), 0u);
  }
  ASSERT_EQ(longer.ledger.count("loop_latency_ns"), 1u);
  EXPECT_GE(longer.ledger.at("loop_latency_ns"), 0);
  EXPECT_LT(longer.ledger.at("loop_latency_ns"), static_cast<double>(*longer.wall_ns));
}

// The stack's start must not tell cells apart: argv and environment are padded to one size.
TEST_F(TrialRun, AllCellsStartWithTheSameStack) {
  TrialRequest shorter = shell("wc -c < /proc/$$/environ; true a");
  TrialRequest longer = shell("wc -c < /proc/$$/environ; true aaaaaaa");
  const uint64_t top = stack_top_bytes(longer.launch);
  ASSERT_GT(top, stack_top_bytes(shorter.launch));
  shorter.stack_top_bytes = longer.stack_top_bytes = top;
  shorter.layout.env_size_bytes = longer.layout.env_size_bytes = 100;
  const auto total = [&](TrialRequest request) {
    // Shown as a failure so that the head of stdout is kept.
    request.expect.exit = 1;
    return std::atoi(run(request).stdout_head.c_str()) + static_cast<int>(request.launch.argv[2].size());
  };
  EXPECT_EQ(total(shorter), total(longer));
}

TEST_F(TrialRun, CountersOfTheProgramAlone) {
  auto specs = counters::resolve({"task-clock", "page-faults"});
  ASSERT_TRUE(specs.ok());
  TrialRequest request = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
  request.events = *specs;
  const Outcome outcome = run(request);
  ASSERT_EQ(outcome.responses.size(), 2u);
  for (const auto& response : outcome.responses) {
    if (!response.value) GTEST_SKIP() << response.name << ": " << response.reason;
    EXPECT_GT(*response.value, 0) << response.name;
  }
  EXPECT_LT(*outcome.responses[0].value, static_cast<double>(*outcome.wall_ns));
}

}  // namespace
}  // namespace stab::engine
