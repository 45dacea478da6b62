// What the companion decides and writes down.
#include "runtime/causal/windows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "runtime/causal/clock.h"
#include "runtime/causal/insides.h"
#include "runtime/causal/moment.h"
#include "runtime/sys.h"

namespace stab::causal {
namespace {

std::unique_ptr<Area> new_area() {
  auto area = std::make_unique<Area>();
  std::memset(static_cast<void*>(area.get()), 0, offsetof(Area, histogram));
  area->script.region_count = 3;
  return area;
}

void add_point(Area& area, uint32_t number, const char* name, progress::Kind kind) {
  std::strcpy(area.board.points[number].name, name);
  area.board.points[number].kind = static_cast<uint32_t>(kind);
  area.board.points[number].ready = 1;
  area.board.points_used = std::max(area.board.points_used, number);
}

TEST(RunningRegions, AreThoseThatHadASampleLately) {
  const auto area = new_area();
  RunningRegions running;
  running.look_at(*area, 1'000);
  EXPECT_TRUE(running.is_running(1, 1'050, 100)) << "the run is too young to know";
  area->state.region_samples[1] = 5;
  running.look_at(*area, 2'000);
  EXPECT_TRUE(running.is_running(1, 2'050, 100));
  EXPECT_FALSE(running.is_running(2, 2'050, 100));
  EXPECT_FALSE(running.is_running(1, 2'101, 100));
  EXPECT_TRUE(running.is_running(2, 2'101, 0)) << "0: none is skipped";
}

TEST(Insides, AreAddedUpOverEffectiveTime) {
  const auto area = new_area();
  area->state.pauses = Pauses::kThread;
  EXPECT_FALSE(has_ends(*area));
  add_point(*area, 1, "request", progress::Kind::kBegin);
  add_point(*area, 2, "request", progress::Kind::kEnd);
  add_point(*area, 3, "other", progress::Kind::kBegin);
  EXPECT_TRUE(has_ends(*area));
  area->board.shared[1].visits = 12, area->board.shared[2].visits = 10, area->board.shared[3].visits = 99;
  EXPECT_EQ(inside_of(*area, 2), 2u);
  take_times(*area, -1, area->state.begin);
  begin_insides(*area);
  add_insides(*area, -1);
  const uint64_t first = area->inside.last_effective_ns;
  EXPECT_EQ(area->inside.sum_ns[2], 2 * first);
  EXPECT_EQ(area->inside.sum_ns[1], 0u);
  area->board.shared[1].visits = 15;
  add_insides(*area, -1);
  const uint64_t second = area->inside.last_effective_ns;
  EXPECT_EQ(area->inside.sum_ns[2], 2 * first + 5 * (second - first));
  area->state.global = 1'000'000'000'000;  // credits ran ahead of the clock
  add_insides(*area, -1);
  EXPECT_EQ(area->inside.last_effective_ns, second);
  EXPECT_EQ(area->inside.busy, 0u);
}

TEST(Orders, AreCarriedOutOnce) {
  const auto area = new_area();
  area->state.pauses = Pauses::kSpin;
  area->state.cpu_limit = 2;
  area->state.global = 500;
  EXPECT_EQ(waiting_order(*area), 0u);
  area->state.live.ordered = 1;
  EXPECT_EQ(waiting_order(*area), 1u);
  EXPECT_TRUE(carry_out(*area, 1, -1));
  EXPECT_FALSE(carry_out(*area, 1, -1));
  EXPECT_EQ(area->state.live.open, 1u);
  EXPECT_EQ(area->state.live.done, 1u);
  EXPECT_EQ(area->cpus[1].lost, 500u) << "nobody owes anything when a window opens";
  area->state.global = 900;
  area->state.live.ordered = 2;
  EXPECT_TRUE(carry_out(*area, 2, -1));
  EXPECT_EQ(area->state.live.open % 2, 0u);
  EXPECT_EQ(area->state.end.global - area->state.begin.global, 400u);
}

TEST(WorldBlocked, IsTimeInWhichNobodyCanRunUntilTheWorldWakesSomebody) {
  const auto area = new_area();
  Process& process = area->processes[0];
  count_threads(*area, process, 2);
  begin_wait(*area, process);
  EXPECT_EQ(area->state.idle_since_ns, 0u) << "another one computes";
  begin_wait(*area, process);
  EXPECT_NE(area->state.idle_since_ns, 0u);
  end_wait(*area, process, true);
  EXPECT_EQ(area->state.idle_since_ns, 0u);
  EXPECT_GT(area->state.world_blocked_ns, 0u);
  EXPECT_EQ(area->state.runnable, 1);
  const uint64_t blocked = area->state.world_blocked_ns;
  begin_wait(*area, process);
  EXPECT_NE(area->state.idle_since_ns, 0u);
  end_wait(*area, process, false);
  EXPECT_EQ(area->state.idle_since_ns, 0u);
  EXPECT_EQ(area->state.world_blocked_ns, blocked) << "one of ours woke it: it only waited for its CPU";
}

TEST(WorldBlocked, IsNoTimeInWhichASleeperWasLate) {
  const auto area = new_area();
  Process& process = area->processes[0];
  count_threads(*area, process, 1);
  begin_wait(*area, process);
  const uint64_t begun = area->state.idle_since_ns;
  while (sys::monotonic_ns() < begun + 5'000'000) {
  }
  const uint64_t woke = sys::monotonic_ns();
  end_wait(*area, process, true, {begun + 1'000'000, woke});
  // What passed since it woke is a wait, too: it may have slept off what others were credited with.
  EXPECT_GE(area->state.world_blocked_ns, 1'000'000u);
  EXPECT_LE(area->state.world_blocked_ns, 1'100'000u + (sys::monotonic_ns() - woke));
  const uint64_t blocked = area->state.world_blocked_ns;
  begin_wait(*area, process);
  const uint64_t idle = area->state.idle_since_ns;
  while (sys::monotonic_ns() < idle + 1'000'000) {
  }
  const uint64_t late = sys::monotonic_ns();
  end_wait(*area, process, true, {begun, late});
  EXPECT_LE(area->state.world_blocked_ns - blocked, sys::monotonic_ns() - late) << "it was late before all others waited";
}

TEST(WorldBlocked, HasNoLessThanAtTheBeginningOfAWindow) {
  const auto area = new_area();
  area->state.pauses = Pauses::kCpuTime;
  Process& process = area->processes[0];
  count_threads(*area, process, 1);
  begin_wait(*area, process);
  while (sys::monotonic_ns() <= area->state.idle_since_ns) {
  }
  area->state.live.ordered = 1;
  ASSERT_TRUE(carry_out(*area, 1, -1));
  EXPECT_GT(area->state.begin.world_blocked_ns, 0u) << "what went on before the window is of before";
  end_wait(*area, process, false);
  Snapshot now;
  take_times(*area, -1, now);
  EXPECT_EQ(now.world_blocked_ns, area->state.begin.world_blocked_ns);
}

TEST(WorldBlocked, IsNoMoreThanOneCpuHadBesides) {
  Snapshot from{}, to{};
  to.at_ns = 1'000, to.cpu_ns = 900, to.world_blocked_ns = 300, to.global = 200;
  EXPECT_EQ(effective_ns(Pauses::kCpuTime, from, to), 800u);
  EXPECT_EQ(length_ns(ArmKind::kBaseline, Pauses::kCpuTime, from, to), 1'000u);
  to.world_blocked_ns = 50;
  EXPECT_EQ(length_ns(ArmKind::kBaseline, Pauses::kCpuTime, from, to), 950u);
  to.cpu_ns = 1'001;  // of another process, to the tick
  EXPECT_EQ(length_ns(ArmKind::kBaseline, Pauses::kCpuTime, from, to), 1'001u);
}

TEST(WindowLength, OfANullWindowHasNoPauses) {
  Snapshot from{}, to{};
  to.at_ns = 1'100, to.cpu_ns = 1'000, to.global = 400;
  EXPECT_EQ(length_ns(ArmKind::kNull, Pauses::kCpuTime, from, to), 600u);
  EXPECT_EQ(length_ns(ArmKind::kNull, Pauses::kSpin, from, to), 700u);
  EXPECT_EQ(length_ns(ArmKind::kSlowdown, Pauses::kCpuTime, from, to), 1'000u);
}

TEST(WindowLength, OfANullWindowIsShorterByWhatItIsExpectedToPause) {
  Script script{};
  script.window_ns = 100'000'000;
  EXPECT_EQ(wanted_ns(script, ArmKind::kNull, 1000, 250'000, 1'000'000), 80'000'000u);
  EXPECT_EQ(wanted_ns(script, ArmKind::kNull, 500, 2'000'000, 4'000'000), 80'000'000u);
  EXPECT_EQ(wanted_ns(script, ArmKind::kNull, 1000, 900'000'000, 1'000), 25'000'000u) << "whatever the area says";
  EXPECT_EQ(wanted_ns(script, ArmKind::kNull, 1000, 0, 0), 100'000'000u) << "nothing known yet";
  EXPECT_EQ(wanted_ns(script, ArmKind::kSpeedup, 1000, 250'000, 1'000'000), 100'000'000u);
  EXPECT_EQ(wanted_ns(script, ArmKind::kBaseline, 0, 250'000, 1'000'000), 100'000'000u);
}

TEST(BulkOfPauses, IsAnEighthOfAWindowBetweenEightAndThirtyTwoPeriods) {
  Script script{};
  script.period_ns = 1'000'000;
  for (const auto& [window_ms, bulk_us] : {std::pair{10, 8'000}, {64, 8'000}, {100, 12'500}, {250, 31'250}, {1000, 32'000}}) {
    script.window_ns = static_cast<uint64_t>(window_ms) * 1'000'000;
    EXPECT_EQ(bulk_ns_of(script), static_cast<uint64_t>(bulk_us) * 1'000) << window_ms;
  }
  // The longest sampling of a plan, and the longest window beside it: a pause has to end before its window is given up.
  script.period_ns = 90'000'000, script.window_ns = 3'600'000'000'000;
  EXPECT_EQ(bulk_ns_of(script), 720'000'000u);
}

TEST(WindowRecord, HasTheDifferencesOfItsMoments) {
  const auto area = new_area();
  area->state.pauses = Pauses::kCpuTime;
  area->script.arm_count = 1;
  area->arms[0] = {ArmKind::kSpeedup, 2, 250, 0};
  Snapshot from{}, to{};
  from.at_ns = 10, to.at_ns = 1'010;
  from.cpu_ns = 5, to.cpu_ns = 905;
  from.global = 100, to.global = 200;
  from.visits[3] = 7, to.visits[3] = 27;
  from.region_ns = 1, to.region_ns = 401;
  WindowRecord record{};
  write_record(*area, 0, from, to, record);
  EXPECT_EQ(record.kind, ArmKind::kSpeedup);
  EXPECT_EQ(record.region, 2u);
  EXPECT_EQ(record.speedup_permille, 250u);
  EXPECT_EQ(record.wall_ns, 1'000u);
  EXPECT_EQ(record.cpu_ns, 900u);
  EXPECT_EQ(record.growth_ns, 100u);
  EXPECT_EQ(record.effective_ns, 800u);
  EXPECT_EQ(record.region_ns, 400u);
  EXPECT_EQ(record.visits[3], 20u);
  EXPECT_EQ(busiest(from, to), 20u);
  EXPECT_EQ(length_ns(ArmKind::kBaseline, Pauses::kCpuTime, from, to), 900u);
  EXPECT_EQ(length_ns(ArmKind::kBaseline, Pauses::kSpin, from, to), 1'000u);
}

}  // namespace
}  // namespace stab::causal
