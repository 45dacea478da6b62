// A launcher that stays: each process that it makes is as one whose launcher was started for it alone, and ours.
#include "stabd/host/starter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <sstream>

#include "stabd/engine/trial/expectation.h"
#include "stabd/host/roots.h"
#include "stabd/host/launch.h"
#include "stabd/host/process_tree.h"
#include "tests/places.h"
#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

using ::testing::HasSubstr;

struct Finished {
  std::string output;
  int status = -1;
  pid_t pid = -1;
  rusage used{};
  std::optional<Error> error;
};

class StarterTest : public testing::Test {
 protected:
  StarterTest() {
    auto started = Starter::start(STAB_LAUNCHER, 0);
    EXPECT_TRUE(started.ok()) << started.error().message;
    if (started) starter_.emplace(*std::move(started));
    null_.reset(::open("/dev/null", O_RDWR | O_CLOEXEC));
  }
  static LaunchRequest shell(const std::string& script) {
    LaunchRequest request;
    request.exec_path = "/bin/sh";
    request.directory = "/";
    request.argv = {"sh", "-c", script};
    request.env = {"PATH=/usr/bin:/bin"};
    request.cpu = 0;
    return request;
  }
  Result<Launched> begin(const LaunchRequest& request, const LaunchDescriptors& descriptors) {
    const auto block = encode(request);
    if (!block) return block.error();
    return Launched::begin_encoded(STAB_LAUNCHER, *block, descriptors, &*starter_);
  }
  Finished run(const LaunchRequest& request, int helper = -1) {
    Finished finished;
    const UniqueFd out(::memfd_create("out", MFD_CLOEXEC));
    auto launched = begin(request, {null_.get(), out.get(), out.get(), helper, -1});
    Status going = launched ? launched->wait_until_ready() : Status(launched.error());
    if (going) {
      const auto stamp = launched->go();
      if (!stamp) going = stamp.error();
    }
    if (!going) {
      finished.error = going.error();
      return finished;
    }
    finished.pid = launched->pid();
    EXPECT_EQ(::wait4(launched->pid(), &finished.status, 0, &finished.used), finished.pid) << "it is not our child";
    launched->release();
    finished.output = engine::head_of_fd(out.get(), 65536);
    return finished;
  }

  std::optional<Starter> starter_;
  UniqueFd null_;
};

TEST_F(StarterTest, MakesOneProcessAfterTheOther) {
  for (const std::string word : {"one", "two", "three"}) {
    const Finished finished = run(shell("echo " + word + "; exit 4"));
    ASSERT_FALSE(finished.error) << finished.error->message;
    EXPECT_EQ(finished.output, word + "\n");
    EXPECT_EQ(WEXITSTATUS(finished.status), 4);
    EXPECT_NE(finished.pid, starter_->pid());
  }
}

TEST_F(StarterTest, TheyHaveNothingOfItsOrOfEachOthers) {
  const Finished first = run(shell("exec ls /proc/self/fd")), second = run(shell("exec ls /proc/self/fd"));
  EXPECT_EQ(first.output, "0\n1\n2\n3\n");  // 3 is the directory that ls reads
  EXPECT_EQ(second.output, first.output);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd ours(ends[0]), its(ends[1]);
  EXPECT_EQ(run(shell("exec ls /proc/self/fd"), its.get()).output, "0\n1\n193\n2\n3\n");
  EXPECT_EQ(run(shell("exec ls /proc/self/fd")).output, first.output);
  // Nor is anything left in it: its own socket and the three that everybody has.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator("/proc/" + std::to_string(starter_->pid()) + "/fd"), {}), 4);
}

TEST_F(StarterTest, EachIsItsOwnSessionWithItsOwnCpuSignalsAndSize) {
  const Finished finished = run(
      shell("ps -o sid= -p $$ | tr -d ' '; echo $$; grep -E 'Cpus_allowed_list|SigBlk|SigIgn' /proc/self/status; chrt -p $$"));
  std::istringstream lines(finished.output);
  std::string session, pid;
  std::getline(lines, session), std::getline(lines, pid);
  EXPECT_EQ(session, pid);
  EXPECT_THAT(finished.output, HasSubstr("Cpus_allowed_list:\t0\n"));
  EXPECT_THAT(finished.output, HasSubstr("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
  EXPECT_THAT(finished.output, HasSubstr("SCHED_OTHER"));
  LaunchRequest small = shell("");
  small.exec_path = "/bin/true";
  EXPECT_LT(run(small).used.ru_maxrss, 8192) << "it has the memory of whoever started it";
}

TEST_F(StarterTest, AFailedStepIsToldAndTheNextOneRuns) {
  LaunchRequest nowhere = shell("true");
  nowhere.directory = "/nonexistent";
  const Finished failed = run(nowhere);
  ASSERT_TRUE(failed.error.has_value());
  EXPECT_THAT(failed.error->message, HasSubstr("enter the directory"));
  ::waitpid(-1, nullptr, WNOHANG);
  EXPECT_EQ(run(shell("echo next")).output, "next\n");
}

TEST_F(StarterTest, WhatItHasMadeOutlivesIt) {
  const UniqueFd out(::memfd_create("out", MFD_CLOEXEC));
  auto launched = begin(shell("echo still here"), {null_.get(), out.get(), out.get(), -1, -1});
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  starter_.reset();
  ASSERT_TRUE(launched->wait_until_ready().ok());
  ASSERT_TRUE(launched->go().ok());
  int status = -1;
  ASSERT_EQ(::waitpid(launched->pid(), &status, 0), launched->pid());
  launched->release();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(engine::head_of_fd(out.get(), 100), "still here\n");
}

// It was killed, by its user or for want of memory: that says nothing about what was ordered.
TEST_F(StarterTest, ADeadOneSaysSo) {
  ::kill(starter_->pid(), SIGKILL);
  const Finished finished = run(shell("true"));
  ASSERT_TRUE(finished.error.has_value());
  EXPECT_EQ(finished.error->code, ErrorCode::kUnavailable);
}

TEST_F(StarterTest, EndsWithWhoeverOrders) {
  const pid_t pid = starter_->pid();
  starter_.reset();
  EXPECT_EQ(live_parents(Roots()).count(pid), 0u);
  EXPECT_LT(::waitpid(pid, nullptr, WNOHANG), 0) << "it is left to be waited for";
}

TEST_F(StarterTest, OnlyTheSameProgramIsStarted) {
  TemporaryDirectory directory;
  LaunchRequest request = shell("");
  request.exec_path = directory.write("program", "#!/bin/sh\necho ran\n");
  ::chmod(request.exec_path.c_str(), 0755);
  const auto identity = [&] {
    struct stat info;
    EXPECT_EQ(::stat(request.exec_path.c_str(), &info), 0);
    return FileIdentity{info.st_ino, static_cast<uint64_t>(info.st_size),
                        info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec};
  };
  request.must_be = identity();
  EXPECT_EQ(run(request).output, "ran\n");
  const auto refused = [&] {
    const Finished finished = run(request);
    ::waitpid(-1, nullptr, WNOHANG);
    return finished.error && finished.error->code == ErrorCode::kCorrupt && finished.output.empty();
  };
  const FileIdentity right = *request.must_be;
  request.must_be->inode = right.inode + 1;
  EXPECT_TRUE(refused());
  request.must_be = right;
  request.must_be->modified_ns -= 1;
  EXPECT_TRUE(refused());
  request.must_be = right;
  directory.write("program", "#!/bin/sh\necho another one\n");
  ::chmod(request.exec_path.c_str(), 0755);
  EXPECT_TRUE(refused());
  request.must_be = identity();
  const Finished another = run(request);
  EXPECT_EQ(another.output, "another one\n") << (another.error ? another.error->message : "");
  ::unlink(request.exec_path.c_str());
  EXPECT_TRUE(refused());
}

}  // namespace
}  // namespace stab::host
