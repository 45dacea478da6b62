// Both kinds of cpuset: first as plans of writes on a machine of files, then for real below this machine's own.
#include "stabd/host/isolation.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "stabd/host/tuning.h"
#include "stabd/host/process_tree.h"
#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

// A machine of our own: a file system that takes what is written.
class FakeCgroups : public testing::Test {
 protected:
  FakeCgroups() { roots.proc = machine.path() + "/proc"; }
  void mounted(const std::string& mounts, const std::string& groups) {
    machine.write("proc/self/mounts", mounts);
    machine.write("proc/self/cgroup", groups);
  }
  std::string at(const std::string& path) const { return machine.path() + path; }
  // Files of a group go with it; here somebody has to take them away.
  void vanish(const std::string& group) {
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems", "/cpuset.cpus.partition"}) ::unlink(at(group + file).c_str());
  }
  std::string get(const std::string& path) { return read_small_file(at(path)).value_or("absent"); }

  TemporaryDirectory machine;
  Roots roots;
  Placement placement{2, 0, ""};
  std::string journal = at("/var/knobs.journal");
};

TEST_F(FakeCgroups, Version2IsAPartition) {
  mounted("cgroup2 " + at("/cg") + " cgroup2 rw 0 0\n", "0::/lab\n");
  machine.write("cg/lab/cgroup.controllers", "cpuset cpu memory\n");
  machine.write("cg/lab/cgroup.subtree_control", "memory\n");
  const auto isolation = isolation_of(roots, placement);
  ASSERT_TRUE(isolation.ok()) << isolation.error().text();
  EXPECT_EQ(isolation->parent_of_trials, at("/cg/lab/stab-isolated"));
  EXPECT_TRUE(isolation->procs_file.empty());
  {
    auto tuning = Tuning::begin(roots, journal, "boot");
    ASSERT_TRUE(tuning.ok()) << tuning.error().text();
    const auto outcomes = tuning->apply(isolation->writes);
    ASSERT_TRUE(outcomes.ok());
    for (const KnobOutcome& outcome : *outcomes) EXPECT_EQ(outcome.refused, "") << outcome.write.path;
    EXPECT_EQ(get("/cg/lab/cgroup.subtree_control"), "+cpuset");
    EXPECT_EQ(get("/cg/lab/stab-isolated/cpuset.cpus"), "2");
    EXPECT_EQ(get("/cg/lab/stab-isolated/cpuset.cpus.partition"), "isolated");
    auto tree = ProcessTree::create(roots, TreeKind::kCgroup2, isolation->parent_of_trials);
    ASSERT_TRUE(tree.ok());
    EXPECT_TRUE(tree->procs_files().at(0).starts_with(at("/cg/lab/stab-isolated/stab-trial-")));
    vanish("/cg/lab/stab-isolated");
  }
  EXPECT_EQ(get("/cg/lab/cgroup.subtree_control"), "-cpuset");
  EXPECT_EQ(get("/cg/lab/stab-isolated/cpuset.cpus"), "absent");
  EXPECT_FALSE(read_small_file(journal).has_value());
}

// A service's group is a member of the machine's partition, and below a member the kernel makes none ("isolated invalid").
TEST_F(FakeCgroups, BelowAMemberItStandsAtTheTop) {
  mounted("cgroup2 " + at("/cg") + " cgroup2 rw 0 0\n", "0::/system.slice/lab.service/stab-aside-7\n");
  const std::string ours = "cg/system.slice/lab.service";
  machine.write(ours + "/cgroup.controllers", "cpuset\n");
  const auto parent = [&](const char* kind) {
    machine.write(ours + "/cpuset.cpus.partition", kind);
    return isolation_of(roots, placement)->parent_of_trials;
  };
  EXPECT_EQ(parent("member\n"), at("/cg/stab-isolated"));
  EXPECT_EQ(parent("isolated invalid (Parent is not a partition root)\n"), at("/cg/stab-isolated"));
  EXPECT_EQ(parent("root\n"), at("/" + ours + "/stab-isolated"));
  EXPECT_EQ(parent("isolated\n"), at("/" + ours + "/stab-isolated"));
}

TEST_F(FakeCgroups, AControllerThatIsThereIsLeftAlone) {
  mounted("cgroup2 " + at("/cg") + " cgroup2 rw 0 0\n", "0::/\n");
  machine.write("cg/cgroup.controllers", "cpuset\n");
  machine.write("cg/cgroup.subtree_control", "cpuset\n");
  const auto isolation = isolation_of(roots, placement);
  ASSERT_TRUE(isolation.ok());
  EXPECT_EQ(isolation->writes.front().kind, KnobWrite::Kind::kDirectory);
}

// Without its CPUs nobody is moved into a group, and what was made until then goes at once.
TEST_F(FakeCgroups, ARefusalTakesTheWholeKnobBack) {
  mounted("cgroup " + at("/cs") + " cgroup rw,cpuset 0 0\n", "3:cpuset:/\n");
  machine.write("cs/cpuset.cpus", "0-3\n");
  machine.write("cs/cpuset.mems", "0\n");
  machine.write("cs/cgroup.procs", "1\n");
  auto isolation = isolation_of(roots, placement);
  ASSERT_TRUE(isolation.ok());
  auto& writes = isolation->writes;
  const auto refused = std::find_if(writes.begin(), writes.end(),
                                    [](const KnobWrite& write) { return write.path.ends_with("stab-others/cpuset.cpus"); });
  ASSERT_NE(refused, writes.end());
  refused->path = at("/cs/absent/cpuset.cpus");
  writes.insert(writes.end(), {"swap", at("/cs/cpuset.mems"), "1"});  // another knob is none of its business
  auto tuning = Tuning::begin(roots, journal, "boot");
  ASSERT_TRUE(tuning.ok());
  const auto outcomes = tuning->apply(writes);
  ASSERT_TRUE(outcomes.ok());
  ASSERT_EQ(outcomes->size(), 6u);
  EXPECT_NE(outcomes->at(4).refused, "");
  EXPECT_EQ(outcomes->at(5).refused, "");
  EXPECT_EQ(get("/cs/stab-others/cgroup.procs"), "absent") << "somebody was moved";
  EXPECT_NE(::access(at("/cs/stab-others").c_str(), F_OK), 0);
  vanish("/cs/stab-isolated");
}

// What was taken back is nobody's: a restore leaves alone what somebody else has made there since.
TEST_F(FakeCgroups, WhatWasTakenBackIsNotUndoneAgain) {
  const std::string group = at("/cs/group");
  machine.write("cs/other", "1\n");
  {
    auto tuning = Tuning::begin(roots, journal, "boot");
    ASSERT_TRUE(tuning.ok());
    const auto outcomes = tuning->apply({{"cpuset", group, "", false, KnobWrite::Kind::kDirectory},
                                         {"cpuset", at("/absent/cpuset.cpus"), "1", false, KnobWrite::Kind::kInside},
                                         {"swap", at("/cs/other"), "2"}});
    ASSERT_TRUE(outcomes.ok());
    EXPECT_NE(outcomes->at(1).refused, "");
    ASSERT_NE(::access(group.c_str(), F_OK), 0) << "not taken back";
    ASSERT_EQ(::mkdir(group.c_str(), 0755), 0);
    tuning->keep();
  }
  const auto restored = Tuning::restore(roots, journal, "boot");
  ASSERT_TRUE(restored.ok()) << restored.error().text();
  EXPECT_EQ(restored->settings, 1);
  EXPECT_EQ(get("/cs/other"), "1");
  EXPECT_EQ(::access(group.c_str(), F_OK), 0) << "removed what somebody else has made";
}

TEST_F(FakeCgroups, AGroupThatSomebodyElseHasMadeIsLeftAlone) {
  mounted("cgroup2 " + at("/cg") + " cgroup2 rw 0 0\n", "0::/\n");
  machine.write("cg/cgroup.controllers", "cpuset\n");
  machine.write("cg/cgroup.subtree_control", "\n");
  machine.write("cg/stab-isolated/cpuset.cpus", "1\n");
  {
    auto tuning = Tuning::begin(roots, journal, "boot");
    ASSERT_TRUE(tuning.ok());
    const auto outcomes = tuning->apply(isolation_of(roots, placement)->writes);
    ASSERT_TRUE(outcomes.ok());
    EXPECT_EQ(outcomes->back().refused, "exists already");
  }
  EXPECT_EQ(get("/cg/stab-isolated/cpuset.cpus"), "1");
  EXPECT_EQ(get("/cg/cgroup.subtree_control"), "-cpuset");
}

TEST_F(FakeCgroups, Version1HasTwoGroups) {
  mounted("cgroup " + at("/cs") + " cgroup rw,cpuset 0 0\n", "3:cpuset:/jobs\n");
  machine.write("cs/jobs/cpuset.cpus", "0-2,5-7,9\n");
  machine.write("cs/jobs/cpuset.mems", "0\n");
  const auto isolation = isolation_of(roots, placement);
  ASSERT_TRUE(isolation.ok()) << isolation.error().text();
  EXPECT_EQ(isolation->procs_file, at("/cs/jobs/stab-isolated/cgroup.procs"));
  std::string all;
  for (const KnobWrite& write : isolation->writes) all += write.path.substr(at("/cs/jobs").size()) + "=" + write.wanted + " ";
  EXPECT_EQ(all, "/stab-isolated= /stab-isolated/cpuset.cpus=2 /stab-isolated/cpuset.mems=0 "
                 "/stab-others= /stab-others/cpuset.cpus=0-1,5-7,9 /stab-others/cpuset.mems=0 "
                 "/stab-others/cgroup.procs=" + at("/cs/jobs/cgroup.procs") + " ");
}

TEST_F(FakeCgroups, WithoutControllerOrSecondCpuItSaysWhy) {
  mounted("cgroup2 " + at("/cg") + " cgroup2 rw 0 0\n", "0::/\n");
  machine.write("cg/cgroup.controllers", "memory\n");
  auto found = isolation_of(roots, placement);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(found.error().message.find("Delegate=cpuset"), std::string::npos);
  placement.housekeeping_cpu = 2;
  found = isolation_of(roots, placement);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("no other cpu"), std::string::npos);
}

// The real thing, in a cpuset of its own below the machine's, so that nobody else is moved.
class RealCpuset : public testing::Test {
 protected:
  void SetUp() override {
    const std::string base = own_cgroup(Roots(), "cpuset");
    if (base.empty()) GTEST_SKIP() << "no cpuset of cgroup v1 on this machine";
    cpus = read_small_file(base + "/cpuset.cpus").value_or("");
    group = base + "/stab-test-" + std::to_string(::getpid());
    if (::mkdir(group.c_str(), 0755) != 0) GTEST_SKIP() << "'" << group << "' can't be made";
    if (cpus.find_first_of(",-") == std::string::npos || !write_small_file(group + "/cpuset.cpus", cpus) ||
        !write_small_file(group + "/cpuset.mems", read_small_file(base + "/cpuset.mems").value_or("0"))) {
      GTEST_SKIP() << "cpus " << cpus << " can't be shared out";
    }
    // An affinity, as taskset gives one, stays in force in every cpuset.
    if (count(0) < 2) GTEST_SKIP() << "cpus " << cpus << " can't be shared out: this process is kept on one of them";
    home = base;
  }
  void TearDown() override {
    if (!home.empty()) write_small_file(home + "/cgroup.procs", "0");
    ::rmdir((group + "/stab-isolated").c_str());
    ::rmdir((group + "/stab-others").c_str());
    if (group.empty()) return;
    EXPECT_EQ(::rmdir(group.c_str()), 0) << "something is left in " << group;
  }
  static int count(pid_t pid) {
    cpu_set_t set;
    return ::sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
  }
  std::string cpus, group, home;
  TemporaryDirectory files;
};

TEST_F(RealCpuset, OthersLeaveTheCpuAndComeBackAlsoAfterAKill) {
  const std::string journal = files.path() + "/knobs.journal";
  for (const bool killed : {false, true}) {
    const pid_t bystander = ::fork();
    if (bystander == 0) {
      write_small_file(group + "/cgroup.procs", "0");
      for (;;) ::pause();
    }
    while (read_small_file(group + "/cgroup.procs").value_or("").empty()) ::usleep(1000);
    const int before = count(bystander);
    const pid_t engine = ::fork();
    if (engine == 0) {
      write_small_file(group + "/cgroup.procs", "0");
      const auto isolation = isolation_of(Roots(), Placement{1, 0, ""});
      if (!isolation) ::_exit(1);
      auto tuning = Tuning::begin(Roots(), journal, "boot");
      if (!tuning) ::_exit(2);
      const auto outcomes = tuning->apply(isolation->writes);
      if (!outcomes) ::_exit(3);
      for (const KnobOutcome& outcome : *outcomes)
        if (!outcome.refused.empty()) ::_exit(4);
      if (count(bystander) != before - 1) ::_exit(5);
      // A trial that a dead engine leaves is in the way of nobody.
      const pid_t trial = ::fork();
      if (trial == 0) {
        ::close_range(3, ~0U, 0);  // as for whatever is started by exec
        write_small_file(isolation->procs_file, "0");
        for (;;) ::pause();
      }
      while (read_small_file(isolation->procs_file).value_or("").empty()) ::usleep(1000);
      if (count(trial) != 1) ::_exit(6);
      if (killed) ::kill(::getpid(), SIGKILL);
      ::kill(trial, SIGKILL);
      ::waitpid(trial, nullptr, 0);
      std::optional<Tuning> ends(std::move(*tuning));
      ends.reset();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(engine, &status, 0);
    EXPECT_TRUE(killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
    if (killed) {
      EXPECT_EQ(count(bystander), before - 1);
      const auto restored = Tuning::recover(Roots(), journal, "boot");
      EXPECT_TRUE(restored.ok()) << restored.error().text();
    }
    EXPECT_EQ(count(bystander), before);
    EXPECT_FALSE(read_small_file(group + "/stab-isolated/cpuset.cpus").has_value());
    // The orphaned trial is here now, and the bystander.
    std::istringstream members(read_small_file(group + "/cgroup.procs").value_or(""));
    int alive = 0;
    for (pid_t pid = 0; members >> pid; ++alive) ::kill(pid, SIGKILL);
    EXPECT_EQ(alive, killed ? 2 : 1);
    ::kill(bystander, SIGKILL);  // wherever a test that fails has left it
    ::waitpid(bystander, nullptr, 0);
    while (!read_small_file(group + "/cgroup.procs").value_or("").empty()) ::usleep(1000);
  }
}

}  // namespace
}  // namespace stab::host
