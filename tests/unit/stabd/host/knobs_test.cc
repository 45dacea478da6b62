// A machine of files: what each knob writes there, and that everything is as it was afterwards, whoever dies when.
#include "stabd/host/knobs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

#include "base/path_lock.h"
#include "base/unique_fd.h"
#include "stabd/engine/machine/gates.h"
#include "stabd/host/tuning.h"
#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

// A machine with every knob, in a directory.
class FakeHost : public testing::Test {
 protected:
  FakeHost() {
    roots.proc = machine.path() + "/proc";
    roots.sys = machine.path() + "/sys";
    put("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave");
    put("sys/devices/system/cpu/cpu2/cpufreq/scaling_min_freq", "800000");
    put("sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq", "3000000");
    put("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
    put("sys/devices/system/cpu/cpu2/cpuidle/state0/disable", "0");
    put("sys/devices/system/cpu/cpu2/cpuidle/state1/disable", "0");
    put("sys/devices/system/cpu/cpu2/cpuidle/state2/disable", "0");
    put("sys/devices/system/cpu/smt/control", "on");
    put("proc/sys/vm/swappiness", "60");
    put("proc/sys/kernel/numa_balancing", "1");
    put("proc/sys/kernel/watchdog", "1");
    put("proc/irq/5/smp_affinity_list", "0-3");
    put("proc/irq/19/smp_affinity_list", "2");
    for (const std::string& pid : {std::to_string(::getpid()), std::string("1")})
      put("proc/" + pid + "/stat", pid + " (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + std::to_string(777) + " 0");
  }
  void put(const std::string& name, const std::string& text) { machine.write(name, text + "\n"); }
  std::string get(const std::string& name) {
    std::string text = machine.read(name);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  std::vector<KnobWrite> writes(const std::string& knob, const std::string& word) {
    const auto found = writes_of(knob, word, roots, placement);
    EXPECT_TRUE(found.ok()) << found.error().text();
    return found ? *found : std::vector<KnobWrite>();
  }
  std::vector<KnobWrite> several() {
    std::vector<KnobWrite> all;
    for (const auto& [knob, word] : {std::pair("governor", "performance"), std::pair("frequency", "1500000"),
                                     std::pair("c_states", "off"), std::pair("watchdogs", "off")})
      for (const KnobWrite& write : writes(knob, word)) all.push_back(write);
    return all;
  }
  std::string state() {
    std::string all;
    for (const char* name : {"scaling_governor", "scaling_min_freq", "scaling_max_freq"})
      all += get(std::string("sys/devices/system/cpu/cpu2/cpufreq/") + name) + " ";
    for (const char* name : {"state0", "state1", "state2"})
      all += get(std::string("sys/devices/system/cpu/cpu2/cpuidle/") + name + "/disable") + " ";
    return all + get("proc/sys/kernel/watchdog");
  }
  static constexpr char kUntouched[] = "powersave 800000 3000000 0 0 0 1";
  static constexpr char kTuned[] = "performance 1500000 1500000 0 1 1 0";

  TemporaryDirectory machine;
  Roots roots;
  Placement placement{2, 0, ""};
  std::string journal = machine.path() + "/var/lib/stab/knobs.journal";
};

TEST_F(FakeHost, EveryKnobOfThePlanIsKnown) {
  for (const plan::Knob& knob : plan::kKnobs) {
    bool found = false;
    for (const KnobInfo& info : knob_infos()) found = found || info.name == knob.name;
    EXPECT_TRUE(found) << knob.name;
  }
}

TEST_F(FakeHost, TurnsAndTurnsBack) {
  {
    auto tuning = Tuning::begin(roots, journal, "boot-1");
    ASSERT_TRUE(tuning.ok()) << tuning.error().text();
    const auto outcomes = tuning->apply(several());
    ASSERT_TRUE(outcomes.ok());
    for (const KnobOutcome& outcome : *outcomes) EXPECT_EQ(outcome.refused, "") << outcome.write.path;
    EXPECT_EQ(state(), kTuned);
  }
  EXPECT_EQ(state(), kUntouched);
  EXPECT_FALSE(read_small_file(journal).has_value());
}

// Killed at any moment: a child dies after each number of writes, the next start restores.
TEST_F(FakeHost, NextStartRestoresWhatADeadEngineLeft) {
  const std::vector<KnobWrite> all = several();
  for (size_t count = 0; count <= all.size(); ++count) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto tuning = Tuning::begin(roots, journal, "boot-1");
      if (tuning) (void)tuning->apply(std::vector<KnobWrite>(all.begin(), all.begin() + static_cast<long>(count)));
      ::_exit(0);  // no destructor
    }
    ::waitpid(child, nullptr, 0);
    ASSERT_TRUE(read_small_file(journal).has_value());
    const auto restored = Tuning::recover(roots, journal, "boot-1");
    ASSERT_TRUE(restored.ok()) << restored.error().text();
    EXPECT_EQ(restored->settings, static_cast<int>(count));
    EXPECT_EQ(state(), kUntouched);
    EXPECT_FALSE(read_small_file(journal).has_value());
  }
}

// The journal was written, the knob not yet: restoring does nothing wrong.
TEST_F(FakeHost, JournalAheadOfTheKnob) {
  machine.write("var/lib/stab/knobs.journal",
                "stab-knobs 1 boot-1 1 5\n" + roots.proc + "/sys/kernel/watchdog\t1\n" + roots.proc + "/sys/vm/swapp");
  const auto restored = Tuning::recover(roots, journal, "boot-1");
  ASSERT_TRUE(restored.ok()) << restored.error().text();
  EXPECT_EQ(restored->settings, 0);
  EXPECT_EQ(state(), kUntouched);
}

// A disk that is full takes the beginning of a line, and its file was not written then: half a value is no former one.
TEST_F(FakeHost, ALineThatWasCutOffIsNone) {
  const std::string line = roots.proc + "/irq/5/smp_affinity_list\t0-3\n";
  for (size_t bytes = 0; bytes < line.size(); ++bytes) {
    machine.write("var/lib/stab/knobs.journal",
                  "stab-knobs 4 boot-1 1 5\n" + roots.proc + "/sys/vm/swappiness\t60\n" + line.substr(0, bytes));
    const auto restored = Tuning::recover(roots, journal, "boot-1");
    ASSERT_TRUE(restored.ok()) << restored.error().text();
    EXPECT_EQ(restored->settings, 0) << line.substr(0, bytes);
    ASSERT_EQ(get("proc/irq/5/smp_affinity_list"), "0-3") << line.substr(0, bytes);
  }
}

TEST_F(FakeHost, LivingTunersAreRespected) {
  machine.write("var/lib/stab/knobs.journal", "stab-knobs 1 boot-1 1 777\n" + roots.proc + "/sys/kernel/watchdog\t0\n");
  const auto second = Tuning::begin(roots, journal, "boot-1");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  const auto ours = Tuning::restore_ours(roots, journal, "boot-1");
  ASSERT_TRUE(ours.ok()) << ours.error().text();
  EXPECT_EQ(state(), kUntouched);
  EXPECT_TRUE(read_small_file(journal).has_value());
}

// The other engine's /proc does not show the tuner: it is in a container, or the tuner is.
TEST_F(FakeHost, ATunerOfAnotherPidNamespaceIsRespected) {
  Roots others = roots;
  others.proc = machine.path() + "/proc-of-a-container";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t tuner = ::fork();
  if (tuner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also where a check below ends the test
    auto tuning = Tuning::begin(roots, journal, "boot-1");
    if (tuning) (void)tuning->apply(several());
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);  // or a tuner that ends would leave us reading
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(state(), kTuned);
  for (const auto& refused : {Tuning::recover(others, journal, "boot-1"), Tuning::recover(roots, journal, "boot-1")}) {
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
    EXPECT_EQ(refused.error().message,
              "process " + std::to_string(tuner) + " (as its PID namespace numbers it) has tuned this machine and still runs");
  }
  EXPECT_FALSE(Tuning::begin(others, journal, "boot-1").ok());
  EXPECT_EQ(state(), kTuned);
  ::kill(tuner, SIGKILL);
  ::waitpid(tuner, nullptr, 0);
  const auto restored = Tuning::recover(others, journal, "boot-1");
  ASSERT_TRUE(restored.ok()) << restored.error().text();
  EXPECT_EQ(state(), kUntouched);
  ::close(ready[0]);
}

// Between the file's making and its first line.
TEST_F(FakeHost, AJournalThatIsAboutToBeWrittenStays) {
  machine.write("var/lib/stab/knobs.journal", "");
  const UniqueFd maker(::open(journal.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(lock_path(maker.get(), journal));
  const auto refused = Tuning::recover(roots, journal, "boot-1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "another engine has tuned this machine and still runs");
  EXPECT_TRUE(read_small_file(journal).has_value());
}

// Process 1 is here, and started when the journal says: it is the number of another, in a namespace that is no more.
TEST_F(FakeHost, OfALockedJournalThePidSaysNothing) {
  machine.write("var/lib/stab/knobs.journal", "stab-knobs 4 boot-1 1 777\n" + roots.proc + "/sys/kernel/watchdog\t0\n");
  const auto restored = Tuning::recover(roots, journal, "boot-1");
  ASSERT_TRUE(restored.ok()) << restored.error().text();
  EXPECT_EQ(get("proc/sys/kernel/watchdog"), "0");
}

// While the watchdogs are off, whoever reads soft_watchdog turns it off as well; the emulated machine of build-packages does so.
TEST_F(FakeHost, WhatChangesWithAKnobIsWrittenBackToo) {
  put("proc/sys/kernel/soft_watchdog", "1");
  put("proc/sys/kernel/nmi_watchdog", "0");
  {
    auto tuning = Tuning::begin(roots, journal, "boot-1");
    ASSERT_TRUE(tuning.ok()) << tuning.error().text();
    const auto outcomes = tuning->apply(writes("watchdogs", "off"));
    ASSERT_TRUE(outcomes.ok());
    for (const KnobOutcome& outcome : *outcomes) EXPECT_EQ(outcome.refused, "") << outcome.write.path;
    EXPECT_EQ(get("proc/sys/kernel/watchdog"), "0");
    EXPECT_EQ(get("proc/sys/kernel/soft_watchdog"), "1") << "only the switch is turned";
    EXPECT_EQ(present_value("watchdogs", roots, placement), "0");
    put("proc/sys/kernel/soft_watchdog", "0");
  }
  EXPECT_EQ(get("proc/sys/kernel/watchdog"), "1");
  EXPECT_EQ(get("proc/sys/kernel/soft_watchdog"), "1");
  EXPECT_EQ(get("proc/sys/kernel/nmi_watchdog"), "0");
}

// A person has restored what the first has turned, and another engine has begun.
TEST_F(FakeHost, AJournalThatIsAnothersByNowIsLeftAlone) {
  auto first = Tuning::begin(roots, journal, "boot-1");
  ASSERT_TRUE(first.ok()) << first.error().text();
  ASSERT_TRUE(first->apply(writes("watchdogs", "off")).ok());
  ASSERT_TRUE(Tuning::restore(roots, journal, "boot-1").ok());
  auto second = Tuning::begin(roots, journal, "boot-1");
  ASSERT_TRUE(second.ok()) << second.error().text();
  ASSERT_TRUE(second->apply(several()).ok());
  const auto late = first->apply(writes("irqs", "off"));
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message.find("write journal '" + journal + "'"), std::string::npos) << late.error().message;
  { const Tuning ends = *std::move(first); }
  EXPECT_EQ(state(), kTuned) << "what the second has turned";
  { const Tuning ends = *std::move(second); }
  EXPECT_EQ(state(), kUntouched);
  EXPECT_FALSE(read_small_file(journal).has_value());
}

TEST_F(FakeHost, AnotherProcessWithTheOldPidIsNotTheTuner) {
  machine.write("var/lib/stab/knobs.journal",
                "stab-knobs 1 boot-1 1 776\n" + roots.proc + "/sys/kernel/watchdog\t0\n");
  const auto restored = Tuning::recover(roots, journal, "boot-1");
  ASSERT_TRUE(restored.ok()) << restored.error().text();
  EXPECT_EQ(get("proc/sys/kernel/watchdog"), "0");
}

TEST_F(FakeHost, AJournalOfAnotherBootIsVoid) {
  machine.write("var/lib/stab/knobs.journal", "stab-knobs 1 boot-0 1 777\n" + roots.proc + "/sys/kernel/watchdog\t7\n");
  ASSERT_TRUE(Tuning::recover(roots, journal, "boot-1").ok());
  EXPECT_EQ(get("proc/sys/kernel/watchdog"), "1");
  EXPECT_FALSE(read_small_file(journal).has_value());
}

// A directory is there and takes no text.
TEST_F(FakeHost, WhatCantBeRestoredStaysInTheJournal) {
  machine.write("var/lib/stab/knobs.journal", "stab-knobs 1 boot-1 1 5\n" + machine.path() + "\t7\n");
  const auto restored = Tuning::recover(roots, journal, "boot-1");
  ASSERT_FALSE(restored.ok());
  EXPECT_NE(restored.error().message.find("write '7' to '" + machine.path() + "'"), std::string::npos) << restored.error().text();
  EXPECT_NE(restored.error().message.find("remove the journal '" + journal + "'"), std::string::npos) << restored.error().text();
  EXPECT_TRUE(read_small_file(journal).has_value());
}

// An interrupt may be freed while it is tuned, and its files with it.
TEST_F(FakeHost, AVanishedFileIsNoObstacle) {
  const std::string irq = roots.proc + "/irq/5/smp_affinity_list";
  {
    auto tuning = Tuning::begin(roots, journal, "boot-1");
    ASSERT_TRUE(tuning.ok()) << tuning.error().text();
    ASSERT_TRUE(tuning->apply(writes("irqs", "off")).ok());
    EXPECT_EQ(get("proc/irq/19/smp_affinity_list"), "0");
    ASSERT_EQ(::unlink(irq.c_str()), 0);
  }
  EXPECT_EQ(get("proc/irq/19/smp_affinity_list"), "2");
  EXPECT_NE(::access(irq.c_str(), F_OK), 0) << "made again";
  EXPECT_FALSE(read_small_file(journal).has_value());

  machine.write("var/lib/stab/knobs.journal", "stab-knobs 3 boot-1 1 5\n" + irq + "\t0-3\n");
  const auto restored = Tuning::recover(roots, journal, "boot-1");
  ASSERT_TRUE(restored.ok()) << restored.error().text();
  EXPECT_EQ(restored->settings, 0);
  EXPECT_EQ(restored->gone, std::vector<std::string>{irq});
  EXPECT_EQ(gone_text(*restored), "; 1 is gone with what was set there: '" + irq + "'");
  EXPECT_FALSE(read_small_file(journal).has_value());
}

// What a Tuning of this process could not restore when it ended: a daemon must not wait for itself.
TEST_F(FakeHost, AJournalOfTheOwnProcessIsReplayed) {
  const std::string watchdog = roots.proc + "/sys/kernel/watchdog";
  const std::string saved = watchdog + ".saved";
  for (const bool by_begin : {true, false}) {
    {
      auto tuning = Tuning::begin(roots, journal, "boot-1");
      ASSERT_TRUE(tuning.ok()) << tuning.error().text();
      ASSERT_TRUE(tuning->apply(writes("watchdogs", "off")).ok());
      // For now something is in the way.
      ASSERT_EQ(::rename(watchdog.c_str(), saved.c_str()), 0);
      ASSERT_EQ(::mkdir(watchdog.c_str(), 0755), 0);
    }
    ASSERT_TRUE(read_small_file(journal).has_value());
    EXPECT_FALSE(Tuning::restore_ours(roots, journal, "boot-1").ok());
    ASSERT_EQ(::rmdir(watchdog.c_str()), 0);
    ASSERT_EQ(::rename(saved.c_str(), watchdog.c_str()), 0);
    ASSERT_EQ(get("proc/sys/kernel/watchdog"), "0");
    if (by_begin) {
      const auto next = Tuning::begin(roots, journal, "boot-1");
      ASSERT_TRUE(next.ok()) << next.error().text();
      EXPECT_EQ(get("proc/sys/kernel/watchdog"), "1");
    } else {
      const auto restored = Tuning::restore_ours(roots, journal, "boot-1");
      ASSERT_TRUE(restored.ok()) << restored.error().text();
      EXPECT_EQ(restored->settings, 1);
      EXPECT_EQ(get("proc/sys/kernel/watchdog"), "1");
    }
    EXPECT_FALSE(read_small_file(journal).has_value());
  }
}

TEST_F(FakeHost, AbsentKnobsSaySo) {
  roots.sys = machine.path() + "/none";
  for (const char* knob : {"governor", "turbo", "c_states", "smt"}) {
    const auto found = writes_of(knob, "off", roots, placement);
    ASSERT_FALSE(found.ok()) << knob;
    EXPECT_EQ(found.error().code, ErrorCode::kUnavailable) << knob;
    EXPECT_EQ(present_value(knob, roots, placement), "absent");
  }
}

TEST_F(FakeHost, WordsThatAKnobDoesNotKnow) {
  for (const auto& [knob, word] : {std::pair("turbo", "fast"), std::pair("frequency", "base"), std::pair("irqs", "on"),
                                   std::pair("page_cache", "drop"), std::pair("nonsense", "off")}) {
    const auto found = writes_of(knob, word, roots, placement);
    ASSERT_FALSE(found.ok()) << knob;
    EXPECT_EQ(found.error().code, ErrorCode::kBadInput) << knob;
  }
}

TEST_F(FakeHost, RefusedWritesAreReadBackAndSaid) {
  // A file that takes the write but does not keep it, as smp_affinity_list of a bound interrupt.
  auto tuning = Tuning::begin(roots, journal, "boot-1");
  ASSERT_TRUE(tuning.ok());
  const auto outcomes = tuning->apply({{"irqs", machine.path(), "0"}});
  ASSERT_TRUE(outcomes.ok());
  EXPECT_NE(outcomes->front().refused, "");
}

TEST_F(FakeHost, InterruptsMoveToTheHousekeeper) {
  const auto moves = writes("irqs", "off");
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].wanted, "0");
  EXPECT_TRUE(moves[0].may_refuse);
}

TEST(Knobs, WrittenForm) {
  EXPECT_EQ(written_form("always [madvise] never"), "madvise");
  EXPECT_EQ(written_form("powersave"), "powersave");
}

plan::Gates gates(const char* window) {
  plan::Gates made;
  made.window = window;
  return made;
}

TEST(Gates, WindowAcrossMidnight) {
  engine::GateView view;
  for (const auto& [minute, open] : {std::pair(22 * 60, true), std::pair(23 * 60 + 59, true), std::pair(0, true),
                                     std::pair(5 * 60 + 59, true), std::pair(6 * 60, false), std::pair(12 * 60, false)}) {
    view.minute_of_day = minute;
    EXPECT_EQ(engine::closed_gate(gates("22:00-06:00"), view).empty(), open) << minute;
    EXPECT_EQ(engine::closed_gate(gates("06:00-22:00"), view).empty(), !open) << minute;
  }
}

// Central Europe: clocks go from 2 to 3 on 29 March 2026 and from 3 to 2 on 25 October, both at 1:00 UTC. Minutes of
// the day from noon before to noon after in which the window is open.
class ClockChanges : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* zone = std::getenv("TZ")) before_ = zone;
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  void TearDown() override {
    if (before_) ::setenv("TZ", before_->c_str(), 1);
    if (!before_) ::unsetenv("TZ");
    ::tzset();
  }
  static bool open_at(const char* window, int64_t utc_s) {
    const engine::GateView view = engine::look_at_gates(Roots{"/nowhere", "/nowhere", "/nowhere"}, std::chrono::seconds(utc_s));
    return engine::closed_gate(gates(window), view).empty();
  }
  static int open_minutes(const char* window, int64_t noon_utc_s) {
    int open = 0;
    for (int minute = 0; minute < 24 * 60; ++minute) open += open_at(window, noon_utc_s + minute * 60);
    return open;
  }
  static constexpr int64_t kNoonInMarch = 1774699200;    // 2026-03-28 12:00 UTC
  static constexpr int64_t kNoonInOctober = 1792843200;  // 2026-10-24 12:00 UTC
  std::optional<std::string> before_;
};

TEST_F(ClockChanges, ANightIsAnHourShorterInSpring) {
  EXPECT_EQ(open_minutes("22:00-06:00", kNoonInMarch), 7 * 60);
  EXPECT_FALSE(open_at("22:00-06:00", kNoonInMarch + 9 * 3600 - 1));  // 21:59:59 winter time
  EXPECT_TRUE(open_at("22:00-06:00", kNoonInMarch + 9 * 3600));
  EXPECT_TRUE(open_at("22:00-06:00", kNoonInMarch + 16 * 3600 - 1));  // 5:59:59 summer time
  EXPECT_FALSE(open_at("22:00-06:00", kNoonInMarch + 16 * 3600));
  EXPECT_EQ(open_minutes("02:15-02:45", kNoonInMarch), 0) << "that half hour did not exist";
}

TEST_F(ClockChanges, AndAnHourLongerInAutumn) {
  EXPECT_EQ(open_minutes("22:00-06:00", kNoonInOctober), 9 * 60);
  EXPECT_TRUE(open_at("22:00-06:00", kNoonInOctober + 8 * 3600));   // 22:00 summer time
  EXPECT_FALSE(open_at("22:00-06:00", kNoonInOctober + 17 * 3600));  // 6:00 winter time
  EXPECT_EQ(open_minutes("02:15-02:45", kNoonInOctober), 60) << "that half hour came twice";
}

TEST(Gates, LoadAndTemperature) {
  plan::Gates wanted;
  wanted.load = 0.5;
  wanted.temperature_c = 60;
  engine::GateView view;
  EXPECT_NE(engine::closed_gate(wanted, view), "");
  view.load_1min = 0.4;
  view.hottest_c = 59;
  EXPECT_EQ(engine::closed_gate(wanted, view), "");
  view.load_1min = 0.5;
  EXPECT_EQ(engine::closed_gate(wanted, view), "load 0.5, wanted below 0.5");
  view.load_1min = 0.1;
  view.hottest_c = 61;
  EXPECT_EQ(engine::closed_gate(wanted, view), "temperature 61 C, wanted below 60");
  wanted.load = 0.001;
  EXPECT_EQ(engine::closed_gate(wanted, view), "load 0.1, wanted below 0.001");
}

}  // namespace
}  // namespace stab::host
