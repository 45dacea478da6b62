// Trees that try to get away (setsid, double fork, forks without end) are killed whole, by each of the three means.
#include "stabd/host/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "base/unique_fd.h"
#include "stabd/host/roots.h"
#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

using std::chrono::milliseconds;

bool join(const ProcessTree& tree) {
  for (const std::string& file : tree.procs_files())
    if (!write_small_file(file, "0")) return false;
  return true;
}

// A cgroup is empty a moment before its last process can be waited for.
bool gone(pid_t pid) {
  for (int tries = 0; tries < 10000; ++tries, ::usleep(1000)) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (::kill(pid, 0) != 0) return true;
  }
  return false;
}

// Starts a process of the tree that leaves a double-forked grandchild in a session of its own, which ignores
// SIGTERM, and ends itself. Returns the grandchild.
pid_t escape(const ProcessTree& tree) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!join(tree)) ::_exit(1);
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    const pid_t self = ::getpid();
    [[maybe_unused]] const ssize_t put = ::write(ends[1], &self, sizeof self);
    ::close(ends[1]);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  pid_t grandchild = -1;
  EXPECT_EQ(::read(ends[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return grandchild;
}

// A test that fails leaves nobody behind who would hold its output open.
struct KilledAtTheEnd {
  pid_t pid;
  ~KilledAtTheEnd() {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
};

class ProcessTreeKinds : public testing::TestWithParam<TreeKind> {};

TEST_P(ProcessTreeKinds, KillsWhatEscaped) {
  auto tree = ProcessTree::create(Roots(), GetParam());
  ASSERT_TRUE(tree.ok()) << tree.error().text();
  if (tree->kind() != GetParam()) GTEST_SKIP() << "no " << name(GetParam()) << " to be had on this machine";
  const pid_t grandchild = escape(*tree);
  const KilledAtTheEnd end{grandchild};
  ASSERT_GT(grandchild, 0);
  EXPECT_FALSE(tree->empty());
  EXPECT_EQ(::kill(grandchild, 0), 0);
  ASSERT_TRUE(tree->kill_all(milliseconds(5000)).ok());
  EXPECT_TRUE(tree->empty());
  EXPECT_TRUE(gone(grandchild));
}

// A look at all processes of a busy machine takes longer than a broker's request may: asked again and again, it kills.
TEST_P(ProcessTreeKinds, KillsWithoutPatience) {
  auto tree = ProcessTree::create(Roots(), GetParam());
  ASSERT_TRUE(tree.ok());
  if (tree->kind() != GetParam()) GTEST_SKIP() << "no " << name(GetParam()) << " to be had on this machine";
  const pid_t grandchild = escape(*tree);
  const KilledAtTheEnd end{grandchild};
  ASSERT_GT(grandchild, 0);
  for (int tries = 0; tries < 1000 && !tree->kill_all(milliseconds(-1)); ++tries) ::usleep(1000);
  EXPECT_TRUE(tree->empty());
  EXPECT_TRUE(gone(grandchild));
}

// Its stat says zombie, but it runs.
TEST_P(ProcessTreeKinds, KillsWhatHasLostItsFirstThread) {
  auto tree = ProcessTree::create(Roots(), GetParam());
  ASSERT_TRUE(tree.ok());
  if (tree->kind() != GetParam()) GTEST_SKIP() << "no " << name(GetParam()) << " to be had on this machine";
  const pid_t child = ::fork();
  if (child == 0) {
    if (!join(*tree)) ::_exit(1);
    std::thread([] {
      for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone
  }
  const auto state = [&] {
    const std::string stat = read_small_file("/proc/" + std::to_string(child) + "/stat").value_or("");
    return stat.substr(std::min(stat.size(), stat.find(')') + 2), 1);
  };
  for (int tries = 0; tries < 5000 && state() != "Z"; ++tries) ::usleep(1000);
  ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "the whole process has ended";
  EXPECT_FALSE(tree->empty());
  ASSERT_TRUE(tree->kill_all(milliseconds(5000)).ok());
  EXPECT_TRUE(gone(child));
  ::kill(child, SIGKILL);
}

TEST_P(ProcessTreeKinds, EmptyTreeNeedsNoKill) {
  auto tree = ProcessTree::create(Roots(), GetParam());
  ASSERT_TRUE(tree.ok());
  if (tree->kind() != GetParam()) GTEST_SKIP() << "no " << name(GetParam()) << " to be had on this machine";
  EXPECT_TRUE(tree->empty());
  EXPECT_TRUE(tree->kill_all(milliseconds(0)).ok());
}

TEST_P(ProcessTreeKinds, CanBeUsedAgain) {
  auto tree = ProcessTree::create(Roots(), GetParam());
  ASSERT_TRUE(tree.ok());
  if (tree->kind() != GetParam()) GTEST_SKIP() << "no " << name(GetParam()) << " to be had on this machine";
  for (int i = 0; i < 3; ++i) {
    const pid_t grandchild = escape(*tree);
    const KilledAtTheEnd end{grandchild};
    ASSERT_TRUE(tree->kill_all(milliseconds(5000)).ok());
    EXPECT_TRUE(gone(grandchild));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProcessTreeKinds,
                         testing::Values(TreeKind::kCgroup2, TreeKind::kFreezer, TreeKind::kAncestry),
                         [](const auto& parameter) {
                           return parameter.param == TreeKind::kCgroup2   ? "Cgroup2"
                                  : parameter.param == TreeKind::kFreezer ? "Freezer"
                                                                     : "Ancestry";
                         });

TEST(ProcessTree, SparedProcessesLive) {
  auto tree = ProcessTree::create(Roots(), TreeKind::kAncestry);
  ASSERT_TRUE(tree.ok());
  const pid_t helper = ::fork();
  if (helper == 0)
    for (;;) ::pause();
  tree->spare(helper);
  const pid_t escaped = escape(*tree);
  const KilledAtTheEnd end{escaped};
  ASSERT_TRUE(tree->kill_all(milliseconds(5000)).ok());
  EXPECT_TRUE(gone(escaped));
  EXPECT_EQ(::kill(helper, 0), 0);
  ::kill(helper, SIGKILL);
  ::waitpid(helper, nullptr, 0);
}

// A family that is never the same twice: each forks the next one and ends. Whenever it is said to be gone, it is.
TEST(ProcessTree, NobodyIsOverlookedWhoIsOrphanedMeanwhile) {
  auto tree = ProcessTree::create(Roots(), TreeKind::kAncestry);
  ASSERT_TRUE(tree.ok());
  for (int round = 0; round < 10; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    UniqueFd read_end(ends[0]);
    const pid_t first = ::fork();
    if (first == 0) {
      for (int generation = 0; generation < 60; ++generation)
        if (::fork() != 0) ::_exit(0);
      ::_exit(0);
    }
    ::close(ends[1]);
    // Whoever lives holds the pipe's other end.
    while (!tree->empty()) {
    }
    pollfd held{read_end.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&held, 1, 0), 1) << "round " << round << ": somebody lives";
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
}

// What a process of another PID namespace has made is not judged: a pid that is gone here may be one that lives there.
TEST(ProcessTree, GroupsOfTheDeadGoAndNoOthers) {
  const auto ending = [] {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    return pid;
  };
  const pid_t dead = ending(), unreaped = ending();
  ::waitpid(dead, nullptr, 0);
  siginfo_t ended;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(unreaped), &ended, WEXITED | WNOWAIT), 0);
  struct stat space;
  ASSERT_EQ(::stat("/proc/self/ns/pid", &space), 0);
  const std::string ours = std::to_string(space.st_ino), theirs = std::to_string(space.st_ino + 1);
  const auto group = [](const std::string& of, pid_t pid) { return "stab-trial-" + of + "-" + std::to_string(pid) + "-0"; };
  TemporaryDirectory parent;
  for (const std::string& name : {group(ours, dead), group(ours, unreaped), group(ours, ::getpid()), group(theirs, dead),
                                  std::string("stab-trial-x")})
    ASSERT_TRUE(std::filesystem::create_directory(parent.path() + "/" + name));
  const std::string made = make_tree_group(parent.path());
  ::waitpid(unreaped, nullptr, 0);
  EXPECT_TRUE(made.starts_with(parent.path() + "/stab-trial-" + ours + "-" + std::to_string(::getpid()) + "-")) << made;
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(parent.path())) left.insert(entry.path().filename());
  left.erase(std::filesystem::path(made).filename());
  EXPECT_EQ(left, (std::set<std::string>{group(ours, ::getpid()), group(theirs, dead), "stab-trial-x"}));
}

TEST(ProcessTree, DescendantsOfASnapshot) {
  const std::map<pid_t, pid_t> parents = {{10, 1}, {11, 10}, {12, 11}, {20, 10}, {21, 20}, {30, 1}, {41, 42}, {42, 41}};
  EXPECT_EQ(descendants(parents, 10, {}), (std::vector<pid_t>{11, 12, 20, 21}));
  EXPECT_EQ(descendants(parents, 10, {20}), (std::vector<pid_t>{11, 12}));
  EXPECT_TRUE(descendants(parents, 99, {}).empty());
}

TEST(ProcessTree, LiveParentsSkipZombiesAndStrangeNames) {
  TemporaryDirectory root;
  root.write("7/stat", "7 (a) b (c) S 3 7 7 0 -1");
  root.write("8/stat", "8 (dead) Z 7 8 8 0 -1");
  root.write("9/stat", "9 (sh) R 7 9 9 0 -1");
  root.write("10/stat", "10 (threads) Z 7 10 10 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0");
  root.write("11/stat", "11 (dead) Z 7 11 11 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0");
  root.write("self/stat", "1 (x) S 0");
  Roots roots;
  roots.proc = root.path();
  EXPECT_EQ(live_parents(roots), (std::map<pid_t, pid_t>{{7, 3}, {9, 7}, {10, 7}}));
}

TEST(ProcessTree, OwnCgroupFromMountsAndMembership) {
  TemporaryDirectory root;
  Roots roots;
  roots.proc = root.path();
  root.write("self/mounts",
             "cgroup /cg/cpu cgroup rw,relatime,cpu,cpuacct 0 0\n"
             "cgroup /cg/freezer cgroup rw,freezer 0 0\n"
             "cgroup2 /cg/unified cgroup2 rw 0 0\n");
  root.write("self/cgroup", "3:freezer:/jobs/a\n2:cpu,cpuacct:/\n0::/user.slice\n");
  EXPECT_EQ(own_cgroup(roots, ""), "/cg/unified/user.slice");
  EXPECT_EQ(own_cgroup(roots, "freezer"), "/cg/freezer/jobs/a");
  EXPECT_EQ(own_cgroup(roots, "memory"), "");
}

}  // namespace
}  // namespace stab::host
