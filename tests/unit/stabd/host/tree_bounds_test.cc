// Limits of a tree: what is written where, what counts as a hit, what is said where there is no controller. The files of
// cgroups are fakes here, but for the last tests, which want real ones.
#include "stabd/host/tree_bounds.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "stabd/host/process_tree.h"
#include "stabd/engine/machine/trial_limits.h"
#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Bounds : public testing::Test {
 protected:
  Bounds() : delegation_(roots()) {
    for (const char* directory : {"/proc/self", "/cgroup/ours/trial", "/memory/ours", "/pids/ours"})
      std::filesystem::create_directories(directory_.path() + directory);
    directory_.write("cgroup/ours/cgroup.controllers", "cpu memory pids\n");
    directory_.write("cgroup/ours/cgroup.subtree_control", "\n");
    for (const char* file : {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max"})
      directory_.write(std::string("cgroup/ours/trial/") + file, "max\n");
    happened(0, 0, 0);
  }
  Roots roots() const { return {directory_.path() + "/proc", directory_.path() + "/sys", directory_.path() + "/dev"}; }
  void happened(int reached, int kills, int refused) {
    directory_.write("cgroup/ours/trial/memory.events", "low 0\nhigh 0\nmax 7\noom " + std::to_string(reached) + "\noom_kill " +
                                                            std::to_string(kills) + "\noom_group_kill 3\n");
    directory_.write("cgroup/ours/trial/pids.events", "max " + std::to_string(refused) + "\n");
  }
  TreeBounds bounds() {
    return {roots(), directory_.path() + "/cgroup/ours", directory_.path() + "/cgroup/ours/trial", delegation_};
  }
  std::string of_trial(const std::string& file) const { return directory_.read("cgroup/ours/trial/" + file); }

  TemporaryDirectory directory_;
  Delegation delegation_;
};

TEST_F(Bounds, AreWrittenOnceTheyAreWanted) {
  TreeBounds made = bounds();
  EXPECT_THAT(made.why_no_memory(), IsEmpty());
  EXPECT_THAT(made.why_no_processes(), IsEmpty());
  EXPECT_THAT(made.procs_files(), IsEmpty());
  EXPECT_EQ(of_trial("memory.oom.group"), "1");
  ASSERT_TRUE(made.set({64 << 20, 100}).ok());
  EXPECT_EQ(of_trial("memory.max"), "67108864");
  EXPECT_EQ(of_trial("memory.swap.max"), "0");
  EXPECT_EQ(of_trial("pids.max"), "100");
  directory_.write("cgroup/ours/trial/pids.max", "untouched");
  ASSERT_TRUE(made.set({0, 100}).ok());
  EXPECT_EQ(of_trial("memory.max"), "max");
  EXPECT_EQ(of_trial("memory.swap.max"), "max");
  EXPECT_EQ(of_trial("pids.max"), "untouched");
}

TEST_F(Bounds, CountWhatHappenedSinceTheLastLook) {
  happened(5, 5, 5);
  TreeBounds made = bounds();
  EXPECT_EQ(made.take_hits(), LimitHits());
  happened(6, 8, 9);
  EXPECT_EQ(made.take_hits(), (LimitHits{3, 0, 4}));
  EXPECT_EQ(made.take_hits(), LimitHits());
}

TEST_F(Bounds, AKillWithinTheLimitIsTheMachines) {
  TreeBounds made = bounds();
  happened(0, 1, 0);
  EXPECT_EQ(made.take_hits(), (LimitHits{0, 1, 0}));
}

TEST_F(Bounds, WithoutAControllerNothingIsPutInItsPlace) {
  directory_.write("cgroup/ours/cgroup.controllers", "cpu pids\n");
  TreeBounds made = bounds();
  EXPECT_THAT(made.why_no_memory(), HasSubstr("has no controller memory"));
  EXPECT_THAT(made.why_no_processes(), IsEmpty());
  const Status refused = made.set({64 << 20, 0});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("memory of trials can't be limited: cgroup '"));
  EXPECT_EQ(of_trial("memory.max"), "max\n");
  EXPECT_TRUE(made.set({0, 7}).ok());
}

TEST_F(Bounds, GroupsOfVersion1StandBesideAndGo) {
  directory_.write("cgroup/ours/cgroup.controllers", "\n");
  directory_.write("proc/self/mounts", "cgroup " + directory_.path() + "/memory cgroup rw,memory 0 0\ncgroup " +
                                           directory_.path() + "/pids cgroup rw,pids 0 0\n");
  directory_.write("proc/self/cgroup", "5:memory:/ours\n4:pids:/ours\n0::/ours\n");
  std::vector<std::string> files;
  {
    TreeBounds made = bounds();
    EXPECT_THAT(made.why_no_memory(), IsEmpty());
    files = made.procs_files();
    ASSERT_EQ(files.size(), 2u);
    EXPECT_THAT(files[0], HasSubstr("/memory/ours/stab-trial-"));
    EXPECT_THAT(files[1], HasSubstr("/pids/ours/stab-trial-"));
  }
  for (const std::string& file : files) EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path())) << file;
}

TEST_F(Bounds, TheGroupThatWeHaveSteppedAsideToIsNotOurPlace) {
  directory_.write("proc/self/mounts", "cgroup2 /cg cgroup2 rw 0 0\n");
  directory_.write("proc/self/cgroup", "0::/ours/stab-aside-77\n");
  EXPECT_EQ(own_cgroup(roots(), ""), "/cg/ours");
  directory_.write("proc/self/cgroup", "0::/stab-aside-77\n");
  EXPECT_EQ(own_cgroup(roots(), ""), "/cg");
  directory_.write("proc/self/cgroup", "0::/stab-other\n");
  EXPECT_EQ(own_cgroup(roots(), ""), "/cg/stab-other");
}

TEST(TrialLimits, ThePlanLowersAndNeverRaises) {
  const TreeLimits lab{1 << 30, 100};
  EXPECT_TRUE(engine::check_within({1 << 30, 100}, lab).ok());
  EXPECT_TRUE(engine::check_within({0, 0}, lab).ok());
  EXPECT_TRUE(engine::check_within({uint64_t{1} << 40, 1000}, {}).ok());
  const Status memory = engine::check_within({(1 << 30) + 1, 0}, lab);
  ASSERT_FALSE(memory.ok());
  EXPECT_THAT(memory.error().message, HasSubstr("1073741825 bytes"));
  EXPECT_THAT(memory.error().message, HasSubstr("at most 1073741824 bytes (1 GiB)"));
  const Status processes = engine::check_within({0, 101}, lab);
  ASSERT_FALSE(processes.ok());
  EXPECT_THAT(processes.error().message, HasSubstr("101 processes"));
  EXPECT_THAT(processes.error().message, HasSubstr("at most 100"));
}

TEST(TrialLimits, WhatCantBeSetIsSaidAndDemandedByThePlanAlone) {
  auto tree = ProcessTree::create(Roots(), TreeKind::kAncestry);
  ASSERT_TRUE(tree.ok());
  const auto settled = [&](const plan::Limits& wanted, const TreeLimits& most) {
    return engine::settle_limits(wanted, most, tree->why_no_memory_limit(), tree->why_no_process_limit());
  };
  const engine::TrialLimits labs = settled({}, {1 << 30, 100});
  EXPECT_EQ(labs.trials, TreeLimits());
  EXPECT_THAT(engine::memory_limit_text(labs), HasSubstr("not set: "));
  EXPECT_THAT(engine::why_not_limited(labs), IsEmpty());
  const engine::TrialLimits plans = settled({0, 7}, {1 << 30, 100});
  EXPECT_THAT(engine::why_not_limited(plans), HasSubstr("the plan limits a trial's processes"));
  EXPECT_EQ(engine::memory_limit_text(settled({}, {})), "none");
}

TEST(TrialLimits, DefaultsLeaveTheMachineATenth) {
  TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() + "/proc");
  directory.write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 5 kB\n");
  EXPECT_EQ(engine::default_limits({directory.path() + "/proc", "", ""}), (TreeLimits{921600 - 921600 % 9, 4096}));
}

TEST(TrialLimits, SizesAreReadable) {
  EXPECT_EQ(bytes_text(1000), "1000 bytes");
  EXPECT_EQ(bytes_text(1536), "1536 bytes (1.5 KiB)");
  EXPECT_EQ(bytes_text(64u << 20), "67108864 bytes (64 MiB)");
}

// --- real groups ---------------------------------------------------------------------------------------------

// Runs it as a member, to its end.
int run_in(const ProcessTree& tree, void (*body)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const std::string& file : tree.procs_files())
      if (!write_small_file(file, "0")) ::_exit(99);
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(RealBounds, MemoryIsTheKernelsToHold) {
  Delegation delegation{Roots()};
  auto tree = ProcessTree::create(Roots(), TreeKind::kCgroup2, {}, &delegation);
  ASSERT_TRUE(tree.ok());
  if (!tree->why_no_memory_limit().empty()) GTEST_SKIP() << "no controller memory to be had: " << tree->why_no_memory_limit();
  ASSERT_TRUE(tree->limit({32 << 20, 0}).ok());
  const auto take_100_mib = [] {
    constexpr size_t kBytes = 100u << 20;
    auto* memory =
        static_cast<volatile char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t at = 0; at < kBytes; at += 4096) memory[at] = 1;
  };
  const int status = run_in(*tree, take_100_mib);
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  // Version 2 kills the group, and may count one of it twice.
  const LimitHits hits = tree->take_hits();
  EXPECT_GE(hits.memory_kills, 1u);
  EXPECT_EQ(hits.outside_kills, 0u);
  ASSERT_TRUE(tree->limit({200 << 20, 0}).ok());
  EXPECT_EQ(run_in(*tree, take_100_mib), 0);
  EXPECT_EQ(tree->take_hits(), LimitHits());
}

TEST(RealBounds, SoIsTheNumberOfProcesses) {
  Delegation delegation{Roots()};
  auto tree = ProcessTree::create(Roots(), TreeKind::kCgroup2, {}, &delegation);
  ASSERT_TRUE(tree.ok());
  if (!tree->why_no_process_limit().empty()) GTEST_SKIP() << "no controller pids to be had: " << tree->why_no_process_limit();
  ASSERT_TRUE(tree->limit({0, 2}).ok());
  const int status = run_in(*tree, [] {
    const pid_t first = ::fork();
    if (first == 0) {
      for (;;) ::pause();
    }
    const bool refused = ::fork() < 0 && ::fork() < 0;
    ::kill(first, SIGKILL);
    ::waitpid(first, nullptr, 0);
    ::_exit(refused ? 7 : 8);
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(tree->take_hits(), (LimitHits{0, 0, 2}));
}

// Version 2 alone: nobody may be in a group whose children are limited.
TEST(RealBounds, WhoStepsAsideComesBack) {
  const std::string own = own_cgroup(Roots(), "");
  if (own.empty() || !has_word(own + "/cgroup.controllers", "memory"))
    GTEST_SKIP() << "no controller memory of cgroup v2 to be had";
  const std::string group = own + "/stab-test-" + std::to_string(::getpid());
  ASSERT_TRUE(has_word(own + "/cgroup.subtree_control", "memory") ||
              write_small_file(own + "/cgroup.subtree_control", "+memory"));
  ASSERT_TRUE(std::filesystem::create_directory(group));
  const pid_t child = ::fork();
  if (child == 0) {
    write_small_file(group + "/cgroup.procs", "0");
    const pid_t below = ::fork();
    if (below == 0) {
      for (;;) ::pause();
    }
    {
      Delegation delegation{Roots()};
      if (!delegation.give(group, "memory").empty()) ::_exit(1);
      if (own_cgroup(Roots(), "") != group) ::_exit(2);
      if (!read_small_file(group + "/cgroup.procs").value_or("?").empty()) ::_exit(3);
      auto tree = ProcessTree::create(Roots(), TreeKind::kCgroup2, {}, &delegation);
      if (!tree || !tree->why_no_memory_limit().empty() || !tree->limit({64 << 20, 0})) ::_exit(4);
    }
    const bool is_back =
        read_small_file(group + "/cgroup.procs").value_or("").find(std::to_string(::getpid())) != std::string::npos;
    ::kill(below, SIGKILL);
    ::_exit(is_back ? 0 : 5);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  // Of others it moves nobody.
  const pid_t bystander = ::fork();
  if (bystander == 0) {
    write_small_file(group + "/cgroup.procs", "0");
    for (;;) ::pause();
  }
  while (read_small_file(group + "/cgroup.procs").value_or("").find(std::to_string(bystander)) == std::string::npos)
    ::usleep(1000);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    write_small_file(group + "/cgroup.procs", "0");
    Delegation delegation{Roots()};
    ::_exit(delegation.give(group, "memory").find("holds 1 processes of others") == std::string::npos ? 1 : 0);
  }
  ::waitpid(stranger, &status, 0);
  EXPECT_EQ(status, 0);
  ::kill(bystander, SIGKILL);
  ::waitpid(bystander, nullptr, 0);
  for (int tries = 0; tries < 1000 && ::rmdir(group.c_str()) != 0; ++tries) ::usleep(1000);
}

}  // namespace
}  // namespace stab::host
