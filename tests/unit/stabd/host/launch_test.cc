// The launcher is run for real, and what a program finds is asked of programs: environment, descriptors, session, limits,
// signals, user. What the engine and it say to each other is checked byte for byte where it is parsed.
#include "stabd/host/launch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <vector>

#include "stabd/engine/trial/expectation.h"
#include "stabd/host/roots.h"
#include "stabd/host/launcher/launch_block.h"
#include "tests/places.h"
#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

LaunchRequest shell(const std::string& script) {
  LaunchRequest request;
  request.exec_path = "/bin/sh";
  request.directory = "/";
  request.argv = {"sh", "-c", script};
  request.env = {"PATH=/usr/bin:/bin", "ANSWER=42"};
  return request;
}

struct Finished {
  std::string output;
  int status = -1;
  std::string error;
};

// Runs it through the real launcher.
Finished launch(const LaunchRequest& request) {
  Finished finished;
  const UniqueFd out(::memfd_create("out", MFD_CLOEXEC));
  const UniqueFd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto launched = Launched::start(STAB_LAUNCHER, request, {in.get(), out.get(), out.get(), -1, -1});
  if (!launched) {
    finished.error = launched.error().message;
    return finished;
  }
  const auto stamp = launched->go();
  if (!stamp) {
    finished.error = stamp.error().message;
    return finished;
  }
  ::waitpid(launched->pid(), &finished.status, 0);
  launched->release();
  finished.output = engine::head_of_fd(out.get(), 65536);
  return finished;
}

TEST(LaunchBlock, HoldsWhatWasPutIn) {
  LaunchRequest request = shell("true");
  request.cpu = 3;
  request.aslr = false;
  request.submitter = Submitter{12, 34, {5, 6}};
  request.limits = {{RLIMIT_STACK, 1 << 20, 2 << 20}};
  request.cgroup_procs = {"/cg/a"};
  request.program_path = "/lab/program";
  const auto block = encode(request);
  ASSERT_TRUE(block.ok());
  launch::BlockReader reader(block->data(), block->size());
  launch::LaunchHeader header;
  ASSERT_TRUE(reader.take(&header, sizeof header));
  EXPECT_EQ(header.cpu, 3);
  EXPECT_EQ(header.flags, launch::kNoAslr | launch::kDropPrivileges | launch::kNoNewPrivs);
  EXPECT_EQ(header.uid, 12u);
  uint32_t groups[2];
  ASSERT_TRUE(reader.take(groups, sizeof groups));
  EXPECT_EQ(groups[1], 6u);
  launch::LaunchLimit limit;
  ASSERT_TRUE(reader.take(&limit, sizeof limit));
  EXPECT_EQ(limit.hard, 2u << 20);
  for (const char* expected :
       {"/cg/a", "/bin/sh", "/lab/program", "", "/", "sh", "-c", "true", "PATH=/usr/bin:/bin", "ANSWER=42"}) {
    const char* text = nullptr;
    ASSERT_TRUE(reader.take_string(text));
    EXPECT_STREQ(text, expected);
  }
  EXPECT_TRUE(reader.at_end());
}

TEST(LaunchBlock, EveryCutIsNoticed) {
  const auto block = encode(shell("true"));
  ASSERT_TRUE(block.ok());
  for (size_t cut = 0; cut < block->size(); ++cut) {
    launch::BlockReader reader(block->data(), cut);
    launch::LaunchHeader header;
    bool whole = reader.take(&header, sizeof header);
    const char* text = nullptr;
    for (int i = 0; i < 9; ++i) whole = whole && reader.take_string(text);
    EXPECT_FALSE(whole && reader.at_end()) << cut;
  }
}

TEST(LaunchBlock, ZeroBytesAreRefused) {
  EXPECT_FALSE(encode(shell(std::string("a\0b", 3))).ok());
}

TEST(Launch, RunsWithExactlyTheGivenEnvironmentAndDirectory) {
  TemporaryDirectory directory;
  LaunchRequest request = shell("/usr/bin/env; pwd; readlink /proc/self/fd/0");
  request.directory = directory.path();
  const Finished finished = launch(request);
  EXPECT_EQ(finished.error, "");
  EXPECT_NE(finished.output.find("ANSWER=42\n"), std::string::npos);
  EXPECT_NE(finished.output.find(directory.path() + "\n"), std::string::npos);
  EXPECT_NE(finished.output.find("/dev/null\n"), std::string::npos);
  EXPECT_EQ(finished.output.find("HOME="), std::string::npos);
}

TEST(Launch, ProgramInheritsNoDescriptorOfOurs) {
  // Not close on exec, as a careless parent leaves them.
  const UniqueFd low(::dup(2)), high(::fcntl(2, F_DUPFD, 500));
  const Finished finished = launch(shell("exec ls /proc/self/fd"));
  EXPECT_EQ(finished.error, "");
  EXPECT_EQ(finished.output, "0\n1\n2\n3\n");  // 3 is the directory that ls reads
}

TEST(Launch, OwnSessionPinnedAndLimited) {
  LaunchRequest request = shell("ulimit -s; ps -o sid= -p $$ | tr -d ' '; echo $$; grep Cpus_allowed_list /proc/self/status");
  request.cpu = 0;
  request.limits = {{RLIMIT_STACK, 4096 << 10, 4096 << 10}};
  const Finished finished = launch(request);
  std::istringstream lines(finished.output);
  std::string stack, session, pid, cpus;
  std::getline(lines, stack), std::getline(lines, session), std::getline(lines, pid), std::getline(lines, cpus);
  EXPECT_EQ(stack, "4096");
  EXPECT_EQ(session, pid);
  EXPECT_EQ(cpus, "Cpus_allowed_list:\t0");
}

TEST(Launch, AslrOffGivesOneStackAddress) {
  LaunchRequest request = shell("grep -F '[stack]' /proc/self/maps | cut -d- -f1");
  request.aslr = false;
  const std::string first = launch(request).output;
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(launch(request).output, first);
}

TEST(Launch, SignalsAreReset) {
  ::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const Finished finished = launch(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status"));
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(finished.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Launch, FailuresNameTheStep) {
  LaunchRequest absent = shell("true");
  absent.exec_path = "/nonexistent";
  EXPECT_EQ(launch(absent).error, "launcher: exec: No such file or directory");
  LaunchRequest nowhere = shell("true");
  nowhere.directory = "/nonexistent";
  EXPECT_EQ(launch(nowhere).error, "launcher: enter the directory: No such file or directory");
  LaunchRequest far = shell("true");
  far.cpu = 1000;
  EXPECT_EQ(launch(far).error, "launcher: pin to the cpu: Invalid argument");
  LaunchRequest group = shell("true");
  group.cgroup_procs = {"/nonexistent/cgroup.procs"};
  EXPECT_EQ(launch(group).error, "launcher: join the cgroup: No such file or directory");
}

TEST(Launch, AbsentLauncher) {
  const auto launched = Launched::start("/nonexistent/stab-launcher", shell("true"), {});
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().code, ErrorCode::kNotFound);
}

TEST(Launch, WithoutGoNothingRuns) {
  TemporaryDirectory directory;
  {
    auto launched = Launched::start(STAB_LAUNCHER, shell("touch " + directory.path() + "/ran"), {});
    ASSERT_TRUE(launched.ok()) << launched.error().message;
  }
  EXPECT_FALSE(read_small_file(directory.path() + "/ran").has_value());
}

// -1 without a child, 0 with one that lives; tests before this one may have left some.
pid_t children() {
  pid_t found = 0;
  while ((found = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  return found;
}

TEST(Launch, BegunAndNeverAskedLeavesNothing) {
  TemporaryDirectory directory;
  const pid_t before = children();
  {
    auto launched = Launched::begin(STAB_LAUNCHER, shell("touch " + directory.path() + "/ran"), {});
    ASSERT_TRUE(launched.ok()) << launched.error().message;
  }
  EXPECT_FALSE(read_small_file(directory.path() + "/ran").has_value());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), before) << "a child is left";
}

// wait4 says the most that a process ever had, and what the engine spawns begins with the engine's memory.
TEST(Launch, MemoryIsTheProgramsOwn) {
  const std::vector<char> engine(64 << 20, 'x');
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  auto launched = Launched::start(STAB_LAUNCHER, shell("exit 0"), {null.get(), null.get(), null.get(), -1, -1});
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  ASSERT_TRUE(launched->go().ok());
  int status = 0;
  rusage usage{};
  ASSERT_EQ(::wait4(launched->pid(), &status, 0, &usage), launched->pid());
  launched->release();
  EXPECT_EQ(status, 0);
  EXPECT_GT(usage.ru_maxrss, 100);
  EXPECT_LT(usage.ru_maxrss, 16 << 10) << "KiB; the engine has " << engine.size() / 1024;
}

TEST(Launch, BecomesTheSubmitterForGood) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  LaunchRequest request = shell(
      "id -u; id -g; id -G; grep -E '^Cap(Prm|Eff|Inh)|^NoNewPrivs' /proc/self/status | cut -f2; "
      "ls /root >/dev/null 2>&1; echo $?");
  request.submitter = Submitter{65534, 65534, {65534}};
  const Finished finished = launch(request);
  EXPECT_EQ(finished.error, "");
  EXPECT_EQ(finished.output,
            "65534\n65534\n65534\n0000000000000000\n0000000000000000\n0000000000000000\n1\n2\n");
}

}  // namespace
}  // namespace stab::host
