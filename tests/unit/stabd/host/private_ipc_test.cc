// Namespaces of a process tree: what is left in them is seen from outside, and nothing of it is the machine's.
#include "stabd/host/private_ipc.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

#include "stabd/host/roots.h"

namespace stab::host {
namespace {

using ::testing::HasSubstr;

std::string link_of(const char* name) {
  char text[64] = {};
  return ::readlink((std::string("/proc/thread-self/ns/") + name).c_str(), text, sizeof text - 1) > 0 ? text : "";
}

// As a process of the tree, but for its root.
bool inside(const PrivateIpc& ipc, const std::function<bool()>& does) {
  bool done = false;
  std::thread([&] {
    done = ::unshare(CLONE_FS) == 0 && ::setns(ipc.ipc(), CLONE_NEWIPC) == 0 && ::setns(ipc.mounts(), CLONE_NEWNS) == 0 && does();
  }).join();
  return done;
}

bool leave_file() { return UniqueFd(::open("/dev/shm/stab-left", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)).get() >= 0; }

// By the plainest means, so that what PrivateIpc gets wrong is not taken for a machine without.
bool has_namespaces() {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(::unshare(CLONE_NEWNS | CLONE_NEWIPC) == 0 && ::mount("x", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                    ::mount("x", "/dev/shm", "tmpfs", 0, nullptr) == 0
                ? 0
                : 1);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

#define NEEDS_NAMESPACES() \
  if (!has_namespaces()) GTEST_SKIP() << "no namespaces to be had"

TEST(PrivateIpcTest, WhatIsLeftIsSeenAndGoneInTheNext) {
  NEEDS_NAMESPACES();
  auto first = PrivateIpc::make();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_FALSE(first->is_used());
  const std::pair<const char*, std::function<bool()>> all[] = {
      {"a file", leave_file},
      {"a hidden file", [] { return UniqueFd(::open("/dev/shm/.x", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).get() >= 0; }},
      {"a directory", [] { return ::mkdir("/dev/shm/d", 0700) == 0; }},
      {"a segment", [] { return ::shmget(77, 4096, IPC_CREAT | IPC_EXCL | 0600) >= 0; }},
      {"semaphores", [] { return ::semget(77, 2, IPC_CREAT | IPC_EXCL | 0600) >= 0; }},
      {"a queue", [] { return ::msgget(77, IPC_CREAT | IPC_EXCL | 0600) >= 0; }},
      {"a POSIX queue", [] { return ::mq_open("/stab-left", O_CREAT | O_EXCL | O_RDWR, 0600, nullptr) >= 0; }},
      {"a POSIX object", [] { return ::shm_open("/stab-left", O_CREAT | O_EXCL | O_RDWR, 0600) >= 0; }}};
  for (const auto& [what, leave] : all) {
    auto ipc = PrivateIpc::make();
    ASSERT_TRUE(ipc.ok()) << ipc.error().message;
    EXPECT_FALSE(ipc->is_used()) << "before " << what;
    EXPECT_TRUE(inside(*ipc, leave)) << what;
    EXPECT_TRUE(ipc->is_used()) << what;
  }
  EXPECT_FALSE(first->is_used()) << "another's";
}

TEST(PrivateIpcTest, WhatIsTakenAwayAgainLeavesNothing) {
  NEEDS_NAMESPACES();
  auto ipc = PrivateIpc::make();
  ASSERT_TRUE(ipc.ok()) << ipc.error().message;
  EXPECT_TRUE(inside(*ipc, [] {
    const int segment = ::shmget(77, 4096, IPC_CREAT | IPC_EXCL | 0600);
    return segment >= 0 && ::shmctl(segment, IPC_RMID, nullptr) == 0 && leave_file() && ::unlink("/dev/shm/stab-left") == 0;
  }));
  EXPECT_FALSE(ipc->is_used());
}

TEST(PrivateIpcTest, TheMachinesStaysAsItIs) {
  const std::string ipc_before = link_of("ipc"), mounts_before = link_of("mnt"), table = *read_small_file("/proc/self/mountinfo");
  NEEDS_NAMESPACES();
  auto ipc = PrivateIpc::make();
  ASSERT_TRUE(ipc.ok()) << ipc.error().message;
  EXPECT_TRUE(inside(*ipc, leave_file));
  EXPECT_NE(::access("/dev/shm/stab-left", F_OK), 0);
  EXPECT_EQ(link_of("ipc"), ipc_before);
  EXPECT_EQ(link_of("mnt"), mounts_before);
  EXPECT_EQ(*read_small_file("/proc/self/mountinfo"), table);
}

// What a program is told of its limits is what it is told without us.
TEST(PrivateIpcTest, IsAsLargeAndAllowsAsMuchAsTheMachines) {
  NEEDS_NAMESPACES();
  auto ipc = PrivateIpc::make();
  ASSERT_TRUE(ipc.ok()) << ipc.error().message;
  struct statvfs machine, own;
  ASSERT_EQ(::statvfs("/dev/shm", &machine), 0);
  const std::string sem = *read_small_file("/proc/sys/kernel/sem"), queues = *read_small_file("/proc/sys/fs/mqueue/msg_max");
  EXPECT_TRUE(inside(*ipc, [&] {
    return ::statvfs("/dev/shm", &own) == 0 && read_small_file("/proc/sys/kernel/sem") == sem &&
           read_small_file("/proc/sys/fs/mqueue/msg_max") == queues;
  }));
  EXPECT_EQ(own.f_blocks * own.f_frsize, machine.f_blocks * machine.f_frsize);
  EXPECT_EQ(own.f_flag & (ST_NOEXEC | ST_NOSUID | ST_NODEV), machine.f_flag & (ST_NOEXEC | ST_NOSUID | ST_NODEV));
}

TEST(PrivateIpcTest, SaysWhyThereIsNone) {
  if (has_namespaces()) GTEST_SKIP() << "there are some";
  const auto ipc = PrivateIpc::make();
  ASSERT_FALSE(ipc.ok());
  EXPECT_EQ(ipc.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(ipc.error().message, HasSubstr("Operation not permitted"));
}

}  // namespace
}  // namespace stab::host
