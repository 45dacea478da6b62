// One trial, run for real with small shell scripts: each way it can end has its state and its words, and afterwards nothing
// of it is left.
#include "stabd/engine/trial/trial_run.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pwd.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "stabd/engine/separation/supervise.h"
#include "stabd/host/roots.h"
#include "tests/places.h"
#include "stabd/worker/sha256.h"
#include "tests/unit/stabd/engine/own_broker.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using store::Outcome;
using worker::sha256;
using store::TrialState;
using ::testing::HasSubstr;

class TrialRun : public testing::Test {
 protected:
  TrialRun() : ledger_(host::Roots(), -1), cancel_(::eventfd(0, EFD_CLOEXEC)) {
    laboratory_.clock = &clock_;
    have_broker(own_broker(directory_.path() + "/broker"));
    laboratory_.ledger = &ledger_;
    laboratory_.cancel_fd = cancel_.get();
  }

  // From here on this one starts what runs.
  void have_broker(std::unique_ptr<broker::Client> broker) {
    tree_.reset();
    broker_ = std::move(broker);
    auto tree = TreeAtBroker::create(*broker_, {.limited = true});
    EXPECT_TRUE(tree.ok());
    tree_.emplace(std::move(*tree));
    laboratory_.tree = &*tree_;
  }
  // Each trial has a helper, which is this shell script instead of ours.
  void have_helper(const std::string& script) {
    laboratory_.with_helper = true;
    const std::string path = directory_.write("helper", "#!/bin/sh\n" + script + "\n", 0755);
    const std::string broker = broker_beside(directory_.path() + "/with-helper", "stab-helper", path);
    have_broker(own_broker(directory_.path() + "/broker", broker));
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
    // A cgroup is empty a moment before its last process can be waited for.
    for (int tries = 0; tries < 5000 && ::kill(pid, 0) == 0; ++tries, ::usleep(1000))
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    return ::kill(pid, 0) != 0;
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::unique_ptr<broker::Client> broker_;
  std::optional<TreeAtBroker> tree_;
  Ledger ledger_;
  UniqueFd cancel_;
  Laboratory laboratory_;
};

TEST_F(TrialRun, RecordsWhatHappened) {
  const Outcome outcome = run(shell("echo out; echo err >&2; sleep 0.05"));
  EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
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
  EXPECT_EQ(outcome->state, TrialState::kVerified) << outcome->failure;
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

// Nothing of it is there, and hashing it would take an hour.
TEST_F(TrialRun, AHugeEmptyOutputIsNotRead) {
  const Outcome outcome = run(shell("truncate -s 4T /proc/self/fd/1"));
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_NE(outcome.failure.find("more than 1048576 bytes of output"), std::string::npos) << outcome.failure;
}

TEST_F(TrialRun, LayoutFactorOnWithoutADoseFails) {
  TrialRequest request = shell("true");
  request.layout.code = abi::CodeMode::kShuffle;
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_NE(outcome.failure.find("not randomized as its cell wants"), std::string::npos);
}

TEST_F(TrialRun, StdinIsOpenedByTheWorker) {
  Worker worker({started_by(*broker_), STAB_PROGRAMS "/stab-worker", {}, -1, -1, {}});
  laboratory_.worker = &worker;
  TrialRequest request = shell("cat");
  request.stdin_paths = {directory_.path() + "/absent", directory_.write("there", "text")};
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
  EXPECT_EQ(outcome.stdout_sha256, sha256("text"));
  EXPECT_EQ(::kill(worker.pid(), 0), 0) << "killed with the trial's tree";
  EXPECT_EQ(run(request).state, TrialState::kVerified);

  request.stdin_paths = {"/dev/kmsg"};
  const Outcome refused = run(request);
  EXPECT_EQ(refused.state, TrialState::kFailed);
  EXPECT_NE(refused.failure.find("/dev/kmsg"), std::string::npos) << refused.failure;
  EXPECT_FALSE(refused.wall_ns.has_value());
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

TEST_F(TrialRun, AProgramThatIsNotTheOneThatWasHashedFails) {
  TrialRequest request = shell("touch ran");
  struct stat info;
  ASSERT_EQ(::stat("/bin/sh", &info), 0);
  request.launch.must_be = host::FileIdentity{info.st_ino, static_cast<uint64_t>(info.st_size),
                                              info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec};
  EXPECT_EQ(run(request).state, TrialState::kVerified);
  std::filesystem::remove(directory_.path() + "/ran");
  request.launch.must_be->bytes += 1;
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_EQ(outcome.failure, "'/bin/sh': it has changed since the experiment began");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/ran"));
}

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
  EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
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

TEST_F(TrialRun, AHelperThatIsKilledLosesTheTrial) {
  have_helper("kill -SEGV $$");
  TrialRequest request = shell("true");
  request.layout.code = abi::CodeMode::kShuffle;
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.state, TrialState::kLost) << outcome.failure;
  EXPECT_EQ(outcome.failure, "its helper was ended by signal 11 (Segmentation fault) before it reported");

  // The real one, by somebody else: the system that is short of memory, say.
  have_broker(own_broker(directory_.path() + "/broker"));
  const Outcome killed = run(shell("for pid in $(cat /proc/$PPID/task/$PPID/children); do "
                                   "read name < /proc/$pid/comm; [ $name = stab-helper ] && kill -9 $pid; done; true"));
  EXPECT_EQ(killed.state, TrialState::kLost) << killed.failure;
  EXPECT_EQ(killed.failure, "its helper was ended by signal 9 (Killed) before it reported");
}

TEST_F(TrialRun, AHelperThatSaysNothingLosesTheTrial) {
  have_helper("exec sleep 100");
  laboratory_.helper_patience = std::chrono::milliseconds(300);
  const Outcome outcome = run(shell("true"));
  EXPECT_EQ(outcome.state, TrialState::kLost) << outcome.failure;
  EXPECT_EQ(outcome.failure, "its helper lived and sent no whole layout report for 300 ms");
}

// Its user's programs may trace it.
TEST_F(TrialRun, AHelperThatTalksForEverLosesTheTrial) {
  have_helper("while :; do printf x >&\"$4\"; sleep 0.05; done");
  laboratory_.helper_patience = std::chrono::milliseconds(1000);
  const Outcome outcome = run(shell("true"));
  EXPECT_EQ(outcome.state, TrialState::kLost) << outcome.failure;
  EXPECT_THAT(outcome.failure, ::testing::StartsWith("its helper lived and sent no whole layout report for 3"));  // 3000 ms
}

// A program that failed by itself is not excused by it: its helper died after the program's time was over.
TEST_F(TrialRun, AHelperThatIsKilledDoesNotHideATimeout) {
  have_helper("kill -SEGV $$");
  TrialRequest request = shell("sleep 100");
  request.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(run(request).state, TrialState::kTimeout);
}

TEST_F(TrialRun, AHelperThatRefusesIsSaidToHave) {
  have_helper("exit 2");
  const Outcome outcome = run(shell("true"));
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_EQ(outcome.failure, "the helper ended with exit status 2 and says why on its standard error");
}

TEST_F(TrialRun, ClosedDescriptorsDontHoldUpTheEnd) {
  const Outcome outcome = run(shell("exec 0<&- 1>&- 2>&-; exit 0"));
  EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
}

// Deaf to everything it can be deaf to, and so are its children, which are as many as its user may have.
TEST_F(TrialRun, ForksUpToItsLimitAreKilled) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: a limit of processes would count our own";
  const passwd* account = ::getpwnam("games");
  if (account == nullptr) GTEST_SKIP() << "no account that nothing runs as";
  const uid_t nobody_else = account->pw_uid;
  TrialRequest request = shell("trap '' TERM INT HUP QUIT; bomb() { bomb & bomb & wait; }; bomb 2>/dev/null; sleep 100");
  request.launch.directory = "/";
  request.launch.submitter = host::Submitter{nobody_else, account->pw_gid, {}};
  request.launch.limits = {{RLIMIT_NPROC, 60, 60}};
  request.timeout = std::chrono::milliseconds(700);
  const Outcome outcome = run(request);
  EXPECT_TRUE(outcome.state == TrialState::kTimeout || outcome.state == TrialState::kFailed) << outcome.failure;
  EXPECT_TRUE(tree_->empty());
  const auto count_left = [&] {
    int left = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      struct stat info;
      if (::stat(entry.path().c_str(), &info) == 0 && info.st_uid == nobody_else) ++left;
    }
    return left;
  };
  int left = count_left();
  for (int i = 0; i < 500 && left > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    left = count_left();
  }
  EXPECT_EQ(left, 0);
}

class LimitedTrial : public TrialRun {
 protected:
  // Whether this machine can do it.
  bool limit(const plan::Limits& wanted, const host::TreeLimits& most = {}) {
    laboratory_.limits = settle_limits(wanted, most, tree_->why_no_memory_limit(), tree_->why_no_process_limit());
    return laboratory_.limits.no_memory.empty() && laboratory_.limits.no_processes.empty();
  }
};

TEST_F(LimitedTrial, KilledForMemoryIsTheProgramsFailureInWords) {
  if (!limit({32 << 20, 0})) GTEST_SKIP() << "no controller memory to be had: " << laboratory_.limits.no_memory;
  // Its first process lives on, and its output is as expected.
  Outcome outcome = run(shell("head -c 60m /dev/zero | tail -c 60m >/dev/null; exit 0"));
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_THAT(outcome.failure,
              HasSubstr("killed for memory: all processes of the trial together may use at most 33554432 bytes (32 MiB)"));
  EXPECT_THAT(outcome.failure, HasSubstr("raise memory in [limits] of the plan"));
  // The next one in the same group has nothing to do with it.
  outcome = run(shell("true"));
  EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
  ASSERT_TRUE(limit({}, {32 << 20, 0}));
  outcome = run(shell("head -c 60m /dev/zero | tail -c 60m >/dev/null"));
  EXPECT_THAT(outcome.failure, HasSubstr("an administrator can raise memory in [limits] of stabd.toml"));
}

TEST_F(LimitedTrial, RefusedProcessesAreNamedWhereItFailed) {
  if (!limit({0, 5})) GTEST_SKIP() << "no controller pids to be had: " << laboratory_.limits.no_processes;
  Outcome outcome = run(shell("for i in 1 2 3 4 5 6 7 8; do sleep 20 & done 2>/dev/null; exit 3"));
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_THAT(outcome.failure,
              HasSubstr("it was refused new processes or threads 1 time: a trial may have at most 5; raise processes in "
                        "[limits] of the plan"));
  outcome = run(shell("( for i in 1 2 3 4 5 6 7 8; do sleep 0.1 & done ) 2>/dev/null; exit 0"));
  EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
  TrialRequest waits = shell("( for i in 1 2 3 4 5 6 7 8; do sleep 20 & done ) 2>/dev/null; sleep 20");
  waits.timeout = std::chrono::milliseconds(500);
  outcome = run(waits);
  EXPECT_EQ(outcome.state, TrialState::kTimeout);
  EXPECT_THAT(outcome.failure, HasSubstr("still running at its timeout, killed; it was refused new processes or threads"));
}

// What the kernel's killer does to a part looks like anybody's SIGKILL; /proc/vmstat says that it was at work.
class OutOfMemory : public TrialRun {
 protected:
  OutOfMemory() : fake_{directory_.path() + "/proc", "/sys", "/dev"} {
    std::filesystem::create_directories(fake_.proc);
    directory_.write("proc/vmstat", "pswpin 0\noom_kill 4\n");
    here_.emplace(fake_, -1);
    laboratory_.ledger = &*here_;
  }
  static constexpr char kWords[] = "the kernel has killed 1 process of this machine for memory meanwhile";
  host::Roots fake_;
  std::optional<Ledger> here_;
};

TEST_F(OutOfMemory, ATrialWithoutALimitOfItsOwn) {
  Outcome outcome = run(shell("printf 'oom_kill 5\n' > proc/vmstat; kill -9 $$"));
  EXPECT_EQ(outcome.state, TrialState::kFailed);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_THAT(outcome.failure, HasSubstr(kWords));
  // Nobody was killed during this one.
  outcome = run(shell("kill -9 $$"));
  EXPECT_THAT(outcome.failure, ::testing::Not(HasSubstr("for memory")));
  // Somebody else was, and this one has only failed.
  outcome = run(shell("printf 'oom_kill 6\n' > proc/vmstat; exit 3"));
  EXPECT_THAT(outcome.failure, ::testing::Not(HasSubstr("for memory")));
}

TEST_F(OutOfMemory, ALauncherIsLostAndNotTheProgramsFailure) {
  (void)here_->look();
  const std::string launcher =
      directory_.write("launcher", "#!/bin/sh\nprintf 'oom_kill 5\\n' > " + fake_.proc + "/vmstat\nkill -9 $$\n", 0755);
  have_broker(own_broker(directory_.path() + "/broker", broker_beside(directory_.path() + "/other", "stab-launcher", launcher)));
  const Outcome outcome = run(shell("true"));
  EXPECT_EQ(outcome.state, TrialState::kLost) << outcome.failure;
  EXPECT_THAT(outcome.failure, HasSubstr("launcher: ended before it was ready; "));
  EXPECT_THAT(outcome.failure, HasSubstr(kWords));
}

TEST_F(OutOfMemory, AHelperIsLostToo) {
  have_helper("kill -9 $$");
  const Outcome outcome = run(shell("printf 'oom_kill 5\n' > proc/vmstat"));
  EXPECT_EQ(outcome.state, TrialState::kLost) << outcome.failure;
  EXPECT_THAT(outcome.failure, HasSubstr("its helper was ended by signal 9"));
  EXPECT_THAT(outcome.failure, HasSubstr(kWords));
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
  EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
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

// A lab that its user stops (Ctrl-Z) while a trial runs comes back to a program that ended long ago. Here the program itself
// stops us, and a process beside us goes on with us a second later.
TEST_F(TrialRun, AnEndThatTheLabSawLateIsNoTime) {
  const pid_t lab = ::getpid();
  const std::string stat = "/proc/" + std::to_string(lab) + "/stat";
  const auto stopped = [&] {
    char text[256] = {};
    const int fd = ::open(stat.c_str(), O_RDONLY | O_CLOEXEC);
    const bool has_read = ::read(fd, text, sizeof text - 1) > 0;
    ::close(fd);
    const char* end = ::strrchr(text, ')');
    return has_read && end != nullptr && end[2] == 'T';
  };
  const pid_t beside = ::fork();
  if (beside == 0) {
    for (int looks = 0; looks < 3000 && !stopped(); ++looks) ::usleep(10'000);
    ::usleep(1'200'000);
    ::kill(lab, SIGCONT);
    ::_exit(0);
  }
  const Outcome outcome = run(shell("kill -STOP " + std::to_string(lab) + "; exec sleep 0.1"));
  ::waitpid(beside, nullptr, 0);
  EXPECT_EQ(outcome.state, TrialState::kLost) << outcome.failure;
  EXPECT_THAT(outcome.failure, HasSubstr("ms late, so how long it took is not known: the laboratory was stopped"));
  EXPECT_FALSE(outcome.wall_ns.has_value());
  ASSERT_EQ(outcome.ledger.count("loop_latency_ns"), 1u);
  EXPECT_GT(outcome.ledger.at("loop_latency_ns"), 500'000'000);
}

TEST(SeenLate, AWholeTickIsTooLateWhereItMatters) {
  using std::chrono::milliseconds;
  EXPECT_FALSE(is_too_late(milliseconds(0), milliseconds(1)));
  EXPECT_FALSE(is_too_late(milliseconds(200), milliseconds(400)));
  EXPECT_TRUE(is_too_late(milliseconds(300), milliseconds(700)));
  EXPECT_TRUE(is_too_late(milliseconds(4000), milliseconds(600'000)));
  EXPECT_FALSE(is_too_late(milliseconds(300), milliseconds(600'000)));
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
    request.expect.exit = {1};
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

// --- sliced blocks ---------------------------------------------------------------------------------------------------

// Two enclosures on one CPU, as a sliced block has them.
class SlicedBlock : public TrialRun {
 protected:
  SlicedBlock() : other_ledger_(host::Roots(), -1) {
    auto tree = TreeAtBroker::create(*broker_);
    EXPECT_TRUE(tree.ok());
    other_tree_.emplace(std::move(*tree));
    cpu_set_t allowed;
    EXPECT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET(static_cast<size_t>(laboratory_.placement.trial_cpu < 0 ? 0 : laboratory_.placement.trial_cpu), &allowed))
      ++laboratory_.placement.trial_cpu;
    laboratory_.placement.trial_cpu = std::max(laboratory_.placement.trial_cpu, 0);
    other_ = laboratory_;
    other_.tree = &*other_tree_;
    other_.ledger = &other_ledger_;
  }

  std::vector<Outcome> run_together(TrialRequest first, TrialRequest second) {
    std::vector<ReadyTrial> trials;
    first.launch.slice = second.launch.slice = std::chrono::milliseconds(1);
    trials.emplace_back(laboratory_, std::move(first));
    trials.emplace_back(other_, std::move(second));
    auto outcomes = ReadyTrial::run_together(trials);
    EXPECT_TRUE(outcomes.ok()) << outcomes.error().text();
    EXPECT_TRUE(tree_->empty());
    EXPECT_TRUE(other_tree_->empty());
    return outcomes ? *outcomes : std::vector<Outcome>(2);
  }

  std::optional<TreeAtBroker> other_tree_;
  Ledger other_ledger_;
  Laboratory other_;
};

constexpr const char* kBusy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";

TEST_F(SlicedBlock, TrialsRunAtTheSameTime) {
  // Each waits for the other one's file: in turn, neither would end.
  const std::string wait = "; while [ ! -e $other ]; do :; done";
  const auto outcomes =
      run_together(shell("touch a; other=b" + wait), shell("touch b; other=a" + wait));
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.state, TrialState::kVerified) << outcome.failure;
    EXPECT_TRUE(outcome.wall_ns.has_value());
  }
}

TEST_F(SlicedBlock, OverlapIsTheShorterTrialsShare) {
  const auto outcomes = run_together(shell(kBusy), shell(std::string(kBusy) + "; " + kBusy + "; " + kBusy));
  ASSERT_EQ(outcomes[0].state, TrialState::kVerified) << outcomes[0].failure;
  ASSERT_EQ(outcomes[1].state, TrialState::kVerified) << outcomes[1].failure;
  EXPECT_EQ(outcomes[0].ledger.at("overlap"), 1);
  EXPECT_NEAR(outcomes[1].ledger.at("overlap"), 1.0 / 3, 0.15);
  EXPECT_EQ(outcomes[0].ledger.at("foreign_ns"), outcomes[1].ledger.at("foreign_ns"));
  EXPECT_GE(outcomes[0].ledger.at("foreign_ns"), 0);
}

TEST_F(SlicedBlock, AFailureIsItsOwnAndTheOtherIsLost) {
  for (const bool first : {true, false}) {
    const auto outcomes = run_together(shell(first ? "exit 3" : "true"), shell(first ? "true" : "exit 3"));
    const Outcome &failed = outcomes[first ? 0 : 1], &other = outcomes[first ? 1 : 0];
    EXPECT_EQ(failed.state, TrialState::kFailed);
    EXPECT_EQ(failed.failure, "exit status 3, expected exit status 0");
    EXPECT_EQ(other.state, TrialState::kLost);
    EXPECT_EQ(other.failure, "another trial of its sliced block came to nothing: exit status 3, expected exit status 0");
    EXPECT_EQ(other.ledger.count("overlap"), 1u);  // it ran, as what it was compared with
  }
}

TEST_F(SlicedBlock, ATimeoutEndsTheBlockAtOnce) {
  TrialRequest endless = shell("while :; do :; done");
  endless.timeout = std::chrono::milliseconds(100);
  const auto start = clock_.monotonic_raw();
  const auto outcomes = run_together(endless, shell("sleep 60"));
  EXPECT_LT(clock_.monotonic_raw() - start, std::chrono::seconds(30));
  EXPECT_EQ(outcomes[0].state, TrialState::kTimeout);
  EXPECT_EQ(outcomes[1].state, TrialState::kLost);
  EXPECT_EQ(outcomes[1].ledger.count("overlap"), 0u);
}

TEST_F(SlicedBlock, OneThatCannotBeStartedKeepsTheOthersFromRunning) {
  TrialRequest missing = shell("true");
  missing.launch.exec_path = "/nonexistent/program";
  missing.launch.directory = "/nonexistent";
  const auto outcomes = run_together(shell("touch ran"), missing);
  EXPECT_EQ(outcomes[0].state, TrialState::kLost);
  EXPECT_EQ(outcomes[1].state, TrialState::kFailed);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/ran"));
}

TEST_F(SlicedBlock, CancelLosesAll) {
  std::thread canceller([&] {
    while (!std::filesystem::exists(directory_.path() + "/runs")) ::usleep(1000);
    const uint64_t one = 1;
    EXPECT_EQ(::write(cancel_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  });
  const auto outcomes = run_together(shell("touch runs; sleep 60"), shell("sleep 60"));
  canceller.join();
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.state, TrialState::kLost) << outcome.failure;
}

}  // namespace
}  // namespace stab::engine
