// The virtual clock under a simulated scheduler: what it predicts against work that really is shorter, for ten programs; and what
// is known to be wrong must come out wrong here as well (batches of ten, threads that sleep where they share a CPU).
#include "runtime/causal/clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/unit/runtime/causal/simulated_machine.h"

namespace stab::causal {
namespace {

using namespace simulated;

constexpr uint64_t kRunUs = 6'000'000;

Step work(int line, uint64_t us) { return {Does::kWork, line, us, 0}; }
Step io(int line, uint64_t us) { return {Does::kIo, line, us, 0}; }
const Step kBarrier = {Does::kBarrier}, kLock = {Does::kLock}, kUnlock = {Does::kUnlock}, kPush = {Does::kPush},
           kPop = {Does::kPop}, kDone = {Does::kProgress};

Program barrier_pair(uint32_t cpus) {
  return {"barrier of 2", cpus, {{work(1, 2000), kBarrier, kDone}, {work(2, 1600), kBarrier}}, 2, 1 << 30, {1, 2}};
}

Program lock_pair(const char* name, uint64_t outside, uint64_t inside, size_t threads) {
  return {name, 2, std::vector<std::vector<Step>>(threads, {work(1, outside), kLock, work(2, inside), kUnlock, kDone}), 0,
          1 << 30, {1, 2}};
}

std::vector<Program> programs() {
  const std::vector<Step> consumer = {kPop, work(2, 1800), kDone};
  return {
      barrier_pair(2),
      barrier_pair(1),
      {"barrier of 4", 2,
       {{work(1, 2000), kBarrier, kDone}, {work(2, 1600), kBarrier}, {work(1, 2000), kBarrier}, {work(2, 1600), kBarrier}},
       4, 1 << 30, {1, 2}},
      {"pipeline 1 + 1", 2, {{work(1, 1000), kPush}, {kPop, work(2, 1300), kDone}}, 0, 8, {1, 2}},
      {"pipeline 1 + 3", 2, {{work(1, 400), kPush}, consumer, consumer, consumer}, 0, 8, {1, 2}},
      lock_pair("lock 1.0 + 0.6", 1000, 600, 2),
      lock_pair("lock 0.3 + 0.6", 300, 600, 2),
      lock_pair("lock of 4", 1000, 300, 4),
      {"I/O and CPU", 2, {{io(3, 2000), work(1, 1000), kDone}}, 0, 1 << 30, {1}},
      {"I/O at a barrier", 2, {{io(3, 2000), work(1, 500), kBarrier, kDone}, {work(2, 2200), kBarrier}}, 2, 1 << 30, {1, 2}},
  };
}

struct Errors {
  double sum = 0, most = 0;
  int cases = 0;
  void add(double error) {
    sum += std::fabs(error);
    most = std::max(most, std::fabs(error));
    ++cases;
  }
  double mean() const { return sum / cases; }
};

double predicted(const Program& program, Protocol protocol, int line, double speedup, uint64_t period_us = 1000, int batch = 1) {
  return gain(program, {protocol, line, speedup, period_us, batch}, kRunUs);
}
double real(const Program& program, int line, double speedup) { return gain(program, {Protocol::kReal, line, speedup}, kRunUs); }

TEST(VirtualClock, PredictsWhatReallyShorterWorkGivesForTenPrograms) {
  Errors errors;
  for (const Program& program : programs()) {
    for (int line : program.lines) {
      for (double speedup : {0.25, 0.5, 0.75}) {
        const double truth = real(program, line, speedup), guess = predicted(program, Protocol::kCpuSpins, line, speedup);
        errors.add(guess - truth);
        // The worst known cases are a line that takes no longer than a period, and four threads on two CPUs.
        EXPECT_NEAR(guess, truth, 6.5) << program.name << " line " << line << " at " << speedup;
      }
    }
  }
  std::printf("%d cases: %.2f points in the mean, %.2f at most\n", errors.cases, errors.mean(), errors.most);
  EXPECT_EQ(errors.cases, 57);
  EXPECT_LE(errors.mean(), 1.2);
}

TEST(VirtualClock, BatchesOfTenSamplesMispredictWhereThreadsMeetOften) {
  const Program program = barrier_pair(2);
  const double truth = real(program, 1, 0.75);
  EXPECT_NEAR(truth, 21.9, 1.5);
  EXPECT_NEAR(predicted(program, Protocol::kCpuSpins, 1, 0.75), truth, 2);
  EXPECT_GT(predicted(program, Protocol::kThreadSleeps, 1, 0.75, 1000, 10), truth + 20);
}

TEST(VirtualClock, ThreadsThatSleepMispredictWhereTheyShareACpu) {
  const Program program = barrier_pair(1);
  const double truth = real(program, 1, 0.75);
  EXPECT_NEAR(truth, 41.5, 1.5);
  EXPECT_LT(predicted(program, Protocol::kThreadSleeps, 1, 0.75), truth - 4);
  EXPECT_NEAR(predicted(program, Protocol::kCpuSpins, 1, 0.75), truth, 1.5);
}

TEST(VirtualClock, OnOneCpuNobodyHasToPause) {
  for (int line : {1, 2})
    for (double speedup : {0.25, 0.5, 0.75}) {
      const Program program = barrier_pair(1);
      EXPECT_NEAR(predicted(program, Protocol::kOneCpu, line, speedup), real(program, line, speedup), 1.5)
          << "line " << line << " at " << speedup;
    }
}

// Whatever the line, when everybody pauses, the sampled thread too, nothing becomes faster.
TEST(VirtualClock, ANullWindowHasNoEffect) {
  for (const Program& program : programs()) {
    for (int line : program.lines) {
      Experiment null{Protocol::kCpuSpins, line, 0.75};
      null.kind = ArmKind::kNull;
      // Where threads share CPUs a pause also shifts who runs when; where a CPU idles it pauses anyway.
      EXPECT_NEAR(gain(program, null, kRunUs), 0, 4) << program.name << " line " << line;
    }
  }
}

TEST(VirtualClock, ASlowDownIsAsLargeAsWorkThatIsReallyLonger) {
  const Program program = barrier_pair(2);
  Experiment slower{Protocol::kCpuSpins, 1, 0.5};
  slower.kind = ArmKind::kSlowdown;
  // 2.0 to 3.0 ms, and the other waits.
  EXPECT_NEAR(gain(program, slower, kRunUs), -48, 4);
}

// ---------------------------------------------------------------------------------------------------------
// The rules, one by one.

struct Clocks {
  uint64_t global = 0;
  CpuClock cpus[4] = {};
  Clock clock{global, cpus, 4, false};
};

TEST(VirtualClock, CreditRaisesGlobalToTheLargest) {
  Clocks c;
  c.clock.credit(1, 500);
  EXPECT_EQ(c.global, 500u);
  c.clock.credit(2, 300);  // at the same time: they overlap
  EXPECT_EQ(c.global, 500u);
  EXPECT_EQ(c.clock.owed(0), 500u);
  EXPECT_EQ(c.clock.owed(1), 0u);
  EXPECT_EQ(c.clock.owed(2), 200u);
}

TEST(VirtualClock, OnlyStepsOnOneCpuThatAreShortCountAsPaid) {
  Clocks c;
  c.clock.credit(1, 100'000);
  EXPECT_EQ(c.clock.count_step(0, 0, 1'000), 1'000u);
  EXPECT_EQ(c.clock.count_step(0, 2, 1'000), 0u);
  EXPECT_EQ(c.clock.count_step(0, 0, kLongestStepNs), 0u);
  EXPECT_EQ(c.clock.owed(0), 99'000u);
}

TEST(VirtualClock, AnIdleCpuOwesNothingWhenSomebodyComes) {
  Clocks c;
  int first = -1, second = -1;
  c.clock.occupy(first, 0);
  c.clock.credit(0, 1'000);
  c.clock.occupy(second, 1);  // nobody was there
  EXPECT_EQ(c.clock.owed(1), 0u);
  c.clock.credit(0, 1'000);
  int third = -1;
  c.clock.occupy(third, 1);  // somebody was
  EXPECT_EQ(c.clock.owed(1), 1'000u);
  c.clock.vacate(second);
  c.clock.vacate(third);
  EXPECT_EQ(c.cpus[1].occupants, 0);
  c.clock.occupy(second, 1);
  EXPECT_EQ(c.clock.owed(1), 0u);
}

TEST(VirtualClock, ACpuThatComputedInTheKernelWasNotIdle) {
  Clocks c;
  int thread = -1;
  c.clock.occupy(thread, 1);
  c.clock.vacate(thread);  // calls what may wait
  c.clock.credit(0, 1'000);
  c.clock.occupy(thread, 1, false);
  EXPECT_EQ(c.clock.owed(1), 1'000u);
  EXPECT_EQ(c.cpus[1].occupants, 1);
}

TEST(VirtualClock, WhoeverTheWorldWokeSleepsByWhatGrewMeanwhile) {
  Clocks c;
  uint64_t seen = c.global;
  c.clock.credit(0, 700);
  EXPECT_EQ(c.clock.owed_to_world(seen), 700u);
  c.clock.credit(0, 50);  // while it slept
  EXPECT_EQ(c.clock.owed_to_world(seen), 50u);
  EXPECT_EQ(c.clock.owed_to_world(seen), 0u);
}

TEST(VirtualClock, OnOneCpuCreditsAddUpWhateverItsNumber) {
  uint64_t global = 0;
  CpuClock cpus[1] = {};
  const Clock clock{global, cpus, 1, true};
  clock.credit(7, 100);
  clock.credit(3, 100);
  EXPECT_EQ(global, 200u);
  EXPECT_EQ(clock.owed(5), 0u);
}

TEST(EffectiveTime, IsWallOrCpuTimeLessThePauses) {
  Snapshot from{}, to{};
  to.at_ns = 1'000'000;
  to.cpu_ns = 800'000;
  to.global = 100'000;
  to.world_blocked_ns = 50'000;
  EXPECT_EQ(effective_ns(Pauses::kCpuTime, from, to), 750'000u);
  EXPECT_EQ(effective_ns(Pauses::kThread, from, to), 900'000u);
  EXPECT_EQ(effective_ns(Pauses::kSpin, from, to), 900'000u);
  to.spun_counted_ns = 100'000;
  to.spun_wall_ns = 150'000;
  EXPECT_EQ(effective_ns(Pauses::kSpin, from, to), 850'000u);
  to.global = 2'000'000;
  EXPECT_EQ(effective_ns(Pauses::kSpin, from, to), 0u);
}

TEST(WeightOfASample, IsAPeriodLessThePausesInIt) {
  EXPECT_EQ(weight_of(1'000, 0, 1'000), 1'000u);
  EXPECT_EQ(weight_of(970, 0, 1'000), 1'000u);   // jitter
  EXPECT_EQ(weight_of(1'030, 0, 1'000), 1'000u);
  EXPECT_EQ(weight_of(1'000, 750, 1'000), 250u);
  EXPECT_EQ(weight_of(2'000, 1'750, 1'000), 250u);
  EXPECT_EQ(weight_of(3'000, 0, 1'000), 1'000u);  // the kernel's time is nobody's
  EXPECT_EQ(weight_of(1'000, 1'200, 1'000), 0u);
}

}  // namespace
}  // namespace stab::causal
